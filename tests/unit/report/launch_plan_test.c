/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_plan.h"
#include "tests/support/launch_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct trait_case {
    const char *keys;
    uint64_t has, lacks;
};

static const struct trait_case traits[] = {
    {"tp=1", TRAIT(DP) | TRAIT(WORLD) | TRAIT(NODES) | TRAIT(MOE) | TRAIT(ZERO3) | TRAIT(BF16),
     TRAIT(TP) | TRAIT(SEQUENCE_PARALLEL) | TRAIT(PP) | TRAIT(EP) | TRAIT(REPLICAS)},
    {"tp=2", TRAIT(TP) | TRAIT(SEQUENCE_PARALLEL), TRAIT(CP)},
    {"cp=2,pp=4,vpp=2", TRAIT(CP) | TRAIT(PP) | TRAIT(VPP), TRAIT(TP) | TRAIT(UNEVEN)},
    {"tp=8,pp=8", TRAIT(TP) | TRAIT(PP), TRAIT(DP)},
    {"sharding=hsdp,shard=8", TRAIT(HSDP) | TRAIT(REPLICAS), TRAIT(ZERO3)},
    {"sharding=none", TRAIT(NONE), TRAITS_SHARDED},
    {"ep=8", TRAIT(EP), TRAIT(EXPERT_TP) | TRAIT(EXPERTS_APART)},
    {"ep=4,etp=2,tp=2", TRAIT(EXPERT_TP), TRAIT(ETP_NOT_TP)},
    {"ep=4,etp=2,tp=4", TRAIT(EXPERT_TP) | TRAIT(ETP_NOT_TP), TRAIT(EXPERTS_APART)},
    {"ep=8,sharding=hsdp,shard=4", TRAIT(EXPERTS_APART), 0},
    {"ep=4,sharding=hsdp,shard=4", 0, TRAIT(EXPERTS_APART)},
    {"pp=4,schedule=gpipe", TRAIT(GPIPE), TRAIT(RARE_SCHEDULE)},
    {"pp=4,schedule=naive", TRAIT(RARE_SCHEDULE), TRAIT(GPIPE)},
    {"pp=4,schedule=zero-bubble", TRAIT(RARE_SCHEDULE), 0},
    {"pp=4,schedule=1f1b", TRAIT(PP), TRAIT(RARE_SCHEDULE) | TRAIT(GPIPE)},
    {"order=tp-cp-ep-pp-dp", TRAIT(PP_BEFORE_DP), 0},
    {"precision=fp8,recompute=full,offload=nvme",
     TRAIT(FP8) | TRAIT(RECOMPUTE_FULL) | TRAIT(OFFLOAD_NVME),
     TRAIT(BF16) | TRAIT(RECOMPUTE_NONE) | TRAIT(OFFLOAD_NONE)},
};

static void knows_the_traits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(traits); i++) {
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, traits[i].keys);
        uint64_t found = launch_plan_traits(&fixture.launch);
        if ((found & traits[i].has) != traits[i].has || (found & traits[i].lacks))
            fail_msg("%s: traits %llx", traits[i].keys, (unsigned long long)found);
    }
}

static void traits_beside_the_plan(void **state)
{
    (void)state;
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "pp=4,tp=2");
    fixture.model.experts = 0;
    fixture.model.layers = 79;
    fixture.training.trainable = 0.5;
    fixture.profile = (struct framework_profile){.name = "deepspeed"};
    fixture.gpu = (struct gpu_model){.vendor = "amd", .architecture = "cdna3"};
    uint64_t found = launch_plan_traits(&fixture.launch);
    uint64_t want = TRAIT(UNEVEN) | TRAIT(PART_TRAINED) | TRAIT(AMD) | TRAIT(ZERO_ENGINE);
    assert_int_equal(found & want, want);
    assert_int_equal(found & (TRAIT(MOE) | TRAIT(SEQUENCE_PARALLEL) | TRAIT(BLACKWELL)), 0);
    fixture.plan.memory.tiles = 4;
    assert_true(launch_plan_traits(&fixture.launch) & TRAIT(TILED));
    assert_int_equal(launch_plan_number(&fixture.launch, VALUE_TILES), 4);
    fixture.plan.memory.tiles = 1;
    assert_false(launch_plan_traits(&fixture.launch) & TRAIT(TILED));
    fixture.launch.gpu = NULL;
    assert_int_equal(launch_plan_traits(&fixture.launch) & (TRAIT(AMD) | TRAIT(BLACKWELL)), 0);
    fixture.launch.world = 8;
    assert_int_equal(launch_plan_traits(&fixture.launch) & TRAIT(NODES), 0);
}

