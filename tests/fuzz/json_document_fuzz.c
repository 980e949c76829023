/* SPDX-License-Identifier: MIT */
#include "base/json_document.h"
#include "base/yaml_document.h"
#include "base/yaml_writer.h"
#include "tests/fuzz/fuzz_target.h"

#define WRITTEN_MAXIMUM ((size_t)256 << 20)

static char *write_json(const struct json_value *value, enum json_style style)
{
    CLEANUP_DONE(text_buffer) struct text_buffer written;
    text_buffer_init(&written, WRITTEN_MAXIMUM);
    fuzz_require(json_value_write(value, style, &written, NULL) == 0, "writing failed", "");
    return text_buffer_take(&written);
}

/* What is written is read again, to the same tree. */
static void check_json(const struct json_value *value, enum json_style style)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *once = write_json(value, style);
    CLEANUP(json_value)
    struct json_value *back = json_value_parse(once, strlen(once), "back", &err);
    fuzz_require(back, err.text, once);
    CLEANUP_MEMORY char *twice = write_json(back, style);
    fuzz_require(strcmp(once, twice) == 0, "another text came back", once);
}

static void require_same(const struct json_value *value, const struct yaml_node *node)
{
    enum json_kind kind = json_value_kind(value);
    bool is_collection = kind == JSON_ARRAY || kind == JSON_OBJECT;
    fuzz_require(is_collection == (node->kind != YAML_SCALAR), "another kind came back", "");
    if (kind == JSON_TEXT)
        fuzz_require(strcmp(json_value_text(value), node->text) == 0, "another text came back",
                     node->text);
    fuzz_require(json_value_count(value) == node->child_count, "another count came back", "");
    for (size_t i = 0; i < node->child_count; i++) {
        const struct json_value *child = json_value_at(value, i);
        if (kind == JSON_OBJECT)
            fuzz_require(strcmp(json_value_key(child), node->children[i]->key) == 0,
                         "another key came back", node->children[i]->key);
        require_same(child, node->children[i]);
    }
}

static void check_yaml(const struct json_value *value)
{
    CLEANUP_DONE(text_buffer) struct text_buffer written;
    text_buffer_init(&written, WRITTEN_MAXIMUM);
    struct error_info err = {.kind = ERROR_NONE};
    fuzz_require(yaml_value_write(value, &written, &err) == 0, "writing YAML failed", err.text);
    CLEANUP(yaml_document)
    struct yaml_document *back =
        yaml_document_parse(text_buffer_text(&written), written.length, "back", &err);
    fuzz_require(back, err.text, text_buffer_text(&written));
    require_same(value, yaml_document_root(back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(json_value)
    struct json_value *value = json_value_parse((const char *)data, size, "fuzz", &err);
    if (!value) {
        fuzz_require_error(&err);
        return 0;
    }
    check_json(value, JSON_STYLE_COMPACT);
    check_json(value, JSON_STYLE_PRETTY);
    check_yaml(value);
    return 0;
}
