/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/json_splitter.h"

#include <string.h>

#define KEPT_CAPACITY_BYTES                                                                        \
    ((size_t)256 << 10) /* a larger buffer is given back after its object                          \
                         */
#define FIRST_CAPACITY_BYTES ((size_t)32 << 10)

/* What the text must have next. */
enum expectation {
    EXPECT_ROOT,
    EXPECT_FIRST_KEY, /* or the end of the object */
    EXPECT_KEY,
    EXPECT_COLON,
    EXPECT_VALUE,
    EXPECT_FIRST_ELEMENT, /* or the end of the array */
    EXPECT_MORE,          /* a comma or the end */
    EXPECT_STRING,        /* the rest of one */
    EXPECT_ESCAPED,
    EXPECT_SCALAR, /* the rest of a number or word */
    EXPECT_PASSED, /* the rest of a container that is passed over */
    EXPECT_NOTHING,
    EXPECTATION_COUNT
};

/* What a value is for us, by where it stands. */
enum place {
    PLACE_OTHER,
    PLACE_ROOT,
    PLACE_METADATA,
    PLACE_ITEMS,
    PLACE_ITEM,
    PLACE_OBJECT,
    PLACE_OBJECT_METADATA, /* of an element of items, too */
    PLACE_DROPPED,
    PLACE_TYPE,
    PLACE_VERSION,
    PLACE_CONTINUE,
    PLACE_NAMESPACE,
    PLACE_NAME,
    PLACE_COUNT
};

#define TEXT_PLACES (PLACE_COUNT - PLACE_TYPE)

struct place_rule {
    const char *name;
    const char *opens; /* characters that its value may begin with; NULL: any, and any number of
                        * times: nothing of one object may end the stream */
};

static const struct place_rule place_rules[PLACE_COUNT] = {
    [PLACE_OTHER] = {"a value", NULL},
    [PLACE_ROOT] = {"the whole", "{"},
    [PLACE_METADATA] = {"metadata", "{n"},
    [PLACE_ITEMS] = {"items", "[n"},
    [PLACE_ITEM] = {"an element of items", "{"},
    [PLACE_OBJECT] = {"object", "{"},
    [PLACE_OBJECT_METADATA] = {"metadata", NULL},
    [PLACE_DROPPED] = {"managedFields", NULL},
    [PLACE_TYPE] = {"type", "\""},
    [PLACE_VERSION] = {"resourceVersion", "\""},
    [PLACE_CONTINUE] = {"continue", "\""},
    [PLACE_NAMESPACE] = {"namespace", NULL},
    [PLACE_NAME] = {"name", NULL},
};

#define OF_LIST (1u << SPLIT_LIST)
#define OF_WATCH (1u << SPLIT_WATCH)

struct member_rule {
    unsigned kinds;
    enum place parent, place;
    const char *key;
};

static const struct member_rule member_rules[] = {
    {OF_LIST, PLACE_ROOT, PLACE_METADATA, "metadata"},
    {OF_LIST, PLACE_ROOT, PLACE_ITEMS, "items"},
    {OF_LIST, PLACE_METADATA, PLACE_VERSION, "resourceVersion"},
    {OF_LIST, PLACE_METADATA, PLACE_CONTINUE, "continue"},
    {OF_LIST, PLACE_ITEM, PLACE_OBJECT_METADATA, "metadata"},
    {OF_WATCH, PLACE_ROOT, PLACE_TYPE, "type"},
    {OF_WATCH, PLACE_ROOT, PLACE_OBJECT, "object"},
    {OF_WATCH, PLACE_OBJECT, PLACE_OBJECT_METADATA, "metadata"},
    {OF_WATCH, PLACE_OBJECT_METADATA, PLACE_VERSION, "resourceVersion"},
    {OF_LIST | OF_WATCH, PLACE_OBJECT_METADATA, PLACE_NAMESPACE, "namespace"},
    {OF_LIST | OF_WATCH, PLACE_OBJECT_METADATA, PLACE_NAME, "name"},
    {OF_LIST | OF_WATCH, PLACE_OBJECT_METADATA, PLACE_DROPPED, "managedFields"},
};

struct json_splitter {
    enum json_split_kind kind;
    json_split_fn receive;
    void *context;
    bool failed;

    /* The piece that is being read. */
    const char *bytes;
    size_t count, at;
    size_t consumed; /* in earlier pieces */