static void knows_the_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        enum plan_value value;
        uint64_t number;
    } rows[] = {
        {"tp=2,cp=2,pp=4,vpp=2", VALUE_TP, 2},
        {"tp=2,cp=2,pp=4,vpp=2", VALUE_CP, 2},
        {"tp=2,cp=2,pp=4,vpp=2", VALUE_DP, 4},
        {"tp=2,cp=2,pp=4,vpp=2", VALUE_VPP, 2},
        {"tp=2,cp=2,pp=4,vpp=2", VALUE_CHUNK_LAYERS, 10},
        {"pp=4", VALUE_LAST_LAYERS, 20},
        {"pp=4", VALUE_FIRST_SHORT, 0},
        {"pp=4", VALUE_LAST_SHORT, 0},
        {"ep=4,etp=2", VALUE_ETP, 2},
        {"sharding=hsdp,shard=8", VALUE_SHARD, 8},
        {"sharding=hsdp,shard=8", VALUE_REPLICATE, 8},
        {"sharding=hsdp,shard=8", VALUE_ZERO_STAGE, 3},
        {"sharding=zero2", VALUE_ZERO_STAGE, 2},
        {"tp=2", VALUE_MICRO_BATCHES, 16},
        {"tp=2", VALUE_LOCAL_BATCH, 16},
        {"tp=2", VALUE_GLOBAL_BATCH, 512},
        {"tp=2", VALUE_SEQUENCE_LENGTH, 4096},
        {"tp=2", VALUE_NODES, 8},
        {"tp=2", VALUE_GPUS_PER_NODE, 8},
        {"tp=2", VALUE_WORLD, 64},
        {"tp=2", VALUE_SHARDING, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct launch_fixture fixture;
        launch_fixture_init(&fixture, rows[i].keys);
        uint64_t number = launch_plan_number(&fixture.launch, rows[i].value);
        if (number != rows[i].number)
            fail_msg("%zu: %s gives %llu", i, rows[i].keys, (unsigned long long)number);
    }
}

static void a_part_of_a_node_is_one_node(void **state)
{
    (void)state;
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "tp=1");
    fixture.launch.world = 4;
    assert_int_equal(launch_plan_number(&fixture.launch, VALUE_NODES), 1);
    assert_int_equal(launch_plan_number(&fixture.launch, VALUE_GPUS_PER_NODE), 4);
    fixture.launch.gpus_per_node = 0;
    assert_int_equal(launch_plan_number(&fixture.launch, VALUE_NODES), 4);
}

static void writes_keys(void **state)
{
    (void)state;
    static const struct {
        enum plan_value value;
        const char *with_key, *alone;
    } rows[] = {
        {VALUE_TP, "tp=2", "2"},
        {VALUE_PP, "pp=4", "4"},
        {VALUE_SHARDING, "sharding=zero1", "zero1"},
        {VALUE_SCHEDULE, "schedule=1f1b", "1f1b"},
        {VALUE_RECOMPUTE, "recompute=none", "none"},
        {VALUE_PRECISION, "precision=bf16", "bf16"},
        {VALUE_OFFLOAD, "offload=none", "none"},
        {VALUE_ORDER, "order=tp-cp-ep-dp-pp", "tp-cp-ep-dp-pp"},
        {VALUE_NODES, "8", "8"},
    };
    struct launch_fixture fixture;
    launch_fixture_init(&fixture, "tp=2,pp=4,sharding=zero1");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer keyed, alone;
        text_buffer_init(&keyed, 100);
        text_buffer_init(&alone, 100);
        launch_plan_write(&fixture.launch, rows[i].value, true, &keyed);
        launch_plan_write(&fixture.launch, rows[i].value, false, &alone);
        assert_string_equal(text_buffer_text(&keyed), rows[i].with_key);
        assert_string_equal(text_buffer_text(&alone), rows[i].alone);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_traits),  cmocka_unit_test(traits_beside_the_plan),
        cmocka_unit_test(knows_the_numbers), cmocka_unit_test(a_part_of_a_node_is_one_node),
        cmocka_unit_test(writes_keys),
    };
    return unit_test_main("report/launch_plan", tests, COUNT_OF(tests));
}
