/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "cli/inputs/plan_lock.h"
#include "report/files/lock_file.h"
#include "tests/support/file_tree.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>
#include <unistd.h>

/* A folder of its own, and a plan that may be locked. */
struct bench {
    struct planner_fixture fixture;
    struct plan_list *list;
    struct training_spec training;
    struct plan_report report;
    char folder[FILE_TREE_ROOT_BYTES], path[FILE_TREE_ROOT_BYTES + 16];
    struct error_info err;
};

static void bench_init(struct bench *bench, const char *model, const char *cluster,
                       const char *keys)
{
    *bench = (struct bench){.err = {.kind = ERROR_NONE}};
    file_tree_create(bench->folder);
    snprintf(bench->path, sizeof(bench->path), "%s/lock.yaml", bench->folder);
    if (planner_fixture_init(&bench->fixture, model, cluster, keys, &bench->err) < 0 ||
        job_spec_set(bench->fixture.job, "model", model, "--model", &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    uint64_t world = cluster_gpu_count(bench->fixture.cluster);
    bench->list = plan_search(&bench->fixture.request, &bench->err);
    if (!bench->list ||
        training_spec_from_job(bench->fixture.job, world, &bench->training, &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    bench->report = (struct plan_report){.request = &bench->fixture.request,
                                         .training = &bench->training,
                                         .framework = "megatron-core",
                                         .world = world,
                                         .gpus_per_node = 8,
                                         .list = bench->list};
}

static void bench_done(struct bench *bench)
{
    plan_list_free(bench->list);
    planner_fixture_done(&bench->fixture);
}

static void write_lock(const struct bench *bench, const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (text_file_write(bench->path, text, strlen(text), 0644, &err) < 0)
        fail_msg("%s", err.text);
}

static void what_is_written_is_kept(void **state)
{
    (void)state;
    struct bench bench;
    struct plan_lock lock;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", "tp=8,pp=4,vpp=2");
    struct job_spec *job = bench.fixture.job;
    assert_int_equal(plan_lock_open(bench.path, job, &lock, &bench.err), 0);
    assert_false(lock.kept);
    if (plan_lock_write(&lock, &bench.report, &bench.err) < 0)
        fail_msg("%s", bench.err.text);
    CLEANUP(job_spec) struct job_spec *later = job_spec_create(&bench.err);
    if (!later || plan_lock_open(bench.path, later, &lock, &bench.err) < 0)
        fail_msg("%s", bench.err.text);
    assert_true(lock.kept);
    assert_string_equal(lock.keeps, "tp=8,pp=4,vpp=2");
    assert_string_equal(job_spec_text(later, JOB_MODEL), "llama3-70b");
    assert_string_equal(job_spec_text(later, JOB_FRAMEWORK), "megatron-core");
    assert_int_equal(job_spec_number(later, JOB_GLOBAL_BATCH, 0), bench.training.global_batch);
    assert_false(later->values[JOB_DP].given);
    assert_false(later->values[JOB_EP].given);
    assert_false(later->values[JOB_MICRO_BATCH].given);
    bench_done(&bench);
}

static void experts_and_shards_are_kept(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "mixtral-8x7b", "dgx-h100:8",
               "tp=1,pp=1,ep=8,sharding=zero3,global_batch=512");
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 4096);
    assert_true(bench.list->plan_count > 0);
    lock_file_write(&bench.report, &out);
    if (!text_buffer_failed(&out))
        assert_non_null(strstr(text_buffer_text(&out), "schema: parplan.job/1\n"
                                                       "model: mixtral-8x7b\n"
                                                       "framework: megatron-core\n"
                                                       "sequence_length: 4096\n"
                                                       "global_batch: 512\n"
                                                       "tp: 1\npp: 1\nvpp: 1\n"
                                                       "ep: 8\netp: 1\nsharding: zero3\n"));
    bench_done(&bench);
}

static void what_trains_is_kept(void **state)
{
    (void)state;
    struct bench bench;
    struct plan_lock lock;
    bench_init(&bench, "llama3-70b", "dgx-h100:1", "trainable=lora:16,optimizer=adam_8bit,mtp=0");
    struct job_spec *job = bench.fixture.job;
    assert_true(bench.list->plan_count > 0);
    if (plan_lock_open(bench.path, job, &lock, &bench.err) < 0 ||
        plan_lock_write(&lock, &bench.report, &bench.err) < 0)
        fail_msg("%s", bench.err.text);
    CLEANUP(job_spec) struct job_spec *later = job_spec_create(&bench.err);
    if (!later || plan_lock_open(bench.path, later, &lock, &bench.err) < 0)
        fail_msg("%s", bench.err.text);
    assert_string_equal(job_spec_text(later, JOB_TRAINABLE), "lora:16");
    assert_string_equal(job_spec_text(later, JOB_OPTIMIZER), "adam_8bit");
    assert_true(later->values[JOB_MTP].given);
    bench_done(&bench);
}

/* Two runs that both found no file. */
static void the_first_of_two_runs_wins(void **state)
{
    (void)state;
    struct bench bench;
    struct plan_lock first, second;
    size_t bytes;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", "tp=2");
    struct job_spec *job = bench.fixture.job;
    if (plan_lock_open(bench.path, job, &first, &bench.err) < 0 ||
        plan_lock_open(bench.path, job, &second, &bench.err) < 0)
        fail_msg("%s", bench.err.text);
    write_lock(&bench, "the first one's");
    assert_int_equal(plan_lock_write(&second, &bench.report, &bench.err), -1);
    assert_non_null(strstr(bench.err.text, "lock.yaml: another run wrote it meanwhile; run again"));
    CLEANUP_MEMORY char *text = text_file_read(bench.path, 64, &bytes, &bench.err);
    assert_string_equal(text ? text : "", "the first one's");
    unlink(bench.path);
    assert_int_equal(plan_lock_write(&first, &bench.report, &bench.err), 0);
    assert_int_equal(access(bench.path, F_OK), 0);
    bench_done(&bench);
}

static void given_keys_meet_the_lock(void **state)
{
    (void)state;
    static const struct {
        const char *lock, *given;
        const char *want; /* in the error; NULL: fine */
    } rows[] = {
        {"schema: parplan.job/1\ntp: 8\nglobal_batch: 512\n", "global_batch=64", NULL},
        {"schema: parplan.job/1\ntp: 8\nsequence_length: 64\n", "tp=8,sequence_length=4", NULL},
        {"schema: parplan.job/1\ntp: 8\n", "tp=4", "lock.yaml:2: tp: 8, but --plan says 4"},
        {"schema: parplan.job/1\ntp: 8\n", "tp<=4", "lock.yaml:2"},
        {"schema: parplan.job/1\ntp: x\n", "pp=1", "lock.yaml:2: tp: x is not a whole number"},
        {"schema: parplan.job/2\n", "pp=1", "parplan.job/1"},
        {"", "pp=1", "lock.yaml"},
        {"schema: parplan.job/1\nsize: 8\n", "pp=1", "unknown key"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        struct plan_lock lock = {.path = "untouched"};
        bench_init(&bench, "llama3-8b", "dgx-h100:1", NULL);
        write_lock(&bench, rows[i].lock);
        CLEANUP(job_spec) struct job_spec *job = job_spec_create(&bench.err);
        if (!job || job_spec_parse_option(job, rows[i].given, "--plan", &bench.err) < 0)
            fail_msg("%s", bench.err.text);
        int result = plan_lock_open(bench.path, job, &lock, &bench.err);
        assert_int_equal(result, rows[i].want ? -1 : 0);
        if (rows[i].want && !strstr(bench.err.text, rows[i].want))
            fail_msg("'%s' is not in: %s", rows[i].want, bench.err.text);
        if (rows[i].want)
            assert_string_equal(lock.path, "untouched");
        bench_done(&bench);
    }
}

static void an_oversized_lock_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct plan_lock lock;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", NULL);
    static char text[PLAN_LOCK_MAXIMUM_BYTES + 2];
    memset(text, '#', sizeof(text) - 1);
    write_lock(&bench, text);
    assert_int_equal(plan_lock_open(bench.path, bench.fixture.job, &lock, &bench.err), -1);
    assert_non_null(strstr(bench.err.text, "lock.yaml"));
    bench_done(&bench);
}

static void nodes_that_do_not_divide_are_named(void **state)
{
    (void)state;
    static const struct {
        uint64_t world;
        const char *want;
    } rows[] = {
        {64, NULL},
        {96, NULL},
        {80, "job.yaml keeps tp=8,pp=4: that takes a multiple of 32 GPUs, but there are 80; use 8 "
             "or 12 nodes"},
        {8, "but there are 8; use 4 nodes"},
    };
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan_lock lock = {.path = "job.yaml", .kept = true, .keeps = "tp=8,pp=4"};
    const struct plan_lock none = {.path = NULL}, fresh = {.path = "job.yaml"};
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(&err);
    if (!job || job_spec_parse_option(job, "tp=8,pp=4", "job.yaml", &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int result = plan_lock_check(&lock, job, rows[i].world, 8, &err);
        assert_int_equal(result, rows[i].want ? -1 : 0);
        if (rows[i].want && !strstr(err.text, rows[i].want))
            fail_msg("'%s' is not in: %s", rows[i].want, err.text);
        assert_int_equal(plan_lock_check(&none, job, rows[i].world, 8, &err), 0);
        assert_int_equal(plan_lock_check(&fresh, job, rows[i].world, 8, &err), 0);
    }
}

static void counts_that_are_offered_do(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t world;
        const char *want;
    } rows[] = {
        {"tp=8,pp=4,vpp=2,global_batch=1024", 80, "there are 80; use 8 or 16 nodes"},
        {"tp=8,pp=4,global_batch=96", 80, "use 8 or 12 nodes"},
        {"tp=8,pp=4,vpp=2,global_batch=8", 80, "use 8 nodes"},
        {"tp=8,pp=4,global_batch=1", 80, "use 4 nodes"},
        {"tp=8,pp=4,global_batch=7", 24, "use 4 nodes"},
        {"tp=8,pp=4,micro_batch=512,global_batch=1024", 80, "use 8 nodes"},
        {"tp=8,pp=4,cp=2,global_batch=1024", 80, "use 8 or 16 nodes"},
        {"tp=8,pp=4,dp=4,global_batch=1024", 80, "use 16 nodes"},
        {"tp=1,pp=32,ep=4,global_batch=1024", 80, "use 16 nodes"},
        {"tp=8,pp=4,vpp=2,global_batch=3", 80, "remove the file to plan anew"},
    };
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan_lock lock = {.path = "job.yaml", .kept = true, .keeps = "it"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(job_spec) struct job_spec *job = job_spec_create(&err);
        if (!job || job_spec_parse_option(job, rows[i].keys, "job.yaml", &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(plan_lock_check(&lock, job, rows[i].world, 8, &err), -1);
        if (!strstr(err.text, rows[i].want))
            fail_msg("'%s' is not in: %s", rows[i].want, err.text);
    }
}

static void what_does_not_fit_is_one_line_and_no_file(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-405b", "dgx-h100:2", "tp=8");
    const struct plan_lock kept = {.path = bench.path, .kept = true, .keeps = "tp=8"};
    const struct plan_lock fresh = {.path = bench.path}, none = {.path = NULL};
    assert_int_equal(bench.list->plan_count, 0);
    assert_int_equal(plan_lock_close(&kept, &bench.report, &bench.err), -1);
    assert_non_null(strstr(bench.err.text, "keeps tp=8: on 16 GPUs that needs"));
    assert_int_equal(plan_lock_close(&fresh, &bench.report, &bench.err), 0);
    assert_int_equal(plan_lock_close(&none, &bench.report, &bench.err), 0);
    assert_int_equal(plan_lock_write(&kept, &bench.report, &bench.err), 0);
    assert_int_equal(plan_lock_write(&fresh, &bench.report, &bench.err), 0);
    assert_int_equal(plan_lock_write(&none, &bench.report, &bench.err), 0);
    assert_int_equal(access(bench.path, F_OK), -1);
    bench.err = (struct error_info){.kind = ERROR_INPUT, .text = "why"};
    assert_int_equal(plan_lock_explain(&kept, &bench.err), -1);
    assert_non_null(strstr(bench.err.text, "lock.yaml keeps tp=8: why"));
    bench.err = (struct error_info){.kind = ERROR_MEMORY, .text = "why"};
    assert_int_equal(plan_lock_explain(&kept, &bench.err), -1);
    assert_string_equal(bench.err.text, "why");
    bench_done(&bench);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_is_kept),
    cmocka_unit_test(experts_and_shards_are_kept),
    cmocka_unit_test(what_trains_is_kept),
    cmocka_unit_test(the_first_of_two_runs_wins),
    cmocka_unit_test(given_keys_meet_the_lock),
    cmocka_unit_test(an_oversized_lock_is_refused),
    cmocka_unit_test(nodes_that_do_not_divide_are_named),
    cmocka_unit_test(counts_that_are_offered_do),
    cmocka_unit_test(what_does_not_fit_is_one_line_and_no_file),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int status = unit_test_main("cli/plan_lock", tests, COUNT_OF(tests));
    file_tree_end();
    return status;
}
