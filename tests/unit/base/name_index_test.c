/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/name_index.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_what_was_added(void **state)
{
    (void)state;
    CLEANUP(name_index) struct name_index *index = name_index_create();
    assert_non_null(index);
    assert_true(name_index_find(index, "a") == NAME_INDEX_NONE);
    char name[16] = "a";
    assert_int_equal(name_index_add(index, name, 7), 0);
    name[0] = 'b'; /* the index keeps its own copy */
    assert_int_equal(name_index_find(index, "a"), 7);
    assert_true(name_index_find(index, "b") == NAME_INDEX_NONE);
    assert_int_equal(name_index_add(index, "a", 8), 1);
    assert_int_equal(name_index_find(index, "a"), 7);
    assert_int_equal(name_index_add(index, "", 9), 0);
    assert_int_equal(name_index_find(index, ""), 9);
    name_index_free(NULL);
}

static void holds_many_names(void **state)
{
    (void)state;
    CLEANUP(name_index) struct name_index *index = name_index_create();
    assert_non_null(index);
    char name[16];
    for (size_t i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "node-%zu", i);
        assert_int_equal(name_index_add(index, name, i), 0);
    }
    for (size_t i = 0; i < 40000; i++) {
        snprintf(name, sizeof(name), "node-%zu", i);
        assert_true(name_index_find(index, name) == (i < 20000 ? i : NAME_INDEX_NONE));
    }
}

/* Test vectors of FNV-1a's authors (isthe.com/chongo/tech/comp/fnv). */
static void hashes_as_fnv_1a(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t want;
    } rows[] = {
        {"", UINT64_C(0xcbf29ce484222325)},
        {"a", UINT64_C(0xaf63dc4c8601ec8c)},
        {"foobar", UINT64_C(0x85944171f73967e8)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(name_hash_add(NAME_HASH_START, rows[i].text, strlen(rows[i].text)) ==
                    rows[i].want);
    assert_true(name_hash_add(name_hash_add(NAME_HASH_START, "foo", 3), "bar", 3) == rows[2].want);
}

static int add_many(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(name_index) struct name_index *index = name_index_create();
    if (!index)
        return error_set_memory(err);
    for (size_t i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%zu", i);
        if (name_index_add(index, name, i) < 0)
            return error_set_memory(err);
    }
    return 0;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(add_many, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_added),
    cmocka_unit_test(holds_many_names),
    cmocka_unit_test(hashes_as_fnv_1a),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/name_index", tests, COUNT_OF(tests)); }
