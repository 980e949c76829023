/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "tests/support/unit_test.h"

#include <stdalign.h>
#include <string.h>

static void gives_zeroed_aligned_blocks(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    assert_non_null(arena);
    for (size_t bytes = 0; bytes < 5000; bytes += 7) {
        unsigned char *block = arena_allocate(arena, bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xff, bytes); /* must not show in a later block */
    }
}

static void large_blocks_do_not_end_the_chunk(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    assert_non_null(arena_allocate(arena, (size_t)4 << 20));
    char *first = arena_copy_text(arena, "first");
    assert_non_null(first);
    assert_non_null(arena_allocate(arena, (size_t)4 << 20));
    char *second = arena_copy_text(arena, "second");
    assert_ptr_equal(second, first + alignof(max_align_t));
    assert_string_equal(first, "first");
}

static void respects_its_maximum(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(100);
    assert_non_null(arena);
    assert_non_null(arena_allocate(arena, 64));
    assert_null(arena_allocate(arena, 64));
    assert_non_null(arena_allocate(arena, 32));
    assert_null(arena_allocate(arena, 1));
}

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(SIZE_MAX);
    assert_non_null(arena);
    assert_null(arena_allocate(arena, SIZE_MAX));
    assert_null(arena_allocate(arena, SIZE_MAX - 64));
    assert_null(arena_allocate_array(arena, SIZE_MAX / 2, 3));
    assert_null(arena_copy_bytes(arena, "", SIZE_MAX));
    arena_free(NULL);
}

static void copies_and_formats_texts(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    char *text = arena_copy_text(arena, "text");
    char *bytes = arena_copy_bytes(arena, "a\0b", 3);
    char *nothing = arena_copy_bytes(arena, NULL, 0);
    char *formatted = arena_format(arena, "%s-%d %g", "n", 12, 0.5);
    char *long_text = arena_format(arena, "%010000d", 7);
    assert_true(text && bytes && nothing && formatted && long_text);
    assert_string_equal(text, "text");
    assert_memory_equal(bytes, "a\0b", 4);
    assert_string_equal(nothing, "");
    assert_string_equal(formatted, "n-12 0.5");
    assert_int_equal(strlen(long_text), 10000);
}

static int fill(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!arena)
        return error_set_memory(err);
    for (size_t i = 0; i < 100; i++)
        if (!arena_format(arena, "name %zu", i) || !arena_allocate(arena, i * i))
            return error_set_memory(err);
    return 0;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(fill, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gives_zeroed_aligned_blocks),
    cmocka_unit_test(large_blocks_do_not_end_the_chunk),
    cmocka_unit_test(respects_its_maximum),
    cmocka_unit_test(refuses_sizes_that_overflow),
    cmocka_unit_test(copies_and_formats_texts),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/arena", tests, COUNT_OF(tests)); }
