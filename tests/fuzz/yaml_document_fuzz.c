/* SPDX-License-Identifier: MIT */
#include "base/yaml_document.h"
#include "base/yaml_fields.h"
#include "base/yaml_writer.h"
#include "tests/fuzz/fuzz_target.h"

/* The tree as JSON values, all scalars as texts. */
static void add_node(struct json_value *parent, const char *key, const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR) {
        json_add_text(parent, key, node->text);
        return;
    }
    struct json_value *value =
        node->kind == YAML_SEQUENCE ? json_add_array(parent, key) : json_add_object(parent, key);
    for (size_t i = 0; i < node->child_count; i++)
        add_node(value, node->children[i]->key, node->children[i]);
}

static void require_same(const struct yaml_node *left, const struct yaml_node *right)
{
    fuzz_require(left->kind == right->kind, "another kind came back", "");
    fuzz_require(left->child_count == right->child_count, "another count came back", "");
    if (left->kind == YAML_SCALAR)
        fuzz_require(strcmp(left->text, right->text) == 0, "another text came back", left->text);
    if (left->key)
        fuzz_require(strcmp(left->key, right->key) == 0, "another key came back", left->key);
    for (size_t i = 0; i < left->child_count; i++)
        require_same(left->children[i], right->children[i]);
}

static void require_links(const struct yaml_node *node)
{
    fuzz_require(node->line > 0, "a node has no line", "");
    for (size_t i = 0; i < node->child_count; i++) {
        const struct yaml_node *child = node->children[i];
        fuzz_require(child->parent == node && child->position == i, "a link is wrong", "");
        fuzz_require((child->key != NULL) == (node->kind == YAML_MAPPING), "a key is wrong", "");
        if (child->key)
            fuzz_require(yaml_node_get(node, child->key) == child, "a key finds another", "");
        require_links(child);
    }
    struct error_info err = {.kind = ERROR_NONE};
    if (node->child_count == 0) {
        yaml_node_error(node, &err, "why");
        fuzz_require_error(&err);
    }
}

static void check_round_trip(const struct yaml_node *root)
{
    CLEANUP(json_value) struct json_value *tree = json_value_create_array();
    add_node(tree, NULL, root);
    CLEANUP_DONE(text_buffer) struct text_buffer written;
    text_buffer_init(&written, (size_t)256 << 20);
    struct error_info err = {.kind = ERROR_NONE};
    fuzz_require(yaml_value_write(json_value_at(tree, 0), &written, &err) == 0, "writing failed",
                 err.text);
    CLEANUP(yaml_document)
    struct yaml_document *back =
        yaml_document_parse(text_buffer_text(&written), written.length, "back", &err);
    fuzz_require(back, err.text, text_buffer_text(&written));
    require_same(root, yaml_document_root(back));
}

struct settings {
    const char *name;
    uint64_t tp, memory;
    double share;
    bool enabled;
    unsigned choice;
    const struct yaml_node *node;
};

static void check_fields(const struct yaml_node *root)
{
    static const char *const choices[] = {"none", "zero1", NULL};
    static const struct yaml_field fields[] = {
        {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct settings, name)},
        {.key = "tp",
         .type = YAML_UNSIGNED,
         .offset = offsetof(struct settings, tp),
         .minimum = 1,
         .maximum = 1024},
        {.key = "memory", .type = YAML_BYTES, .offset = offsetof(struct settings, memory)},
        {.key = "share",
         .type = YAML_REAL,
         .offset = offsetof(struct settings, share),
         .maximum = 1},
        {.key = "enabled", .type = YAML_BOOLEAN, .offset = offsetof(struct settings, enabled)},
        {.key = "choice",
         .type = YAML_CHOICE,
         .offset = offsetof(struct settings, choice),
         .choices = choices},
        {.key = "node", .type = YAML_NODE, .offset = offsetof(struct settings, node)},
    };
    struct settings settings = {.tp = 1};
    struct error_info err = {.kind = ERROR_NONE};
    if (yaml_fields_load(root, fields, COUNT_OF(fields), &settings, &err) < 0)
        fuzz_require_error(&err);
    fuzz_require(settings.tp >= 1 && settings.tp <= 1024 && settings.share >= 0 &&
                     settings.share <= 1 && settings.choice < 2,
                 "a value is out of its range", err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(yaml_document)
    struct yaml_document *document =
        yaml_document_parse((const char *)data, size, "fuzz.yaml", &err);
    if (!document) {
        fuzz_require_error(&err);
        return 0;
    }
    const struct yaml_node *root = yaml_document_root(document);
    require_links(root);
    check_fields(root);
    check_round_trip(root);
    if (yaml_document_check_schema(document, "parplan.job/1", &err) < 0)
        fuzz_require_error(&err);
    return 0;
}
