/* SPDX-License-Identifier: MIT */
#include "tests/support/gang_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define FOUR_LEAVES                                                                                \
    "schema: parplan.cluster/1\n"                                                                  \
    "kinds: {h100: {preset: dgx-h100}}\n"                                                          \
    "nodes: [{names: \"n[01-32]\", kind: h100}]\n"                                                 \
    "fabric:\n"                                                                                    \
    "  tiers: [leaf, spine]\n"                                                                     \
    "  switches:\n"                                                                                \
    "    - {name: l1, tier: leaf, nodes: \"n[01-08]\"}\n"                                          \
    "    - {name: l2, tier: leaf, nodes: \"n[09-16]\"}\n"                                          \
    "    - {name: l3, tier: leaf, nodes: \"n[17-24]\"}\n"                                          \
    "    - {name: l4, tier: leaf, nodes: \"n[25-32]\"}\n"                                          \
    "    - {name: s, tier: spine, children: \"l[1-4]\"}\n"

/* As labels name them that count their tiers. */
#define COUNTED_TIERS                                                                              \
    "schema: parplan.cluster/1\n"                                                                  \
    "kinds: {h100: {preset: dgx-h100}}\n"                                                          \
    "nodes: [{names: \"n[1-8]\", kind: h100}]\n"                                                   \
    "fabric:\n"                                                                                    \
    "  tiers: [tier-0]\n"                                                                          \
    "  switches:\n"                                                                                \
    "    - {name: l1, tier: tier-0, nodes: \"n[1-4]\"}\n"                                          \
    "    - {name: l2, tier: tier-0, nodes: \"n[5-8]\"}\n"

#define TWO_KINDS                                                                                  \
    "schema: parplan.cluster/1\n"                                                                  \
    "kinds: {a: {preset: dgx-a100-80}, h: {preset: dgx-h100}}\n"                                   \
    "nodes: [{names: \"a[1-4]\", kind: a}, {names: \"h[1-6]\", kind: h}]\n"

#define DOMAIN "  tp_within: nvlink_domain\n"

struct plan_case {
    const char *cluster, *policy;
    uint32_t pods, gpus;
    const char *annotations, *command;
    enum gang_outcome outcome;
    const char *degrees; /* NULL: none */
    const char *words;   /* in the reason */
};