    enum expectation expect;
    unsigned depth;
    unsigned char places[SPLITTER_MAXIMUM_DEPTH + 1]; /* of the containers; [0] is no container */
    bool arrays[SPLITTER_MAXIMUM_DEPTH + 1];
    enum place value_place; /* of the value that is next, or being read */
    unsigned seen;          /* bits of the places met in this document */

    bool reading_key;
    char token[SPLITTER_TEXT_BYTES]; /* the string being read, where somebody wants it */
    size_t token_bytes;
    bool token_wanted, token_escaped, token_too_long;

    bool capturing;
    size_t capture_from; /* in the piece */
    char *object;
    size_t object_bytes, object_capacity, object_maximum;
    size_t whole_bytes; /* with what is not kept any more, since the object is too large */
    bool too_large;
    bool paused;         /* the capture, until what is passed over has ended */
    size_t passed_depth; /* of open brackets in it */
    bool passed_string, passed_escape;

    char texts[TEXT_PLACES][SPLITTER_TEXT_BYTES];
};

static char *text_of(struct json_splitter *splitter, enum place place)
{
    return splitter->texts[place - PLACE_TYPE];
}

static int error_here(struct json_splitter *splitter, struct error_info *err, const char *reason)
{
    splitter->failed = true;
    return error_set(err, "byte %zu: %s", splitter->consumed + splitter->at, reason);
}

/* --- the object being kept ---------------------------------------------------------- */

static int object_reserve(struct json_splitter *splitter, size_t needed, struct error_info *err)
{
    if (needed <= splitter->object_capacity)
        return 0;
    size_t capacity =
        splitter->object_capacity > 0 ? splitter->object_capacity : FIRST_CAPACITY_BYTES;
    while (capacity < needed)
        capacity *= 2;
    char *grown = memory_grow_array(splitter->object, splitter->object_capacity, capacity, 1);
    if (!grown) {
        splitter->failed = true;
        return error_set_memory(err);
    }
    splitter->object = grown;
    splitter->object_capacity = capacity;
    return 0;
}

static void object_free(struct json_splitter *splitter)
{
    memory_free(splitter->object);
    splitter->object = NULL;
    splitter->object_bytes = splitter->object_capacity = 0;
}

static int object_add(struct json_splitter *splitter, const char *bytes, size_t count,
                      struct error_info *err)
{
    splitter->whole_bytes += count;
    if (splitter->too_large || count > splitter->object_maximum - splitter->object_bytes) {
        splitter->too_large = true;
        object_free(splitter);
        return 0;
    }
    if (object_reserve(splitter, splitter->object_bytes + count, err) < 0)
        return -1;
    if (count > 0)
        memcpy(splitter->object + splitter->object_bytes, bytes, count);
    splitter->object_bytes += count;
    return 0;
}

/* Keeps what lies before the current byte. */
static int object_collect(struct json_splitter *splitter, struct error_info *err)
{
    size_t from = splitter->capture_from;
    splitter->capture_from = splitter->at;
    return object_add(splitter, splitter->bytes + from, splitter->at - from, err);
}

static void object_forget(struct json_splitter *splitter)
{
    splitter->object_bytes = splitter->whole_bytes = 0;
    splitter->too_large = false;
    if (splitter->object_capacity > KEPT_CAPACITY_BYTES)
        object_free(splitter);
    text_of(splitter, PLACE_NAMESPACE)[0] = text_of(splitter, PLACE_NAME)[0] = '\0';
}

static int hand_over(struct json_splitter *splitter)
{
    struct json_split split = {.type = "",
                               .resource_version = "",
                               .namespace = text_of(splitter, PLACE_NAMESPACE),
                               .name = text_of(splitter, PLACE_NAME)};
    if (splitter->kind == SPLIT_WATCH) {
        split.type = text_of(splitter, PLACE_TYPE);
        split.resource_version = text_of(splitter, PLACE_VERSION);
    }
    split.text = splitter->too_large ? NULL : splitter->object;
    split.bytes = splitter->whole_bytes;
    int result = splitter->receive(splitter->context, &split);
    object_forget(splitter);
    splitter->failed = result < 0;
    return result < 0 ? -1 : 0;
}

/* --- values ------------------------------------------------------------------------- */

