/* SPDX-License-Identifier: MIT */
#include "mapping/solver/exchange_search.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define PLENTY UINT64_C(16000)
#define BUDGET UINT64_C(4000)

struct tally {
    uint64_t random;
    unsigned cases, improved, optimal;
};

static uint64_t searched(struct arrangement *arrangement, uint64_t below, uint64_t *budget)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t cost =
        exchange_search(arrangement, arrangement_cost(arrangement), below, budget, &err);
    if (cost == UINT64_MAX)
        fail_msg("%s", err.text);
    return cost;
}

static void expect_improvement(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    struct arrangement again = solver_case_shuffled(sample, &tally->random);
    arrangement_copy(&again, &arrangement);
    uint64_t before = arrangement_cost(&arrangement), budget = PLENTY, other = PLENTY;
    uint64_t optimum = solver_case_optimum(sample), cost = searched(&arrangement, 0, &budget);
    if (cost > before || cost != arrangement_cost(&arrangement) || cost < optimum ||
        !solver_case_is_sound(&arrangement))
        fail_msg("%s: from %llu to %llu, optimum %llu", sample->name, (unsigned long long)before,
                 (unsigned long long)cost, (unsigned long long)optimum);
    if (tally->cases % 4 == 0) { /* the same again, to the last exchange */
        assert_int_equal(searched(&again, 0, &other), cost);
        assert_memory_equal(again.site_of, arrangement.site_of,
                            sample->graph->block_count * sizeof(unsigned));
        assert_int_equal(other, budget);
    }
    tally->cases++;
    tally->improved += cost < before;
    tally->optimal += cost == optimum;
}

/* Annealing over seven units or fewer: the optimum nearly always. */
static void never_ends_worse(void **state)
{
    (void)state;
    struct tally tally = {.random = 5};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_improvement, &tally, &err) < 100)
        fail_msg("%u cases: %s", tally.cases, err.text);
    if (tally.improved * 2 < tally.cases || tally.optimal * 100 < tally.cases * 97)
        fail_msg("of %u cases %u better, %u optimal", tally.cases, tally.improved, tally.optimal);
}

static void expect_thrift(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    uint64_t before = arrangement_cost(&arrangement), none = 0, few = 40, plenty = BUDGET;
    assert_int_equal(searched(&arrangement, 0, &none), before);
    assert_int_equal(none, 0);
    uint64_t cost = searched(&arrangement, 0, &few);
    assert_true(few <= 40 && cost <= before && cost == arrangement_cost(&arrangement));
    assert_true(solver_case_is_sound(&arrangement));
    cost = searched(&arrangement, cost, &plenty); /* already there */
    assert_int_equal(cost, arrangement_cost(&arrangement));
}

static void keeps_to_its_budget(void **state)
{
    (void)state;
    struct tally tally = {.random = 17};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_thrift, &tally, &err) < 100)
        fail_msg("%s", err.text);
}

static void expect_flags_heeded(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    unsigned char flags[SOLVER_CASE_BLOCKS] = {0};
    unsigned units = sample->graph->block_count, budget_of_pins = units / 2;
    struct arrangement before = solver_case_shuffled(sample, &tally->random);
    for (unsigned unit = 0; unit < budget_of_pins; unit++)
        flags[arrangement.site_of[unit]] = unit % 2 ? SITE_USED : SITE_FIXED | SITE_USED;
    arrangement.flags = flags;
    arrangement_copy(&before, &arrangement);
    uint64_t budget = BUDGET, started = arrangement_cost(&arrangement);
    uint64_t cost = searched(&arrangement, 0, &budget);
    assert_true(cost <= started && cost == arrangement_cost(&arrangement));
    assert_true(solver_case_is_sound(&arrangement));
    for (unsigned site = 0; site < sample->sites->site_count; site++) {
        if (flags[site] & SITE_FIXED && arrangement.unit_at[site] != before.unit_at[site])
            fail_msg("%s: site %u is fixed", sample->name, site);
        if (flags[site] & SITE_USED && arrangement.unit_at[site] == SITE_NONE)
            fail_msg("%s: site %u became empty", sample->name, site);
    }
    tally->improved += cost < started;
}

static void leaves_what_is_pinned(void **state)
{
    (void)state;
    struct tally tally = {.random = 23};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_flags_heeded, &tally, &err) < 100)
        fail_msg("%s", err.text);
    assert_true(tally.improved > 30);
}

static const struct test_switch leaves[] = {
    {"leaf1", "n[1-3]", NULL}, {"leaf2", "n[4-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster eight = {
    .nodes = "n[1-8]", .gpus = 4, .switches = leaves, .switch_count = COUNT_OF(leaves)};

static int search_once(void *context, struct error_info *err)
{
    const struct solver_case *sample = context;
    uint64_t random = 3, budget = BUDGET;
    struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct arrangement arrangement;
    struct solver_case own = *sample;
    own.arena = arena;
    int done =
        arena ? solver_case_shuffle(&own, &random, &arrangement, err) : error_set_memory(err);
    if (done == 0 && exchange_search(&arrangement, arrangement_cost(&arrangement), 0, &budget,
                                     err) == UINT64_MAX)
        done = -1;
    arena_free(arena);
    return done;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    const struct solver_job job = {.degrees = {.tp = 4, .pp = 4, .dp = 2}, .ranks = 4};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &eight, &job, &err) == 0)
        unit_test_expect_clean_failures(search_once, &sample);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(never_ends_worse),
    cmocka_unit_test(keeps_to_its_budget),
    cmocka_unit_test(leaves_what_is_pinned),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/exchange_search", tests, COUNT_OF(tests)); }
