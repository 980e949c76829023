/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "base/yaml_document.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct yaml_document *parse(const char *text, struct error_info *err)
{
    return yaml_document_parse(text, strlen(text), "job.yaml", err);
}

static const char job[] = "# a job\n"
                          "schema: parplan.job/1\n"
                          "tp: 8\n"
                          "quoted: \"8\"\n"
                          "null: ~\n"
                          "empty:\n"
                          "policy:\n"
                          "  partitions:\n"
                          "    - {name: 'a b', nodes: \"n[1-2]\"}\n"
                          "    - name: c\n"
                          "      text: |\n"
                          "        two\n"
                          "        lines\n"
                          "list: [1, [2, 3], {}]\n";

static void keeps_order_keys_and_lines(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(yaml_document) struct yaml_document *document = parse(job, &err);
    if (!document)
        fail_msg("%s", err.text);
    const struct yaml_node *root = yaml_document_root(document);
    assert_string_equal(yaml_document_source(document), "job.yaml");
    assert_int_equal(root->kind, YAML_MAPPING);
    assert_int_equal(root->child_count, 7);
    assert_null(root->parent);
    assert_null(root->key);
    static const struct {
        const char *key, *text;
        unsigned line;
    } scalars[] = {{"schema", "parplan.job/1", 2},
                   {"tp", "8", 3},
                   {"quoted", "8", 4},
                   {"null", "~", 5},
                   {"empty", "", 6}};
    for (size_t i = 0; i < COUNT_OF(scalars); i++) {
        const struct yaml_node *node = root->children[i];
        assert_ptr_equal(node, yaml_node_get(root, scalars[i].key));
        assert_int_equal(node->kind, YAML_SCALAR);
        assert_string_equal(node->key, scalars[i].key);
        assert_string_equal(node->text, scalars[i].text);
        assert_int_equal(node->line, scalars[i].line);
        assert_int_equal(node->position, i);
        assert_ptr_equal(node->parent, root);
        assert_ptr_equal(node->document, document);
        assert_int_equal(node->quoted, strcmp(node->key, "quoted") == 0);
    }
    assert_null(yaml_node_get(root, "absent"));
    assert_null(yaml_node_get(root->children[0], "x"));
}

static void keeps_nested_collections(void **state)
{
    (void)state;
    CLEANUP(yaml_document) struct yaml_document *document = parse(job, NULL);
    assert_non_null(document);
    const struct yaml_node *root = yaml_document_root(document);
    const struct yaml_node *partitions = yaml_node_get(yaml_node_get(root, "policy"), "partitions");
    assert_int_equal(partitions->kind, YAML_SEQUENCE);
    assert_int_equal(partitions->line, 8);
    assert_int_equal(partitions->child_count, 2);
    assert_int_equal(partitions->children[1]->line, 10);
    assert_int_equal(partitions->children[1]->position, 1);
    assert_string_equal(yaml_node_get(partitions->children[0], "name")->text, "a b");
    assert_string_equal(yaml_node_get(partitions->children[1], "text")->text, "two\nlines\n");
    const struct yaml_node *list = yaml_node_get(root, "list");
    assert_int_equal(list->child_count, 3);
    assert_int_equal(list->children[1]->child_count, 2);
    assert_int_equal(list->children[2]->kind, YAML_MAPPING);
    assert_int_equal(list->children[2]->child_count, 0);
}

static void errors_name_the_place(void **state)
{
    (void)state;
    CLEANUP(yaml_document) struct yaml_document *document = parse(job, NULL);
    assert_non_null(document);
    const struct yaml_node *root = yaml_document_root(document);
    const struct yaml_node *list = yaml_node_get(root, "list");
    const struct yaml_node *partitions = yaml_node_get(yaml_node_get(root, "policy"), "partitions");
    struct error_info err = {0};
    assert_int_equal(yaml_node_error(root, &err, "%s", "why"), -1);
    assert_string_equal(err.text, "job.yaml:2: why");
    yaml_node_error(root->children[1], &err, "%s", "why");
    assert_string_equal(err.text, "job.yaml:3: tp: why");
    yaml_node_error(list->children[1]->children[0], &err, "%d", 7);
    assert_string_equal(err.text, "job.yaml:14: list[1][0]: 7");
    yaml_node_error(yaml_node_get(partitions->children[0], "nodes"), &err, "why");
    assert_string_equal(err.text, "job.yaml:9: policy.partitions[0].nodes: why");
    assert_int_equal(yaml_node_error(root, NULL, "why"), -1);
}

