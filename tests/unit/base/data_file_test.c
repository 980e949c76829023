/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "base/text_file.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_what_was_compiled_in(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes = 0;
    const char *text = data_file_text("published_runs.csv", &bytes, &err);
    assert_true(text && err.kind == ERROR_NONE);
    assert_true(bytes > 0);
    assert_int_equal(strlen(text), bytes); /* the NUL behind it */
    assert_int_equal(text[bytes - 1], '\n');
    assert_ptr_equal(data_file_text("published_runs.csv", &bytes, &err), text);
}

static const char *const yaml_files[] = {
    "common/planner/data/efficiencies.yaml",    "common/planner/data/mfu_references.yaml",
    "common/topology/data/gpus.yaml",           "common/topology/data/node_presets.yaml",
    "common/validation/data/publications.yaml", "common/workload/data/frameworks.yaml",
    "common/workload/data/launch_keys.yaml",    "common/workload/data/models.yaml",
};

/* Texts of scalars and keys; NULL on both sides is the same. */
static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static void expect_same(const struct yaml_node *left, const struct yaml_node *right)
{
    if (left->kind != right->kind || left->quoted != right->quoted || left->line != right->line ||
        !same_text(left->key, right->key) || !same_text(left->text, right->text) ||
        left->position != right->position || left->child_count != right->child_count)
        fail_msg("%s:%u: another value", yaml_document_source(left->document), left->line);
    for (size_t i = 0; i < left->child_count; i++)
        expect_same(left->children[i], right->children[i]);
}

/* What was compiled in is what libyaml reads, line for line. */
static void has_the_documents_of_the_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(yaml_files); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        size_t bytes;
        CLEANUP_MEMORY char *text = text_file_read(yaml_files[i], YAML_MAXIMUM_BYTES, &bytes, &err);
        CLEANUP(yaml_document)
        struct yaml_document *file =
            text ? yaml_document_parse(text, bytes, yaml_files[i], &err) : NULL;
        CLEANUP(yaml_document)
        struct yaml_document *ours =
            file ? data_file_open(strrchr(yaml_files[i], '/') + 1, &err) : NULL;
        if (!ours)
            fail_msg("%s", err.text);
        expect_same(yaml_document_root(file), yaml_document_root(ours));
    }
}

static void knows_nothing_else(void **state)
{
    (void)state;
    static const char *const names[] = {"absent.yaml", ""};
    size_t bytes = 7;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(data_file_text(names[i], &bytes, &err));
        assert_non_null(strstr(err.text, "was not compiled in"));
        err.kind = ERROR_NONE;
        assert_null(data_file_open(names[i], &err));
        assert_int_not_equal(err.kind, ERROR_NONE);
    }
    assert_int_equal(bytes, 7);
}

static int open_one(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open("gpus.yaml", err);
    return document ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(open_one, NULL);
}

/* "one text", as gzip -9n packs it, and two bytes behind it */
static const unsigned char packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcf, 0x4b, 0x55, 0x28,
    0x49, 0xad, 0x28, 0x01, 0x00, 0xf0, 0x93, 0x57, 0x34, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void unpacks_what_fits_exactly(void **state)
{
    (void)state;
    char text[9] = "-";
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 8), 0);
    assert_memory_equal(text, "one text", 8);
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 7), -1);
    assert_int_equal(data_file_unpack(packed, sizeof(packed), text, 9), -1);
}

static void refuses_what_is_no_gzip(void **state)
{
    (void)state;
    unsigned char damaged[sizeof(packed)];
    char text[8];
    for (size_t bytes = 0; bytes + 2 < sizeof(packed); bytes++)
        assert_int_equal(data_file_unpack(packed, bytes, text, sizeof(text)), -1);
    memcpy(damaged, packed, sizeof(packed));
    damaged[sizeof(packed) - 10] ^= 1; /* the check sum */
    assert_int_equal(data_file_unpack(damaged, sizeof(damaged), text, sizeof(text)), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_compiled_in), cmocka_unit_test(has_the_documents_of_the_files),
    cmocka_unit_test(knows_nothing_else),         cmocka_unit_test(fails_cleanly_without_memory),
    cmocka_unit_test(unpacks_what_fits_exactly),  cmocka_unit_test(refuses_what_is_no_gzip),
};

int main(void) { return unit_test_main("base/data_file", tests, COUNT_OF(tests)); }