static int document_end(struct json_splitter *splitter, struct error_info *err)
{
    if (splitter->kind == SPLIT_LIST) {
        splitter->expect = EXPECT_NOTHING;
        return 0;
    }
    unsigned needed = 1u << PLACE_TYPE | 1u << PLACE_OBJECT;
    if ((splitter->seen & needed) != needed)
        return error_here(splitter, err, "an event without type or object");
    if (hand_over(splitter) < 0)
        return -1;
    splitter->expect = EXPECT_ROOT;
    splitter->seen = 0;
    for (size_t i = 0; i < TEXT_PLACES; i++)
        splitter->texts[i][0] = '\0';
    return 0;
}

/* The cursor is behind the value. */
static int value_end(struct json_splitter *splitter, enum place place, struct error_info *err)
{
    splitter->expect = EXPECT_MORE;
    switch (place) {
    case PLACE_ROOT:
        return document_end(splitter, err);
    case PLACE_ITEM:
    case PLACE_OBJECT:
        splitter->capturing = false;
        if (object_collect(splitter, err) < 0)
            return -1;
        return place == PLACE_ITEM ? hand_over(splitter) : 0;
    default:
        return 0;
    }
}

/* In an object null takes its place. */
static int pass_begin(struct json_splitter *splitter, struct error_info *err)
{
    static const char null[] = "null";
    splitter->paused = splitter->capturing;
    if (splitter->capturing && (object_collect(splitter, err) < 0 ||
                                object_add(splitter, null, sizeof(null) - 1, err) < 0))
        return -1;
    splitter->capturing = false;
    splitter->passed_depth = 1;
    splitter->expect = EXPECT_PASSED;
    splitter->at++;
    return 0;
}

static int pass_end(struct json_splitter *splitter, struct error_info *err)
{
    splitter->capturing = splitter->paused;
    splitter->capture_from = splitter->at;
    return value_end(splitter, splitter->value_place, err);
}

static int container_begin(struct json_splitter *splitter, bool array, struct error_info *err)
{
    if (splitter->value_place == PLACE_DROPPED || splitter->depth >= SPLITTER_MAXIMUM_DEPTH)
        return pass_begin(splitter, err);
    splitter->depth++;
    splitter->places[splitter->depth] = (unsigned char)splitter->value_place;
    splitter->arrays[splitter->depth] = array;
    splitter->expect = array ? EXPECT_FIRST_ELEMENT : EXPECT_FIRST_KEY;
    splitter->at++;
    return 0;
}

static int container_end(struct json_splitter *splitter, struct error_info *err)
{
    enum place place = (enum place)splitter->places[splitter->depth];
    splitter->depth--;
    splitter->at++;
    return value_end(splitter, place, err);
}

static void string_begin(struct json_splitter *splitter, bool key)
{
    splitter->reading_key = key;
    splitter->token_bytes = 0;
    splitter->token_escaped = splitter->token_too_long = false;
    splitter->token_wanted = key ? splitter->places[splitter->depth] != PLACE_OTHER
                                 : splitter->value_place >= PLACE_TYPE;
    splitter->expect = EXPECT_STRING;
    splitter->at++;
}

static bool is_scalar_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte == '-' ||
           byte == '+' || byte == '.' || byte == 'E';
}

/* A place of ours is met once in a document, but for the elements of items. */
static int place_enter(struct json_splitter *splitter, char first, struct error_info *err)
{
    enum place place = splitter->value_place;
    const struct place_rule *rule = &place_rules[place];
    if (!rule->opens)
        return 0;
    bool again = place != PLACE_ITEM && (splitter->seen & 1u << place);
    if (again || !strchr(rule->opens, first)) {
        splitter->failed = true;
        return error_set(err, "byte %zu: %s %s", splitter->consumed + splitter->at, rule->name,
                         again ? "stands twice" : "is of another kind than expected");
    }
    splitter->seen |= 1u << place;
    if (place == PLACE_ITEM || place == PLACE_OBJECT) {
        splitter->capturing = true;
        splitter->capture_from = splitter->at;
    }
    return 0;
}

static int value_begin(struct json_splitter *splitter, char first, struct error_info *err)
{
    bool known = first == '{' || first == '[' || first == '"' || is_scalar_byte(first);
    if (!known || first == '+' || first == '.' || first == 'E')
        return error_here(splitter, err, "unexpected character");
    if (place_enter(splitter, first, err) < 0)
        return -1;
    if (first == '{' || first == '[')
        return container_begin(splitter, first == '[', err);
    if (first == '"')
        string_begin(splitter, false);
    else
        splitter->expect = EXPECT_SCALAR;
    return 0;
}

