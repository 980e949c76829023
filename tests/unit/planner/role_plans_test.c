/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/roles/role_plans.h"
#include "planner/search/candidate_pool.h"
#include "tests/support/planner_fixture.h"

#define ROLES 2u

struct bench {
    struct planner_fixture fixture;
    struct job_spec *frozen;
    struct role_request requests[ROLES];
    struct error_info err;
};

/* A trained model, and the same one frozen beside it (or on other GPUs). */
static void bench_init(struct bench *bench, const char *model, const char *cluster, bool shared)
{
    bench->err = (struct error_info){.kind = ERROR_NONE};
    bench->frozen = NULL;
    if (planner_fixture_init(&bench->fixture, model, cluster, "global_batch=64", &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    bench->frozen = job_spec_create(&bench->err);
    if (!bench->frozen || job_spec_parse_option(bench->frozen, "trainable=frozen,global_batch=64",
                                                "--set", &bench->err) < 0)
        fail_msg("%s", bench->err.text);
    bench->requests[0] = (struct role_request){"actor", bench->fixture.request, 0};
    bench->requests[1] = (struct role_request){"reference", bench->fixture.request, shared ? 0 : 1};
    bench->requests[1].plan.job = bench->frozen;
}

static void bench_done(struct bench *bench)
{
    job_spec_free(bench->frozen);
    planner_fixture_done(&bench->fixture);
}

static struct role_plans *plan(struct bench *bench)
{
    struct role_plans *plans = role_plans_create(bench->requests, ROLES, &bench->err);
    if (!plans)
        fail_msg("%s", bench->err.text);
    return plans;
}

static void what_others_keep_is_left_to_them(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-13b", "dgx-a100-80:1", true);
    CLEANUP(role_plans) struct role_plans *plans = plan(&bench);
    CLEANUP(plan_list) struct plan_list *alone = plan_search(&bench.fixture.request, NULL);
    uint64_t capacity = alone && alone->plan_count > 0 ? alone->plans[0].memory.capacity_bytes : 0;
    assert_true(capacity > 0);
    for (size_t i = 0; plans && i < ROLES; i++) {
        const struct role_result *result = &plans->results[i];
        assert_non_null(result->plan);
        assert_true(result->others_bytes == plans->results[1 - i].kept_bytes);
        assert_true(result->kept_bytes > 0);
        const struct memory_estimate *memory = &result->plan->memory;
        assert_true(result->kept_bytes < memory->total_bytes);
        assert_true(memory->capacity_bytes + result->others_bytes == capacity);
        assert_true(memory->total_bytes + result->others_bytes <= capacity);
    }
    bench_done(&bench);
}

static void roles_apart_have_the_whole_gpu(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-13b", "dgx-a100-80:1", false);
    CLEANUP(role_plans) struct role_plans *plans = plan(&bench);
    for (size_t i = 0; plans && i < ROLES; i++) {
        CLEANUP(plan_list) struct plan_list *alone = plan_search(&bench.requests[i].plan, NULL);
        assert_true(plans->results[i].others_bytes == 0);
        if (alone && plans->results[i].plan)
            assert_int_equal(plan_compare(plans->results[i].plan, &alone->plans[0]), 0);
    }
    bench_done(&bench);
}

static void too_much_together_does_not_fit(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-70b", "dgx-a100-80:1", true);
    CLEANUP(role_plans) struct role_plans *plans = plan(&bench);
    if (plans)
        assert_true(!plans->results[0].plan || !plans->results[1].plan);
    bench_done(&bench);
}

static int scenario(void *context, struct error_info *err)
{
    struct bench *bench = context;
    CLEANUP(role_plans)
    struct role_plans *plans = role_plans_create(bench->requests, ROLES, err);
    return plans ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "gpt2", "dgx-a100-80:1", true);
    unit_test_expect_clean_failures(scenario, &bench);
    bench_done(&bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_keep_is_left_to_them),
        cmocka_unit_test(roles_apart_have_the_whole_gpu),
        cmocka_unit_test(too_much_together_does_not_fit),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/role_plans", tests, COUNT_OF(tests));
}
