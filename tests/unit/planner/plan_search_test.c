/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/explanation/plan_pareto.h"
#include "planner/search/candidate_pool.h"
#include "tests/support/planner_fixture.h"
#include <string.h>

struct search {
    struct planner_fixture fixture;
    struct plan_list *list;
    struct error_info err;
};

static void search_init(struct search *search, const char *model, const char *cluster,
                        const char *keys)
{
    search->err = (struct error_info){.kind = ERROR_NONE};
    if (planner_fixture_init(&search->fixture, model, cluster, keys, &search->err) < 0)
        fail_msg("%s", search->err.text);
    search->list = plan_search(&search->fixture.request, &search->err);
}

static void search_done(struct search *search)
{
    plan_list_free(search->list);
    planner_fixture_done(&search->fixture);
}

static const struct plan *answer(const struct search *search)
{
    if (!search->list)
        fail_msg("%s", search->err.text);
    assert_true(search->list->plan_count > 0);
    return &search->list->plans[0];
}

struct range {
    unsigned low, high;
};

/* The class that a named example must come out in. */
struct example {
    const char *model, *cluster, *keys;
    struct range tp, pp, cp, ep;
    bool interleaved;
    unsigned shardings; /* bits */
};

#define ANY_SHARDED                                                                                \
    (1u << SHARDING_ZERO1 | 1u << SHARDING_ZERO2 | 1u << SHARDING_ZERO3 | 1u << SHARDING_HSDP)

static const struct example examples[] = {
    {"llama2-7b",
     "dgx-a100-80:1",
     "sequence_length=2048,global_batch=64",
     {1, 1},
     {1, 1},
     {1, 1},
     {1, 1},
     false,
     ANY_SHARDED},
    {"llama2-7b",
     "dgx-a100-80:8",
     "sequence_length=4096,global_batch=1024",
     {1, 1},
     {1, 1},
     {1, 1},
     {1, 1},
     false,
     1u << SHARDING_ZERO1 | 1u << SHARDING_ZERO2},
    {"gpt3-175b",
     "dgx-a100-80:128",
     "sequence_length=2048,global_batch=1536",
     {4, 8},
     {4, 16},
     {1, 1},
     {1, 1},
     true,
     1u << SHARDING_ZERO1},
    {"mixtral-8x7b",
     "dgx-h100:8",
     "sequence_length=4096,global_batch=512",
     {1, 2},
     {1, 4},
     {1, 1},
     {8, 8},
     false,
     ANY_SHARDED},
    {"llama3-8b",
     "dgx-h100:8",
     "sequence_length=131072,global_batch=64",
     {1, 8},
     {1, 1},
     {2, 32},
     {1, 1},
     false,
     ANY_SHARDED},
    {"llama3-8b",
     "dgx-h100:8",
     "global_batch=512",
     {1, 1},
     {1, 1},
     {1, 1},
     {1, 1},
     false,
     ANY_SHARDED},
    {"llama3-70b",
     "dgx-a100-80:16",
     "tp=8,pp=8,dp=2,global_batch=512",
     {8, 8},
     {8, 8},
     {1, 1},
     {1, 1},
     false,
     ANY_SHARDED},
    {"llama3-70b",
     "dgx-a100-80:16",
     "tp=4,pp=4,dp=8,global_batch=512",
     {4, 4},
     {4, 4},
     {1, 1},
     {1, 1},
     false,
     ANY_SHARDED},
    {"llama3-405b",
     "dgx-a100-80:128",
     "tp=8,pp=8,dp=16,global_batch=1024",
     {8, 8},
     {8, 8},
     {1, 1},
     {1, 1},
     false,
     ANY_SHARDED},
};

static void assert_within(unsigned value, struct range range, const char *what, size_t example)
{
    if (value < range.low || value > range.high)
        fail_msg("example %zu: %s=%u is not in %u..%u", example, what, value, range.low,
                 range.high);
}

static void named_examples_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        struct search search;
        search_init(&search, examples[i].model, examples[i].cluster, examples[i].keys);
        const struct plan *plan = answer(&search);
        assert_within(plan->degrees.tp, examples[i].tp, "tp", i);
        assert_within(plan->degrees.pp, examples[i].pp, "pp", i);
        assert_within(plan->degrees.cp, examples[i].cp, "cp", i);
        assert_within(plan->degrees.ep, examples[i].ep, "ep", i);
        if (examples[i].interleaved)
            assert_int_equal(plan->schedule, SCHEDULE_INTERLEAVED);
        if (!(examples[i].shardings & 1u << plan->sharding))
            fail_msg("example %zu: %s", i, sharding_name(plan->sharding));
        search_done(&search);
    }
}

