/* SPDX-License-Identifier: MIT */
#include "cli/inputs/child_output.h"
#include "tests/support/unit_test.h"

#include <string.h>
#include <time.h>

static void reads_what_a_program_writes(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *want;
    } rows[] = {
        {"echo hello; echo noise >&2", "hello\n"},
        {"true", ""},
        {"cat", ""}, /* stdin is empty */
        {"exec 1>&-; exec 2>&-; sleep 0.1", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const char *const arguments[] = {"sh", "-c", rows[i].script, NULL};
        size_t bytes = 99;
        CLEANUP_MEMORY char *text = child_output_read(arguments, 1000, 10, &bytes, &err);
        if (!text) {
            assert_int_equal(err.kind, ERROR_MEMORY);
            continue;
        }
        assert_string_equal(text, rows[i].want);
        assert_int_equal(bytes, strlen(rows[i].want));
    }
}

static void says_what_went_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *program, *script;
        const char *want;
    } rows[] = {
        {"sh", "echo no such cluster >&2; echo more >&2; exit 3",
         "sh: exit status 3: no such cluster"},
        {"sh", "exit 1", "sh: exit status 1"},
        {"sh", "kill -9 $$", "sh: killed by signal 9"},
        {"sh", "yes", "sh: more than 1000 bytes of output"},
        {"sh", "sleep 60 & sleep 60", "sh: no answer within 1 s"},
        {"sh", "exec 1>&- 2>&-; sleep 60", "sh: killed by signal 9"},
        {"/nonexistent/program", "", "cannot run /nonexistent/program: No such file or directory"},
    };
    time_t before = time(NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const char *const arguments[] = {rows[i].program, "-c", rows[i].script, NULL};
        size_t bytes = 0;
        CLEANUP_MEMORY char *text = child_output_read(arguments, 1000, 1, &bytes, &err);
        assert_null(text);
        assert_int_equal(err.kind, ERROR_SYSTEM);
        if (strncmp(err.text, rows[i].want, strlen(rows[i].want)) != 0 &&
            !strstr(err.text, "more than 1000 bytes"))
            fail_msg("'%s' is not '%s'", err.text, rows[i].want);
    }
    assert_true(time(NULL) - before < 20);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_what_a_program_writes),
    cmocka_unit_test(says_what_went_wrong),
};

int main(void) { return unit_test_main("cli/child_output", tests, COUNT_OF(tests)); }
