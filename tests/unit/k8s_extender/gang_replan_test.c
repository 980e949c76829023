/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_replan.h"
#include "tests/support/gang_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define DOMAIN "  tp_within: nvlink_domain\n"

static void open_gang(struct gang_fixture *fixture, const char *cluster, const char *policy,
                      uint32_t pods, uint32_t gpus, const char *annotations)
{
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(gang_fixture_init(fixture, cluster, policy, pods, gpus, &err), 0);
    assert_int_equal(gang_fixture_annotate(fixture, annotations, &err), 0);
}

/* The node is gone, with all its places. */
static void lose_node(struct gang_fixture *fixture, uint32_t node)
{
    for (uint32_t pod = 0; pod < fixture->problem.pods; pod++)
        if (fixture->fixed[pod] == node)
            fixture->fixed[pod] = VIEW_NODE_NONE;
    for (size_t i = 0; i < fixture->problem.candidate_count; i++)
        if (fixture->candidates[i].node == node)
            fixture->candidates[i].slots = 0;
}

static struct gang_plan *make_plan(struct gang_fixture *fixture)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_plan *plan = gang_fixture_plan(fixture, &err);
    assert_non_null(plan);
    return plan;
}

/* The plan, and then the same gang without the node of one pod. */
static struct gang_plan *plan_and_lose(struct gang_fixture *fixture, uint32_t pod)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gang_plan) struct gang_plan *plan = make_plan(fixture);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    assert_int_equal(gang_fixture_fix(fixture, plan, &err), 0);
    lose_node(fixture, fixture->fixed[pod]);
    return move_pointer(plan);
}

static void others_stay_and_the_lost_pod_goes_near(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "dgx-h100:64", NULL, 16, 8, "tp=8 pp=4 dp=4");
    CLEANUP(gang_plan) struct gang_plan *plan = plan_and_lose(&fixture, 9);
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    for (uint32_t pod = 0; pod < 16; pod++)
        assert_int_equal(strcmp(plan->nodes[pod], again->nodes[pod]) == 0, pod != 9);
    assert_string_equal(again->nodes[9], "n017"); /* the first free one under that leaf */
    assert_string_equal(again->reason, "15 of 16 pods stay, pod 9 goes to n017");
    assert_memory_equal(&again->degrees, &plan->degrees, sizeof(plan->degrees));
    assert_string_not_equal(again->id, plan->id);
}

/* Leaves of 32: a pipeline's other pods are under the second one, the replicas' under the first. */
static void pipelines_come_before_replicas(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    open_gang(&fixture, "dgx-h100:64", NULL, 8, 8, "tp=8 pp=2 dp=4");
    CLEANUP(gang_plan) struct gang_plan *plan = make_plan(&fixture);
    assert_int_equal(gang_fixture_fix(&fixture, plan, &err), 0);
    for (uint32_t pod = 0; pod < 8; pod++) /* pod = dp + 4 pp */
        fixture.fixed[pod] = pod % 4 == 1 ? 40 + pod : pod;
    fixture.fixed[5] = VIEW_NODE_NONE;
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    assert_string_equal(again->nodes[1], "n042");
    assert_string_equal(again->nodes[5], "n033");
}

