/* SPDX-License-Identifier: MIT */
/* Laws of every plan, over models, clusters and keys: degrees multiply to N, divide what they
 * must, respect policy and memory; the same request gives the same list; more sharding, TP or
 * recompute never needs more states or activations. */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "planner/memory_model.h"
#include "tests/support/planner_fixture.h"
#include "workload/job/job_bounds.h"
#include <string.h>

static const char *const models[] = {"llama3-8b",    "llama3-70b", "gpt3-175b",
                                     "mixtral-8x7b", "llama2-7b",  "deepseek-v3"};
static const char *const clusters[] = {"dgx-h100:1",   "dgx-a100-80:6", "gb200-nvl72:18",
                                       "l40s-pcie:4",  "a6000-pairs:8", "mi300x:16",
                                       "dgx1-v100:32", "dgx-h100:33"};
static const char *const keys[] = {
    "global_batch=512",
    "global_batch=768,sequence_length=2048",
    "global_batch=64,sequence_length=65536",
    "global_batch=1024,framework=deepspeed",
    "global_batch=1024,framework=torchtitan,precision=fp8",
    "global_batch=96,tp=2",
    "global_batch=480,order=tp-cp-ep-pp-dp",
    "global_batch=256,framework=megatron-deepspeed,pp=2",
    "global_batch=512,tp>=2,tp<=4,pp<=8",
    "global_batch=512,dp<=16,micro_batch<=2,shard<=8",
    "global_batch=512,cp>=2,ep>=2,vpp<=2",
};

#define REQUESTS 96u

static uint64_t random_state = 77;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

static void fixture_draw(struct planner_fixture *fixture)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(fixture, models[draw(COUNT_OF(models))],
                             clusters[draw(COUNT_OF(clusters))], keys[draw(COUNT_OF(keys))],
                             &err) < 0)
        fail_msg("%s", err.text);
    fixture->request.top = 32;
}

static void check_bounds(const struct job_spec *job, const struct plan *plan)
{
    const struct degrees *degrees = &plan->degrees;
    assert_true(job_bounds_hold(job, JOB_TP, degrees->tp));
    assert_true(job_bounds_hold(job, JOB_CP, degrees->cp));
    assert_true(job_bounds_hold(job, JOB_EP, degrees->ep));
    assert_true(job_bounds_hold(job, JOB_ETP, degrees->etp));
    assert_true(job_bounds_hold(job, JOB_PP, degrees->pp));
    assert_true(job_bounds_hold(job, JOB_VPP, degrees->vpp));
    assert_true(job_bounds_hold(job, JOB_DP, degrees->dp));
    assert_true(job_bounds_hold(job, JOB_SHARD, degrees->shard));
    assert_true(job_bounds_hold(job, JOB_MICRO_BATCH, plan->micro_batch));
}

static void check_plan(const struct planner_fixture *fixture, const struct plan *plan)
{
    const struct model_spec *model = fixture->request.model;
    const struct degrees *degrees = &plan->degrees;
    uint64_t world = cluster_gpu_count(fixture->cluster);
    uint64_t batch = job_spec_number(fixture->job, JOB_GLOBAL_BATCH, 0);
    uint64_t given_tp = job_spec_number(fixture->job, JOB_TP, degrees->tp);
    struct policy_place place;
    struct policy_verdict verdict;

    assert_int_equal(degrees_world(degrees), world);
    assert_int_equal((uint64_t)degrees->shard * degrees->replicate, degrees->dp);
    assert_int_equal((uint64_t)degrees->etp * degrees->ep * degrees_edp(degrees) * degrees->pp,
                     world);
    assert_int_equal(model->heads % degrees->tp, 0);
    if (model->experts > 0)
        assert_int_equal(model->experts % degrees->ep, 0);
    assert_int_equal((uint64_t)plan->micro_batch * degrees->dp * plan->micro_batches, batch);
    assert_int_equal(degrees->tp, given_tp);
    check_bounds(fixture->job, plan);
    assert_int_equal(rank_order_check(plan->order, degrees, NULL), 0);
    if (plan->schedule == SCHEDULE_INTERLEAVED)
        assert_int_equal(plan->micro_batches % degrees->pp, 0);
    policy_place_of(fixture->cluster, 0, world, NULL, &place);
    policy_check(&fixture->policy, degrees, &place, &verdict);
    assert_int_not_equal(verdict.result, POLICY_DENIED);
    assert_int_not_equal(plan->memory.verdict, FIT_OOM);
    assert_true(plan->memory.total_bytes <= plan->memory.capacity_bytes);
    assert_true(plan->time.step_seconds > 0 && plan->time.mfu > 0 && plan->time.mfu < 1);
}

