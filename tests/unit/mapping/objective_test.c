/* SPDX-License-Identifier: MIT */
#include "mapping/objective.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define SAME 1e-9
#define MANY_BATCHES 4096u /* stages talk more than replicas */

/* Leaves that pipelines fit badly, and under a slow core. */
static const char ragged[] = "schema: parplan.cluster/1\n"
                             "kinds: {h100: {preset: dgx-h100}}\n"
                             "nodes: [{names: \"n[1-16]\", kind: h100}]\n"
                             "fabric:\n"
                             "  tiers: [leaf, spine]\n"
                             "  switches:\n"
                             "    - {name: leaf1, tier: leaf, nodes: \"n[1-5]\"}\n"
                             "    - {name: leaf2, tier: leaf, nodes: \"n[6-9]\"}\n"
                             "    - {name: leaf3, tier: leaf, nodes: \"n[10-12]\"}\n"
                             "    - {name: leaf4, tier: leaf, nodes: \"n[13-16]\"}\n"
                             "    - {name: spine, tier: spine, children: \"leaf[1-4]\"}\n";

struct bench {
    struct planner_fixture fixture;
    struct cluster_topology *cluster;
};

static int bench_init(struct bench *bench, const char *keys, struct error_info *err)
{
    *bench = (struct bench){.cluster = NULL};
    if (planner_fixture_init(&bench->fixture, "gpt3-175b", "dgx-h100:2", keys, err) < 0)
        return -1;
    bench->cluster = cluster_topology_parse(ragged, strlen(ragged), "ragged.yaml",
                                            bench->fixture.presets, bench->fixture.gpus, err);
    bench->fixture.request.cluster = bench->cluster;
    return bench->cluster ? 0 : -1;
}

static void bench_done(struct bench *bench)
{
    cluster_topology_free(bench->cluster);
    planner_fixture_done(&bench->fixture);
}

static void open_bench(struct bench *bench, const char *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (bench_init(bench, keys, &err) < 0)
        fail_msg("%s: %s", keys, err.text);
}

static const struct degrees shapes[] = {
    {8, 1, 1, 8, 4, 1, 4, 1, 4}, {8, 1, 1, 8, 8, 1, 2, 1, 2},  {4, 1, 1, 4, 4, 1, 8, 1, 8},
    {4, 1, 1, 4, 8, 1, 4, 1, 4}, {8, 1, 1, 8, 16, 1, 1, 1, 1}, {8, 1, 1, 8, 3, 1, 5, 1, 5},
};

static struct plan plan_of(const struct degrees *degrees, enum rank_order order)
{
    return (struct plan){.degrees = *degrees,
                         .sharding = SHARDING_ZERO1,
                         .schedule = degrees->pp > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE,
                         .precision = PRECISION_BF16,
                         .order = order,
                         .micro_batch = 1,
                         .micro_batches = 8};
}

static struct objective_result mapped(const struct bench *bench, const struct plan *plan)
{
    struct objective_result result;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(rank_map)
    struct rank_map *map = objective_map(&bench->fixture.request, plan,
                                         degrees_world(&plan->degrees), false, NULL, &result, &err);
    if (!map)
        fail_msg("%s", err.text);
    return result;
}

static bool is_near(double value, double expected)
{
    return value >= expected * (1 - SAME) && value <= expected * (1 + SAME);
}

/* The three answers of one plan, of which auto's is one of the others. */
static bool expect_margin(const struct bench *golden, const struct bench *cost,
                          const struct bench *automatic, const struct plan *plan)
{
    struct objective_result rule = mapped(golden, plan), least = mapped(cost, plan);
    struct objective_result chosen = mapped(automatic, plan);
    assert_int_equal(rule.objective, OBJECTIVE_GOLDEN);
    assert_int_equal(least.objective, OBJECTIVE_COST);
    assert_true(rule.cost.seconds_known && least.cost.seconds_known);
    double by_rule = rule.cost.exposed_seconds, by_cost = least.cost.exposed_seconds;
    assert_true(is_near(least.golden_seconds, by_rule) && is_near(chosen.golden_seconds, by_rule));
    assert_true(is_near(least.quality.cost, by_cost) && is_near(rule.quality.cost, by_rule));
    assert_true(by_cost <= by_rule * (1 + SAME));
    assert_true(least.quality.lower_bound <= by_cost * (1 + SAME));
    assert_true(is_near(rule.quality.lower_bound, least.quality.lower_bound) ||
                rule.quality.optimal);
    bool wins = by_rule - by_cost > OBJECTIVE_MARGIN * by_rule;
    assert_int_equal(chosen.objective, wins ? OBJECTIVE_COST : OBJECTIVE_GOLDEN);
    assert_true(is_near(chosen.cost.exposed_seconds, wins ? by_cost : by_rule));
    return wins;
}