static void wide_groups_stay_in_their_domain(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "gb200-nvl72:36", DOMAIN, 8, 4, "tp=16 pp=2");
    CLEANUP(gang_plan) struct gang_plan *plan = plan_and_lose(&fixture, 2);
    assert_int_equal(gang_plan_group_pods(plan), 4);
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    uint32_t first = gang_fixture_node(&fixture, again->nodes[0]);
    uint32_t moved = gang_fixture_node(&fixture, again->nodes[2]);
    assert_int_equal(cluster_distance(fixture.cluster, first, moved), DISTANCE_SAME_NVLINK_DOMAIN);

    /* Its rack has no spare: only the other one has. */
    for (size_t i = 0; i < fixture.problem.candidate_count; i++)
        if (cluster_distance(fixture.cluster, first, i) < 0)
            fixture.candidates[i].slots = 0;
    CLEANUP(gang_plan) struct gang_plan *none = make_plan(&fixture);
    assert_int_equal(none->outcome, GANG_NO_FIT);
    assert_true(none->no_spare);
    assert_non_null(strstr(none->reason, "the TP group of pods 0 to 3 needs a node in its NVLink "
                                         "domain, and no free node is in it"));
    fixture.problem.relax = true;
    CLEANUP(gang_plan) struct gang_plan *relaxed = make_plan(&fixture);
    assert_int_equal(relaxed->outcome, GANG_PLANNED);
    assert_false(relaxed->no_spare);
    fixture.problem.relax = false;

    /* The whole group moves, into a rack that has room for all of it. */
    for (uint32_t pod = 0; pod < 4; pod++)
        fixture.fixed[pod] = VIEW_NODE_NONE;
    CLEANUP(gang_plan) struct gang_plan *moved_group = make_plan(&fixture);
    assert_int_equal(moved_group->outcome, GANG_PLANNED);
    first = gang_fixture_node(&fixture, moved_group->nodes[0]);
    for (uint32_t pod = 1; pod < 4; pod++)
        assert_int_equal(cluster_distance(fixture.cluster, first,
                                          gang_fixture_node(&fixture, moved_group->nodes[pod])),
                         DISTANCE_SAME_NVLINK_DOMAIN);
}

/* A group that is bound to its domain takes the place there before one that has a choice. */
static void bound_groups_come_first(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    open_gang(&fixture, "gb200-nvl72:36", DOMAIN, 4, 4, "tp=8 pp=2");
    CLEANUP(gang_plan) struct gang_plan *plan = make_plan(&fixture);
    assert_int_equal(gang_fixture_fix(&fixture, plan, &err), 0);
    const uint32_t fixed[] = {VIEW_NODE_NONE, VIEW_NODE_NONE, 0, VIEW_NODE_NONE};
    memcpy(fixture.fixed, fixed, sizeof(fixed));
    for (uint32_t i = 0; i < 18; i++) /* the first rack has two places left */
        fixture.candidates[i].slots = i == 0 || i == 5 || i == 6;
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    assert_true(gang_fixture_node(&fixture, again->nodes[3]) < 18);
    assert_true(gang_fixture_node(&fixture, again->nodes[0]) >= 18);
    assert_true(gang_fixture_node(&fixture, again->nodes[1]) >= 18);
}

/* The nearest node has other GPUs: it is taken only where there is none of the gang's kind. */
static void gpus_alike_are_preferred(void **state)
{
    (void)state;
    static const char cluster[] =
        "schema: parplan.cluster/1\n"
        "kinds: {a: {preset: dgx-a100-80}, h: {preset: dgx-h100}}\n"
        "nodes: [{names: \"h[1-5]\", kind: h}, {names: \"a[1-2]\", kind: a}]\n"
        "fabric:\n"
        "  tiers: [leaf, spine]\n"
        "  switches:\n"
        "    - {name: l1, tier: leaf, nodes: \"h[1-4],a[1-2]\"}\n"
        "    - {name: l2, tier: leaf, nodes: \"h5\"}\n"
        "    - {name: s, tier: spine, children: \"l[1-2]\"}\n";
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, cluster, NULL, 4, 8, "tp=8");
    gang_plan_free(plan_and_lose(&fixture, 1));
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    assert_string_equal(again->nodes[1], "h5");
    fixture.candidates[gang_fixture_node(&fixture, "h5")].slots = 0;
    CLEANUP(gang_plan) struct gang_plan *other = make_plan(&fixture);
    assert_int_equal(other->outcome, GANG_PLANNED);
    assert_string_equal(other->nodes[1], "a1");
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "dgx-h100:8", NULL, 8, 8, "tp=8");
    gang_plan_free(plan_and_lose(&fixture, 3));
    fixture.problem.turned_away[AWAY_NOT_READY] = 1;
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_NO_FIT);
    assert_false(again->no_spare);
    assert_string_equal(again->reason,
                        "gang default/llama needs 1 node of 8 GPUs, 0 are free: 1 is not ready");
}

static void places_of_a_node_are_counted(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "dgx-h100:4", NULL, 6, 4, "tp=4 pp=2");
    gang_plan_free(plan_and_lose(&fixture, 0));
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    for (uint32_t node = 0; node < 4; node++) {
        unsigned there = 0;
        for (uint32_t pod = 0; pod < 6; pod++)
            there += gang_fixture_node(&fixture, again->nodes[pod]) == node;
        assert_true(there <= fixture.candidates[node].slots);
    }
}

