/* SPDX-License-Identifier: MIT */
#include "base/yaml_document.h"
#include "base/yaml_writer.h"
#include "tests/support/comma_locale.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void build(struct json_value *root)
{
    json_add_text(root, "schema", "parplan.job/1");
    json_add_unsigned(root, "tp", 8);
    json_add_real(root, "share", 0.25, 3);
    json_add_boolean(root, "enabled", true);
    json_add_null(root, "offload");
    json_add_text(root, "nodes", "n[1-2]");
    json_add_text(root, "version", "12");
    struct json_value *list = json_add_array(root, "list");
    json_add_unsigned(list, NULL, 1);
    json_add_text(json_add_object(list, NULL), "a", "b");
    json_add_array(root, "nothing");
    json_add_object(root, "no keys");
}

static void writes_a_tree(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    assert_non_null(root);
    build(root);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000);
    locale_t comma = comma_locale_create();
    locale_t before = uselocale(comma);
    int result = yaml_value_write(root, &text, NULL);
    uselocale(before);
    if (comma)
        freelocale(comma);
    assert_int_equal(result, 0);
    assert_string_equal(text_buffer_text(&text), "schema: parplan.job/1\n"
                                                 "tp: 8\n"
                                                 "share: 0.25\n"
                                                 "enabled: true\n"
                                                 "offload: null\n"
                                                 "nodes: n[1-2]\n"
                                                 "version: \"12\"\n"
                                                 "list:\n"
                                                 "- 1\n"
                                                 "- a: b\n"
                                                 "nothing: []\n"
                                                 "no keys: {}\n");
}

static struct yaml_document *parse_back(const struct text_buffer *yaml)
{
    struct error_info err = {0};
    struct yaml_document *document =
        yaml_document_parse(text_buffer_text(yaml), yaml->length, "back", &err);
    if (!document)
        fail_msg("%s in:\n%s", err.text, text_buffer_text(yaml));
    return document;
}

static const char *const texts[] = {
    "plain",
    "",
    " ",
    " a",
    "a ",
    "a: b",
    "a #b",
    "#",
    "- a",
    "-",
    "?",
    ":",
    "[",
    "{",
    "]",
    "a,b",
    "'",
    "\"",
    "it's",
    "\\",
    "\\n",
    "line\nline",
    "\n",
    "a\n\nb\n",
    "\ttab",
    "a\tb",
    "\r\n",
    "true",
    "NO",
    "null",
    "~",
    "12",
    "0x1f",
    "1e5",
    ".5",
    "+1",
    "-1",
    "<<",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%",
    "@",
    "`",
    "---",
    "...",
    "é",
    "日本語",
    "🚀",
    "\x01",
    "\x1b[0m",
    "\x7f",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\xef\xbf\xbf",
    "a  b",
    "a long text that goes well past the eighty columns at which writers of YAML fold lines",
};

static void texts_come_back_the_same(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        json_add_text(root, texts[i], texts[i]);
    CLEANUP_DONE(text_buffer) struct text_buffer yaml;
    text_buffer_init(&yaml, 100000);
    struct error_info err = {0};
    assert_int_equal(yaml_value_write(root, &yaml, &err), 0);
    CLEANUP(yaml_document) struct yaml_document *document = parse_back(&yaml);
    const struct yaml_node *mapping = yaml_document_root(document);
    assert_int_equal(mapping->child_count, COUNT_OF(texts));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_string_equal(mapping->children[i]->key, texts[i]);
        assert_string_equal(mapping->children[i]->text, texts[i]);
    }
}

static void long_keys_come_back_the_same(void **state)
{
    (void)state;
    char key[2001];
    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    json_add_unsigned(root, key, 1);
    CLEANUP_DONE(text_buffer) struct text_buffer yaml;
    text_buffer_init(&yaml, 100000);
    struct error_info err = {0};
    assert_int_equal(yaml_value_write(root, &yaml, &err), 0);
    CLEANUP(yaml_document) struct yaml_document *document = parse_back(&yaml);
    assert_non_null(yaml_node_get(yaml_document_root(document), key));
}

static void reports_failure(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 10);
    assert_int_equal(yaml_value_write(NULL, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    build(root);
    assert_int_equal(yaml_value_write(root, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
}

static int build_and_write(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    build(root);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 100000);
    return yaml_value_write(root, &text, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(build_and_write, NULL);
}

static void writes_single_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *written;
    } cases[] = {
        {"h100-sxm", "h100-sxm"},
        {"fabric device with an active port", "fabric device with an active port"},
        {"a/b_c.d(e)=f+g", "a/b_c.d(e)=f+g"},
        {"", "\"\""},
        {"12", "\"12\""},
        {"yes", "\"yes\""},
        {"-", "\"-\""},
        {"n[1-2]", "\"n[1-2]\""},
        {"a: b", "\"a: b\""},
        {"a, b", "\"a, b\""},
        {"a #b", "\"a #b\""},
        {"a  b", "\"a  b\""},
        {"a ", "\"a \""},
        {" a", "\" a\""},
        {"(a)", "\"(a)\""},
        {"say \"x\" \\", "\"say \\\"x\\\" \\\\\""},
        {"a\nb", "\"a\\u000ab\""},
        {"caf\xc3\xa9", "\"caf\\u00e9\""},
        {"\xf0\x9f\x98\x80", "\"\\U0001f600\""},
        {"\xff\xc3", "\"\?\?\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        text_buffer_add_text(&text, "[{k: ");
        yaml_text_write(cases[i].text, &text);
        text_buffer_add_text(&text, "}]");
        if (text_buffer_failed(&text))
            return; /* no memory left, in the torture */
        assert_string_equal(strndupa(text_buffer_text(&text) + 5, text.length - 7),
                            cases[i].written);
        CLEANUP(yaml_document) struct yaml_document *document = parse_back(&text);
        const struct yaml_node *value =
            yaml_node_get(yaml_document_root(document)->children[0], "k");
        if (cases[i].text[0] != '\xff')
            assert_string_equal(value->text, cases[i].text);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_a_tree),
    cmocka_unit_test(texts_come_back_the_same),
    cmocka_unit_test(long_keys_come_back_the_same),
    cmocka_unit_test(reports_failure),
    cmocka_unit_test(fails_cleanly),
    cmocka_unit_test(writes_single_texts),
};

int main(void) { return unit_test_main("base/yaml_writer", tests, COUNT_OF(tests)); }