static void cuts_paths_that_are_too_long(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 10000);
    for (unsigned i = 0; i < 10; i++)
        text_buffer_add(&text, "{%0100u: ", i);
    text_buffer_add_text(&text, "x");
    text_buffer_add_repeated(&text, '}', 10);
    CLEANUP(yaml_document)
    struct yaml_document *document = parse(text_buffer_text(&text), NULL);
    assert_non_null(document);
    const struct yaml_node *node = yaml_document_root(document);
    while (node->child_count > 0)
        node = node->children[0];
    struct error_info err = {0};
    yaml_node_error(node, &err, "why");
    assert_string_equal(err.text + strlen(err.text) - 5, ": why");
    assert_int_equal(strlen(err.text), strlen("job.yaml:1: : why") + 511);
}

struct refusal {
    const char *text;
    size_t bytes; /* 0: up to the NUL */
    const char *error;
};

#define DEEP_33 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

static const struct refusal refusals[] = {
    {"", 0, "job.yaml: the file is empty"},
    {"# only words\n", 0, "job.yaml: the file is empty"},
    {"a: 1\nb: [1,\n", 0,
     "job.yaml:3: not valid YAML: while parsing a flow node, did not find expected node content"},
    {"a: 1\n b: 2\n", 0,
     "job.yaml:2: not valid YAML: mapping values are not allowed in this context"},
    {"a: 'x\n", 0,
     "job.yaml:2: not valid YAML: while scanning a quoted scalar, found unexpected end of stream"},
    {"a:\n\t- 1\n", 0,
     "job.yaml:2: not valid YAML: while scanning for the next token, found character that cannot "
     "start any token; a tab indents here, use spaces"},
    {"a:\n  b: 1\n\tc: 2\n", 0,
     "job.yaml:3: not valid YAML: while scanning a plain scalar, found a tab character that "
     "violates indentation; a tab indents here, use spaces"},
    {"a: @x\n", 0,
     "job.yaml:1: not valid YAML: while scanning for the next token, found character that cannot "
     "start any token"},
    {"a: 1\nb: 2\na: 3\n", 0, "job.yaml:3: a: the key stands twice, first in line 1"},
    {"x: [{b: 1,\n b: 2}]\n", 0, "job.yaml:2: x[0].b: the key stands twice, first in line 1"},
    {"a: &x 1\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: &x [1]\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: &x {b: 1}\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"&x a: 1\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: 1\nb: *a\n", 0, "job.yaml:2: aliases are not supported; write the value out"},
    {"a: !!str 1\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: ! 1\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: !x [1]\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"a: !x {b: 1}\n", 0, "job.yaml:1: anchors and tags are not supported; write the value out"},
    {"? [a]\n: 1\n", 0, "job.yaml:1: a key must be plain text"},
    {"? {a: b}\n: 1\n", 0, "job.yaml:1: a key must be plain text"},
    {"a: 1\n---\nb: 2\n", 0, "job.yaml:2: a second document starts"},
    {"a: \"x\\0y\"\n", 0, "job.yaml:1: a text holds a NUL character"},
    {"\"\\0\": 1\n", 0, "job.yaml:1: a text holds a NUL character"},
    {"a: 1\nb: \0", 9, "job.yaml:2: not valid YAML: control characters are not allowed"},
    {"a: 1\n\nb: \x01\n", 0, "job.yaml:3: not valid YAML: control characters are not allowed"},
    {"a: \xff\n", 0, "job.yaml:1: not valid YAML: invalid leading UTF-8 octet"},
    {"a: \xc3\n", 0, "job.yaml:1: not valid YAML: invalid trailing UTF-8 octet"},
    {"\xff\xfe"
     "a\0",
     4, "job.yaml:1: not valid YAML: invalid leading UTF-8 octet"},
    {DEEP_33, 0, "job.yaml:1: nested deeper than 32 levels"},
    {"x", YAML_MAXIMUM_BYTES + 1,
     "job.yaml: 67108865 bytes are too many; at most 67108864 are possible"},
};

static void refuses_with_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct refusal *row = &refusals[i];
        size_t bytes = row->bytes ? row->bytes : strlen(row->text);
        struct error_info err = {0};
        struct yaml_document *document = yaml_document_parse(row->text, bytes, "job.yaml", &err);
        yaml_document_free(document);
        assert_null(document);
        assert_string_equal(err.text, row->error);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_null(yaml_document_parse(row->text, bytes, "job.yaml", NULL));
    }
    yaml_document_free(NULL);
}

static void reads_what_is_allowed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a",
        "--- a\n",
        "%YAML 1.1\n---\na: 1\n",
        "\xef\xbb\xbf# with a byte order mark\na: 1\n",
        "a: 1\r\nb: 2\r\n",
        "a: 1\n...\n",
        "'quoted': 1\n",
        "<<: {a: 1}\n",
        "- - - a\n",
        "{a, b}\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {0};
        CLEANUP(yaml_document) struct yaml_document *document = parse(texts[i], &err);
        if (!document)
            fail_msg("%s: %s", texts[i], err.text);
    }
}