/* --- one step for each expectation --------------------------------------------------- */

typedef int (*step_fn)(struct json_splitter *splitter, char byte, struct error_info *err);

static int step_root(struct json_splitter *splitter, char byte, struct error_info *err)
{
    splitter->value_place = PLACE_ROOT;
    return value_begin(splitter, byte, err);
}

static int step_key(struct json_splitter *splitter, char byte, struct error_info *err)
{
    if (byte != '"')
        return error_here(splitter, err, "a key is expected");
    string_begin(splitter, true);
    return 0;
}

static int step_first_key(struct json_splitter *splitter, char byte, struct error_info *err)
{
    return byte == '}' ? container_end(splitter, err) : step_key(splitter, byte, err);
}

static int step_colon(struct json_splitter *splitter, char byte, struct error_info *err)
{
    if (byte != ':')
        return error_here(splitter, err, "a colon is expected");
    splitter->expect = EXPECT_VALUE;
    splitter->at++;
    return 0;
}

static int step_value(struct json_splitter *splitter, char byte, struct error_info *err)
{
    if (splitter->arrays[splitter->depth])
        splitter->value_place =
            splitter->places[splitter->depth] == PLACE_ITEMS ? PLACE_ITEM : PLACE_OTHER;
    return value_begin(splitter, byte, err);
}

static int step_first_element(struct json_splitter *splitter, char byte, struct error_info *err)
{
    return byte == ']' ? container_end(splitter, err) : step_value(splitter, byte, err);
}

static int step_more(struct json_splitter *splitter, char byte, struct error_info *err)
{
    bool array = splitter->arrays[splitter->depth];
    if (byte == (array ? ']' : '}'))
        return container_end(splitter, err);
    if (byte != ',')
        return error_here(splitter, err, "a comma or a closing bracket is expected");
    splitter->expect = array ? EXPECT_VALUE : EXPECT_KEY;
    splitter->at++;
    return 0;
}

static enum place place_of_key(const struct json_splitter *splitter)
{
    if (!splitter->token_wanted || splitter->token_escaped || splitter->token_too_long)
        return PLACE_OTHER;
    for (size_t i = 0; i < COUNT_OF(member_rules); i++) {
        const struct member_rule *rule = &member_rules[i];
        if ((rule->kinds & 1u << splitter->kind) &&
            rule->parent == splitter->places[splitter->depth] &&
            strcmp(rule->key, splitter->token) == 0)
            return rule->place;
    }
    return PLACE_OTHER;
}

static int string_end(struct json_splitter *splitter, struct error_info *err)
{
    splitter->token[splitter->token_bytes] = '\0';
    if (splitter->reading_key) {
        splitter->value_place = place_of_key(splitter);
        splitter->expect = EXPECT_COLON;
        splitter->at++;
        return 0;
    }
    bool bad = splitter->token_escaped || splitter->token_too_long;
    if (splitter->token_wanted && bad && place_rules[splitter->value_place].opens)
        return error_here(splitter, err, "a type, version or token that cannot be one");
    if (splitter->token_wanted && !bad) {
        memcpy(text_of(splitter, splitter->value_place), splitter->token,
               splitter->token_bytes + 1);
    }
    splitter->at++;
    return value_end(splitter, splitter->value_place, err);
}

static void token_add(struct json_splitter *splitter, const char *bytes, size_t count)
{
    if (!splitter->token_wanted || splitter->token_too_long)
        return;
    if (count >= sizeof(splitter->token) - splitter->token_bytes) {
        splitter->token_too_long = true;
        return;
    }
    memcpy(splitter->token + splitter->token_bytes, bytes, count);
    splitter->token_bytes += count;
}

static int step_string(struct json_splitter *splitter, char byte, struct error_info *err)
{
    (void)byte;
    const char *bytes = splitter->bytes;
    size_t from = splitter->at, at = from, count = splitter->count;
    while (at < count && (unsigned char)bytes[at] >= 0x20 && bytes[at] != '"' && bytes[at] != '\\')
        at++;
    token_add(splitter, bytes + from, at - from);
    splitter->at = at;
    if (at == count)
        return 0;
    if (bytes[at] == '"')
        return string_end(splitter, err);
    if (bytes[at] != '\\')
        return error_here(splitter, err, "a control character stands in a string");
    splitter->token_escaped = true;
    splitter->expect = EXPECT_ESCAPED;
    splitter->at++;
    return 0;
}

