/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/search/candidate_pool.h"

static struct plan plan_of(unsigned tp, unsigned pp, enum sharding sharding, double seconds)
{
    struct plan plan = {.degrees = DEGREES_ONE, .sharding = sharding, .micro_batch = 1};
    plan.degrees.tp = tp;
    plan.degrees.pp = pp;
    plan.time.step_seconds = seconds;
    plan.memory.verdict = FIT_FITS;
    return plan;
}

static struct candidate_pool *pool_create(void)
{
    struct candidate_pool *pool = memory_allocate(sizeof(*pool));
    assert_non_null(pool);
    return pool;
}

static void plans_stay_sorted(void **state)
{
    (void)state;
    CLEANUP_MEMORY void *memory = pool_create();
    struct candidate_pool *pool = memory;
    for (unsigned i = 0; i < 2 * CANDIDATE_POOL_MAXIMUM; i++) {
        struct plan plan = plan_of(2 + i, 1, SHARDING_ZERO1, 1 + (i * 7919 % 1000) / 1000.0);
        candidate_pool_offer(pool, &plan);
    }
    assert_int_equal(pool->count, CANDIDATE_POOL_MAXIMUM);
    for (size_t i = 1; i < pool->count; i++)
        assert_true(plan_compare(&pool->plans[i - 1], &pool->plans[i]) < 0);
    assert_true(pool->fastest_split.time.step_seconds <= pool->plans[0].time.step_seconds);
}

static void classes_keep_their_best(void **state)
{
    (void)state;
    CLEANUP_MEMORY void *memory = pool_create();
    struct candidate_pool *pool = memory;
    const struct plan plans[] = {
        plan_of(1, 1, SHARDING_NONE, 4),  plan_of(1, 1, SHARDING_ZERO2, 3),
        plan_of(1, 1, SHARDING_ZERO2, 2), plan_of(2, 1, SHARDING_ZERO1, 1),
        plan_of(1, 2, SHARDING_NONE, 5),
    };
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        candidate_pool_offer(pool, &plans[i]);
    assert_true(pool->best[PLAN_CLASS_DATA_PARALLEL + SHARDING_NONE].time.step_seconds == 4);
    assert_true(pool->best[PLAN_CLASS_DATA_PARALLEL + SHARDING_ZERO2].time.step_seconds == 2);
    assert_false(pool->has_best[PLAN_CLASS_DATA_PARALLEL + SHARDING_ZERO3]);
    assert_true(pool->best[PLAN_CLASS_MODEL_PARALLEL].time.step_seconds == 1);
}

static void ties_break_on_integers(void **state)
{
    (void)state;
    struct plan left = plan_of(2, 1, SHARDING_ZERO1, 1), right = plan_of(1, 1, SHARDING_ZERO1, 1);
    right.time.step_seconds += 1e-13; /* less than any clock tells */
    assert_true(plan_compare(&right, &left) < 0);
    assert_true(plan_compare(&left, &right) > 0);
    assert_int_equal(plan_compare(&left, &left), 0);
    left = right;
    left.memory.total_bytes = 1;
    assert_true(plan_compare(&right, &left) < 0);
    assert_int_equal(plan_complexity(&left), 0);
    left.degrees.pp = left.degrees.vpp = 2;
    left.recompute = RECOMPUTE_FULL;
    left.offload = OFFLOAD_CPU;
    assert_int_equal(plan_complexity(&left), 4);
}

static void tight_memory_costs(void **state)
{
    (void)state;
    struct plan tight = plan_of(1, 1, SHARDING_ZERO1, 1),
                roomy = plan_of(1, 1, SHARDING_ZERO1, 1.05);
    tight.memory.verdict = FIT_TIGHT;
    assert_true(plan_compare(&roomy, &tight) < 0);
    roomy.time.step_seconds = 1.07;
    assert_true(plan_compare(&tight, &roomy) < 0);
}

static void the_nearest_miss_is_kept(void **state)
{
    (void)state;
    CLEANUP_MEMORY void *memory = pool_create();
    struct candidate_pool *pool = memory;
    struct plan plan = plan_of(1, 1, SHARDING_NONE, 0);
    for (uint64_t bytes = 90; bytes >= 70; bytes -= 10) {
        plan.memory.total_bytes = bytes;
        candidate_pool_miss(pool, &plan);
    }
    plan.memory.total_bytes = 80;
    candidate_pool_miss(pool, &plan);
    assert_int_equal(pool->nearest.memory.total_bytes, 70);
    assert_int_equal(pool->rejected[REJECT_MEMORY], 4);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_stay_sorted),        cmocka_unit_test(classes_keep_their_best),
        cmocka_unit_test(ties_break_on_integers),   cmocka_unit_test(tight_memory_costs),
        cmocka_unit_test(the_nearest_miss_is_kept),
    };
    return unit_test_main("planner/candidate_pool", tests, COUNT_OF(tests));
}
