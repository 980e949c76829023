/* SPDX-License-Identifier: MIT */
#include "planner/explanation/method_comparison.h"
#include "planner/search/candidate_pool.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct bench {
    struct planner_fixture fixture;
    struct plan_list *list;
    struct method_comparison *comparison;
    struct error_info err;
};

static const struct method_row *compare(struct bench *bench, const char *model, const char *cluster,
                                        const char *keys)
{
    *bench = (struct bench){.err = {.kind = ERROR_NONE}};
    if (planner_fixture_init(&bench->fixture, model, cluster, keys, &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    bench->list = plan_search(&bench->fixture.request, &bench->err);
    if (!bench->list)
        fail_msg("%s", bench->err.text);
    const struct plan *chosen = bench->list->plan_count > 0 ? bench->list->plans : NULL;
    bench->comparison = method_comparison_create(&bench->fixture.request, chosen, &bench->err);
    if (!bench->comparison)
        fail_msg("%s", bench->err.text);
    return bench->comparison->rows;
}

static void bench_done(struct bench *bench)
{
    method_comparison_free(bench->comparison);
    plan_list_free(bench->list);
    planner_fixture_done(&bench->fixture);
}

struct shape {
    const char *name;
    bool tp, pp;
    int sharding; /* -1: any */
};

static void each_way_is_that_way(void **state)
{
    (void)state;
    static const struct shape shapes[METHOD_COUNT] = {
        {"DDP", false, false, SHARDING_NONE},
        {"ZeRO-1", false, false, SHARDING_ZERO1},
        {"FSDP", false, false, SHARDING_ZERO3},
        {"TP", true, false, -1},
        {"PP", false, true, -1},
        {"TP and PP", true, true, -1},
    };
    struct bench bench;
    const struct method_row *rows = compare(&bench, "qwen3-0.6b", "dgx-h100:2", "global_batch=256");
    for (unsigned i = 0; i < METHOD_COUNT; i++) {
        assert_string_equal(rows[i].name, shapes[i].name);
        assert_true(rows[i].fits);
        assert_int_equal(rows[i].plan.degrees.tp > 1, shapes[i].tp);
        assert_int_equal(rows[i].plan.degrees.pp > 1, shapes[i].pp);
        if (shapes[i].sharding >= 0)
            assert_int_equal(rows[i].plan.sharding, shapes[i].sharding);
    }
    bench_done(&bench);
}

static void the_answer_is_among_them(void **state)
{
    (void)state;
    struct bench bench;
    const struct method_row *rows =
        compare(&bench, "llama3-70b", "dgx-h100:16", "global_batch=1024");
    unsigned same = 0;
    for (unsigned i = 0; i < METHOD_COUNT; i++)
        same += rows[i].fits && plan_compare(&rows[i].plan, &bench.list->plans[0]) == 0;
    assert_int_equal(same, 1);
    assert_false(rows[METHOD_DDP].fits);
    assert_non_null(strstr(rows[METHOD_DDP].why_not, "does not fit: 1"));
    bench_done(&bench);
}

static void given_keys_exclude_ways(void **state)
{
    (void)state;
    struct bench bench;
    const struct method_row *rows = compare(&bench, "llama3-8b", "dgx-h100:1", "tp=8");
    assert_false(rows[METHOD_FSDP].fits);
    assert_non_null(strstr(rows[METHOD_FSDP].why_not, "excluded by "));
    assert_non_null(strstr(rows[METHOD_FSDP].why_not, "tp: 8"));
    assert_null(strstr(rows[METHOD_FSDP].why_not, "keep one"));
    assert_true(rows[METHOD_TP].fits);
    assert_int_equal(rows[METHOD_TP].plan.degrees.tp, 8);
    assert_false(rows[METHOD_TP_PP].fits);
    assert_true(strlen(rows[METHOD_TP_PP].why_not) > 0);
    bench_done(&bench);
}

/* In how many of tp, pp, cp and sharding they differ. */
static unsigned differences(const struct plan *left, const struct plan *right)
{
    const bool differ[] = {
        left->degrees.tp != right->degrees.tp, left->degrees.pp != right->degrees.pp,
        left->degrees.cp != right->degrees.cp, left->sharding != right->sharding};
    unsigned count = 0;
    for (size_t i = 0; i < COUNT_OF(differ); i++)
        count += differ[i];
    return count;
}

static void neighbours_differ_in_one_thing(void **state)
{
    (void)state;
    struct bench bench;
    compare(&bench, "llama3-70b", "dgx-h100:16", "global_batch=1024,tp>=2,pp>=2");
    const struct method_comparison *comparison = bench.comparison;
    const struct plan *chosen = &bench.list->plans[0];
    unsigned fitting = 0;
    assert_true(comparison->neighbour_count >= 8);
    for (size_t i = 0; i < comparison->neighbour_count; i++) {
        const struct method_row *row = &comparison->neighbours[i];
        bool batch = strncmp(row->name, "micro_batch=", 12) == 0;
        assert_true(row->fits || strlen(row->why_not) > 0);
        assert_null(strstr(row->name, "ep="));
        if (!row->fits)
            continue;
        fitting++;
        assert_int_equal(differences(&row->plan, chosen), batch ? 0 : 1);
        assert_true(!batch || row->plan.micro_batch != chosen->micro_batch);
        assert_true(plan_cost_seconds(&row->plan) * 1.1 > plan_cost_seconds(chosen));
    }
    assert_true(fitting >= 3);
    bench_done(&bench);
}

static void without_a_plan_there_are_no_neighbours(void **state)
{
    (void)state;
    struct bench bench;
    compare(&bench, "llama3-405b", "dgx-h100:1", NULL);
    assert_int_equal(bench.comparison->neighbour_count, 0);
    assert_false(bench.comparison->rows[METHOD_TP].fits);
    bench_done(&bench);
}

static int create(void *context, struct error_info *err)
{
    struct bench *bench = context;
    CLEANUP(method_comparison)
    struct method_comparison *comparison =
        method_comparison_create(&bench->fixture.request, bench->list->plans, err);
    return comparison ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct bench bench;
    compare(&bench, "llama3-8b", "dgx-h100:1", "tp=8");
    unit_test_expect_clean_failures(create, &bench);
    bench_done(&bench);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_way_is_that_way),
    cmocka_unit_test(the_answer_is_among_them),
    cmocka_unit_test(given_keys_exclude_ways),
    cmocka_unit_test(neighbours_differ_in_one_thing),
    cmocka_unit_test(without_a_plan_there_are_no_neighbours),
    cmocka_unit_test(failing_memory_is_clean),
};

int main(void)
{
    return unit_test_main("planner/explanation/method_comparison", tests, COUNT_OF(tests));
}
