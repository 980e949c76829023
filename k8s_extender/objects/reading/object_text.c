/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/object_text.h"
#include "base/memory.h"
#include <string.h>

#define ESCAPED_NUL "\\u0000"
#define ESCAPED_REPLACEMENT "\\ufffd"

/* Of what such a text has nothing of, the pod asks for no GPU and is in no gang: that is plain. */
#define GPU_KEY_END "/gpu\""
#define OUR_PREFIX "parplan.io/"

enum drop_when { DROP_ALWAYS, DROP_OF_PLAIN_PODS };

/* depth: of open brackets where the key stands: 2 in metadata, spec and status, 4 in a container or
 * volume, 5 in a volume's driver. Maps with keys of the user's (labels 3, limits 6 or 4, the latter
 * of names that are none of these) lie elsewhere. */
static const struct {
    const char *key; /* with its quotes */
    unsigned depth;
    enum drop_when when;
} dropped[] = {
    {"\"managedFields\"", 2, DROP_ALWAYS},
    {"\"images\"", 2, DROP_ALWAYS},
    {"\"volumesInUse\"", 2, DROP_ALWAYS},
    {"\"volumesAttached\"", 2, DROP_ALWAYS},
    {"\"volumeMounts\"", 4, DROP_ALWAYS},
    {"\"livenessProbe\"", 4, DROP_ALWAYS},
    {"\"readinessProbe\"", 4, DROP_ALWAYS},
    {"\"startupProbe\"", 4, DROP_ALWAYS},
    {"\"lifecycle\"", 4, DROP_ALWAYS},
    {"\"securityContext\"", 4, DROP_ALWAYS},
    {"\"envFrom\"", 4, DROP_ALWAYS},
    {"\"projected\"", 4, DROP_ALWAYS},
    {"\"state\"", 4, DROP_ALWAYS},
    {"\"lastState\"", 4, DROP_ALWAYS},
    {"\"volumeAttributes\"", 5, DROP_ALWAYS},
    {"\"options\"", 5, DROP_ALWAYS},
    {"\"labels\"", 2, DROP_OF_PLAIN_PODS},
    {"\"annotations\"", 2, DROP_OF_PLAIN_PODS},
    {"\"ownerReferences\"", 2, DROP_OF_PLAIN_PODS},
    {"\"conditions\"", 2, DROP_OF_PLAIN_PODS},
    {"\"volumes\"", 2, DROP_OF_PLAIN_PODS},
    {"\"tolerations\"", 2, DROP_OF_PLAIN_PODS},
    {"\"affinity\"", 2, DROP_OF_PLAIN_PODS},
    {"\"nodeSelector\"", 2, DROP_OF_PLAIN_PODS},
    {"\"topologySpreadConstraints\"", 2, DROP_OF_PLAIN_PODS},
    {"\"env\"", 4, DROP_OF_PLAIN_PODS},
    {"\"args\"", 4, DROP_OF_PLAIN_PODS},
    {"\"command\"", 4, DROP_OF_PLAIN_PODS},
    {"\"ports\"", 4, DROP_OF_PLAIN_PODS},
};

struct copy {
    const char *text, *end; /* what is still to be read */
    char *out;
    unsigned depth;
    bool plain;
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

static bool is_dropped(const struct copy *copy, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(dropped); i++)
        if (copy->depth == dropped[i].depth && (copy->plain || dropped[i].when == DROP_ALWAYS) &&
            length == strlen(dropped[i].key) && memcmp(copy->text, dropped[i].key, length) == 0)
            return true;
    return false;
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

/* A key of the table: its value, of four bytes or more, becomes null. */
static void copy_string(struct copy *copy)
{
    size_t length = (size_t)(skip_string(copy->text, copy->end) - copy->text);
    const char *colon = skip_blanks(copy->text + length, copy->end);
    if (!is_dropped(copy, length) || colon == copy->end || *colon != ':') {
        take_string(copy, length);
        return;
    }
    const char *value = skip_blanks(colon + 1, copy->end);
    const char *end = skip_value(value, copy->end);
    if ((size_t)(end - value) < strlen("null")) {
        take(copy, (size_t)(end - copy->text));
        return;
    }
    take(copy, (size_t)(value - copy->text));
    memcpy(copy->out, "null", strlen("null"));
    copy->out += strlen("null");
    copy->text = end;
}

/* Never longer than what it is made from. */
static size_t copy_object(const char *text, size_t bytes, bool plain, char *out)
{
    struct copy copy = {.text = text, .end = text + bytes, .out = out, .plain = plain};
    while (copy.text < copy.end) {
        if (*copy.text == '"') {
            copy_string(&copy);
            continue;
        }
        copy.depth += *copy.text == '{' || *copy.text == '[';
        copy.depth -= copy.depth > 0 && (*copy.text == '}' || *copy.text == ']');
        take(&copy, 1);
    }
    return (size_t)(copy.out - out);
}

static bool is_plain(const char *text, size_t bytes)
{
    return !memmem(text, bytes, GPU_KEY_END, strlen(GPU_KEY_END)) &&
           !memmem(text, bytes, OUR_PREFIX, strlen(OUR_PREFIX));
}

struct json_value *object_text_parse(const char *text, size_t bytes, enum object_kind kind,
                                     struct error_info *err)
{
    const char *what = kind == OBJECT_POD ? "a pod" : "a node";
    if (bytes > OBJECT_TEXT_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are too many; at most %zu are possible",
                                    what, bytes, OBJECT_TEXT_MAXIMUM_BYTES));
    CLEANUP_MEMORY char *left = memory_allocate(bytes + 1);
    if (!left)
        return error_null(error_set_memory(err));
    bool plain = kind == OBJECT_POD && is_plain(text, bytes);
    return json_value_parse(left, copy_object(text, bytes, plain, left), what, err);
}