static void try_case(const struct plan_case *test)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    if (gang_fixture_init(&fixture, test->cluster, test->policy, test->pods, test->gpus, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(gang_fixture_annotate(&fixture, test->annotations, &err), 0);
    if (test->command)
        assert_int_equal(gang_fixture_command(&fixture, test->command, &err), 0);
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    if (plan->outcome != test->outcome || !strstr(plan->reason, test->words))
        fail_msg("%s %s: outcome %d, '%s', not '%s'", test->annotations,
                 test->command ? test->command : "", plan->outcome, plan->reason, test->words);
    if (plan->outcome != GANG_PLANNED)
        return;
    assert_int_equal(plan->has_degrees, test->degrees != NULL);
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    if (test->degrees)
        assert_string_equal(degrees, test->degrees);
}

static const struct plan_case fits[] = {
    {FOUR_LEAVES, NULL, 16, 8, "tp=8 pp=4 dp=4", NULL, GANG_PLANNED, "tp=8,pp=4,dp=4",
     "tp=8,pp=4,dp=4 on 16 nodes under 2 leaf switches; pipelines stay under one leaf: 0 of 12 "
     "links cross"},
    {COUNTED_TIERS, NULL, 8, 8, "tp=8 pp=2 dp=4", NULL, GANG_PLANNED, "tp=8,pp=2,dp=4",
     "on 8 nodes under 2 leaf switches; pipelines stay under one leaf: 0 of 4 links cross"},
    {FOUR_LEAVES, NULL, 4, 8, "parplan=tp=8,pp=2", NULL, GANG_PLANNED, "tp=8,pp=2,dp=2",
     "on 4 nodes under 1 leaf switch"},
    {FOUR_LEAVES, NULL, 16, 8, "model=llama3-70b global-batch=512 tp=8", NULL, GANG_PLANNED,
     "tp=8,pp=4,vpp=10,dp=4", "because "},
    {FOUR_LEAVES, NULL, 16, 8, "", NULL, GANG_PLANNED, NULL,
     "nodes in fabric order on 16 nodes under 2 leaf switches; neither a model nor degrees"},
    {FOUR_LEAVES, NULL, 16, 8, "",
     "torchrun --nnodes=16 --nproc-per-node=8 --node-rank=$(INDEX) --master-addr=x train.py "
     "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4",
     GANG_PLANNED, "tp=8,pp=4,dp=4", "the command says tp=8 (--tensor-model-parallel-size)"},
    {FOUR_LEAVES, NULL, 16, 4, "tp=4 pp=4", NULL, GANG_PLANNED, "tp=4,pp=4,dp=4",
     "on 8 nodes under 1 leaf switch"},
    {FOUR_LEAVES, DOMAIN, 16, 4, "tp=8 pp=4", NULL, GANG_PLANNED, "tp=8,pp=4,dp=2", "on 8 nodes"},
    {"gb200-nvl72:36", DOMAIN, 16, 4, "tp=16 pp=4", NULL, GANG_PLANNED, "tp=16,pp=4,dp=1",
     "on 16 nodes"},
    {TWO_KINDS, NULL, 4, 8, "tp=8", NULL, GANG_PLANNED, "tp=8,pp=1,dp=4", "on 4 nodes"},
    {TWO_KINDS, NULL, 10, 8, "tp=8", NULL, GANG_PLANNED, "tp=8,pp=1,dp=10", "on 10 nodes"},
    {FOUR_LEAVES, "  tp_within: node\n  on_violation: warn\n", 4, 8, "tp=16", NULL, GANG_PLANNED,
     "tp=16,pp=1,dp=2", "policy tp-within-node"},
    {FOUR_LEAVES, "  require_plan: warn\n", 4, 8, "", NULL, GANG_PLANNED, NULL,
     "policy require-plan"},
    {FOUR_LEAVES, "  max_tp: 4\n  partitions: {default: {max_tp: 8}}\n", 4, 8, "tp=8", NULL,
     GANG_PLANNED, "tp=8,pp=1,dp=4", "on 4 nodes"},
};

static void plans_what_fits(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* fails_cleanly fails each allocation of a plan */
    for (size_t i = 0; i < COUNT_OF(fits); i++)
        try_case(&fits[i]);
}

static const struct plan_case refused[] = {
    {FOUR_LEAVES, NULL, 33, 8, "tp=8", NULL, GANG_NO_FIT, NULL,
     "gang default/llama needs 33 nodes of 8 GPUs, 32 are free"},
    {FOUR_LEAVES, NULL, 65, 4, "tp=4", NULL, GANG_NO_FIT, NULL,
     "gang default/llama needs room for 65 pods of 4 GPUs, there is room for 64"},
    {FOUR_LEAVES, NULL, 31, 8, "tp=8 spare=2", NULL, GANG_NO_FIT, NULL,
     "needs 31 nodes of 8 GPUs and 2 to spare, 32 are free"},
    {FOUR_LEAVES, NULL, 1, 8, "model=llama3-405b", NULL, GANG_NO_FIT, NULL,
     "gang default/llama: nothing fits: "},
    /* Policy's word comes before that of the room. */
    {FOUR_LEAVES, NULL, 99, 8, "tp=16", NULL, GANG_DENIED, NULL,
     "policy tp-within-node: tp=16 needs 16 GPUs in one node, a pod of this gang has 8"},
    {FOUR_LEAVES, NULL, 16, 4, "tp=8", NULL, GANG_DENIED, NULL, "policy tp-within-node"},
    {FOUR_LEAVES, DOMAIN, 4, 8, "tp=16", NULL, GANG_DENIED, NULL, "policy tp-within-nvlink-domain"},
    {"gb200-nvl72:36", DOMAIN, 20, 4, "tp=80", NULL, GANG_DENIED, NULL,
     "policy tp-within-nvlink-domain"},
    {FOUR_LEAVES, "  max_tp: 8\n  partitions: {default: {max_tp: 4}}\n", 4, 8, "tp=8", NULL,
     GANG_DENIED, NULL, "policy max-tp (partition default)"},
    {FOUR_LEAVES, "  require_plan: deny\n", 4, 8, "", NULL, GANG_DENIED, NULL,
     "policy require-plan"},
    {FOUR_LEAVES, "  require_plan: deny\n", 99, 8, "", NULL, GANG_DENIED, NULL,
     "policy require-plan"},
    {FOUR_LEAVES, "  tp_within: node\nenabled: false\n", 4, 8, "tp=8", NULL, GANG_DENIED, NULL,
     "no gang is placed while parplan.yaml says enabled: false; set it to true"},
    {FOUR_LEAVES, "  orders: [tp-cp-ep-dp-pp]\n", 4, 8, "tp=8 order=tp-cp-ep-pp-dp", NULL,
     GANG_DENIED, NULL, "policy order"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8 pp=4 dp=4", NULL, GANG_BAD_INPUT, NULL,
     "tp=8,pp=4,dp=4 make 128 ranks, but there are 32"},
    {FOUR_LEAVES, NULL, 99, 8, "tp=8 pp=4 dp=4", NULL, GANG_BAD_INPUT, NULL, "make 128 ranks"},
    {FOUR_LEAVES, NULL, 4, 8, "model=llama3-71b", NULL, GANG_BAD_INPUT, NULL,
     "annotation parplan.io/model: no preset is called 'llama3-71b'; did you mean llama3-70b?"},
    {FOUR_LEAVES, NULL, 4, 8, "model=/etc/passwd.json", NULL, GANG_BAD_INPUT, NULL,
     "files are not read here"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8 framework=nothing", NULL, GANG_PLANNED, "tp=8,pp=1,dp=4", ""},
    {FOUR_LEAVES, NULL, 4, 8, "model=llama3-8b framework=nothing", NULL, GANG_BAD_INPUT, NULL,
     "nothing"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8", "train.py --tensor-model-parallel-size 4", GANG_BAD_INPUT,
     NULL, "tp"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8", "torchrun --nnodes 8 train.py", GANG_BAD_INPUT, NULL,
     "--nnodes is 8 in the command, and there are 4 pods in the gang; give both the same number"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8", "torchrun --nproc-per-node 4 train.py", GANG_BAD_INPUT, NULL,
     "and there are 8 GPUs in a pod"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8", "torchrun --rdzv-backend=c10d train.py", GANG_BAD_INPUT, NULL,
     "--rdzv-backend"},
    {FOUR_LEAVES, NULL, 4, 8, "tp=8", "torchrun --standalone train.py", GANG_BAD_INPUT, NULL,
     "--standalone"},
    {FOUR_LEAVES, NULL, 0, 8, "tp=8", NULL, GANG_BAD_INPUT, NULL, "0 pods"},
    {FOUR_LEAVES, NULL, 4, 65, "tp=8", NULL, GANG_BAD_INPUT, NULL, "65 GPUs"},
};

static void refuses_the_rest(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* fails_cleanly fails each allocation of a plan */
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        try_case(&refused[i]);
}

static void says_why_nodes_are_missing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    assert_int_equal(gang_fixture_init(&fixture, FOUR_LEAVES, NULL, 16, 8, &err), 0);
    fixture.problem.candidate_count = 1;
    fixture.problem.turned_away[AWAY_FULL] = 3;
    fixture.problem.turned_away[AWAY_CORDONED] = 1;
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_NO_FIT);
    assert_string_equal(plan->reason, "gang default/llama needs 16 nodes of 8 GPUs, 1 is free: 1 "
                                      "is cordoned, 3 are full");
    fixture.problem.turned_away[AWAY_FULL] = fixture.problem.turned_away[AWAY_CORDONED] = 0;
    fixture.problem.turned_away[AWAY_FEW_GPUS] = 3;
    fixture.problem.turned_away[AWAY_SMALL] = 1;
    CLEANUP(gang_plan) struct gang_plan *never = gang_fixture_plan(&fixture, &err);
    assert_non_null(never);
    assert_string_equal(never->reason,
                        "gang default/llama needs 16 nodes of 8 GPUs, 1 is free: 3 are too small "
                        "in such GPUs even when empty, 1 is too small in CPU, memory or another "
                        "resource even when empty");
    fixture.problem.turned_away[AWAY_FEW_GPUS] = 0;
    fixture.problem.lacks[AWAY_SMALL] = (struct resource_lack){"cpu", 500000, 64000};
    fixture.problem.turned_away[AWAY_SHORT] = 2;
    fixture.problem.lacks[AWAY_SHORT] =
        (struct resource_lack){"memory", UINT64_C(64) << 30, (UINT64_C(64) << 30) - 1};
    fixture.problem.could_hold = 4;
    CLEANUP(gang_plan) struct gang_plan *short_of = gang_fixture_plan(&fixture, &err);
    assert_non_null(short_of);
    assert_string_equal(
        short_of->reason,
        "gang default/llama needs 16 nodes of 8 GPUs, 1 is free: 1 is too small in cpu even when "
        "empty (a pod asks for 500, the most there is: 64), 2 are short of memory (a pod asks for "
        "64Gi, the most there is: 63Gi); even when empty the cluster could hold 4");
    fixture.problem.candidate_count = 0;
    fixture.view.cluster = NULL;
    CLEANUP(gang_plan) struct gang_plan *none = gang_fixture_plan(&fixture, &err);
    assert_non_null(none);
    assert_string_equal(none->reason,
                        "gang default/llama needs 16 nodes of 8 GPUs, and no node has a GPU");
}

