/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/object_text.h"
#include "base/memory.h"
#include "k8s_extender/objects/node_record.h"
#include <string.h>

#define ESCAPED_NUL "\\u0000"
#define ESCAPED_REPLACEMENT "\\ufffd"

/* Of what such a text has nothing of, the pod asks for no GPU and is in no gang: that is plain. */
#define GPU_KEY_END "/gpu\""
#define OUR_PREFIX "parplan.io/"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

/* --- what is kept ----------------------------------------------------------------- */

enum field_flag {
    FIELD_LIST = 1,     /* a list of objects that have the members */
    FIELD_DETAIL = 2,   /* not needed of a plain pod */
    FIELD_VARIABLES = 4 /* of the list, those of variable_names */
};

/* What is of another kind than the table says is kept whole: whoever reads it judges it. */
struct field {
    const char *key;
    const struct field *members; /* NULL: all of it */
    unsigned flags;
};

/* Those that gang_source_variable is asked for, with their quotes. */
static const char *const variable_names[] = {"\"PET_NNODES\"", "\"PET_NODE_RANK\""};

#define FIELDS(name, ...) static const struct field name[] = {__VA_ARGS__, {.key = NULL}}

static const struct field nothing[] = {{.key = NULL}}; /* that it is there, or how many */
FIELDS(name_only, {.key = "name"});
FIELDS(owner, {.key = "controller"}, {.key = "kind"}, {.key = "name"}, {.key = "uid"});
FIELDS(resources, {.key = "requests"}, {.key = "limits"});

FIELDS(field_reference, {.key = "fieldPath"});
FIELDS(value_source, {"fieldRef", field_reference, 0});
FIELDS(variable, {.key = "name"}, {.key = "value"}, {"valueFrom", value_source, 0});
FIELDS(port, {.key = "hostPort"});
FIELDS(container, {.key = "name"}, {.key = "restartPolicy"}, {"resources", resources, 0},
       {"env", variable, FIELD_LIST | FIELD_DETAIL | FIELD_VARIABLES},
       {"command", NULL, FIELD_DETAIL}, {"args", NULL, FIELD_DETAIL},
       {"ports", port, FIELD_LIST | FIELD_DETAIL});
FIELDS(container_status, {.key = "name"}, {"resources", resources, 0},
       {.key = "allocatedResources"});

FIELDS(node_affinity, {.key = REQUIRED});
FIELDS(pod_affinity, {REQUIRED, nothing, FIELD_LIST});
FIELDS(affinity, {"nodeAffinity", node_affinity, 0}, {"podAffinity", pod_affinity, 0},
       {"podAntiAffinity", pod_affinity, 0});
FIELDS(toleration, {.key = "key"}, {.key = "value"}, {.key = "effect"}, {.key = "operator"});
FIELDS(volume, {"persistentVolumeClaim", nothing, 0}, {"ephemeral", nothing, 0});
FIELDS(spread, {.key = "whenUnsatisfiable"});
FIELDS(group, {.key = "podGroupName"});

FIELDS(pod_metadata, {.key = "name"}, {.key = "generateName"}, {.key = "namespace"}, {.key = "uid"},
       {.key = "resourceVersion"}, {.key = "creationTimestamp"}, {.key = "deletionTimestamp"},
       {"labels", NULL, FIELD_DETAIL}, {"annotations", NULL, FIELD_DETAIL},
       {"ownerReferences", owner, FIELD_LIST | FIELD_DETAIL});
FIELDS(pod_spec, {.key = "nodeName"}, {.key = "schedulerName"}, {.key = "priority"},
       {.key = "hostname"}, {.key = "subdomain"}, {.key = "overhead"}, {"resources", resources, 0},
       {"schedulingGates", name_only, FIELD_LIST}, {"schedulingGroup", group, 0},
       {"containers", container, FIELD_LIST}, {"initContainers", container, FIELD_LIST},
       {"nodeSelector", NULL, FIELD_DETAIL}, {"affinity", affinity, FIELD_DETAIL},
       {"tolerations", toleration, FIELD_LIST | FIELD_DETAIL},
       {"volumes", volume, FIELD_LIST | FIELD_DETAIL},
       {"topologySpreadConstraints", spread, FIELD_LIST | FIELD_DETAIL},
       {"resourceClaims", nothing, FIELD_LIST | FIELD_DETAIL});
FIELDS(pod_condition, {.key = "type"}, {.key = "reason"}); /* of a resize */
FIELDS(pod_status, {.key = "phase"}, {"conditions", pod_condition, FIELD_LIST},
       {"containerStatuses", container_status, FIELD_LIST},
       {"initContainerStatuses", container_status, FIELD_LIST});
FIELDS(pod, {"metadata", pod_metadata, 0}, {"spec", pod_spec, 0}, {"status", pod_status, 0});

FIELDS(node_annotations, {.key = NODE_TOPOLOGY_ANNOTATION});
FIELDS(node_metadata, {.key = "name"}, {.key = "uid"}, {.key = "deletionTimestamp"},
       {.key = "labels"}, {"annotations", node_annotations, 0});
