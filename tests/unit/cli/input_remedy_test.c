/* SPDX-License-Identifier: MIT */
#include "cli/inputs/input_remedy.h"
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"

#include <limits.h>
#include <string.h>

static void adds_where_nothing_was_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum error_kind kind;
        const char *text, *want;
    } rows[] = {
        {"none", ERROR_INPUT, "none: No such file", "none: No such file; do it"},
        {"empty", ERROR_INPUT, "empty", "empty; do it"},
        {"full", ERROR_INPUT, "full:3: unknown key", "full:3: unknown key"},
        {"none", ERROR_INPUT, "none; see there", "none; see there"},
        {"none", ERROR_SYSTEM, "I/O error", "I/O error"},
        {"none", ERROR_MEMORY, "out of memory", "out of memory"},
    };
    char root[FILE_TREE_ROOT_BYTES], path[PATH_MAX];
    file_tree_create(root);
    file_tree_write(root, "", "empty");
    file_tree_write(root, "x\n", "full");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = rows[i].kind};
        snprintf(err.text, sizeof(err.text), "%s", rows[i].text);
        snprintf(path, sizeof(path), "%s/%s", root, rows[i].name);
        assert_int_equal(input_remedy_add(path, "do it", &err), -1);
        assert_string_equal(err.text, rows[i].want);
    }
    assert_int_equal(input_remedy_add("none", "do it", NULL), -1);
}

static void stays_within_its_room(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_INPUT};
    memset(err.text, 'x', sizeof(err.text) - 2);
    input_remedy_add("none", "do it", &err);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_where_nothing_was_read),
        cmocka_unit_test(stays_within_its_room),
    };
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/input_remedy", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
