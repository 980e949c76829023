/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_what_was_compiled_in(void **state)
{
    (void)state;
    const struct data_file *file = data_file_find("gpus.yaml");
    assert_non_null(file);
    assert_string_equal(file->name, "gpus.yaml");
    assert_true(file->bytes > 0);
    assert_int_equal(strlen(file->text), file->bytes); /* the NUL behind it */
    assert_int_equal(file->text[file->bytes - 1], '\n');
}

static void knows_nothing_else(void **state)
{
    (void)state;
    assert_null(data_file_find("absent.yaml"));
    assert_null(data_file_find(""));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_compiled_in),
    cmocka_unit_test(knows_nothing_else),
};

int main(void) { return unit_test_main("base/data_file", tests, COUNT_OF(tests)); }