FIELDS(taint, {.key = "key"}, {.key = "value"}, {.key = "effect"});
FIELDS(node_spec, {.key = "unschedulable"}, {"taints", taint, FIELD_LIST});
FIELDS(condition, {.key = "type"}, {.key = "status"});
FIELDS(node_status, {"conditions", condition, FIELD_LIST}, {.key = "allocatable"});
FIELDS(node, {"metadata", node_metadata, 0}, {"spec", node_spec, 0}, {"status", node_status, 0});

FIELDS(arguments, {"Pod", pod, 0});
static const struct field other = {.key = ""}; /* what else stands in arguments */

/* --- the text ---------------------------------------------------------------------- */

struct copy {
    const char *text, *end; /* what is still to be read */
    char *out;
    size_t values; /* in what was written, about: openings and commas */
    bool plain, cut;
    size_t pod_values;
};

static void take(struct copy *copy, size_t bytes)
{
    memcpy(copy->out, copy->text, bytes);
    copy->out += bytes;
    copy->text += bytes;
}

/* Behind the closing quote, or the end. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* Behind a value, whatever it holds; what ends no value is left to the reader of what remains. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;
    at = skip_blanks(at, end);
    while (at < end) {
        bool opens = *at == '{' || *at == '[';
        bool closes = *at == '}' || *at == ']';
        if (depth == 0 && (closes || *at == ','))
            return at;
        depth += opens;
        depth -= closes;
        at = *at == '"' ? skip_string(at, end) : at + 1;
        if (depth == 0 && closes)
            return at;
    }
    return end;
}

static void take_string(struct copy *copy, size_t length)
{
    const char *end = copy->text + length;
    while (copy->text < end) {
        const char *escape = memchr(copy->text, '\\', (size_t)(end - copy->text));
        take(copy, (size_t)((escape ? escape : end) - copy->text));
        if (!escape)
            return;
        size_t left = (size_t)(end - escape);
        if (left >= strlen(ESCAPED_NUL) && memcmp(escape, ESCAPED_NUL, strlen(ESCAPED_NUL)) == 0) {
            take(copy, strlen(ESCAPED_NUL));
            memcpy(copy->out - strlen(ESCAPED_NUL), ESCAPED_REPLACEMENT, strlen(ESCAPED_NUL));
        } else {
            take(copy, left < 2 ? left : 2);
        }
    }
}

static void put(struct copy *copy, char character)
{
    *copy->out++ = character;
    copy->values += character == '{' || character == '[' || character == ',';
}

/* All of them are -1 at what is no JSON: copy->text is there. */
static int copy_whole(struct copy *copy)
{
    const char *end = skip_value(copy->text, copy->end);
    if (end == copy->text)
        return -1;
    while (copy->text < end) {
        if (*copy->text == '"')
            take_string(copy, (size_t)(skip_string(copy->text, end) - copy->text));
        else
            put(copy, *copy->text++);
    }
    return 0;
}

static int copy_value(struct copy *copy, const struct field *members, unsigned flags);
static int copy_pod(struct copy *copy);

static const struct field *find_field(const struct field *members, const char *key, size_t length)
{
    for (; members->key; members++)
        if (length == strlen(members->key) && memcmp(key, members->key, length) == 0)
            return members;
    return NULL;
}

static int drop_value(struct copy *copy)
{
    const char *end = skip_value(copy->text, copy->end);
    bool nothing_there = end == copy->text;
    copy->text = end;
    return nothing_there ? -1 : 0;
}

/* 1: it was kept. */
static int copy_member(struct copy *copy, const struct field *members)
{
    const char *key = copy->text;
    if (key == copy->end || *key != '"')
        return -1;
    size_t length = (size_t)(skip_string(key, copy->end) - key);
    copy->text = skip_blanks(key + length, copy->end);
    if (length < 2 || copy->text == copy->end || *copy->text != ':')
        return -1;
    copy->text = skip_blanks(copy->text + 1, copy->end);
    const struct field *field = find_field(members, key + 1, length - 2);
    if (!field && members == arguments)
        field = &other;
    if (!field || (copy->plain && (field->flags & FIELD_DETAIL)))
        return drop_value(copy);
    memcpy(copy->out, key, length);
    copy->out += length;
    put(copy, ':');
    int result =
        field->members == pod ? copy_pod(copy) : copy_value(copy, field->members, field->flags);
    return result < 0 ? -1 : 1;
}

static bool is_wanted_variable(const char *text, size_t bytes)
{
    for (size_t i = 0; i < COUNT_OF(variable_names); i++)
        if (memmem(text, bytes, variable_names[i], strlen(variable_names[i])))
            return true;
    return false;
}