static void takes_the_cost_beyond_the_margin(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct bench golden, cost, automatic;
    unsigned wins = 0;
    open_bench(&golden, "global_batch=512,sequence_length=2048,objective=golden");
    open_bench(&cost, "global_batch=512,sequence_length=2048,objective=cost");
    open_bench(&automatic, "global_batch=512,sequence_length=2048");
    for (size_t i = 0; i < COUNT_OF(shapes) * RANK_ORDER_COUNT; i++) {
        struct plan plan =
            plan_of(&shapes[i / RANK_ORDER_COUNT], (enum rank_order)(i % RANK_ORDER_COUNT));
        wins += expect_margin(&golden, &cost, &automatic, &plan);
    }
    /* Both happen, or this tests little. */
    if (wins == 0 || wins == COUNT_OF(shapes) * RANK_ORDER_COUNT)
        fail_msg("the cost wins %u times", wins);
    bench_done(&automatic);
    bench_done(&cost);
    bench_done(&golden);
}

/* Where the usual map breaks spans and another does not, it is the other. */
static void keeps_the_spans_of_the_policy(void **state)
{
    (void)state;
    static const struct degrees jobs[] = {
        {8, 1, 1, 8, 2, 1, 7, 1, 7}, {8, 1, 1, 8, 4, 1, 3, 1, 3}, {8, 1, 1, 8, 3, 1, 4, 1, 4},
        {8, 1, 1, 8, 4, 1, 4, 1, 4}, {8, 1, 1, 8, 5, 1, 2, 1, 2}, {8, 1, 1, 8, 3, 1, 5, 1, 5},
    };
    static const char *const keys[] = {"global_batch=64", "global_batch=64,objective=golden"};
    unsigned kept = 0;
    for (size_t i = 0; i < COUNT_OF(jobs) * COUNT_OF(keys) * 2; i++) {
        struct bench bench;
        struct policy limited = policy_default;
        uint64_t unknown;
        enum span_dimension dimension = i % 2 ? SPAN_DP : SPAN_PP;
        limited.spans[dimension] = SPAN_LEAF;
        open_bench(&bench, keys[i / 2 % 2]);
        const struct plan plan = plan_of(&jobs[i / 4], ORDER_TP_CP_EP_DP_PP);
        const struct objective_result usual = mapped(&bench, &plan);
        bench.fixture.request.policy = &limited;
        const struct objective_result result = mapped(&bench, &plan);
        uint64_t before = objective_links_out(&limited, &usual.cost, dimension, &unknown);
        uint64_t after = objective_links_out(&limited, &result.cost, dimension, &unknown);
        assert_true(after == 0 || after == before);
        assert_true(result.quality.lower_bound <= result.quality.cost);
        kept += after < before;
        bench_done(&bench);
    }
    assert_true(kept > 0);
}

static void refuses_cost_without_a_model(void **state)
{
    (void)state;
    struct bench bench;
    struct objective_result result = {.golden_seconds = 77};
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan plan = plan_of(&shapes[0], ORDER_TP_CP_EP_DP_PP);
    open_bench(&bench, "objective=cost");
    bench.fixture.request.model = NULL;
    assert_null(objective_map(&bench.fixture.request, &plan, 128, false, NULL, &result, &err));
    assert_string_equal(err.text, "test: objective=cost counts bytes, and no model says how many "
                                  "there are; name one, or use objective=golden");
    assert_true(result.golden_seconds >= 77 && result.golden_seconds <= 77);
    bench_done(&bench);
}

static void follows_the_rule_without_a_model(void **state)
{
    (void)state;
    struct bench bench;
    const struct plan plan = plan_of(&shapes[0], ORDER_TP_CP_EP_DP_PP);
    open_bench(&bench, "objective=auto");
    bench.fixture.request.model = NULL;
    struct objective_result result = mapped(&bench, &plan);
    assert_int_equal(result.objective, OBJECTIVE_GOLDEN);
    assert_false(result.cost.seconds_known);
    assert_true(result.quality.cost > 0);
    bench_done(&bench);
}

static void keeps_the_nodes_order_when_wished(void **state)
{
    (void)state;
    struct bench bench;
    struct objective_result result;
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan plan = plan_of(&shapes[0], ORDER_TP_CP_EP_DP_PP);
    const struct mapping_wishes wishes = {.identity = true};
    open_bench(&bench, "objective=auto");
    CLEANUP(rank_map)
    struct rank_map *map =
        objective_map(&bench.fixture.request, &plan, 128, false, &wishes, &result, &err);
    assert_non_null(map);
    assert_int_equal(result.objective, OBJECTIVE_GOLDEN);
    for (unsigned block = 0; block < 16; block++)
        assert_int_equal(map->block_nodes[block], block);
    bench_done(&bench);
}