static void keeps_plans_without_degrees(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "dgx-h100:64", NULL, 4, 8, "");
    gang_plan_free(plan_and_lose(&fixture, 1));
    CLEANUP(gang_plan) struct gang_plan *again = make_plan(&fixture);
    assert_int_equal(again->outcome, GANG_PLANNED);
    assert_false(again->has_degrees);
    assert_string_equal(again->nodes[1], "n005");
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "dgx-h100:8", NULL, 4, 8, "tp=8");
    gang_plan_free(plan_and_lose(&fixture, 1));
    fixture.fixed[0] = 77;
    CLEANUP(gang_plan) struct gang_plan *unknown = make_plan(&fixture);
    assert_int_equal(unknown->outcome, GANG_BAD_INPUT);
    assert_non_null(strstr(unknown->reason, "pod 0 is on a node that is not known"));
    fixture.fixed[0] = VIEW_NODE_NONE;
    fixture.problem.degrees.dp = 3;
    CLEANUP(gang_plan) struct gang_plan *wrong = make_plan(&fixture);
    assert_int_equal(wrong->outcome, GANG_BAD_INPUT);
}

static int plan_once(void *context, struct error_info *err)
{
    CLEANUP(gang_plan) struct gang_plan *plan = gang_fixture_plan(context, err);
    return plan ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "gb200-nvl72:36", DOMAIN, 8, 4, "tp=16 pp=2");
    gang_plan_free(plan_and_lose(&fixture, 2));
    unit_test_expect_clean_failures(plan_once, &fixture);
}

/* --- neighbours --------------------------------------------------------------------- */

static uint64_t weight_of(const struct gang_shape *shape, uint32_t pod, uint32_t other)
{
    struct gang_neighbour neighbours[GANG_NEIGHBOURS_MAXIMUM];
    size_t count = gang_neighbours_of(shape, pod, neighbours);
    for (size_t i = 0; i < count; i++)
        if (neighbours[i].pod == other)
            return neighbours[i].weight;
    return 0;
}

static void neighbours_weigh_by_what_they_say(void **state)
{
    (void)state;
    struct gang_shape shape = {.pods = 32, .gpus_per_pod = 8, .has_degrees = true};
    shape.degrees = DEGREES_ONE;
    shape.degrees.tp = 16;
    shape.degrees.pp = 4;
    shape.degrees.dp = 4;
    /* group of 2: pods 0 and 1; dp + 1: pod 2; pp + 1: pod 8 */
    assert_int_equal(gang_shape_group(&shape), 2);
    uint64_t tp = weight_of(&shape, 0, 1), pp = weight_of(&shape, 0, 8);
    uint64_t dp = weight_of(&shape, 0, 2);
    assert_true(tp > 1000 * pp && pp > 10 * dp && dp > 0);
    assert_int_equal(weight_of(&shape, 0, 16), 0);
    assert_int_equal(weight_of(&shape, 0, 6), dp); /* the ring closes */
    assert_int_equal(weight_of(&shape, 8, 16), pp);
    assert_int_equal(weight_of(&shape, 24, 0), 0); /* a chain does not */
    shape.degrees = DEGREES_ONE;
    shape.degrees.dp = 256;
    shape.degrees.ep = 32; /* four pods */
    assert_true(weight_of(&shape, 0, 3) > weight_of(&shape, 3, 4));
    shape.has_degrees = false;
    assert_true(weight_of(&shape, 3, 4) > 0 && weight_of(&shape, 4, 3) > 0);
    assert_int_equal(weight_of(&shape, 31, 0), 0);
}