/* RANK blocks of one pipeline stand side by side, as `parplan map` lays them. */
static void rank_order_decides_which_pod_goes_where(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    struct rank_coordinates at;
    assert_int_equal(gang_fixture_init(&fixture, FOUR_LEAVES, NULL, 16, 8, &err), 0);
    assert_int_equal(gang_fixture_annotate(&fixture, "tp=8 pp=4 dp=4", &err), 0);
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    assert_int_equal(gang_plan_group_pods(plan), 1);
    for (uint32_t pod = 0; pod < 16; pod++) {
        gang_plan_coordinates(plan, pod, &at);
        assert_int_equal(at.dp, pod % 4);
        assert_int_equal(at.pp, pod / 4);
        uint32_t first = gang_fixture_node(&fixture, plan->nodes[pod % 4]);
        uint32_t node = gang_fixture_node(&fixture, plan->nodes[pod]);
        assert_int_equal(cluster_distance(fixture.cluster, first, node) <= 0, 1);
    }
}

/* Six pods fit under a leaf with six free nodes too, but then no spare node lies near them. */
static void spare_nodes_lie_near(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    assert_int_equal(gang_fixture_init(&fixture, FOUR_LEAVES, NULL, 6, 8, &err), 0);
    assert_int_equal(gang_fixture_annotate(&fixture, "tp=8 pp=2 spare=2", &err), 0);
    for (uint32_t i = 0; i < 8; i++) /* n01 to n06, and n17 to n24 */
        fixture.candidates[6 + i].node = 16 + i;
    fixture.problem.candidate_count = 14;
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    for (uint32_t pod = 0; pod < 6; pod++)
        assert_true(gang_fixture_node(&fixture, plan->nodes[pod]) >= 16);
}