static void dump(const struct plan_list *list, struct text_buffer *out)
{
    for (size_t i = 0; i < list->plan_count; i++) {
        const struct plan *plan = &list->plans[i];
        char text[DEGREES_TEXT_BYTES];
        degrees_text(&plan->degrees, text);
        text_buffer_add(out, "%s %u %u %u %u %llu %.17g %s\n", text, plan->degrees.shard,
                        plan->sharding, plan->micro_batch, plan->recompute,
                        (unsigned long long)plan->memory.total_bytes, plan->time.step_seconds,
                        plan->reasons[0]);
    }
    for (size_t i = 0; i < list->rule_count; i++)
        text_buffer_add(out, "%s|%s|%s|%s\n", list->rules[i].rule, list->rules[i].inputs,
                        list->rules[i].verdict, list->rules[i].reason);
    for (size_t i = 0; i < list->remedy_count; i++)
        text_buffer_add(out, "%s %s\n", list->remedies[i].kind, list->remedies[i].text);
    assert_false(text_buffer_failed(out));
}

static void every_plan_obeys_its_laws(void **state)
{
    (void)state;
    unsigned plans = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct planner_fixture fixture;
        struct error_info err = {.kind = ERROR_NONE};
        fixture_draw(&fixture);
        CLEANUP(plan_list) struct plan_list *list = plan_search(&fixture.request, &err);
        if (!list)
            assert_int_equal(err.kind, ERROR_INPUT);
        for (size_t p = 0; list && p < list->plan_count; p++, plans++)
            check_plan(&fixture, &list->plans[p]);
        if (list && list->plan_count == 0 && list->examined > 0)
            assert_non_null(list->nearest);
        planner_fixture_done(&fixture);
    }
    assert_true(plans > REQUESTS);
}

static void the_same_request_gives_the_same_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < REQUESTS / 8; i++) {
        struct planner_fixture fixture;
        struct error_info err = {.kind = ERROR_NONE};
        fixture_draw(&fixture);
        CLEANUP(plan_list) struct plan_list *first = plan_search(&fixture.request, &err);
        CLEANUP(plan_list) struct plan_list *second = plan_search(&fixture.request, &err);
        assert_int_equal(first == NULL, second == NULL);
        if (first) {
            CLEANUP_DONE(text_buffer) struct text_buffer one;
            CLEANUP_DONE(text_buffer) struct text_buffer two;
            text_buffer_init(&one, (size_t)1 << 20);
            text_buffer_init(&two, (size_t)1 << 20);
            dump(first, &one);
            dump(second, &two);
            assert_string_equal(text_buffer_text(&one), text_buffer_text(&two));
        }
        planner_fixture_done(&fixture);
    }
}

static uint64_t states(const struct plan_context *context, struct plan *plan)
{
    memory_estimate_plan(context, plan, &plan->memory);
    return plan->memory.parts[MEMORY_PARAMETERS] + plan->memory.parts[MEMORY_GRADIENTS] +
           plan->memory.parts[MEMORY_OPTIMIZER];
}

static void more_sharding_never_needs_more(void **state)
{
    (void)state;
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct planner_fixture fixture;
        struct plan_context context;
        struct error_info err = {.kind = ERROR_NONE};
        if (planner_fixture_init(&fixture, models[draw(COUNT_OF(models))], "dgx-h100:8",
                                 "global_batch=512", &err) < 0 ||
            plan_context_init(&context, &fixture.request, &err) < 0)
            fail_msg("%s", err.text);
        struct plan plan = {.degrees = DEGREES_ONE, .precision = PRECISION_BF16};
        plan.micro_batch = plan.micro_batches = 1;
        plan.degrees.dp = 1u << (1 + draw(5));
        plan.degrees.replicate = plan.degrees.dp;
        uint64_t last = UINT64_MAX;
        for (unsigned sharding = SHARDING_NONE; sharding <= SHARDING_ZERO3; sharding++) {
            plan.sharding = (enum sharding)sharding;
            plan.degrees.shard = sharding == SHARDING_NONE ? 1 : plan.degrees.dp;
            plan.degrees.replicate = plan.degrees.dp / plan.degrees.shard;
            uint64_t now = states(&context, &plan);
            assert_true(now <= last);
            last = now;
        }
        plan.sharding = SHARDING_NONE;
        last = UINT64_MAX;
        for (unsigned tp = 1; tp <= 8; tp *= 2) {
            plan.degrees.tp = plan.degrees.etp = tp;
            uint64_t now = states(&context, &plan) + plan.memory.parts[MEMORY_ACTIVATIONS];
            assert_true(now <= last);
            last = now;
        }
        last = 0;
        for (unsigned recompute = RECOMPUTE_COUNT; recompute-- > 0;) {
            plan.recompute = (enum recompute)recompute;
            states(&context, &plan);
            assert_true(plan.memory.parts[MEMORY_ACTIVATIONS] >= last);
            last = plan.memory.parts[MEMORY_ACTIVATIONS];
        }
        plan_context_done(&context);
        planner_fixture_done(&fixture);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_obeys_its_laws),
        cmocka_unit_test(the_same_request_gives_the_same_bytes),
        cmocka_unit_test(more_sharding_never_needs_more),
    };
    return unit_test_main("property/plan_search", tests, COUNT_OF(tests));
}