/* Groups of 256 pods, of which 128 neighbours have room: the nearest, and who is no member. */
static void wide_groups_leave_room_for_others(void **state)
{
    (void)state;
    for (unsigned experts = 0; experts <= 1; experts++) {
        struct gang_shape shape = {.pods = 1024, .gpus_per_pod = 8, .has_degrees = true};
        struct gang_neighbour neighbours[GANG_NEIGHBOURS_MAXIMUM];
        shape.degrees = DEGREES_ONE;
        shape.degrees.tp = experts ? 1 : 2048;
        shape.degrees.ep = experts ? 2048 : 1;
        shape.degrees.dp = experts ? 4096 : 2;
        shape.degrees.pp = 2;
        assert_int_equal(gang_neighbours_of(&shape, 200, neighbours), GANG_NEIGHBOURS_MAXIMUM);
        uint64_t pp = weight_of(&shape, 200, 712), near = weight_of(&shape, 200, 201);
        assert_true(pp > 0 && near > pp);
        assert_true(weight_of(&shape, 200, 199) == near);
        assert_true(weight_of(&shape, 200, 150) > pp && weight_of(&shape, 200, 250) > pp);
        assert_int_equal(weight_of(&shape, 200, 0), 0);
        assert_int_equal(weight_of(&shape, 200, 256), 0);
        if (!experts)
            assert_true(weight_of(&shape, 200, 456) > 0 && weight_of(&shape, 200, 456) < pp);
    }
}

/* Ranks 14 to 20 are one group of experts: the end of pod 1, and the begin of pod 2. */
static void experts_weigh_by_ranks(void **state)
{
    (void)state;
    struct gang_shape shape = {.pods = 7, .gpus_per_pod = 8, .has_degrees = true};
    shape.degrees = DEGREES_ONE;
    shape.degrees.dp = 56;
    shape.degrees.ep = 7;
    uint64_t of_two = weight_of(&shape, 1, 2), of_five = weight_of(&shape, 2, 1);
    assert_true(of_two > 0 && of_five > 2 * of_two && of_five < 3 * of_two);
    assert_true(weight_of(&shape, 1, 3) < of_two / 10);
}

/* Bound before there was a plan: degrees as for a gang of free pods, nodes around the bound one. */
static void a_first_plan_goes_around_what_is_bound(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_gang(&fixture, "gb200-nvl72:36", DOMAIN, 8, 4, "tp=16 pp=2");
    for (uint32_t pod = 0; pod < 8; pod++)
        fixture.fixed[pod] = VIEW_NODE_NONE;
    fixture.fixed[5] = 30; /* in the second rack */
    fixture.problem.fixed = fixture.fixed;
    fixture.problem.anew = true;
    CLEANUP(gang_plan) struct gang_plan *plan = make_plan(&fixture);
    assert_int_equal(plan->outcome, GANG_PLANNED);
    assert_int_equal(plan->degrees.tp, 16);
    assert_int_equal(plan->degrees.pp, 2);
    assert_int_equal(gang_fixture_node(&fixture, plan->nodes[5]), 30);
    for (uint32_t pod = 4; pod < 8; pod++)
        if (pod != 5)
            assert_int_equal(cluster_distance(fixture.cluster, 30,
                                              gang_fixture_node(&fixture, plan->nodes[pod])),
                             DISTANCE_SAME_NVLINK_DOMAIN);
    /* Two of one TP group in two racks: there is no plan with that. */
    fixture.fixed[6] = 3;
    CLEANUP(gang_plan) struct gang_plan *none = make_plan(&fixture);
    assert_int_equal(none->outcome, GANG_NO_FIT);
    assert_non_null(strstr(none->reason, "the TP group of pods 4 to 7"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(others_stay_and_the_lost_pod_goes_near),
    cmocka_unit_test(pipelines_come_before_replicas),
    cmocka_unit_test(a_first_plan_goes_around_what_is_bound),
    cmocka_unit_test(wide_groups_stay_in_their_domain),
    cmocka_unit_test(bound_groups_come_first),
    cmocka_unit_test(gpus_alike_are_preferred),
    cmocka_unit_test(says_when_there_is_no_room),
    cmocka_unit_test(places_of_a_node_are_counted),
    cmocka_unit_test(keeps_plans_without_degrees),
    cmocka_unit_test(refuses_what_cannot_be),
    cmocka_unit_test(fails_cleanly),
    cmocka_unit_test(neighbours_weigh_by_what_they_say),
    cmocka_unit_test(wide_groups_leave_room_for_others),
    cmocka_unit_test(experts_weigh_by_ranks),
};

int main(void) { return unit_test_main("k8s_extender/gang_replan", tests, COUNT_OF(tests)); }