/* Where a whole rack has what is needed, but not what is free of it: not now, rather than never. */
static void what_does_not_lie_together_now_may_later(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    assert_int_equal(gang_fixture_init(&fixture, "gb200-nvl72:36", DOMAIN, 4, 4, &err), 0);
    assert_int_equal(gang_fixture_annotate(&fixture, "tp=16", &err), 0);
    for (uint32_t i = 0; i < 2; i++) { /* two trays of each rack */
        fixture.candidates[i].node = i;
        fixture.candidates[2 + i].node = 18 + i;
    }
    fixture.problem.candidate_count = 4;
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_NO_FIT);
    assert_non_null(strstr(plan->reason, "do not lie together"));
}

/* Only of what does not fit now is asked whether it could have the empty cluster. */
static void tells_what_can_never_be(void **state)
{
    (void)state;
    static const struct {
        const char *annotations;
        size_t free;
        bool fits_empty;
        const char *words;
    } cases[] = {
        {"tp=8", 1, true, "needs 4 nodes of 8 GPUs, 1 is free"},
        {"tp=8 spare=2", 4, true, "and 2 to spare"},
        {"tp=8 spare=3", 6, false, "and 3 to spare"}, /* room for the pods alone */
        {"model=llama3-405b", 6, false, "nothing fits: "},
        {"model=llama3-405b", 1, false, "needs 4 nodes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
        assert_int_equal(gang_fixture_init(&fixture, "dgx-h100:6", NULL, 4, 8, &err), 0);
        assert_int_equal(gang_fixture_annotate(&fixture, cases[i].annotations, &err), 0);
        fixture.problem.candidate_count = cases[i].free;
        CLEANUP(gang_plan) struct gang_plan *unasked = gang_fixture_plan(&fixture, &err);
        assert_non_null(unasked);
        assert_false(unasked->fits_empty);
        fixture.problem.empty = fixture.candidates;
        fixture.problem.empty_count = 6;
        CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
        assert_non_null(plan);
        assert_int_equal(plan->outcome, GANG_NO_FIT);
        assert_non_null(strstr(plan->reason, cases[i].words));
        assert_int_equal(plan->fits_empty, cases[i].fits_empty);
    }
}

/* One node with a broken GPU among many must not stop a gang that does not need it. */
static void sound_nodes_are_preferred(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    assert_int_equal(gang_fixture_init(&fixture, TWO_KINDS, NULL, 4, 8, &err), 0);
    /* Of the larger model's kind, one GPU is cut into instances. */
    struct node_topology *kind = (struct node_topology *)fixture.cluster->kinds[1];
    ((struct node_gpu *)kind->gpus)[3].mig = true;
    assert_int_equal(gang_fixture_annotate(&fixture, "tp=8", &err), 0);
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
    assert_non_null(plan);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    for (uint32_t pod = 0; pod < 4; pod++)
        assert_int_equal(plan->nodes[pod][0], 'a');
}

static void unknown_gpus_need_degrees(void **state)
{
    (void)state;
    static const struct {
        const char *annotations;
        enum gang_outcome outcome;
        const char *words;
    } cases[] = {
        {"tp=8", GANG_PLANNED, "on 4 nodes"},
        {"model=llama3-8b", GANG_BAD_INPUT, "the GPU kind of nodes of kind dgx-h100 is unknown"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
        assert_int_equal(gang_fixture_init(&fixture, "dgx-h100:4", NULL, 4, 8, &err), 0);
        for (unsigned gpu = 0; gpu < 8; gpu++)
            ((struct node_gpu *)fixture.cluster->kinds[0]->gpus)[gpu].model = NULL;
        assert_int_equal(gang_fixture_annotate(&fixture, cases[i].annotations, &err), 0);
        CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(&fixture, &err);
        assert_non_null(plan);
        assert_int_equal(plan->outcome, cases[i].outcome);
        assert_non_null(strstr(plan->reason, cases[i].words));
    }
}

static int plan_once(void *context, struct error_info *err)
{
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(context, err);
    return plan ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    static const struct {
        const char *annotations;
        uint32_t gpus;
    } cases[] = {{"tp=8 pp=2 spare=1", 8}, {"tp=4 pp=2", 4}, {"model=llama3-8b", 8}, {"tp=99", 8}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
        assert_int_equal(gang_fixture_init(&fixture, "dgx-h100:6", NULL, 4, cases[i].gpus, &err),
                         0);
        assert_int_equal(gang_fixture_annotate(&fixture, cases[i].annotations, &err), 0);
        unit_test_expect_clean_failures(plan_once, &fixture);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plans_what_fits),
    cmocka_unit_test(refuses_the_rest),
    cmocka_unit_test(says_why_nodes_are_missing),
    cmocka_unit_test(rank_order_decides_which_pod_goes_where),
    cmocka_unit_test(spare_nodes_lie_near),
    cmocka_unit_test(what_does_not_lie_together_now_may_later),
    cmocka_unit_test(tells_what_can_never_be),
    cmocka_unit_test(sound_nodes_are_preferred),
    cmocka_unit_test(unknown_gpus_need_degrees),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/gang_plan", tests, COUNT_OF(tests)); }
