/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/search/constraint.h"
#include "tests/support/planner_fixture.h"

struct constraint_case {
    const char *model, *cluster, *keys;
    struct degrees degrees;
    enum sharding sharding;
    enum schedule schedule;
    unsigned micro_batch, micro_batches;
    enum constraint_stage stage;
    bool given, allowed;
    enum rejection rejection;
};

#define D(tp_, cp_, ep_, etp_, pp_, vpp_, dp_)                                                     \
    {                                                                                              \
        .tp = tp_, .cp = cp_, .ep = ep_, .etp = etp_, .pp = pp_, .vpp = vpp_, .dp = dp_,           \
        .shard = 1, .replicate = dp_                                                               \
    }
#define Z1 SHARDING_ZERO1
#define Z3 SHARDING_ZERO3
#define PLAIN SCHEDULE_1F1B
#define WOVEN SCHEDULE_INTERLEAVED

static const char llama[] = "llama3-8b", mixtral[] = "mixtral-8x7b", h100[] = "dgx-h100:8";
static const char batch[] = "global_batch=512";

static const struct constraint_case cases[] = {
    {llama, h100, batch, D(8, 1, 1, 8, 1, 1, 8), Z1, PLAIN, 1, 64, CONSTRAINT_DEGREES, false, true,
     0},
    /* 8 kv heads. */
    {llama, "gb200-nvl72:16", batch, D(16, 1, 1, 16, 1, 1, 4), Z1, PLAIN, 1, 128,
     CONSTRAINT_DEGREES, false, false, REJECT_DIVISIBILITY},
    {llama, "dgx-h100:3", batch, D(1, 1, 1, 1, 24, 1, 1), Z1, PLAIN, 1, 512, CONSTRAINT_DEGREES,
     false, false, REJECT_DIVISIBILITY},
    {llama, h100, "global_batch=512,sequence_length=4098", D(4, 1, 1, 4, 1, 1, 16), Z1, PLAIN, 1,
     32, CONSTRAINT_DEGREES, false, false, REJECT_DIVISIBILITY},
    {llama, h100, "global_batch=512,sequence_length=4100", D(1, 4, 1, 1, 1, 1, 16), Z1, PLAIN, 1,
     32, CONSTRAINT_DEGREES, false, false, REJECT_DIVISIBILITY},
    {llama, h100, batch, D(1, 1, 2, 1, 1, 1, 64), Z1, PLAIN, 1, 8, CONSTRAINT_DEGREES, false, false,
     REJECT_DIVISIBILITY},
    {mixtral, h100, batch, D(2, 1, 8, 1, 1, 1, 32), Z1, PLAIN, 1, 16, CONSTRAINT_DEGREES, false,
     true, 0},
    {mixtral, h100, batch, D(2, 1, 3, 1, 1, 1, 32), Z1, PLAIN, 1, 16, CONSTRAINT_DEGREES, false,
     false, REJECT_DIVISIBILITY},
    /* 3 ranks do not divide an expert's 14336 columns, though they divide the stage's 24. */
    {mixtral, "dgx-h100:3", "global_batch=240", D(1, 1, 8, 3, 1, 1, 24), Z1, PLAIN, 1, 10,
     CONSTRAINT_DEGREES, false, false, REJECT_DIVISIBILITY},
    {llama, h100, batch, D(1, 1, 1, 1, 2, 1, 32), Z3, PLAIN, 1, 16, CONSTRAINT_SHARDING, false,
     false, REJECT_FRAMEWORK},
    {llama, h100, batch, D(1, 1, 1, 1, 2, 1, 32), Z3, PLAIN, 1, 16, CONSTRAINT_SHARDING, true, true,
     0},
    {llama, h100, "global_batch=512,framework=deepspeed", D(1, 1, 1, 1, 2, 1, 32), Z3, PLAIN, 1, 16,
     CONSTRAINT_SHARDING, true, false, REJECT_FRAMEWORK},
    {llama, h100, batch, D(1, 1, 1, 1, 1, 1, 64), Z3, PLAIN, 1, 8, CONSTRAINT_SHARDING, false, true,
     0},
    {llama, h100, batch, D(1, 1, 1, 1, 1, 1, 64), Z1, PLAIN, 3, 2, CONSTRAINT_BATCH, false, false,
     REJECT_BATCH},
    {llama, h100, batch, D(1, 1, 1, 1, 1, 1, 64), Z1, PLAIN, 16, 0, CONSTRAINT_BATCH, false, false,
     REJECT_BATCH},
    {llama, h100, batch, D(1, 1, 1, 1, 16, 2, 4), Z1, WOVEN, 1, 128, CONSTRAINT_BATCH, false, true,
     0},
    {llama, h100, batch, D(1, 1, 1, 1, 16, 2, 4), Z1, WOVEN, 16, 8, CONSTRAINT_BATCH, false, false,
     REJECT_BATCH},
    {llama, h100, batch, D(1, 1, 1, 1, 4, 3, 16), Z1, WOVEN, 1, 32, CONSTRAINT_BATCH, false, false,
     REJECT_DIVISIBILITY},
    {llama, h100, batch, D(1, 1, 1, 1, 1, 2, 64), Z1, WOVEN, 1, 8, CONSTRAINT_BATCH, false, false,
     REJECT_DIVISIBILITY},
};

static void constraints_name_their_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct constraint_case *test = &cases[i];
        struct planner_fixture fixture;
        struct plan_context context;
        struct error_info err = {.kind = ERROR_NONE};
        enum constraint_id failed = CONSTRAINT_COUNT;
        struct plan plan = {.degrees = test->degrees,
                            .sharding = test->sharding,
                            .schedule = test->schedule,
                            .micro_batch = test->micro_batch,
                            .micro_batches = test->micro_batches};
        if (planner_fixture_init(&fixture, test->model, test->cluster, test->keys, &err) < 0 ||
            plan_context_init(&context, &fixture.request, &err) < 0)
            fail_msg("%s", err.text);
        bool allowed = constraint_allows(&context, &plan, test->stage, test->given, &failed);
        if (allowed != test->allowed)
            fail_msg("case %zu: %d", i, allowed);
        if (!allowed)
            assert_int_equal(constraint_rejection(failed), test->rejection);
        plan_context_done(&context);
        planner_fixture_done(&fixture);
    }
}

static void policy_bounds_what_the_planner_chooses(void **state)
{
    (void)state;
    struct planner_fixture fixture;
    struct plan_context context;
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&fixture, llama, "gb200-nvl72:18", batch, &err) < 0 ||
        plan_context_init(&context, &fixture.request, &err) < 0)
        fail_msg("%s", err.text);
    context.policy.on_violation = POLICY_WARN;
    assert_true(constraint_allows_tp(&context, 4));
    assert_false(constraint_allows_tp(&context, 8));
    assert_false(constraint_allows_tp(&context, 3));
    context.policy.tp_within = TP_WITHIN_NVLINK_DOMAIN;
    assert_true(constraint_allows_tp(&context, 8));
    assert_false(constraint_allows_tp(&context, 144));
    context.policy.max_tp = 4;
    assert_false(constraint_allows_tp(&context, 8));
    plan_context_done(&context);
    planner_fixture_done(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_name_their_reason),
        cmocka_unit_test(policy_bounds_what_the_planner_chooses),
    };
    return unit_test_main("planner/constraint", tests, COUNT_OF(tests));
}
