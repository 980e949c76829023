/* SPDX-License-Identifier: MIT */
#include "planner/scaling/node_scaling.h"
#include "planner/search/candidate_pool.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct bench {
    struct planner_fixture fixture;
    struct scaling_request request;
    struct node_scaling *scaling;
    struct error_info err;
};

static void bench_init(struct bench *bench, const char *model, const char *cluster,
                       const char *keys)
{
    *bench = (struct bench){.err = {.kind = ERROR_NONE}};
    if (planner_fixture_init(&bench->fixture, model, cluster, keys, &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    bench->request = (struct scaling_request){
        .plan = &bench->fixture.request,
        .gpus_per_node = 8,
        .first = 1,
        .last = (unsigned)bench->fixture.cluster->node_count,
    };
}

static const struct node_scaling *survey(struct bench *bench)
{
    node_scaling_free(bench->scaling);
    bench->scaling = node_scaling_create(&bench->request, &bench->err);
    if (!bench->scaling)
        fail_msg("%s", bench->err.text);
    return bench->scaling;
}

static void bench_done(struct bench *bench)
{
    node_scaling_free(bench->scaling);
    planner_fixture_done(&bench->fixture);
}

static void every_count_is_planned_as_alone(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:6", NULL);
    const struct node_scaling *scaling = survey(&bench);
    assert_int_equal(scaling->row_count, 6);
    for (size_t i = 0; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        bench.fixture.request.world = row->gpus;
        assert_int_equal(row->nodes, i + 1);
        assert_int_equal(row->gpus, 8 * (i + 1));
        CLEANUP(plan_list) struct plan_list *list = plan_search(&bench.fixture.request, &bench.err);
        if (!list)
            fail_msg("%s", bench.err.text);
        assert_int_equal(row->fits, list->plan_count > 0);
        assert_true(row->fits || strlen(row->why_not) > 0);
        assert_true(row->fits || !row->pareto);
        if (row->fits)
            assert_int_equal(plan_compare(&row->plan, &list->plans[0]), 0);
    }
    bench_done(&bench);
}

static void the_first_that_fits_has_full_efficiency(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:6", NULL);
    const struct node_scaling *scaling = survey(&bench);
    unsigned smallest = scaling->smallest_that_fits;
    assert_true(smallest > 1);
    assert_string_equal(strstr(scaling->rows[0].why_not, "GiB"),
                        strstr(scaling->rows[0].why_not, "GiB of 79.1 at least"));
    assert_false(scaling->rows[smallest - 2].fits);
    const struct scaling_row *first = &scaling->rows[smallest - 1], *last = &scaling->rows[5];
    assert_float_equal(first->efficiency, 1, 1e-12);
    double faster = last->plan.time.tokens_per_second / first->plan.time.tokens_per_second;
    double error = last->efficiency * (double)last->gpus / (double)first->gpus - faster;
    assert_true(error < 1e-9 && error > -1e-9);
    bench_done(&bench);
}

static void the_preference_decides(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", "global_batch=512");
    const struct scaling_row *fastest = survey(&bench)->recommended;
    double most = fastest->plan.time.tokens_per_second;
    for (size_t i = 0; i < bench.scaling->row_count; i++)
        assert_true(bench.scaling->rows[i].plan.time.tokens_per_second <= most);
    bench.request.prefer = PREFER_GPU_HOURS;
    const struct scaling_row *cheapest = survey(&bench)->recommended;
    double fewest = cheapest->trillion_gpu_hours;
    for (size_t i = 0; i < bench.scaling->row_count; i++)
        if (bench.scaling->rows[i].fits)
            assert_true(bench.scaling->rows[i].trillion_gpu_hours >= fewest);
    assert_true(cheapest->pareto);
    bench_done(&bench);
}

/* Better in time and GPU-hours, no worse in memory and simplicity. */
static bool beats(const struct scaling_row *left, const struct scaling_row *right)
{
    return left->plan.time.tokens_per_second > right->plan.time.tokens_per_second &&
           left->trillion_gpu_hours < right->trillion_gpu_hours &&
           left->plan.memory.total_bytes <= right->plan.memory.total_bytes &&
           plan_complexity(&left->plan) <= plan_complexity(&right->plan);
}

static void what_is_beaten_in_everything_is_not_pareto(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", NULL);
    const struct node_scaling *scaling = survey(&bench);
    unsigned beaten = 0;
    for (size_t i = 0; i < scaling->row_count; i++) {
        for (size_t j = 0; j < scaling->row_count; j++) {
            if (!scaling->rows[i].fits || !scaling->rows[j].fits ||
                !beats(&scaling->rows[i], &scaling->rows[j]))
                continue;
            assert_false(scaling->rows[j].pareto);
            beaten++;
        }
    }
    assert_true(beaten > 0);
    assert_true(scaling->recommended->pareto);
    bench_done(&bench);
}

static void doubling_begins_at_the_smallest(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:12", NULL);
    bench.request.doubling = true;
    const struct node_scaling *scaling = survey(&bench);
    assert_int_equal(scaling->rows[0].nodes, scaling->smallest_that_fits);
    for (size_t i = 0; i + 2 < scaling->row_count; i++)
        assert_int_equal(scaling->rows[i + 1].nodes, 2 * scaling->rows[i].nodes);
    assert_int_equal(scaling->rows[scaling->row_count - 1].nodes, 12);
    bench_done(&bench);
}

static void the_fewest_in_time(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:32", NULL);
    bench.request.doubling = true;
    bench.request.run = (struct run_length){.tokens = 1e12, .within_days = 60};
    const struct node_scaling *scaling = survey(&bench);
    const struct scaling_row *row = scaling->recommended;
    assert_ptr_equal(row, scaling->in_time);
    assert_true(row->nodes > 1 && row->run.days <= 60);
    bench.fixture.request.world = 8 * (row->nodes - 1);
    CLEANUP(plan_list) struct plan_list *list = plan_search(&bench.fixture.request, &bench.err);
    if (!list)
        fail_msg("%s", bench.err.text);
    assert_true(1e12 / list->plans[0].time.tokens_per_second > 60 * RUN_SECONDS_PER_DAY);
    bench.request.run.within_days = 0.01;
    assert_null(survey(&bench)->recommended);
    assert_non_null(strstr(bench.scaling->reason, "no count up to 32 nodes"));
    bench_done(&bench);
}

static void impossible_counts_say_why(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:3", "tp=8,pp=2,global_batch=64");
    const struct node_scaling *scaling = survey(&bench);
    assert_false(scaling->rows[0].fits);
    assert_true(scaling->rows[1].fits);
    assert_false(scaling->rows[2].fits);
    assert_non_null(strstr(scaling->rows[2].why_not, "24"));
    bench_done(&bench);
}

static void too_many_counts_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:1000", NULL);
    bench.scaling = node_scaling_create(&bench.request, &bench.err);
    assert_null(bench.scaling);
    assert_non_null(strstr(bench.err.text, "1..1000 are more than 256 node counts"));
    bench_done(&bench);
}

static int scan(void *context, struct error_info *err)
{
    struct bench *bench = context;
    CLEANUP(node_scaling) struct node_scaling *scaling = node_scaling_create(&bench->request, err);
    return scaling ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:2", NULL);
    bench.request.run = (struct run_length){.tokens = 1e12, .within_days = 1000};
    unit_test_expect_clean_failures(scan, &bench);
    bench_done(&bench);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_count_is_planned_as_alone),
    cmocka_unit_test(the_first_that_fits_has_full_efficiency),
    cmocka_unit_test(the_preference_decides),
    cmocka_unit_test(what_is_beaten_in_everything_is_not_pareto),
    cmocka_unit_test(doubling_begins_at_the_smallest),
    cmocka_unit_test(the_fewest_in_time),
    cmocka_unit_test(impossible_counts_say_why),
    cmocka_unit_test(too_many_counts_are_refused),
    cmocka_unit_test(failing_memory_is_clean),
};

int main(void) { return unit_test_main("planner/scaling/node_scaling", tests, COUNT_OF(tests)); }