/* TP 8, PP 8, DP 8 class. Data parallelism is not far behind: both figures are said. */
static void large_dense_models_are_split(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-70b", "dgx-h100:64", "sequence_length=8192,global_batch=1024");
    const struct plan *plan = answer(&search);
    assert_within(plan->degrees.tp, (struct range){4, 8}, "tp", 0);
    assert_within(plan->degrees.pp, (struct range){4, 8}, "pp", 0);
    assert_within(plan->degrees.dp, (struct range){8, 32}, "dp", 0);
    assert_int_equal(plan->memory.verdict, FIT_FITS);
    assert_non_null(strstr(plan->reasons[0], "without splitting the model"));
    assert_non_null(strstr(plan->reasons[0], "margin"));
    search_done(&search);
}

/* In all three. */
static bool is_better(const struct plan *left, const struct plan *right)
{
    return left->time.step_seconds < right->time.step_seconds &&
           left->memory.total_bytes < right->memory.total_bytes &&
           plan_complexity(left) < plan_complexity(right);
}

static void every_plan_is_told(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:8", "global_batch=512");
    answer(&search);
    assert_int_equal(search.list->plan_count, PLAN_DEFAULT_TOP);
    for (size_t i = 0; i < search.list->plan_count; i++) {
        const struct plan *plan = &search.list->plans[i];
        assert_int_equal(plan->reason_count, 1);
        assert_true(strlen(plan->reasons[0]) > 10);
        assert_true(plan->memory.total_bytes <= plan->memory.capacity_bytes);
        for (size_t j = 0; j < i; j++)
            assert_false(plan_is_variant(plan, &search.list->plans[j]));
    }
    assert_true(search.list->pareto_count > 1);
    assert_true(search.list->pareto_count <= PLAN_PARETO_MAXIMUM);
    for (size_t i = 0; i < search.list->pareto_count; i++)
        for (size_t j = 0; j < search.list->pareto_count; j++)
            assert_false(is_better(&search.list->pareto[i], &search.list->pareto[j]));
    assert_true(search.list->examined > 100);
    assert_true(search.list->rejected[REJECT_MEMORY] > 0);
    search_done(&search);
}

static void every_rule_is_evaluated(void **state)
{
    (void)state;
    static const char *const names[] = {
        "golden-rule",     "inputs",           "ddp-fits",
        "sharded-dp",      "tensor-parallel",  "pipeline-parallel",
        "expert-parallel", "context-parallel", "zero-with-pipeline",
        "sizing",          "fabric",           "recompute",
        "precision",       "offload",          "verify",
    };
    static const char *const requests[][3] = {
        {"llama3-8b", "dgx-h100:8", "global_batch=512"},
        {"llama3-8b", "dgx-h100:8", "sequence_length=131072,global_batch=64"},
        {"gpt3-175b", "dgx-a100-80:128", "global_batch=1536,sequence_length=2048"},
        {"mixtral-8x7b", "dgx-h100:8", "global_batch=512"},
        {"llama3-70b", "l40s-pcie:1", NULL},
        {"llama3-8b", "dgx1-v100:8", "global_batch=512"},
        {"llama3-70b", "dgx-a100-80:8", "offload=auto,framework=deepspeed,trainable=0.01"},
    };
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct search search;
        search_init(&search, requests[i][0], requests[i][1], requests[i][2]);
        if (!search.list)
            fail_msg("%s", search.err.text);
        assert_int_equal(search.list->rule_count, COUNT_OF(names));
        for (size_t rule = 0; rule < COUNT_OF(names); rule++) {
            assert_string_equal(search.list->rules[rule].rule, names[rule]);
            assert_true(strlen(search.list->rules[rule].inputs) > 0);
            assert_true(strlen(search.list->rules[rule].verdict) > 0);
            assert_true(strlen(search.list->rules[rule].reason) > 0);
        }
        search_done(&search);
    }
}

