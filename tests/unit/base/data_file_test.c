/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_what_was_compiled_in(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = data_file_read("gpus.yaml", &bytes, &err);
    assert_true(text && err.kind == ERROR_NONE);
    assert_true(bytes > 0);
    assert_int_equal(strlen(text), bytes); /* the NUL behind it */
    assert_int_equal(text[bytes - 1], '\n');
    assert_non_null(strstr(text, "schema: parplan.gpus/1\n"));
}

static void knows_nothing_else(void **state)
{
    (void)state;
    static const char *const names[] = {"absent.yaml", ""};
    size_t bytes = 7;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(data_file_read(names[i], &bytes, &err));
        assert_non_null(strstr(err.text, "was not compiled in"));
    }
    assert_int_equal(bytes, 7);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_compiled_in),
    cmocka_unit_test(knows_nothing_else),
};

int main(void) { return unit_test_main("base/data_file", tests, COUNT_OF(tests)); }
