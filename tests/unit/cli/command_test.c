/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define MAXIMUM_WORDS 8

static int run(const char *const *words, struct command_io *io, struct error_info *err)
{
    static char copies[MAXIMUM_WORDS][128];
    char *argv[MAXIMUM_WORDS + 1] = {NULL};
    int argc = 0;
    for (; argc < MAXIMUM_WORDS && words[argc]; argc++) {
        snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    text_buffer_init(&io->out, 16 << 20);
    return (int)command_status(command_run(argc, argv, io, err), err);
}

struct row {
    const char *words[MAXIMUM_WORDS];
    int status;
    const char *want; /* in what is printed or in the error */
};

static void expect_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct command_io io = {.style = {.width = 100}};
        int status = run(rows[i].words, &io, &err);
        bool memory = err.kind == ERROR_MEMORY || text_buffer_failed(&io.out);
        if (!memory) {
            assert_int_equal(status, rows[i].status);
            if (!strstr(text_buffer_text(&io.out), rows[i].want) && !strstr(err.text, rows[i].want))
                fail_msg("row %zu: neither '%s' nor '%s' has '%s'", i, text_buffer_text(&io.out),
                         err.text, rows[i].want);
        }
        text_buffer_done(&io.out);
    }
}

static void finds_commands(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan"}, EXIT_USAGE, "usage: parplan"},
        {{"parplan", "--help"}, EXIT_DONE, "usage: parplan"},
        {{"parplan", "help"}, EXIT_DONE, "usage: parplan"},
        {{"parplan", "help", "env"}, EXIT_DONE, "parplan env"},
        {{"parplan", "help", "evn"}, EXIT_USAGE, "did you mean `parplan env`?"},
        {{"parplan", "--version"}, EXIT_DONE, "parplan " PARPLAN_VERSION},
        {{"parplan", "zzzzzz"}, EXIT_USAGE, "is no command"},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void lists_catalogues(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan", "gpus"}, EXIT_DONE, "Node presets"},
        {{"parplan", "gpus", "--format=json"}, EXIT_DONE, "\"schema\": \"parplan.gpus/1\""},
        {{"parplan", "gpus", "--gpu=h100"}, EXIT_DONE, "h100-sxm: NVIDIA H100"},
        {{"parplan", "gpus", "--gpu=l40s", "--format=json"}, EXIT_DONE, "\"name\": \"l40s\""},
        {{"parplan", "gpus", "--gpu=voodoo2"}, EXIT_USAGE, "not in the catalogue"},
        {{"parplan", "models"}, EXIT_DONE, "mixtral-8x7b"},
        {{"parplan", "models", "--format=json"}, EXIT_DONE, "\"schema\": \"parplan.models/1\""},
        {{"parplan", "models", "--model=gpt2"}, EXIT_DONE, "124,439,808"},
        {{"parplan", "models", "--model=deepseek-v3"}, EXIT_DONE, "latent attention"},
        {{"parplan", "models", "--model=gpt2", "--format=json"}, EXIT_DONE, "124439808"},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void measures_runs(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan", "mfu", "--model=llama3-8b", "--cluster=dgx-h100:1", "--tflops=400"},
         EXIT_DONE,
         "Reference: h100-sxm, bf16"},
        {{"parplan", "mfu", "--model=llama3-8b", "--cluster=dgx-h100:1", "--tflops=400",
          "--compare=16:380", "--format=json"},
         EXIT_DONE,
         "\"schema\": \"parplan.mfu/1\""},
        {{"parplan", "mfu", "--tflops=1", "--tokens-per-second=2"}, EXIT_USAGE, "both given"},
        {{"parplan", "mfu"}, EXIT_USAGE, "what was measured?"},
        {{"parplan", "mfu", "--step-time=-1"}, EXIT_USAGE, "--step-time"},
        {{"parplan", "mfu", "--tflops=1", "--compare=16"}, EXIT_USAGE, "GPUS:FIGURE"},
        {{"parplan", "mfu", "--tflops=1", "--compare=x:1"}, EXIT_USAGE, "--compare"},
        {{"parplan", "mfu", "--tflops=1", "--compare=4:x"}, EXIT_USAGE, "--compare"},
        {{"parplan", "mfu", "--tflops=1", "--profile=no.csv"}, EXIT_USAGE, "no.csv"},
        {{"parplan", "mfu", "--tflops=1", "--cluster=dgx-h100:1"}, EXIT_USAGE, "which model?"},
        {{"parplan", "mfu", "--tflops=1", "--partition=a"}, EXIT_USAGE, "no option --partition"},
        {{"parplan", "mfu", "--help"}, EXIT_DONE, "--gpu-tokens-per-second"},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void shows_topologies(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan", "topology", "--node=a6000-pairs", "--explain"},
         EXIT_DONE,
         "Links between GPUs"},
        {{"parplan", "topology", "--node=l40s-pcie", "--format=json"},
         EXIT_DONE,
         "\"nvlink\": \"none\""},
        {{"parplan", "topology", "--cluster=dgx-h100:40"}, EXIT_DONE, "leaf[1-2]"},
        {{"parplan", "topology", "--cluster=gb200-nvl72:2", "--format=yaml"},
         EXIT_DONE,
         "preset: gb200-nvl72"},
        {{"parplan", "topology", "--node=dgx-h100", "--nodes=n[1-2]"},
         EXIT_DONE,
         "fabric: unknown"},
        {{"parplan", "topology", "--node=dgx-h10"}, EXIT_USAGE, "did you mean dgx-h100?"},
        {{"parplan", "topology", "--from=x", "--nodes=n1"}, EXIT_USAGE, "--from is shown whole"},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void plans_and_places(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan", "map", "--plan=tp=16", "--cluster=dgx-h100:2"},
         EXIT_REFUSED,
         "tp-within-node"},
        {{"parplan", "map", "--cluster=dgx-h100:1", "--format=json"},
         EXIT_DONE,
         "\"degrees\": null"},
        {{"parplan", "env", "--plan=tp=8", "--cluster=dgx-h100:1", "--rank=3"},
         EXIT_DONE,
         "export RANK=3"},
        {{"parplan", "env", "--plan=tp=8", "--cluster=dgx-h100:1", "--format=json"},
         EXIT_DONE,
         "\"RANK\": \"7\""},
        {{"parplan", "check", "--plan=tp=8", "--cluster=dgx-h100:1"}, EXIT_DONE, "allowed"},
        {{"parplan", "check", "--plan=tp=8", "--cluster=dgx-h100:1", "--model=llama3-8b"},
         EXIT_DONE,
         "allowed"},
        {{"parplan", "plan", "--model=gpt2", "--cluster=dgx-h100:1", "--explain", "--top=2"},
         EXIT_DONE,
         "Chosen plan"},
        {{"parplan", "plan", "--model=gpt2", "--cluster=dgx-h100:1", "--top=1", "--format=json"},
         EXIT_DONE,
         "\"schema\": \"parplan.plan/1\""},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void scans(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1"}, EXIT_DONE, "DP alone"},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "--format=json"},
         EXIT_DONE,
         "\"schema\": \"parplan.sweep/1\""},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "--format=sbatch", "--",
          "true"},
         EXIT_DONE,
         "#SBATCH --nodes=1"},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "true"},
         EXIT_USAGE,
         "stands behind"},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "--format=csv"},
         EXIT_USAGE,
         "--ingest FILE"},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "--ingest=/no/such"},
         EXIT_USAGE,
         "No such file"},
        {{"parplan", "sweep", "--model=gpt2", "--cluster=dgx-h100:1", "--plan=tp=16"},
         EXIT_REFUSED,
         "tp-within-node"},
        {{"parplan", "sweep", "--model=llama3-70b", "--cluster=dgx-h100:1"},
         EXIT_NO_FIT,
         "nothing fits"},
    };
    expect_all(rows, COUNT_OF(rows));
}

static void statuses_follow_the_error(void **state)
{
    (void)state;
    static const struct {
        int returned;
        enum error_kind kind;
        enum exit_status want;
    } rows[] = {
        {0, ERROR_NONE, EXIT_DONE},
        {EXIT_NO_FIT, ERROR_NONE, EXIT_NO_FIT},
        {EXIT_REFUSED, ERROR_INPUT, EXIT_REFUSED},
        {-1, ERROR_INPUT, EXIT_USAGE},
        {-1, ERROR_SYSTEM, EXIT_FAILED},
        {-1, ERROR_MEMORY, EXIT_FAILED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct error_info err = {.kind = rows[i].kind};
        assert_int_equal(command_status(rows[i].returned, &err), rows[i].want);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_commands),
    cmocka_unit_test(lists_catalogues),
    cmocka_unit_test(measures_runs),
    cmocka_unit_test(shows_topologies),
    cmocka_unit_test(plans_and_places),
    cmocka_unit_test(scans),
    cmocka_unit_test(statuses_follow_the_error),
};

int main(void) { return unit_test_main("cli/command", tests, COUNT_OF(tests)); }
