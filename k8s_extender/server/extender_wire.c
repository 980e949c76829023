/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/extender_wire.h"
#include "k8s_extender/objects/reading/object_text.h"
#include "k8s_extender/server/wire_json.h"
#include "k8s_extender/server/wire_scan.h"
#include <string.h>

#define QUESTION_MAXIMUM_BYTES ((size_t)64 << 20)

static int error_whole_nodes(struct error_info *err)
{
    return error_set(err, "ExtenderArgs: the scheduler sent whole nodes, not their names; set "
                          "nodeCacheCapable: true for this extender");
}

static int error_too_large(size_t bytes, size_t maximum, const char *what, struct error_info *err)
{
    return error_set(err, "%s: %zu bytes are too many; at most %zu are taken", what, bytes,
                     maximum);
}

/* Takes the tree. */
static struct json_value *take_object(struct json_value *tree, const char *what,
                                      struct error_info *err)
{
    if (!tree || json_value_kind(tree) == JSON_OBJECT)
        return tree;
    json_value_free(tree);
    return error_null(error_set(err, "%s: the body is no JSON object", what));
}

static struct json_value *parse_tree(const char *text, size_t bytes, size_t maximum,
                                     const char *what, struct error_info *err)
{
    if (bytes > maximum)
        return error_null(error_too_large(bytes, maximum, what, err));
    return take_object(json_value_parse(bytes ? text : "", bytes, what, err), what, err);
}

static struct pod_record *read_pod(const struct json_value *arguments, const char *what,
                                   struct error_info *err)
{
    const struct json_value *pod;
    if (wire_json_member(arguments, "Pod", &pod, err) < 0)
        return error_null(error_prefix(err, "%s", what));
    if (json_value_kind(pod) != JSON_OBJECT)
        return error_null(error_set(err, "%s: Pod is missing, or no object", what));
    return pod_record_read(pod, err);
}

/* A name as the text of a tree; NULL: it cannot be a node's. */
static const char *read_name(const struct json_value *value, const char *what, size_t index,
                             struct arena *arena, struct error_info *err)
{
    const char *name = json_value_text(value);
    if (!name)
        return error_null(error_set(err, "%s[%zu] is no text", what, index));
    size_t bytes = strlen(name);
    if (!wire_name_is_plain(name, bytes))
        return error_null(error_set(err,
                                    "%s[%zu]: '%.40s' of %zu bytes is no name of a node: 1 to %u "
                                    "of a-z, 0-9, '.' and '-'",
                                    what, index, name, bytes, WIRE_NAME_MAXIMUM_BYTES));
    const char *copy = arena_copy_bytes(arena, name, bytes);
    return copy ? copy : error_null(error_set_memory(err));
}

static int check_names(const char *const *names, size_t count, struct error_info *err)
{
    size_t index = 0;
    int repeats = wire_names_repeat(names, count, &index);
    if (repeats < 0)
        return error_set_memory(err);
    return repeats ? error_set(err, "ExtenderArgs: NodeNames has '%s' twice", names[index]) : 0;
}

/* --- ExtenderArgs ----------------------------------------------------------------- */

static int read_names(const struct json_value *arguments, struct extender_question *question,
                      struct error_info *err)
{
    const struct json_value *nodes, *list;
    if (wire_json_member(arguments, "Nodes", &nodes, err) < 0 ||
        wire_json_member(arguments, "NodeNames", &list, err) < 0)
        return error_prefix(err, "ExtenderArgs");
    if (nodes)
        return error_whole_nodes(err);
    if (json_value_kind(list) != JSON_ARRAY)
        return error_set(err, "ExtenderArgs: NodeNames is no list; set nodeCacheCapable: true for "
                              "this extender");
    size_t count = json_value_count(list);
    if (count > WIRE_NODES_MAXIMUM)
        return error_set(err, "ExtenderArgs: NodeNames has %zu names; at most %u are taken", count,
                         WIRE_NODES_MAXIMUM);
    const char **names = arena_allocate_array(question->arena, count, sizeof(*names));
    if (!names)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        names[i] =
            read_name(json_value_at(list, i), "ExtenderArgs: NodeNames", i, question->arena, err);
        if (!names[i])
            return -1;
    }
    question->names = names;
    question->name_count = count;
    return 0;
}

static int question_from_tree(const char *text, size_t bytes, struct extender_question *question,
                              struct error_info *err)
{
    if (bytes > WIRE_TREE_MAXIMUM_BYTES)
        return error_set(err,
                         "ExtenderArgs: a body of %zu bytes is not of the form with names "
                         "alone; set nodeCacheCapable: true for this extender",
                         bytes);
    CLEANUP(json_value)
    struct json_value *tree = parse_tree(text, bytes, WIRE_TREE_MAXIMUM_BYTES, "ExtenderArgs", err);
    if (!tree || read_names(tree, question, err) < 0)
        return -1;
    question->pod = read_pod(tree, "ExtenderArgs", err);
    question->native = question->pod && question->pod->gang.native;
    return question->pod ? 0 : -1;
}

