/* SPDX-License-Identifier: MIT */
/*
 * The first two bytes choose the kind and how the rest is cut. In pieces it must come out as in
 * one; a list that our parser of whole documents takes must have the same elements.
 */
#include "base/text_buffer.h"
#include "k8s_extender/api/json_splitter.h"
#include "tests/fuzz/fuzz_target.h"

#define RECORD_MAXIMUM ((size_t)64 << 20)
#define OBJECT_MAXIMUM ((size_t)64 << 10)
#define OBJECTS_MAXIMUM 65536u

struct record {
    struct text_buffer text;
    size_t starts[OBJECTS_MAXIMUM], bytes[OBJECTS_MAXIMUM];
    size_t count;
};

struct run {
    int result;
    struct error_info err;
};

static int receive(void *context, const struct json_split *split)
{
    struct record *record = context;
    const char *text = split->text;
    size_t bytes = split->bytes;
    fuzz_require(text || bytes > OBJECT_MAXIMUM, "an object is gone that is not too large", "");
    fuzz_require(!text || (bytes >= 2 && text[0] == '{' && text[bytes - 1] == '}'),
                 "what is handed over is no object", "");
    text_buffer_add(&record->text, "%s %s %s %s ", split->type, split->resource_version,
                    split->namespace, split->name);
    fuzz_require(record->count < OBJECTS_MAXIMUM, "too many objects", "");
    record->starts[record->count] = record->text.length;
    record->bytes[record->count++] = text ? bytes : 0;
    text_buffer_add_bytes(&record->text, text, text ? bytes : 0);
    text_buffer_add_text(&record->text, "\n");
    return 0;
}

/* seed 0: in one piece. */
static void run(enum json_split_kind kind, const char *text, size_t bytes, uint32_t seed,
                struct record *record, struct run *ret)
{
    CLEANUP(json_splitter)
    struct json_splitter *splitter =
        json_splitter_create(kind, OBJECT_MAXIMUM, receive, record, NULL);
    fuzz_require(splitter, "out of memory", "");
    text_buffer_init(&record->text, RECORD_MAXIMUM);
    record->count = 0;
    *ret = (struct run){.result = 0};
    for (size_t at = 0; at < bytes && ret->result == 0;) {
        size_t piece = bytes - at;
        seed = seed * 1664525u + (seed ? 1013904223u : 0);
        if (seed > 0 && (seed >> 24) % 17 + 1 < piece)
            piece = (seed >> 24) % 17 + 1;
        ret->result = json_splitter_feed(splitter, text + at, piece, &ret->err);
        at += piece;
    }
    if (ret->result == 0)
        ret->result = json_splitter_finish(splitter, &ret->err);
    text_buffer_add(&record->text, "%s %s", json_splitter_resource_version(splitter),
                    json_splitter_continue(splitter));
    if (ret->result < 0)
        fuzz_require_error(&ret->err);
}

static char *write_json(const struct json_value *value)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, RECORD_MAXIMUM);
    fuzz_require(json_value_write(value, JSON_STYLE_COMPACT, &out, NULL) == 0, "writing", "");
    return text_buffer_take(&out);
}

/* Keys with escapes are not matched, by design; so those texts prove nothing, as those where
 * something may be passed over. */
static void compare_with_tree(const char *text, size_t bytes, const struct record *record)
{
    CLEANUP(json_value) struct json_value *root = json_value_parse(text, bytes, "whole", NULL);
    if (!root || memchr(text, '\\', bytes) || strstr(text, "managedFields") ||
        bytes > OBJECT_MAXIMUM)
        return;
    const struct json_value *items = json_value_get(root, "items");
    fuzz_require(json_value_count(items) == record->count, "another number of elements", "");
    for (size_t i = 0; i < record->count; i++) {
        CLEANUP(json_value)
        struct json_value *one = json_value_parse(record->text.text + record->starts[i],
                                                  record->bytes[i], "element", NULL);
        fuzz_require(one, "an element cannot be parsed", "");
        CLEANUP_MEMORY char *alone = write_json(one);
        CLEANUP_MEMORY char *inside = write_json(json_value_at(items, i));
        fuzz_require(strcmp(alone, inside) == 0, "another element", alone);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct record whole, pieces; /* large */
    struct run one, many;
    if (size < 2)
        return 0;
    enum json_split_kind kind = data[0] & 1 ? SPLIT_WATCH : SPLIT_LIST;
    CLEANUP_MEMORY char *text = fuzz_text(data + 2, size - 2);
    run(kind, text, size - 2, 0, &whole, &one);
    run(kind, text, size - 2, data[1] + 1u, &pieces, &many);
    fuzz_require(one.result == many.result, "pieces end otherwise", many.err.text);
    fuzz_require(strcmp(text_buffer_text(&whole.text), text_buffer_text(&pieces.text)) == 0,
                 "pieces give other objects", text_buffer_text(&pieces.text));
    if (one.result == 0 && kind == SPLIT_LIST)
        compare_with_tree(text, size - 2, &whole);
    text_buffer_done(&whole.text);
    text_buffer_done(&pieces.text);
    return 0;
}
