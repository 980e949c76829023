/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_script.h"
#include "tests/support/scan_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

static int write_script(char *const *words, size_t count, struct text_buffer *out,
                        struct error_info *err)
{
    const struct scan_script script = {
        .plan = &scan_fixture_report,
        .grid = &scan_fixture_grid,
        .tasks_per_node = 1,
        .steps = 7,
        .words = words,
        .word_count = count,
    };
    text_buffer_init(out, 1 << 20);
    return scan_script_write(&script, out, err);
}

static void writes_a_script(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "#!/bin/bash\n#SBATCH --job-name=parplan-sweep\n#SBATCH --nodes=2\n"
        "#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n",
        "toy, \"small\" on two?nodes,\n# 3 plans of 7 steps", /* one line, whatever it is called */
        "PARPLAN_SWEEP_STEPS=7 PARPLAN_SWEEP_GLOBAL_BATCH=64\n",
        "--time=\"$minutes\" \\\n        'train' \\\n        '-n='\"$PARPLAN_SWEEP_STEPS\" \\\n"
        "        'a'\\''b'\n}\n",
        "# the planner's answer; +TP\nexport PARPLAN_SWEEP_ROW=tp2-pp1-dp8\n",
        "run_row tp=1,pp=2,dp=8,sharding=none \\\n"
        "    tp=1,pp=2,dp=8,sharding=none,micro_batch=1,schedule=gpipe\n",
        "of 3 plans ran, $timed with a step time",
    };
    static char program[] = "train", steps[] = "-n={steps}", quote[] = "a'b";
    char *const words[] = {program, steps, quote};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    if (write_script(words, COUNT_OF(words), &out, NULL) < 0)
        return;
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        if (!strstr(text_buffer_text(&out), wanted[i]))
            fail_msg("'%s' is not in:\n%s", wanted[i], text_buffer_text(&out));
}

static void refuses_commands(void **state)
{
    (void)state;
    static char option[] = "--wrap=id", colon[] = ":", empty[] = "", program[] = "x";
    static char large[SCAN_COMMAND_MAXIMUM_BYTES + 1];
    memset(large, 'x', sizeof(large) - 1);
    char *const rows[][2] = {
        {option, program}, {program, colon}, {empty, program}, {program, large}};
    static const char *const wanted[] = {"begins with \"--wrap=id\"", "the word \":\"",
                                         "begins with \"\"", "longer than 65536 bytes"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(write_script(rows[i], 2, &out, &err), -1);
        assert_int_equal(out.length, 0);
        if (!strstr(err.text, wanted[i]))
            fail_msg("'%s' has no '%s'", err.text, wanted[i]);
    }
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    assert_int_equal(write_script(NULL, 0, &out, &err), -1);
    assert_non_null(strstr(err.text, "needs the command"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_a_script),
    cmocka_unit_test(refuses_commands),
};

int main(void) { return unit_test_main("report/scan_script", tests, COUNT_OF(tests)); }
