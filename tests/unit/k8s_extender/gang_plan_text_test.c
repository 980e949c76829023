/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_plan_text.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define KEY "default/llama"

/* A plan by hand; its nodes in the order of the list. */
static struct gang_plan plan_of(const char *const *nodes, uint32_t pods)
{
    struct gang_plan plan = {.pods = pods, .gpus_per_pod = 8, .nodes = nodes};
    plan.has_degrees = true;
    plan.degrees = DEGREES_ONE;
    plan.degrees.tp = 8;
    plan.degrees.etp = 8;
    plan.degrees.dp = pods;
    plan.degrees.shard = pods;
    gang_plan_make_id(&plan, KEY, plan.id);
    return plan;
}

static void expect_round_trip(const struct gang_plan *plan, const char *text_expected)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    assert_int_equal(gang_plan_encode(plan, &text), 0);
    if (text_expected)
        assert_string_equal(text_buffer_text(&text), text_expected);
    CLEANUP(gang_plan) struct gang_plan *back = gang_plan_decode(text.text, text.length, KEY, &err);
    assert_non_null(back);
    assert_int_equal(back->outcome, GANG_PLANNED);
    assert_int_equal(back->pods, plan->pods);
    assert_int_equal(back->gpus_per_pod, plan->gpus_per_pod);
    assert_int_equal(back->has_degrees, plan->has_degrees);
    if (plan->has_degrees)
        assert_memory_equal(&back->degrees, &plan->degrees, sizeof(plan->degrees));
    assert_string_equal(back->id, plan->id);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        assert_string_equal(back->nodes[pod], plan->nodes[pod]);
    CLEANUP(gang_plan)
    struct gang_plan *other = gang_plan_decode(text.text, text.length, "default/other", &err);
    assert_null(other);
    assert_non_null(strstr(err.text, "is not that of its content for default/other"));
}

static void comes_back_from_its_text(void **state)
{
    (void)state;
    static const char *const nodes[] = {"n001", "n002", "n003", "n003", "x", "ip-10-0-0-1.eu"};
    struct gang_plan plan = plan_of(nodes, COUNT_OF(nodes));
    expect_round_trip(&plan, "v1 id=72c65753ed4a6a8f pods=6 gpus=8 order=tp-cp-ep-dp-pp tp=8 cp=1 "
                             "ep=1 etp=8 pp=1 vpp=1 dp=6 shard=6 nodes=n[001-003,003],x,"
                             "ip-10-0-0-1.eu");
    plan.has_degrees = false;
    gang_plan_make_id(&plan, KEY, plan.id);
    expect_round_trip(&plan, NULL);
    static const char *const long_numbers[] = {"n99999999999998", "n99999999999999"};
    struct gang_plan other = plan_of(long_numbers, 2);
    expect_round_trip(&other, NULL);
}

static void a_thousand_pods_fit(void **state)
{
    (void)state;
    enum { PODS = 1000, NAME = 64 };
    static char names[PODS][NAME];
    static const char *nodes[PODS];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(names[i], NAME, "ip-10-%u-%u.eu-central-1.compute.internal", i * 37 % 250,
                 i * 101 % PODS);
        nodes[i] = names[i];
    }
    struct gang_plan plan = plan_of(nodes, PODS);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    assert_int_equal(gang_plan_encode(&plan, &text), 0);
    assert_true(text.length < GANG_PLAN_TEXT_MAXIMUM / 3);
    expect_round_trip(&plan, NULL);
}

static void the_id_is_of_everything(void **state)
{
    (void)state;
    static const char *const nodes[] = {"a", "b"}, *const swapped[] = {"b", "a"};
    struct gang_plan plan = plan_of(nodes, 2), other = plan;
    char id[GANG_PLAN_ID_BYTES];
    gang_plan_make_id(&plan, "default/other", id);
    assert_string_not_equal(id, plan.id);
    other.nodes = swapped;
    gang_plan_make_id(&other, KEY, id);
    assert_string_not_equal(id, plan.id);
    other = plan;
    other.order = ORDER_TP_CP_EP_PP_DP;
    gang_plan_make_id(&other, KEY, id);
    assert_string_not_equal(id, plan.id);
    other = plan;
    other.degrees.shard = 1;
    gang_plan_make_id(&other, KEY, id);
    assert_string_not_equal(id, plan.id);
}

#define ID "id=0123456789abcdef "
#define DEGREES "order=tp-cp-ep-dp-pp tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=2 shard=1 "