static void without_a_stage_that_explains_there_are_no_rules(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:8", "global_batch=512");
    if (!search.list)
        fail_msg("%s", search.err.text);
    search.fixture.request.explain = NULL;
    CLEANUP(plan_list) struct plan_list *bare = plan_search(&search.fixture.request, &search.err);
    if (!bare)
        fail_msg("%s", search.err.text);
    assert_int_equal(bare->rule_count, 0);
    assert_int_equal(bare->plan_count, search.list->plan_count);
    for (size_t i = 0; i < bare->plan_count; i++) {
        assert_int_equal(plan_compare(&bare->plans[i], &search.list->plans[i]), 0);
        assert_string_equal(bare->plans[i].reasons[0], search.list->plans[i].reasons[0]);
    }
    search_done(&search);
}

static const struct plan_remedy *remedy(const struct search *search, const char *kind)
{
    for (size_t i = 0; i < search->list->remedy_count; i++)
        if (strcmp(search->list->remedies[i].kind, kind) == 0)
            return &search->list->remedies[i];
    return NULL;
}

static void what_does_not_fit_says_what_would(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-70b", "l40s-pcie:1", NULL);
    assert_non_null(search.list);
    assert_int_equal(search.list->plan_count, 0);
    assert_non_null(search.list->nearest);
    assert_int_equal(search.list->nearest->memory.verdict, FIT_OOM);
    assert_non_null(remedy(&search, "nodes"));
    assert_non_null(strstr(remedy(&search, "nodes")->text, "nodes of l40s-pcie"));
    assert_non_null(remedy(&search, "offload"));
    assert_non_null(strstr(remedy(&search, "offload")->text, "GiB of NVMe"));
    search_done(&search);
}

static void remedies_are_tried(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:1",
                "micro_batch=32,recompute=none,tp=8,pp=1,sharding=none");
    assert_non_null(search.list);
    assert_int_equal(search.list->plan_count, 0);
    assert_non_null(remedy(&search, "recompute"));
    assert_non_null(remedy(&search, "micro-batch"));
    search_done(&search);
    search_init(&search, "llama3-8b", "l40s-pcie:1", "sequence_length=1048576,cp=1,global_batch=8");
    assert_non_null(search.list);
    assert_int_equal(search.list->plan_count, 0);
    assert_non_null(remedy(&search, "sequence"));
    search_done(&search);
}

static void given_keys_are_constraints(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:8",
                "global_batch=512,tp=2,pp=2,vpp=2,sharding=zero1,micro_batch=2,recompute=full,"
                "schedule=interleaved");
    const struct plan *plan = answer(&search);
    assert_int_equal(plan->degrees.tp, 2);
    assert_int_equal(plan->degrees.pp, 2);
    assert_int_equal(plan->degrees.vpp, 2);
    assert_int_equal(plan->degrees.dp, 16);
    assert_int_equal(plan->micro_batch, 2);
    assert_int_equal(plan->micro_batches, 16);
    assert_int_equal(plan->recompute, RECOMPUTE_FULL);
    assert_int_equal(plan->schedule, SCHEDULE_INTERLEAVED);
    assert_int_equal(search.list->plan_count, 1);
    search_done(&search);
}

static void impossible_products_are_errors(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-70b", "dgx-a100-80:4", "tp=4,pp=4,dp=8,global_batch=512");
    assert_null(search.list);
    assert_int_equal(search.err.kind, ERROR_INPUT);
    assert_non_null(strstr(search.err.text, "128"));
    search_done(&search);
    search_init(&search, "llama3-8b", "dgx-h100:1", "framework=nonesuch");
    assert_null(search.list);
    assert_non_null(strstr(search.err.text, "nonesuch"));
    search_done(&search);
    search_init(&search, "llama3-8b", "dgx-a100-80:1", "precision=fp8");
    assert_null(search.list);
    assert_non_null(strstr(search.err.text, "bf16"));
    search_done(&search);
    search_init(&search, "llama3-8b", "dgx-h100:1", NULL);
    search.fixture.request.world = 64;
    assert_null(plan_search(&search.fixture.request, &search.err));
    search_done(&search);
}

