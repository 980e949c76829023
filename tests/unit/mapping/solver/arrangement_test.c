/* SPDX-License-Identifier: MIT */
#include "mapping/solver/arrangement.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#define EXCHANGES 12u

struct tally {
    uint64_t random;
    unsigned moved; /* exchanges that changed the cost */
};

/* Pairs inside a unit apart, which cost the same wherever it sits. */
static void counts_as_ranks_do(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement first = solver_case_shuffled(sample, &tally->random);
    struct arrangement second = solver_case_shuffled(sample, &tally->random);
    if (!solver_case_is_even(sample))
        return;
    uint64_t inside = solver_case_site_cost(sample, first.site_of) - arrangement_cost(&first);
    assert_int_equal(solver_case_site_cost(sample, second.site_of),
                     arrangement_cost(&second) + inside);
    for (unsigned f = 0; sample->unit_nodes == 1 && f < sample->weights.flow_count; f++)
        inside -= sample->graph->inside[f] * sample->weights.weights[f][COST_SLOT_NODE];
    assert_true(inside == 0 || sample->unit_nodes > 1);
}

static void adds_what_an_exchange_changes(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    unsigned units = sample->graph->block_count, sites = sample->sites->site_count;
    for (unsigned i = 0; i < EXCHANGES; i++) {
        unsigned left = arrangement.site_of[solver_draw(&tally->random, units)];
        unsigned right = solver_draw(&tally->random, sites);
        if (left == right)
            continue;
        uint64_t before = arrangement_cost(&arrangement);
        int64_t delta = arrangement_delta(&arrangement, left, right);
        arrangement_exchange(&arrangement, left, right);
        if (arrangement_cost(&arrangement) != before + (uint64_t)delta)
            fail_msg("%s: sites %u and %u", sample->name, left, right);
        assert_true(solver_case_is_sound(&arrangement));
        tally->moved += delta != 0;
    }
}

static void sums_the_units(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    const struct block_graph *graph = sample->graph;
    for (unsigned unit = 0; unit < graph->block_count; unit++) {
        uint64_t whole =
            arrangement_unit_cost(&arrangement, unit, arrangement.leaf_of[unit], SITE_NONE);
        uint64_t all_but = whole, first = graph->first[unit], end = graph->first[unit + 1];
        unsigned other = first < end ? graph->edges[first].to : SITE_NONE;
        for (uint64_t e = first; e < end; e++)
            if (graph->edges[e].to == other)
                all_but -=
                    graph->edges[e].pairs *
                    sample->weights.weights[graph->edges[e].flow][site_map_slot(
                        sample->sites, arrangement.leaf_of[unit], arrangement.leaf_of[other])];
        assert_int_equal(
            arrangement_unit_cost(&arrangement, unit, arrangement.leaf_of[unit], other), all_but);
    }
}

static struct tally visit(solver_case_fn each)
{
    struct tally tally = {.random = 11};
    struct error_info err = {.kind = ERROR_NONE};
    int count = solver_cases_visit(each, &tally, &err);
    if (count < 100)
        fail_msg("%d cases: %s", count, err.text);
    return tally;
}

static void costs_what_ranks_cost(void **state)
{
    (void)state;
    visit(counts_as_ranks_do);
}

static void knows_what_an_exchange_adds(void **state)
{
    (void)state;
    assert_true(visit(adds_what_an_exchange_changes).moved > 300);
}

static void leaves_out_a_neighbour(void **state)
{
    (void)state;
    visit(sums_the_units);
}

static const struct test_switch leaves[] = {
    {"leaf1", "n[1-2]", NULL}, {"leaf2", "n[3-4]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster four = {
    .nodes = "n[1-4]", .gpus = 4, .switches = leaves, .switch_count = COUNT_OF(leaves)};

static void heeds_its_flags(void **state)
{
    (void)state;
    const struct solver_job job = {.degrees = {.tp = 4, .dp = 3}, .ranks = 4};
    const unsigned char flags[] = {SITE_FIXED, SITE_USED, 0, 0};
    const unsigned places[] = {0, 1, 2};
    struct error_info err = {.kind = ERROR_NONE};
    struct arrangement arrangement, copy;
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &four, &job, &err) < 0 ||
        arrangement_init(&arrangement, sample.graph, sample.sites, sample.arena, &err) < 0 ||
        arrangement_init(&copy, sample.graph, sample.sites, sample.arena, &err) < 0)
        fail_msg("%s", err.text);
    arrangement_fill(&arrangement, places);
    assert_true(arrangement_may_exchange(&arrangement, 0, 3));
    arrangement.flags = flags;
    assert_false(arrangement_may_exchange(&arrangement, 0, 1));
    assert_false(arrangement_may_exchange(&arrangement, 2, 0));
    assert_false(arrangement_may_exchange(&arrangement, 1, 3)); /* would be empty */
    assert_true(arrangement_may_exchange(&arrangement, 1, 2));
    assert_true(arrangement_may_exchange(&arrangement, 2, 3));
    arrangement_copy(&copy, &arrangement);
    arrangement_exchange(&copy, 2, 3);
    assert_int_equal(copy.site_of[2], 3);
    assert_int_equal(copy.unit_at[2], SITE_NONE);
    assert_int_equal(arrangement.site_of[2], 2);
    assert_true(solver_case_is_sound(&copy));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(costs_what_ranks_cost),
    cmocka_unit_test(knows_what_an_exchange_adds),
    cmocka_unit_test(leaves_out_a_neighbour),
    cmocka_unit_test(heeds_its_flags),
};

int main(void) { return unit_test_main("mapping/solver/arrangement", tests, COUNT_OF(tests)); }
