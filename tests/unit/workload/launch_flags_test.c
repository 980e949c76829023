/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/launch_flags.h"
#include <string.h>

#define ARGUMENTS 8

struct flags_case {
    const char *arguments[ARGUMENTS];
    unsigned tp, pp, cp, ep, shard;
    const char *notice; /* a part of it; NULL: no notice at all */
};

static const struct flags_case valid[] = {
    {{"python", "train.py"}, 0, 0, 0, 0, 0, NULL},
    {{"python", "pretrain_gpt.py", "--tensor-model-parallel-size", "8",
      "--pipeline-model-parallel-size=4"},
     8,
     4,
     0,
     0,
     0,
     "tp=8 (--tensor-model-parallel-size), pp=4"},
    {{"nemo", "model.tensor_model_parallel_size=4", "model.expert_model_parallel_size=8"},
     4,
     0,
     0,
     8,
     0,
     "ep=8 (model.expert_model_parallel_size)"},
    {{"torchrun", "train.py", "--parallelism.data_parallel_shard_degree", "-1",
      "--parallelism.context_parallel_degree", "2"},
     0,
     0,
     2,
     0,
     0,
     "cp=2"},
    {{"torchrun", "train.py", "--parallelism.data_parallel_shard_degree", "16"},
     0,
     0,
     0,
     0,
     16,
     "shard=16"},
    {{"deepspeed", "x.py", "--deepspeed_config", "ds.json"}, 0, 0, 0, 0, 0, "not read: ds.json"},
    {{"deepspeed", "x.py", "--deepspeed", "--other"}, 0, 0, 0, 0, 0, NULL},
    {{"x", "--tensor-model-parallel-size", "8", "--tensor-model-parallel-size=8"},
     8,
     0,
     0,
     0,
     0,
     "tp=8"},
    {{"bash", "-c", "python x --tensor-model-parallel-size 8"}, 0, 0, 0, 0, 0, NULL},
    {{"--tensor-model-parallel-sizes", "8"}, 0, 0, 0, 0, 0, NULL},
};

static size_t count_of(const char *const *arguments)
{
    size_t count = 0;
    while (count < ARGUMENTS && arguments[count])
        count++;
    return count;
}

static int read_case(const char *const *arguments, struct job_spec *spec,
                     struct text_buffer *notices, struct error_info *err)
{
    text_buffer_init(notices, 4096);
    return launch_flags_read(arguments, count_of(arguments), spec, notices, err);
}

static void reads_degrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
        CLEANUP_DONE(text_buffer) struct text_buffer notices = {.text = NULL};
        assert_non_null(spec);
        assert_int_equal(read_case(valid[i].arguments, spec, &notices, &err), 0);
        assert_int_equal(job_spec_number(spec, JOB_TP, 0), valid[i].tp);
        assert_int_equal(job_spec_number(spec, JOB_PP, 0), valid[i].pp);
        assert_int_equal(job_spec_number(spec, JOB_CP, 0), valid[i].cp);
        assert_int_equal(job_spec_number(spec, JOB_EP, 0), valid[i].ep);
        assert_int_equal(job_spec_number(spec, JOB_SHARD, 0), valid[i].shard);
        if (!valid[i].notice)
            assert_string_equal(text_buffer_text(&notices), "");
        else if (!strstr(text_buffer_text(&notices), valid[i].notice))
            fail_msg("\"%s\" does not say \"%s\"", text_buffer_text(&notices), valid[i].notice);
    }
}

static void refuses_conflicts_and_nonsense(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        const char *arguments[ARGUMENTS];
        const char *words;
    } cases[] = {
        {"tp=8", {"x", "--tensor-model-parallel-size", "4"}, "--tensor-model-parallel-size"},
        {"auto", {"x", "--tensor-model-parallel-size"}, "has no value"},
        {"auto", {"x", "--tensor-model-parallel-size", "eight"}, "eight"},
        {"auto", {"x", "--tensor-model-parallel-size=0"}, "0 is not"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(job_spec) struct job_spec *spec = job_spec_create(NULL);
        CLEANUP_DONE(text_buffer) struct text_buffer notices = {.text = NULL};
        assert_non_null(spec);
        assert_int_equal(job_spec_parse_option(spec, cases[i].option, "--parplan", NULL), 0);
        assert_int_equal(read_case(cases[i].arguments, spec, &notices, &err), -1);
        if (!strstr(err.text, cases[i].words))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].words);
    }
}

static void knows_helper_daemons(void **state)
{
    (void)state;
    assert_true(launch_command_is_daemon("orted"));
    assert_true(launch_command_is_daemon("/usr/bin/hydra_pmi_proxy"));
    assert_false(launch_command_is_daemon("python"));
    assert_false(launch_command_is_daemon("orted/train.py"));
    assert_false(launch_command_is_daemon(""));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_degrees),
        cmocka_unit_test(refuses_conflicts_and_nonsense),
        cmocka_unit_test(knows_helper_daemons),
    };
    return unit_test_main("workload/launch_flags", tests, COUNT_OF(tests));
}
