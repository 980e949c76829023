/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void gives_zeroed_memory(void **state)
{
    (void)state;
    CLEANUP_MEMORY unsigned char *block = memory_allocate(1000);
    CLEANUP_MEMORY uint64_t *array = memory_allocate_array(100, sizeof(*array));
    assert_non_null(block);
    assert_non_null(array);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(array[i], 0);
}

static void nothing_is_no_failure(void **state)
{
    (void)state;
    CLEANUP_MEMORY void *block = memory_allocate(0);
    CLEANUP_MEMORY void *array = memory_allocate_array(0, 8);
    CLEANUP_MEMORY void *grown = memory_grow_array(NULL, 0, 0, 8);
    assert_non_null(block);
    assert_non_null(array);
    assert_non_null(grown);
    memory_free(NULL);
}

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *old = memory_copy_text("old");
    assert_non_null(old);
    assert_null(memory_allocate_array(SIZE_MAX / 2, 3));
    assert_null(memory_grow_array(old, 4, SIZE_MAX / 2, 3));
    assert_null(memory_copy_bytes("", SIZE_MAX));
    assert_string_equal(old, "old");
}

static void zeroes_what_an_array_grows_by(void **state)
{
    (void)state;
    unsigned *array = memory_grow_array(NULL, 0, 4, sizeof(*array));
    assert_non_null(array);
    for (unsigned i = 0; i < 4; i++)
        array[i] = i + 1;
    unsigned *grown = memory_grow_array(array, 4, 1000, sizeof(*grown));
    if (!grown)
        memory_free(array);
    assert_non_null(grown);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(grown[i], i < 4 ? i + 1 : 0);
    unsigned *shrunk = memory_grow_array(grown, 1000, 2, sizeof(*shrunk));
    assert_non_null(shrunk);
    assert_int_equal(shrunk[1], 2);
    memory_free(shrunk);
}

static void copies_texts_and_bytes(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *text = memory_copy_text("text");
    CLEANUP_MEMORY char *bytes = memory_copy_bytes("a\0b", 3);
    CLEANUP_MEMORY char *nothing = memory_copy_bytes(NULL, 0);
    assert_true(text && bytes && nothing);
    assert_string_equal(text, "text");
    assert_memory_equal(bytes, "a\0b", 4);
    assert_string_equal(nothing, "");
}

static void counts_and_fails_the_nth(void **state)
{
    (void)state;
#ifdef MEMORY_TORTURE
    unsigned long live = memory_torture_live();
    memory_torture_fail_at(2);
    void *first = memory_allocate(1);
    void *second = memory_allocate(1);
    void *third = memory_grow_array(NULL, 0, 1, 1);
    unsigned long count = memory_torture_count();
    memory_torture_fail_at(0);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(count, 3);
    assert_int_equal(memory_torture_live(), live + 2);
    void *grown = memory_grow_array(third, 1, 100, 1);
    assert_int_equal(memory_torture_live(), live + 2);
    memory_free(first);
    memory_free(grown ? grown : third);
    assert_int_equal(memory_torture_live(), live);
#else
    skip();
#endif
}

static void move_pointer_empties_the_variable(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *text = memory_copy_text("text");
    CLEANUP_MEMORY char *moved = move_pointer(text);
    assert_null(text);
    assert_non_null(moved);
    assert_string_equal(moved, "text");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gives_zeroed_memory),
    cmocka_unit_test(nothing_is_no_failure),
    cmocka_unit_test(refuses_sizes_that_overflow),
    cmocka_unit_test(zeroes_what_an_array_grows_by),
    cmocka_unit_test(copies_texts_and_bytes),
    cmocka_unit_test(counts_and_fails_the_nth),
    cmocka_unit_test(move_pointer_empties_the_variable),
};

int main(void) { return unit_test_main("base/memory", tests, COUNT_OF(tests)); }
