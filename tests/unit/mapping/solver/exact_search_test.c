/* SPDX-License-Identifier: MIT */
#include "mapping/solver/exact_search.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#define VISITS UINT64_C(10000000)

struct tally {
    uint64_t random;
    unsigned improved, unproven;
};

static void expect_optimum(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t before = arrangement_cost(&arrangement), cost = before;
    int proven = exact_search(&arrangement, &cost, VISITS, &err);
    bool small = sample->sites->leaf_count > 1;
    uint64_t least = small ? solver_case_optimum(sample) : before;
    if (proven != (small ? 1 : 0) || cost != least || cost != arrangement_cost(&arrangement) ||
        !solver_case_is_sound(&arrangement))
        fail_msg("%s: %d, from %llu to %llu, optimum %llu", sample->name, proven,
                 (unsigned long long)before, (unsigned long long)cost, (unsigned long long)least);
    cost = least;
    assert_int_equal(exact_search(&arrangement, &cost, VISITS, &err), proven);
    assert_int_equal(cost, least);
    assert_int_equal(cost, arrangement_cost(&arrangement));
    tally->improved += least < before;
}

static void finds_what_trying_all_finds(void **state)
{
    (void)state;
    struct tally tally = {.random = 29};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_optimum, &tally, &err) < 100)
        fail_msg("%s", err.text);
    assert_true(tally.improved > 50);
}

/* Whatever is visited: no worse, and proven only where it is the optimum. */
static void expect_honesty(const struct solver_case *sample, void *context)
{
    struct tally *tally = context;
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t optimum = solver_case_optimum(sample);
    for (uint64_t visits = 1; visits < 200; visits *= 3) {
        struct arrangement arrangement = solver_case_shuffled(sample, &tally->random);
        uint64_t before = arrangement_cost(&arrangement), cost = before;
        int proven = exact_search(&arrangement, &cost, visits, &err);
        assert_true(proven >= 0 && cost <= before && cost == arrangement_cost(&arrangement));
        assert_true(solver_case_is_sound(&arrangement));
        if (proven == 1 && cost != optimum)
            fail_msg("%s: proven after %u visits", sample->name, (unsigned)visits);
        tally->unproven += proven == 0;
    }
}

static void proves_nothing_that_it_has_not_tried(void **state)
{
    (void)state;
    struct tally tally = {.random = 31};
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(expect_honesty, &tally, &err) < 100)
        fail_msg("%s", err.text);
    assert_true(tally.unproven > 100);
}

static const struct test_switch leaves[] = {
    {"leaf1", "n[1-10]", NULL}, {"leaf2", "n[11-24]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster many = {
    .nodes = "n[1-24]", .gpus = 4, .switches = leaves, .switch_count = COUNT_OF(leaves)};

static void expect_refusal(unsigned stages, const unsigned char *flags)
{
    const struct solver_job job = {.degrees = {.tp = 4, .pp = stages}, .ranks = 4};
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t random = 37;
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &many, &job, &err) < 0)
        fail_msg("%s", err.text);
    struct arrangement arrangement = solver_case_shuffled(&sample, &random);
    arrangement.flags = flags;
    uint64_t before = arrangement_cost(&arrangement), cost = before;
    assert_int_equal(exact_search(&arrangement, &cost, VISITS, &err), 0);
    assert_int_equal(cost, before);
    assert_int_equal(arrangement_cost(&arrangement), before);
}

static void leaves_large_and_pinned_cases(void **state)
{
    (void)state;
    static const unsigned char flags[24] = {SITE_USED};
    expect_refusal(EXACT_SEARCH_UNITS + 1, NULL);
    expect_refusal(4, flags);
}

static int search_once(void *context, struct error_info *err)
{
    struct solver_case own = *(const struct solver_case *)context;
    uint64_t random = 3;
    struct arrangement arrangement;
    int done = -1;
    own.arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!own.arena)
        return error_set_memory(err);
    if (solver_case_shuffle(&own, &random, &arrangement, err) == 0) {
        uint64_t cost = arrangement_cost(&arrangement);
        done = exact_search(&arrangement, &cost, VISITS, err) < 0 ? -1 : 0;
    }
    arena_free(own.arena);
    return done;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    const struct solver_job job = {.degrees = {.tp = 4, .pp = 3, .dp = 2}, .ranks = 4};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(solver_case) struct solver_case sample = {.cluster = NULL};
    if (solver_case_init(&sample, &many, &job, &err) == 0)
        unit_test_expect_clean_failures(search_once, &sample);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_trying_all_finds),
    cmocka_unit_test(proves_nothing_that_it_has_not_tried),
    cmocka_unit_test(leaves_large_and_pinned_cases),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/exact_search", tests, COUNT_OF(tests)); }
