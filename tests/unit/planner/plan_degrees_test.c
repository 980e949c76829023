/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "tests/support/planner_fixture.h"
#include <string.h>

static void fixture_init(struct planner_fixture *fixture, const char *cluster, const char *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(fixture, "llama3-8b", cluster, keys, &err) < 0)
        fail_msg("%s", err.text);
}

struct degrees_case {
    const char *cluster, *keys;
    uint64_t world;
    const char *text; /* of the degrees */
    unsigned shard, micro_batches;
    enum sharding sharding;
    enum schedule schedule;
};

static const struct degrees_case cases[] = {
    {"dgx-h100:8", "tp=8,pp=4", 64, "tp=8,pp=4,dp=2", 1, 0, SHARDING_NONE, SCHEDULE_1F1B},
    {"dgx-h100:8", "tp=8,pp=4,vpp=2", 64, "tp=8,pp=4,vpp=2,dp=2", 1, 0, SHARDING_NONE,
     SCHEDULE_INTERLEAVED},
    {"dgx-h100:8", "sharding=zero3", 64, "tp=1,pp=1,dp=64", 64, 0, SHARDING_ZERO3, SCHEDULE_NONE},
    {"dgx-h100:8", "sharding=hsdp", 64, "tp=1,pp=1,dp=64", 8, 0, SHARDING_HSDP, SCHEDULE_NONE},
    {"dgx-h100:8", "sharding=hsdp,shard=16", 64, "tp=1,pp=1,dp=64", 16, 0, SHARDING_HSDP,
     SCHEDULE_NONE},
    {"dgx-h100:8", "tp=2,sharding=hsdp", 64, "tp=2,pp=1,dp=32", 4, 0, SHARDING_HSDP, SCHEDULE_NONE},
    {"dgx-h100:8", "tp=8,pp=8,micro_batch=2,global_batch=64", 64, "tp=8,pp=8,dp=1", 1, 32,
     SHARDING_NONE, SCHEDULE_1F1B},
    {"dgx-h100:8", "pp=2,schedule=gpipe", 16, "tp=1,pp=2,dp=8", 1, 0, SHARDING_NONE,
     SCHEDULE_GPIPE},
};

static void given_degrees_become_a_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct degrees_case *test = &cases[i];
        struct planner_fixture fixture;
        struct error_info err = {.kind = ERROR_NONE};
        struct plan plan;
        char text[DEGREES_TEXT_BYTES];
        fixture_init(&fixture, test->cluster, test->keys);
        if (plan_from_degrees(fixture.job, fixture.cluster, test->world, &plan, &err) < 0)
            fail_msg("%s: %s", test->keys, err.text);
        degrees_text(&plan.degrees, text);
        assert_string_equal(text, test->text);
        assert_int_equal(plan.degrees.shard, test->shard);
        assert_int_equal(plan.degrees.shard * plan.degrees.replicate, plan.degrees.dp);
        assert_int_equal(plan.micro_batches, test->micro_batches);
        assert_int_equal(plan.sharding, test->sharding);
        assert_int_equal(plan.schedule, test->schedule);
        assert_true(plan.time.step_seconds == 0);
        assert_int_equal(plan.memory.verdict, FIT_UNKNOWN);
        planner_fixture_done(&fixture);
    }
}

static void impossible_degrees_are_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "tp=8,pp=4,dp=4",
        "tp=3",
        "sharding=hsdp,shard=3",
        "tp=2,pp=2,ep=4,etp=1,order=tp-cp-ep-pp-dp",
        "tp=8,pp=2,vpp=2,schedule=1f1b",
        "tp=8,dp=8,schedule=gpipe",
        "tp=8,pp=2,schedule=none",
        "tp=8,pp=2,schedule=interleaved",
        "tp=8,sharding=none,shard=4",
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct planner_fixture fixture;
        struct error_info err = {.kind = ERROR_NONE};
        struct plan plan = {.micro_batch = 77};
        fixture_init(&fixture, "dgx-h100:8", refused[i]);
        assert_int_equal(plan_from_degrees(fixture.job, fixture.cluster, 64, &plan, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_int_equal(plan.micro_batch, 77);
        planner_fixture_done(&fixture);
    }
}

struct place_case {
    const char *cluster;
    unsigned gpus_per_node;
    unsigned gpus, domain;
};

static const struct place_case places[] = {
    {"dgx-h100:8", 0, 8, 8},      {"dgx-h100:8", 4, 4, 4},     {"gb200-nvl72:18", 0, 4, 72},
    {"gb200-nvl72:18", 2, 2, 36}, {"gb200-nvl72:19", 2, 2, 2}, {"a6000-pairs:2", 0, 8, 2},
    {"l40s-pcie:2", 0, 8, 1},
};

static void place_tells_what_policy_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct planner_fixture fixture;
        struct policy_place place;
        fixture_init(&fixture, places[i].cluster, NULL);
        policy_place_of(fixture.cluster, places[i].gpus_per_node, 0, NULL, &place);
        assert_int_equal(place.gpus_per_node, places[i].gpus);
        assert_int_equal(place.nvlink_domain_gpus, places[i].domain);
        assert_true(place.nvlink_known);
        assert_non_null(strstr(place.where, "dgx") ? place.where : fixture.cluster->name);
        policy_place_of(fixture.cluster, places[i].gpus_per_node, 0, "partition gpu", &place);
        assert_string_equal(place.where, "partition gpu");
        planner_fixture_done(&fixture);
    }
}

static void words_are_stable(void **state)
{
    (void)state;
    assert_string_equal(memory_part_name(MEMORY_TRANSIENT), "transient");
    assert_string_equal(memory_part_name(MEMORY_PART_COUNT), "unknown");
    assert_string_equal(time_part_name(TIME_BUBBLE), "bubble");
    assert_string_equal(fit_verdict_name(FIT_OOM), "oom");
    assert_string_equal(rejection_name(REJECT_DIVISIBILITY), "divisibility");
    plan_list_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_degrees_become_a_plan),
        cmocka_unit_test(impossible_degrees_are_refused),
        cmocka_unit_test(place_tells_what_policy_needs),
        cmocka_unit_test(words_are_stable),
    };
    return unit_test_main("planner/plan_degrees", tests, COUNT_OF(tests));
}