int extender_question_read_pod(struct extender_question *question, struct error_info *err)
{
    if (!question->pod)
        question->pod = pod_record_parse(question->pod_text, question->pod_bytes, err);
    question->native = question->pod && question->pod->gang.native;
    return question->pod ? 0 : error_prefix(err, "ExtenderArgs: Pod");
}

static int question_from_scan(const struct wire_scan *scan, struct extender_question *question,
                              struct error_info *err)
{
    question->names = scan->names;
    question->name_count = scan->name_count;
    question->pod_text = scan->pod;
    question->pod_bytes = scan->pod_bytes;
    return pod_identity_scan(scan->pod, scan->pod_bytes, &question->identity)
               ? 0
               : extender_question_read_pod(question, err);
}

static struct extender_question *question_create(struct error_info *err)
{
    struct arena *arena = arena_create(QUESTION_MAXIMUM_BYTES);
    struct extender_question *question = arena ? arena_allocate(arena, sizeof(*question)) : NULL;
    if (!question) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    question->arena = arena;
    return question;
}

static struct extender_question *finish_question(struct extender_question *question, int result,
                                                 struct error_info *err)
{
    if (result == 0 && check_names(question->names, question->name_count, err) == 0)
        return question;
    extender_question_free(question);
    return NULL;
}

struct extender_question *extender_question_open(const char *text, size_t bytes,
                                                 struct error_info *err)
{
    if (bytes > WIRE_BODY_MAXIMUM_BYTES)
        return error_null(error_too_large(bytes, WIRE_BODY_MAXIMUM_BYTES, "ExtenderArgs", err));
    struct extender_question *question = question_create(err);
    if (!question)
        return NULL;
    struct wire_scan scan;
    int result = -1;
    switch (wire_scan_arguments(text, bytes, WIRE_NODES_MAXIMUM, question->arena, &scan)) {
    case WIRE_SCANNED:
        result = question_from_scan(&scan, question, err);
        break;
    case WIRE_UNUSUAL:
        result = question_from_tree(text, bytes, question, err);
        break;
    case WIRE_NO_MEMORY:
        error_set_memory(err);
        break;
    }
    return finish_question(question, result, err);
}

struct extender_question *extender_question_parse(const char *text, size_t bytes,
                                                  struct error_info *err)
{
    CLEANUP(extender_question)
    struct extender_question *question = extender_question_open(text, bytes, err);
    return question && extender_question_read_pod(question, err) == 0 ? move_pointer(question)
                                                                      : NULL;
}

struct extender_question *extender_question_parse_tree(const char *text, size_t bytes,
                                                       struct error_info *err)
{
    struct extender_question *question = question_create(err);
    return question ? finish_question(question, question_from_tree(text, bytes, question, err), err)
                    : NULL;
}

void extender_question_free(struct extender_question *question)
{
    if (!question)
        return;
    pod_record_free(question->pod);
    arena_free(question->arena);
}

/* --- ExtenderPreemptionArgs ------------------------------------------------------- */

static int read_uids(const struct json_value *list, struct preemption_victims *victims,
                     struct arena *arena, struct error_info *err)
{
    size_t count = json_value_count(list);
    const char **uids = arena_allocate_array(arena, count, sizeof(*uids));
    if (!uids)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        const char *uid;
        if (wire_json_text(json_value_at(list, i), "UID", &uid, err) < 0)
            return -1;
        if (!*uid || strlen(uid) > WIRE_NAME_MAXIMUM_BYTES)
            return error_set(err, "Pods[%zu] has no UID of 1 to %u bytes", i,
                             WIRE_NAME_MAXIMUM_BYTES);
        uids[i] = arena_copy_text(arena, uid);
        if (!uids[i])
            return error_set_memory(err);
    }
    victims->uids = uids;
    victims->uid_count = count;
    return 0;
}

static int read_victims(const struct json_value *value, struct preemption_victims *victims,
                        struct arena *arena, struct error_info *err)
{
    const struct json_value *pods, *violations;
    uint64_t number = 0;
    if (wire_json_member(value, "Pods", &pods, err) < 0 ||
        wire_json_member(value, "NumPDBViolations", &violations, err) < 0)
        return -1;
    if (pods && json_value_kind(pods) != JSON_ARRAY)
        return error_set(err, "Pods is no list");
    if (violations && json_value_unsigned(violations, INT64_MAX, &number) < 0)
        return error_set(err, "NumPDBViolations is no whole number from 0");
    victims->violations = (int64_t)number;
    return read_uids(pods, victims, arena, err);
}