static int copy_element(struct copy *copy, const struct field *members, unsigned flags)
{
    size_t bytes = (size_t)(skip_value(copy->text, copy->end) - copy->text);
    if ((flags & FIELD_VARIABLES) && !is_wanted_variable(copy->text, bytes))
        return drop_value(copy);
    return copy_value(copy, members, 0) < 0 ? -1 : 1;
}

/* The cursor is at the opening bracket; what is not kept leaves no comma. */
static int copy_container(struct copy *copy, const struct field *members, unsigned flags)
{
    bool object = *copy->text == '{', any = false;
    char close = object ? '}' : ']';
    put(copy, *copy->text++);
    copy->text = skip_blanks(copy->text, copy->end);
    for (bool more = copy->text == copy->end || *copy->text != close; more;) {
        char *out = copy->out;
        size_t values = copy->values;
        if (any)
            put(copy, ',');
        copy->text = skip_blanks(copy->text, copy->end);
        int kept = object ? copy_member(copy, members) : copy_element(copy, members, flags);
        if (kept < 0)
            return -1;
        copy->out = kept ? copy->out : out;
        copy->values = kept ? copy->values : values;
        any = any || kept;
        copy->text = skip_blanks(copy->text, copy->end);
        if (copy->text == copy->end || (*copy->text != ',' && *copy->text != close))
            return -1;
        more = *copy->text == ',';
        copy->text += more;
    }
    put(copy, *copy->text++);
    return 0;
}

/* Recursion no deeper than the tables. */
static int copy_value(struct copy *copy, const struct field *members, unsigned flags)
{
    char opens = flags & FIELD_LIST ? '[' : '{';
    copy->text = skip_blanks(copy->text, copy->end);
    if (!members || copy->text == copy->end || *copy->text != opens)
        return copy_whole(copy);
    return copy_container(copy, members, flags);
}

/* Of one that has too many values what it takes from its node. */
static int copy_pod(struct copy *copy)
{
    const struct copy begin = *copy;
    int result = copy_value(copy, pod, 0);
    if (result == 0 && copy->values - begin.values > OBJECT_MAXIMUM_VALUES && !begin.plain) {
        *copy = begin;
        copy->plain = copy->cut = true;
        result = copy_value(copy, pod, 0);
    }
    copy->pod_values = copy->values - begin.values;
    return result;
}

static bool is_plain(const char *text, size_t bytes)
{
    return !memmem(text, bytes, GPU_KEY_END, strlen(GPU_KEY_END)) &&
           !memmem(text, bytes, OUR_PREFIX, strlen(OUR_PREFIX));
}

/* --- the tree ---------------------------------------------------------------------- */

static int error_malformed(const struct copy *copy, const char *text, const char *what,
                           struct error_info *err)
{
    return error_set(err, "%s: byte %zu: %s", what, (size_t)(copy->text - text),
                     copy->text == copy->end ? "the text ends too early" : "unexpected character");
}

/* Into copy->out, which has room for all of it: what is kept is never longer. */
static int copy_text(struct copy *copy, const struct field *fields, const char *what,
                     struct error_info *err)
{
    const char *text = copy->text;
    copy->plain = fields != node && is_plain(text, (size_t)(copy->end - text));
    int result = fields == pod ? copy_pod(copy) : copy_value(copy, fields, 0);
    copy->text = skip_blanks(copy->text, copy->end);
    if (result < 0 || copy->text < copy->end)
        return error_malformed(copy, text, what, err);
    size_t values = fields == node ? copy->values : copy->pod_values;
    if (values > OBJECT_MAXIMUM_VALUES)
        return error_set(err,
                         "%s: %zu values are too many in what is read of it; at most %u are "
                         "possible; make its lists shorter",
                         what, values, OBJECT_MAXIMUM_VALUES);
    return 0;
}

static struct json_value *parse(const char *text, size_t bytes, const struct field *fields,
                                const char *what, bool *ret_cut, struct error_info *err)
{
    if (bytes > OBJECT_TEXT_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are too many; at most %zu are possible",
                                    what, bytes, OBJECT_TEXT_MAXIMUM_BYTES));
    CLEANUP_MEMORY char *left = memory_allocate(bytes + 1);
    if (!left)
        return error_null(error_set_memory(err));
    struct copy copy = {.text = text, .end = text + bytes, .out = left};
    if (copy_text(&copy, fields, what, err) < 0)
        return NULL;
    struct json_value *tree = json_value_parse(left, (size_t)(copy.out - left), what, err);
    if (tree && ret_cut)
        *ret_cut = copy.cut;
    return tree;
}

struct json_value *object_text_parse(const char *text, size_t bytes, enum object_kind kind,
                                     bool *ret_cut, struct error_info *err)
{
    return kind == OBJECT_NODE ? parse(text, bytes, node, "a node", ret_cut, err)
                               : parse(text, bytes, pod, "a pod", ret_cut, err);
}

struct json_value *object_text_parse_arguments(const char *text, size_t bytes, const char *what,
                                               struct error_info *err)
{
    return parse(text, bytes, arguments, what, NULL, err);
}