static int step_escaped(struct json_splitter *splitter, char byte, struct error_info *err)
{
    if (byte == '\0' || !strchr("\"\\/bfnrtu", byte))
        return error_here(splitter, err, "an escape that does not exist");
    splitter->expect = EXPECT_STRING;
    splitter->at++;
    return 0;
}

static int step_scalar(struct json_splitter *splitter, char byte, struct error_info *err)
{
    (void)byte;
    while (splitter->at < splitter->count && is_scalar_byte(splitter->bytes[splitter->at]))
        splitter->at++;
    return splitter->at < splitter->count ? value_end(splitter, splitter->value_place, err) : 0;
}

static int step_passed(struct json_splitter *splitter, char byte, struct error_info *err)
{
    splitter->at++;
    if (splitter->passed_escape) {
        splitter->passed_escape = false;
    } else if (splitter->passed_string) {
        splitter->passed_escape = byte == '\\';
        splitter->passed_string = byte != '"';
    } else if (byte == '"') {
        splitter->passed_string = true;
    } else if (byte == '{' || byte == '[') {
        splitter->passed_depth++;
    } else if ((byte == '}' || byte == ']') && --splitter->passed_depth == 0) {
        return pass_end(splitter, err);
    }
    return 0;
}

static int step_nothing(struct json_splitter *splitter, char byte, struct error_info *err)
{
    (void)byte;
    return error_here(splitter, err, "something follows the list");
}

static const step_fn steps[EXPECTATION_COUNT] = {
    [EXPECT_ROOT] = step_root,       [EXPECT_FIRST_KEY] = step_first_key,
    [EXPECT_KEY] = step_key,         [EXPECT_COLON] = step_colon,
    [EXPECT_VALUE] = step_value,     [EXPECT_FIRST_ELEMENT] = step_first_element,
    [EXPECT_MORE] = step_more,       [EXPECT_STRING] = step_string,
    [EXPECT_ESCAPED] = step_escaped, [EXPECT_SCALAR] = step_scalar,
    [EXPECT_PASSED] = step_passed,   [EXPECT_NOTHING] = step_nothing,
};

static bool skips_blanks(enum expectation expect)
{
    return expect < EXPECT_STRING || expect == EXPECT_NOTHING;
}

/* --- entry points -------------------------------------------------------------------- */

struct json_splitter *json_splitter_create(enum json_split_kind kind, size_t maximum_object_bytes,
                                           json_split_fn receive, void *context,
                                           struct error_info *err)
{
    struct json_splitter *splitter = memory_allocate(sizeof(*splitter));
    if (!splitter)
        return error_null(error_set_memory(err));
    splitter->kind = kind;
    splitter->object_maximum = maximum_object_bytes;
    splitter->receive = receive;
    splitter->context = context;
    return splitter;
}

void json_splitter_free(struct json_splitter *splitter)
{
    if (!splitter)
        return;
    memory_free(splitter->object);
    memory_free(splitter);
}

int json_splitter_feed(struct json_splitter *splitter, const char *bytes, size_t count,
                       struct error_info *err)
{
    if (splitter->failed)
        return error_set(err, "the stream was malformed before");
    splitter->bytes = bytes;
    splitter->count = count;
    splitter->at = splitter->capture_from = 0;
    while (splitter->at < count) {
        char byte = bytes[splitter->at];
        bool blank = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
        if (blank && skips_blanks(splitter->expect))
            splitter->at++;
        else if (steps[splitter->expect](splitter, byte, err) < 0)
            return -1;
    }
    if (splitter->capturing && object_collect(splitter, err) < 0)
        return -1;
    splitter->consumed += count;
    return 0;
}

int json_splitter_finish(const struct json_splitter *splitter, struct error_info *err)
{
    enum expectation complete = splitter->kind == SPLIT_LIST ? EXPECT_NOTHING : EXPECT_ROOT;
    if (splitter->failed || splitter->expect != complete)
        return error_set(err, "the answer ends too early, after %zu bytes", splitter->consumed);
    return 0;
}

const char *json_splitter_resource_version(const struct json_splitter *splitter)
{
    return splitter->texts[PLACE_VERSION - PLACE_TYPE];
}

const char *json_splitter_continue(const struct json_splitter *splitter)
{
    return splitter->texts[PLACE_CONTINUE - PLACE_TYPE];
}