static void policy_is_tested_before_fit(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-70b", "dgx-h100:2", "tp=16,global_batch=512");
    assert_non_null(search.list);
    assert_int_equal(search.list->policy.result, POLICY_DENIED);
    assert_int_equal(search.list->plan_count, 0);
    assert_int_equal(search.list->examined, 0);
    search_done(&search);
    search_init(&search, "llama3-8b", "dgx-h100:2", "global_batch=512");
    search.fixture.policy.max_tp = 2;
    struct plan_list *list = plan_search(&search.fixture.request, &search.err);
    assert_non_null(list);
    assert_true(list->rejected[REJECT_POLICY] > 0);
    for (size_t i = 0; i < list->plan_count; i++)
        assert_true(list->plans[i].degrees.tp <= 2);
    plan_list_free(list);
    search_done(&search);
}

static void a_violation_that_is_warned_of_is_planned(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "gpt3-175b", "dgx-h100:8", "tp=16,global_batch=512");
    search.fixture.policy.on_violation = POLICY_WARN;
    struct plan_list *list = plan_search(&search.fixture.request, &search.err);
    assert_non_null(list);
    assert_int_equal(list->policy.result, POLICY_WARNED);
    assert_true(list->plan_count > 0);
    assert_int_equal(list->plans[0].degrees.tp, 16);
    assert_true(list->note_count > 0);
    assert_string_equal(list->notes[list->note_count - 1], list->policy.text);
    plan_list_free(list);
    search_done(&search);
}

static void frameworks_decide_zero_with_pipelines(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:8",
                "global_batch=512,framework=deepspeed,pp=2,sharding=zero3");
    assert_non_null(search.list);
    assert_int_equal(search.list->plan_count, 0);
    assert_true(search.list->rejected[REJECT_FRAMEWORK] > 0);
    search_done(&search);
    search_init(&search, "llama3-8b", "dgx-h100:8",
                "global_batch=512,framework=torchtitan,pp=2,sharding=zero3");
    assert_int_equal(answer(&search)->sharding, SHARDING_ZERO3);
    search_done(&search);
}

static void defaults_are_said(void **state)
{
    (void)state;
    struct search search;
    search_init(&search, "llama3-8b", "dgx-h100:8", NULL);
    answer(&search);
    assert_int_equal(search.list->note_count, 2);
    assert_non_null(strstr(search.list->notes[0], "4096"));
    assert_non_null(strstr(search.list->notes[1], "1024"));
    search_done(&search);
}

static void precision_follows_the_gpu(void **state)
{
    (void)state;
    static const struct {
        const char *cluster, *keys;
        enum precision precision;
    } cases[] = {
        {"dgx-h100:8", "global_batch=512", PRECISION_BF16},
        {"dgx1-v100:16", "global_batch=512", PRECISION_FP16},
        {"dgx-h100:8", "global_batch=512,precision=fp8", PRECISION_FP8},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct search search;
        search_init(&search, "llama3-8b", cases[i].cluster, cases[i].keys);
        assert_int_equal(answer(&search)->precision, cases[i].precision);
        search_done(&search);
    }
}

static int scenario(void *context, struct error_info *err)
{
    struct planner_fixture *fixture = context;
    CLEANUP(plan_list) struct plan_list *list = plan_search(&fixture->request, err);
    return list ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct planner_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&fixture, "llama3-8b", "dgx-h100:1", "global_batch=8", &err) < 0)
        fail_msg("%s", err.text);
    unit_test_expect_clean_failures(scenario, &fixture);
    planner_fixture_done(&fixture);
    if (planner_fixture_init(&fixture, "llama3-70b", "l40s-pcie:1", "global_batch=8", &err) < 0)
        fail_msg("%s", err.text);
    unit_test_expect_clean_failures(scenario, &fixture);
    planner_fixture_done(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_examples_come_out),
        cmocka_unit_test(large_dense_models_are_split),
        cmocka_unit_test(every_plan_is_told),
        cmocka_unit_test(every_rule_is_evaluated),
        cmocka_unit_test(without_a_stage_that_explains_there_are_no_rules),
        cmocka_unit_test(what_does_not_fit_says_what_would),
        cmocka_unit_test(remedies_are_tried),
        cmocka_unit_test(given_keys_are_constraints),
        cmocka_unit_test(impossible_products_are_errors),
        cmocka_unit_test(policy_is_tested_before_fit),
        cmocka_unit_test(a_violation_that_is_warned_of_is_planned),
        cmocka_unit_test(frameworks_decide_zero_with_pipelines),
        cmocka_unit_test(defaults_are_said),
        cmocka_unit_test(precision_follows_the_gpu),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/plan_search", tests, COUNT_OF(tests));
}
