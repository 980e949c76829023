/* SPDX-License-Identifier: MIT */
#include "mapping/solver/cost_bound.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include "mapping/solver/node_packing.h"

struct tally {
    unsigned cases, reached;
};

static uint64_t bound_of(const struct solver_case *sample)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t bound = 0;
    if (cost_bound(&sample->weights, sample->tree, sample->world, sample->block_ranks, &bound,
                   &err) < 0)
        fail_msg("%s: %s", sample->name, err.text);
    return bound;
}

/* Of units of one node; wider ones are laid by the search's own test. */
static void expect_below_optimum(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    if (sample->unit_nodes > 1)
        return;
    uint64_t optimum = solver_case_optimum(sample), bound = bound_of(sample);
    for (unsigned f = 0; f < sample->weights.flow_count; f++)
        optimum += sample->graph->inside[f] * sample->weights.weights[f][COST_SLOT_NODE];
    if (bound > optimum)
        fail_msg("%s: bound %llu above the optimum %llu", sample->name, (unsigned long long)bound,
                 (unsigned long long)optimum);
    tally->cases++;
    tally->reached += bound == optimum;
}

static void stays_below_every_mapping(void **state)
{
    (void)state;
    struct tally tally = {.cases = 0};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_below_optimum, &tally, &err) < 100)
        fail_msg("%s", err.text);
    if (tally.cases < 100 || tally.reached * 2 < tally.cases)
        fail_msg("of %u cases it is the optimum in %u", tally.cases, tally.reached);
}

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch two_tiers[] = {
    {"leaf1", "n[1-4]", NULL},   {"leaf2", "n[5-8]", NULL},   {"leaf3", "n[9-12]", NULL},
    {"leaf4", "n[13-16]", NULL}, {"pod1", NULL, "leaf[1-2]"}, {"pod2", NULL, "leaf[3-4]"},
    {"core", NULL, "pod[1-2]"}};

#define SWITCHES(list) .switches = (list), .switch_count = COUNT_OF(list)

static const struct test_cluster leaves = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(two_leaves)};
static const struct test_cluster tiers = {.nodes = "n[1-16]", .gpus = 8, SWITCHES(two_tiers)};

/* Whole replicas fill leaves or pods: the rule's order is as cheap as any. */
static const struct {
    const char *name;
    const struct test_cluster *cluster;
    struct degrees degrees;
} rows[] = {
    {"a pipeline for each leaf", &leaves, {.tp = 8, .pp = 4, .dp = 2}},
    {"two pipelines for each leaf", &leaves, {.tp = 8, .pp = 2, .dp = 4}},
    {"replicas alone", &leaves, {.tp = 8, .dp = 8}},
    {"one pipeline over both", &leaves, {.tp = 8, .pp = 8}},
    {"four leaves of two pods", &tiers, {.tp = 8, .pp = 4, .dp = 4}},
    {"a pipeline for each pod", &tiers, {.tp = 8, .pp = 8, .dp = 2}},
    {"CP over a leaf", &leaves, {.tp = 8, .cp = 4, .dp = 2}},
    {"EP over a leaf", &leaves, {.tp = 1, .dp = 64, .ep = 32, .etp = 1}},
};

static uint64_t golden_cost(const struct solver_case *sample)
{
    unsigned packed[SOLVER_CASE_BLOCKS], blocks[SOLVER_CASE_BLOCKS], nodes[SOLVER_CASE_BLOCKS];
    struct error_info err = {.kind = ERROR_NONE};
    if (node_packing_solve(sample->tree, &sample->blocks, packed, &err) < 0)
        fail_msg("%s", err.text);
    block_order_fill(&sample->blocks, blocks);
    for (unsigned i = 0; i < sample->blocks.block_count; i++)
        nodes[blocks[i]] = packed[i];
    return solver_case_cost(sample, nodes);
}

static void is_reached_on_aligned_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * RANK_ORDER_COUNT; i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const struct solver_job job = {.degrees = rows[i / RANK_ORDER_COUNT].degrees,
                                       .order = (enum rank_order)(i % RANK_ORDER_COUNT),
                                       .ranks = 8};
        CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
        if (solver_case_init(&sample, rows[i / RANK_ORDER_COUNT].cluster, &job, &err) < 0)
            fail_msg("%s: %s", rows[i / RANK_ORDER_COUNT].name, err.text);
        uint64_t bound = bound_of(&sample), golden = golden_cost(&sample);
        if (bound != golden)
            fail_msg("%s, %s: bound %llu, golden %llu", rows[i / RANK_ORDER_COUNT].name,
                     rank_order_name(job.order), (unsigned long long)bound,
                     (unsigned long long)golden);
    }
}

static unsigned liked(const struct solver_case *sample, unsigned vertex, unsigned multiple)
{
    return cost_bound_stages(&sample->weights, sample->tree, vertex, sample->world,
                             sample->block_ranks, sample->degrees.pp, multiple);
}

/* Stages cost ten times what replicas do under the rule: as many of them as a leaf holds. */
static void likes_the_cheapest_rectangle(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    const struct solver_job job = {.degrees = {.tp = 8, .pp = 8, .dp = 2}, .ranks = 8};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &tiers, &job, &err) < 0)
        fail_msg("%s", err.text);
    unsigned leaf = sample.sites->vertices[0], pod = sample.tree->vertices[leaf].parent;
    assert_int_equal(liked(&sample, leaf, 1), 4);
    assert_int_equal(liked(&sample, pod, 1), 8);
    assert_int_equal(liked(&sample, pod, 4), 8);
    assert_int_equal(liked(&sample, leaf, 2), 4);
    /* Replicas dear, stages cheap: the other way round. */
    for (unsigned f = 0; f < sample.weights.flow_count; f++)
        for (unsigned slot = 0; slot < sample.weights.slot_count; slot++)
            sample.weights.weights[f][slot] =
                slot * (sample.weights.groups[f] == GROUP_PP ? UINT64_C(1) : UINT64_C(100));
    assert_int_equal(liked(&sample, leaf, 1), 2);
    assert_int_equal(liked(&sample, pod, 1), 4);
    assert_int_equal(liked(&sample, pod, 8), 8);
}

static int bound_once(void *context, struct error_info *err)
{
    const struct solver_case *sample = context;
    uint64_t bound;
    return cost_bound(&sample->weights, sample->tree, sample->world, sample->block_ranks, &bound,
                      err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    const struct solver_job job = {.degrees = {.tp = 8, .pp = 3, .dp = 2}, .ranks = 8};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &tiers, &job, &err) == 0)
        unit_test_expect_clean_failures(bound_once, &sample);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stays_below_every_mapping),
    cmocka_unit_test(is_reached_on_aligned_trees),
    cmocka_unit_test(likes_the_cheapest_rectangle),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/cost_bound", tests, COUNT_OF(tests)); }