static int read_victim_nodes(const struct json_value *map, struct preemption_question *question,
                             struct error_info *err)
{
    size_t count = json_value_count(map);
    if (count > WIRE_NODES_MAXIMUM)
        return error_set(err, "%zu nodes are too many; at most %u are taken", count,
                         WIRE_NODES_MAXIMUM);
    struct preemption_victims *nodes = arena_allocate_array(question->arena, count, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct json_value *member = json_value_at(map, i);
        const char *name = json_value_key(member);
        if (!wire_name_is_plain(name, strlen(name)))
            return error_set(err, "'%.40s' is no name of a node", name);
        nodes[i].node = arena_copy_text(question->arena, name);
        if (!nodes[i].node)
            return error_set_memory(err);
        if (read_victims(member, &nodes[i], question->arena, err) < 0)
            return error_prefix(err, "%s", name);
    }
    question->nodes = nodes;
    question->node_count = count;
    return 0;
}

static int read_preemption(const struct json_value *tree, struct preemption_question *question,
                           struct error_info *err)
{
    const struct json_value *whole, *map;
    if (wire_json_member(tree, "NodeNameToVictims", &whole, err) < 0 ||
        wire_json_member(tree, "NodeNameToMetaVictims", &map, err) < 0)
        return -1;
    if (json_value_count(whole) > 0)
        return error_set(err, "the scheduler sent whole pods, not their UIDs; set "
                              "nodeCacheCapable: true for this extender");
    if (map && json_value_kind(map) != JSON_OBJECT)
        return error_set(err, "NodeNameToMetaVictims is no object");
    return read_victim_nodes(map, question, err);
}

struct preemption_question *preemption_question_parse(const char *text, size_t bytes,
                                                      struct error_info *err)
{
    static const char what[] = "ExtenderPreemptionArgs";
    if (bytes > WIRE_BODY_MAXIMUM_BYTES)
        return error_null(error_too_large(bytes, WIRE_BODY_MAXIMUM_BYTES, what, err));
    CLEANUP(json_value)
    struct json_value *tree =
        take_object(object_text_parse_arguments(bytes ? text : "", bytes, what, err), what, err);
    CLEANUP(arena) struct arena *arena = tree ? arena_create(QUESTION_MAXIMUM_BYTES) : NULL;
    struct preemption_question *question = arena ? arena_allocate(arena, sizeof(*question)) : NULL;
    if (!question)
        return tree ? error_null(error_set_memory(err)) : NULL;
    question->arena = arena;
    if (read_preemption(tree, question, err) < 0)
        return error_null(error_prefix(err, "%s", what));
    question->pod = read_pod(tree, what, err);
    if (!question->pod)
        return NULL;
    (void)move_pointer(arena);
    return question;
}

void preemption_question_free(struct preemption_question *question)
{
    if (!question)
        return;
    pod_record_free(question->pod);
    arena_free(question->arena);
}

/* --- ExtenderBindingArgs ---------------------------------------------------------- */

static int read_binding(const struct json_value *tree, struct binding_question *question,
                        struct error_info *err)
{
    const struct {
        const char *key;
        const char **ret;
    } members[] = {{"PodName", &question->pod},
                   {"PodNamespace", &question->namespace},
                   {"PodUID", &question->uid},
                   {"Node", &question->node}};
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const char *text;
        if (wire_json_text(tree, members[i].key, &text, err) < 0)
            return -1;
        if (!*text || strlen(text) > WIRE_NAME_MAXIMUM_BYTES)
            return error_set(err, "%s has %zu bytes; 1 to %u are possible", members[i].key,
                             strlen(text), WIRE_NAME_MAXIMUM_BYTES);
        *members[i].ret = arena_copy_text(question->arena, text);
        if (!*members[i].ret)
            return error_set_memory(err);
    }
    return 0;
}

struct binding_question *binding_question_parse(const char *text, size_t bytes,
                                                struct error_info *err)
{
    static const char what[] = "ExtenderBindingArgs";
    CLEANUP(json_value)
    struct json_value *tree = parse_tree(text, bytes, WIRE_BINDING_MAXIMUM_BYTES, what, err);
    CLEANUP(arena) struct arena *arena = tree ? arena_create(QUESTION_MAXIMUM_BYTES) : NULL;
    struct binding_question *question = arena ? arena_allocate(arena, sizeof(*question)) : NULL;
    if (!question)
        return tree ? error_null(error_set_memory(err)) : NULL;
    question->arena = arena;
    if (read_binding(tree, question, err) < 0)
        return error_null(error_prefix(err, "%s", what));
    (void)move_pointer(arena);
    return question;
}

void binding_question_free(struct binding_question *question)
{
    if (question)
        arena_free(question->arena);
}