static const struct {
    const char *text, *words;
} hostile[] = {
    {"", "it begins with '', not with v1"},
    {"v1", "not with v1"},
    {"v2 " ID "pods=2 gpus=8 nodes=a,b", "it begins with 'v2 id=0123', not with v1"},
    {"v1 pods=2 gpus=8 nodes=a,b", "'pods=2 gpus=8 nodes=a,b' where id= is due"},
    {"v1 id=0123456789ABCDEF pods=2 gpus=8 nodes=a,b", "is no id"},
    {"v1 id=0123 pods=2 gpus=8 nodes=a,b", "is no id"},
    {"v1 " ID "pods=0 gpus=8 nodes=a", "pods: '0' is not a whole number from 1 to 16384"},
    {"v1 " ID "pods=16385 gpus=8 nodes=a", "pods: '16385"},
    {"v1 " ID "pods=02 gpus=8 nodes=a,b", "pods: '02' is not written as 2"},
    {"v1 " ID "pods=2 gpus=65 nodes=a,b", "gpus: '65"},
    {"v1 " ID "pods=2 gpus=8 " DEGREES, "'' where nodes= is due"},
    {"v1 " ID "pods=2 gpus=8 nodes=a,b more=1", "'more=1' stands behind its nodes"},
    {"v1 " ID "pods=2 gpus=8 nodes=a", "1 nodes for 2 pods"},
    {"v1 " ID "pods=2 gpus=8 nodes=a,,b", "a node name is empty"},
    {"v1 " ID "pods=2 gpus=8 nodes=n[1-1000000]", "more nodes than its 2 pods"},
    {"v1 " ID "pods=2 gpus=8 nodes=n[1-2]m[1-2]", "has two brackets"},
    {"v1 " ID "pods=2 gpus=8 nodes=n[1", "a '[' has no ']'"},
    {"v1 " ID "pods=4 gpus=8 nodes=n[1,3-1]", "more nodes than"},
    {"v1 " ID "pods=2 gpus=8 nodes=a,b", "id 0123456789abcdef is not that of its content"},
    {"v1 " ID "pods=4 gpus=8 " DEGREES "nodes=a,b,c,d", "its degrees make 16 ranks, its pods 32"},
    {"v1 " ID "pods=2 gpus=8 order=x tp=8", "gang plan: "},
    {"v1 " ID "pods=2 gpus=8 order=tp-cp-ep-dp-pp tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=2 shard=3 "
     "nodes=a,b",
     "shard=3 does not divide dp=2"},
    {"v1 " ID "pods=2 gpus=8 order=tp-cp-ep-dp-pp tp=8 cp=1 ep=3 etp=1 pp=1 vpp=1 dp=2 shard=1 "
     "nodes=a,b",
     "gang plan: "},
    {"v1 " ID "pods=3 gpus=8 order=tp-cp-ep-dp-pp tp=12 cp=1 ep=1 etp=12 pp=1 vpp=1 dp=2 shard=1 "
     "nodes=a,b,c",
     "tp=12 does not fit pods of 8 GPUs"},
    {"v1 " ID "pods=2 gpus=8 order=tp-cp-ep-dp-pp tp=4294967295 cp=1", "tp: '4294967295"},
};

static void refuses_hostile_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(gang_plan)
        struct gang_plan *plan =
            gang_plan_decode(hostile[i].text, strlen(hostile[i].text), KEY, &err);
        if (plan || !strstr(err.text, hostile[i].words))
            fail_msg("'%s': '%s', not '%s'", hostile[i].text, err.text, hostile[i].words);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(gang_plan_decode("v1 \0", 4, KEY, &err));
    assert_non_null(strstr(err.text, "a NUL"));
    CLEANUP_MEMORY char *large = memory_allocate(GANG_PLAN_TEXT_MAXIMUM + 2);
    assert_non_null(large);
    memset(large, 'v', GANG_PLAN_TEXT_MAXIMUM + 1);
    assert_null(gang_plan_decode(large, GANG_PLAN_TEXT_MAXIMUM + 1, KEY, &err));
}

static int round_trip(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    if (gang_plan_encode(context, &text) < 0)
        return error_set_memory(err);
    CLEANUP(gang_plan) struct gang_plan *plan = gang_plan_decode(text.text, text.length, KEY, err);
    return plan ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    static const char *const nodes[] = {"n001", "n002", "x"};
    struct gang_plan plan = plan_of(nodes, COUNT_OF(nodes));
    unit_test_expect_clean_failures(round_trip, &plan);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(comes_back_from_its_text),
    cmocka_unit_test(a_thousand_pods_fit),
    cmocka_unit_test(the_id_is_of_everything),
    cmocka_unit_test(refuses_hostile_texts),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/gang_plan_text", tests, COUNT_OF(tests)); }