static void finds_repeated_keys_in_long_mappings(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000000);
    for (unsigned i = 0; i < 10000; i++)
        text_buffer_add(&text, "key%u: %u\n", i, i);
    struct error_info err = {0};
    CLEANUP(yaml_document)
    struct yaml_document *document = parse(text_buffer_text(&text), &err);
    if (!document)
        fail_msg("%s", err.text);
    assert_int_equal(yaml_document_root(document)->child_count, 10000);
    text_buffer_add_text(&text, "key17: again\n");
    assert_null(parse(text_buffer_text(&text), &err));
    assert_string_equal(err.text, "job.yaml:10001: key17: the key stands twice, first in line 18");
}

static void refuses_too_many_nodes(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    size_t bytes = 2 * YAML_MAXIMUM_NODES + 2;
    char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t i = 0; i < bytes; i++)
        text[i] = i % 2 ? '1' : ',';
    text[0] = '[';
    struct error_info err = {0};
    struct yaml_document *document = yaml_document_parse(text, bytes, "job.yaml", &err);
    free(text);
    assert_null(document);
    assert_string_equal(err.text, "job.yaml:1: the file has too many values");
}

static void checks_the_schema(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"schema: parplan.job/1\n", NULL},
        {"tp: 8\nschema: parplan.job/1\n", NULL},
        {"tp: 8\n", "job.yaml:1: no schema; add the line 'schema: parplan.job/1'"},
        {"[1]\n", "job.yaml:1: not a mapping; the file starts with 'schema: parplan.job/1'"},
        {"schema: [1]\n", "job.yaml:1: schema: not a text; write 'schema: parplan.job/1'"},
        {"a: 1\nschema: parplan.job/2\n",
         "job.yaml:2: schema: 'parplan.job/2' is not supported here; write 'schema: "
         "parplan.job/1'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        CLEANUP(yaml_document) struct yaml_document *document = parse(rows[i].text, &err);
        assert_non_null(document);
        assert_int_equal(yaml_document_check_schema(document, "parplan.job/1", &err),
                         rows[i].error ? -1 : 0);
        assert_string_equal(err.text, rows[i].error ? rows[i].error : "");
    }
}

static int parse_scenario(void *context, struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = parse(context, err);
    return document ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 10000);
    text_buffer_add_text(&text, job);
    for (unsigned i = 0; i < 40; i++)
        text_buffer_add(&text, "key%u: [%u]\n", i, i);
    unit_test_expect_clean_failures(parse_scenario, (void *)text_buffer_text(&text));
}

/* a: 1 / (empty) / b: ["x"] */
static const char events[] = "{:a\0:1\0\n\n:b\0[\"x\0}}";

static int replay(void *context, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_replay(events, "a.yaml", err);
    if (!document)
        return -1;
    const struct yaml_node *root = yaml_document_root(document);
    const struct yaml_node *first = yaml_node_get(root, "a"), *list = yaml_node_get(root, "b");
    assert_true(root->kind == YAML_MAPPING && root->child_count == 2);
    assert_true(first && first->kind == YAML_SCALAR && first->line == 1 && !first->quoted);
    assert_string_equal(first->text, "1");
    assert_true(first->text > events && first->text < events + sizeof(events));
    assert_true(list && list->kind == YAML_SEQUENCE && list->line == 3 && list->child_count == 1);
    assert_true(list->children[0]->quoted && !list->children[0]->key);
    assert_string_equal(list->children[0]->text, "x");
    assert_int_equal(yaml_node_error(list, context, "no"), -1);
    return 0;
}

static void replays_what_the_build_parsed(void **state)
{
    (void)state;
    struct error_info err = {0};
    unit_test_expect_clean_failures(replay, &err);
    assert_string_equal(err.text, "a.yaml:3: b: no");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_order_keys_and_lines),
    cmocka_unit_test(keeps_nested_collections),
    cmocka_unit_test(errors_name_the_place),
    cmocka_unit_test(cuts_paths_that_are_too_long),
    cmocka_unit_test(refuses_with_the_line),
    cmocka_unit_test(reads_what_is_allowed),
    cmocka_unit_test(finds_repeated_keys_in_long_mappings),
    cmocka_unit_test(refuses_too_many_nodes),
    cmocka_unit_test(checks_the_schema),
    cmocka_unit_test(fails_cleanly),
    cmocka_unit_test(replays_what_the_build_parsed),
};

int main(void) { return unit_test_main("base/yaml_document", tests, COUNT_OF(tests)); }