static void keeps_an_order_that_is_given(void **state)
{
    (void)state;
    unsigned order[16];
    struct bench bench;
    struct objective_result result;
    struct error_info err = {.kind = ERROR_NONE};
    const struct plan plan = plan_of(&shapes[0], ORDER_TP_CP_EP_DP_PP);
    const struct mapping_wishes wishes = {.identity = true, .node_order = order};
    for (unsigned block = 0; block < 16; block++)
        order[block] = block * 5 % 16;
    open_bench(&bench, "objective=auto");
    CLEANUP(rank_map)
    struct rank_map *map =
        objective_map(&bench.fixture.request, &plan, 128, false, &wishes, &result, &err);
    assert_non_null(map);
    assert_memory_equal(map->block_nodes, order, sizeof(order));
    bench_done(&bench);
}

/* --- order=auto --------------------------------------------------------------------- */

static enum rank_order chosen_order(const struct bench *bench, struct plan plan)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (objective_choose_order(&bench->fixture.request, &plan, degrees_world(&plan.degrees), &err) <
        0)
        fail_msg("%s", err.text);
    return plan.order;
}

static void takes_the_cheaper_order(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct bench bench;
    unsigned changed = 0;
    open_bench(&bench, "global_batch=512,framework=megatron-core,order=auto");
    for (size_t i = 0; i < COUNT_OF(shapes) * 2; i++) {
        struct plan own = plan_of(&shapes[i / 2], ORDER_TP_CP_EP_DP_PP);
        if (i % 2)
            own.micro_batches = MANY_BATCHES;
        struct plan other = own;
        other.order = ORDER_TP_CP_EP_PP_DP;
        double cost = mapped(&bench, &own).quality.cost;
        double other_cost = mapped(&bench, &other).quality.cost;
        bool cheaper = other_cost < cost * (1 - SAME);
        assert_int_equal(chosen_order(&bench, own),
                         cheaper ? ORDER_TP_CP_EP_PP_DP : ORDER_TP_CP_EP_DP_PP);
        changed += cheaper;
    }
    if (changed == 0 || changed == COUNT_OF(shapes) * 2)
        fail_msg("the other order is cheaper %u times", changed);
    bench_done(&bench);
}

/* A node holds two TP groups: replicas of one stage, or two stages, which costs less here. */
static const struct degrees narrow = {4, 1, 1, 4, 8, 1, 4, 1, 4};

static void heeds_framework_and_assertion(void **state)
{
    (void)state;
    struct bench able, unable;
    struct error_info err = {.kind = ERROR_NONE};
    open_bench(&able, "global_batch=512,framework=megatron-core,order=auto");
    open_bench(&unable, "global_batch=512,framework=deepspeed,order=auto");
    struct plan plan = plan_of(&narrow, ORDER_TP_CP_EP_DP_PP);
    plan.micro_batches = MANY_BATCHES;
    const struct framework_profile *profile =
        framework_catalogue_find(unable.fixture.frameworks, "deepspeed", &err);
    assert_non_null(profile);
    assert_false(profile->pipeline_before_data);
    assert_int_equal(chosen_order(&able, plan), ORDER_TP_CP_EP_PP_DP);
    assert_int_equal(chosen_order(&unable, plan), ORDER_TP_CP_EP_DP_PP);
    plan.degrees.etp = 1; /* then the experts' grid has other stages */
    assert_int_equal(rank_order_check(ORDER_TP_CP_EP_PP_DP, &plan.degrees, NULL), -1);
    assert_int_equal(chosen_order(&able, plan), ORDER_TP_CP_EP_DP_PP);
    bench_done(&unable);
    bench_done(&able);
}

/* --- memory ------------------------------------------------------------------------- */

/* Two nodes, where nothing is searched for. */
static const struct degrees small = {4, 1, 1, 4, 2, 1, 2, 1, 2};

static int map_once(void *context, struct error_info *err)
{
    const struct bench *bench = context;
    struct plan plan = plan_of(&small, ORDER_TP_CP_EP_DP_PP);
    struct objective_result result;
    CLEANUP(rank_map)
    struct rank_map *map =
        objective_map(&bench->fixture.request, &plan, 16, false, NULL, &result, err);
    return map ? objective_choose_order(&bench->fixture.request, &plan, 16, err) : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct bench bench;
    struct error_info err = {.kind = ERROR_NONE};
    int opened = bench_init(&bench, "global_batch=512,framework=megatron-core,order=auto", &err);
    bench.fixture.request.cluster = bench.fixture.cluster;
    if (opened == 0)
        unit_test_expect_clean_failures(map_once, &bench);
    bench_done(&bench);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(takes_the_cost_beyond_the_margin),
    cmocka_unit_test(keeps_the_spans_of_the_policy),
    cmocka_unit_test(refuses_cost_without_a_model),
    cmocka_unit_test(follows_the_rule_without_a_model),
    cmocka_unit_test(keeps_the_nodes_order_when_wished),
    cmocka_unit_test(keeps_an_order_that_is_given),
    cmocka_unit_test(takes_the_cheaper_order),
    cmocka_unit_test(heeds_framework_and_assertion),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/objective", tests, COUNT_OF(tests)); }
