/* SPDX-License-Identifier: MIT */
#include "cli/command_options.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static const struct command_help plan_help = {
    .id = COMMAND_PLAN, .name = "parplan plan", .text = "Plans.", .example = "parplan plan"};
static const struct command_help map_help = {
    .id = COMMAND_MAP, .name = "parplan map", .text = "Maps.", .example = "parplan map"};

#define MAXIMUM_WORDS 8

/* words: a NULL-terminated list after the command's name. */
static int parse(struct command_options *options, const struct command_help *help,
                 const char *const *words, struct command_io *io, bool *help_wanted,
                 struct error_info *err)
{
    static char copies[MAXIMUM_WORDS + 1][128];
    char *argv[MAXIMUM_WORDS + 2] = {copies[0]};
    int argc = 1;
    snprintf(copies[0], sizeof(copies[0]), "command");
    for (; argc <= MAXIMUM_WORDS && words[argc - 1]; argc++) {
        snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc - 1]);
        argv[argc] = copies[argc];
    }
    return command_options_parse(options, help, argc, argv, io, help_wanted, err);
}

static void takes_options(void **state)
{
    (void)state;
    static const char *const words[] = {"--model=llama3-8b", "--plan", "tp=8", "--set",
                                        "global_batch=64",   "--top",  "3",    NULL};
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.style = {.width = 80}};
    bool help_wanted = true;
    CLEANUP_DONE(command_options) struct command_options options;
    assert_int_equal(parse(&options, &plan_help, words, &io, &help_wanted, &err), 0);
    assert_false(help_wanted);
    assert_string_equal(options.model, "llama3-8b");
    assert_int_equal(options.top, 3);
    assert_int_equal(options.format, FORMAT_TEXT);
    assert_int_equal(job_spec_number(options.job, JOB_TP, 0), 8);
    assert_int_equal(job_spec_number(options.job, JOB_GLOBAL_BATCH, 0), 64);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const struct command_help *help;
        const char *words[4];
        const char *want;
    } rows[] = {
        {&plan_help, {"--modle"}, "did you mean --model?"},
        {&plan_help, {"--quux"}, "unknown option --quux; `parplan plan --help`"},
        {&plan_help, {"--all"}, "`parplan plan` has no option --all"},
        {&map_help, {"--top", "2"}, "`parplan map` has no option --top"},
        {&plan_help, {"--top"}, "--top needs a value: --top K"},
        {&plan_help, {"--top", "1001"}, "--top"},
        {&plan_help, {"--explain=1"}, "--explain takes no value"},
        {&plan_help, {"--model="}, "the value is empty"},
        {&plan_help, {"--cluster", "a", "--cluster=b"}, "given twice, as a and as b"},
        {&plan_help, {"--format", "hostfile"}, "it writes text, json and yaml"},
        {&map_help, {"--format", "csv"}, "hostfile, rankfile and svg"},
        {&plan_help, {"--plan", "tp=8,tp=9"}, "--plan"},
        {&plan_help, {"--job", "/nonexistent"}, "/nonexistent"},
        {&plan_help, {"-x"}, "unknown option -x"},
        {&plan_help, {"word"}, "unexpected word word"},
        {&plan_help, {"--fo=json", "x"}, "unexpected word x"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct command_io io = {.style = {.width = 80}};
        bool help_wanted = false;
        struct command_options options;
        assert_int_equal(parse(&options, rows[i].help, rows[i].words, &io, &help_wanted, &err), -1);
        if (err.kind == ERROR_MEMORY)
            continue;
        assert_int_equal(err.kind, ERROR_INPUT);
        if (!strstr(err.text, rows[i].want))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].want);
        assert_null(strchr(err.text, '\n'));
    }
}

static void the_same_twice_is_fine(void **state)
{
    (void)state;
    static const char *const words[] = {"--cluster=a", "--cluster=a", "--for", "yaml", NULL};
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.style = {.width = 80}};
    bool help_wanted = false;
    CLEANUP_DONE(command_options) struct command_options options;
    assert_int_equal(parse(&options, &map_help, words, &io, &help_wanted, &err), 0);
    assert_string_equal(options.cluster, "a");
    assert_int_equal(options.format, FORMAT_YAML);
}

static void helps(void **state)
{
    (void)state;
    static const char *const words[] = {"--help", NULL};
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.style = {.width = 80}};
    bool help_wanted = false;
    CLEANUP_DONE(command_options) struct command_options options;
    text_buffer_init(&io.out, 1 << 20);
    assert_int_equal(parse(&options, &map_help, words, &io, &help_wanted, &err), 0);
    assert_true(help_wanted);
    assert_non_null(strstr(text_buffer_text(&io.out), "Maps."));
    assert_non_null(strstr(text_buffer_text(&io.out), "--all"));
    assert_null(strstr(text_buffer_text(&io.out), "--explain"));
    text_buffer_done(&io.out);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(takes_options),
    cmocka_unit_test(says_what_is_wrong),
    cmocka_unit_test(the_same_twice_is_fine),
    cmocka_unit_test(helps),
};

int main(void) { return unit_test_main("cli/command_options", tests, COUNT_OF(tests)); }
