/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_room.h"
#include "k8s_extender/placement/planning/gang_slots.h"
#include "tests/support/gang_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void open_cluster(struct gang_fixture *fixture, const char *cluster, uint32_t pods,
                         uint32_t gpus)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (gang_fixture_init(fixture, cluster, NULL, pods, gpus, &err) < 0)
        fail_msg("%s", err.text);
}

static void make_slots(const struct gang_fixture *fixture, struct gang_slots *ret)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (gang_slots_create(fixture->cluster, fixture->candidates, fixture->problem.candidate_count,
                          fixture->problem.pods, ret, &err) < 0)
        fail_msg("%s", err.text);
}

/* One place each: the nodes themselves, under their names. */
static void single_places_are_the_nodes(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    open_cluster(&fixture, "dgx-h100:6", 4, 8);
    fixture.candidates[0].node = 2;
    fixture.candidates[1].node = 5;
    fixture.problem.candidate_count = 2;
    make_slots(&fixture, &slots);
    assert_int_equal(slots.cluster->node_count, 2);
    assert_string_equal(slots.cluster->nodes[0].name, "n003");
    assert_string_equal(slots.cluster->nodes[1].name, "n006");
    assert_int_equal(slots.nodes[0], 2);
    assert_int_equal(slots.nodes[1], 5);
}

static void places_of_a_node_are_together(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    open_cluster(&fixture, "dgx-h100:64", 8, 2);
    fixture.candidates[0].slots = 1;
    fixture.candidates[1] = (struct gang_candidate){40, 3};
    fixture.candidates[2] = (struct gang_candidate){41, 99}; /* more than there are pods */
    fixture.problem.candidate_count = 3;
    make_slots(&fixture, &slots);
    const struct cluster_topology *cluster = slots.cluster;
    assert_int_equal(cluster->node_count, 1 + 3 + 8);
    for (size_t i = 0; i < cluster->node_count; i++)
        for (size_t k = 0; k < i; k++) {
            int distance = slots.nodes[i] == slots.nodes[k]
                               ? DISTANCE_SAME_NVLINK_DOMAIN
                               : cluster_distance(fixture.cluster, slots.nodes[i], slots.nodes[k]);
            assert_int_equal(cluster_distance(cluster, i, k), distance);
            assert_string_not_equal(cluster->nodes[i].name, cluster->nodes[k].name);
        }
    assert_int_equal(cluster->domain_count, 2);
    assert_int_equal(cluster->domain_nodes[0] + cluster->domain_nodes[1], 11);
}

/* A rack's domain holds the places of all of its trays. */
static void domains_of_racks_stay_whole(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    open_cluster(&fixture, "gb200-nvl72:36", 72, 2);
    make_slots(&fixture, &slots);
    assert_int_equal(slots.cluster->node_count, 72);
    assert_int_equal(slots.cluster->domain_count, 2);
    assert_int_equal(slots.cluster->domain_nodes[0], 36);
    assert_int_equal(cluster_nvlink_domain_in_use(slots.cluster, 2), 72);
}

/* Without NVLink, and without anything known between nodes. */
static void nothing_is_invented(void **state)
{
    (void)state;
    static const char cluster[] = "schema: parplan.cluster/1\n"
                                  "kinds: {l: {preset: l40s-pcie}}\n"
                                  "nodes: [{names: \"l[1-3]\", kind: l}]\n";
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    open_cluster(&fixture, cluster, 6, 4);
    make_slots(&fixture, &slots);
    assert_int_equal(slots.cluster->node_count, 6);
    assert_int_equal(slots.cluster->domain_count, 0);
    assert_true(cluster_distance(slots.cluster, 0, 1) >= 0);
}

static void refuses_no_place_at_all(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    struct gang_slots slots = {.cluster = NULL};
    open_cluster(&fixture, "dgx-h100:2", 2, 8);
    assert_int_equal(gang_slots_create(fixture.cluster, fixture.candidates, 0, 2, &slots, &err),
                     -1);
    assert_null(slots.cluster);
}

static int make_once(void *context, struct error_info *err)
{
    const struct gang_fixture *fixture = context;
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    return gang_slots_create(fixture->cluster, fixture->candidates,
                             fixture->problem.candidate_count, 8, &slots, err);
}

static void fails_cleanly(void **state)
{
    (void)state;
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_cluster(&fixture, "gb200-nvl72:4", 8, 2);
    unit_test_expect_clean_failures(make_once, &fixture);
}

/* --- room --------------------------------------------------------------------------- */

#define MIXED                                                                                      \
    "schema: parplan.cluster/1\n"                                                                  \
    "kinds: {a: {preset: dgx-a100-80}, h: {preset: dgx-h100}, t: {preset: gb200-nvl72}}\n"         \
    "nodes: [{names: \"a[1-4]\", kind: a}, {names: \"h[1-6]\", kind: h}, {names: t1, kind: t}]\n"

static void one_model_is_taken_where_it_is_enough(void **state)
{
    (void)state;
    static const struct {
        uint64_t wanted;
        size_t pools, count;
        const char *gpu; /* of the first pool */
    } cases[] = {
        {4, 2, 6, "h100-sxm"}, {6, 1, 6, "h100-sxm"}, {7, 1, 10, NULL},
        {10, 1, 10, NULL},     {11, 0, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
        CLEANUP_DONE(gang_room) struct gang_room room = {.pool_count = 0};
        open_cluster(&fixture, MIXED, 4, 8);
        fixture.candidates[10].slots = 1; /* of a node with four GPUs */
        assert_int_equal(gang_room_find(&fixture.problem, cases[i].wanted, false, &room, &err), 0);
        assert_int_equal(room.places, 10);
        assert_int_equal(room.pool_count, cases[i].pools);
        if (room.pool_count == 0)
            continue;
        assert_int_equal(room.pools[0].count, cases[i].count);
        assert_int_equal(room.pools[0].gpu != NULL, cases[i].gpu != NULL);
        if (cases[i].gpu)
            assert_string_equal(room.pools[0].gpu, cases[i].gpu);
    }
}

static void broken_nodes_come_last(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    open_cluster(&fixture, MIXED, 4, 8);
    ((struct node_gpu *)fixture.cluster->kinds[1]->gpus)[3].mig = true;
    CLEANUP_DONE(gang_room) struct gang_room few = {.pool_count = 0}, many = {.pool_count = 0};
    assert_int_equal(gang_room_find(&fixture.problem, 4, false, &few, &err), 0);
    assert_int_equal(few.pool_count, 2); /* one of them has no sound node at all */
    assert_int_equal(gang_room_find(&fixture.problem, 8, false, &many, &err), 0);
    assert_int_equal(many.pool_count, 1);
    assert_int_equal(many.pools[0].count, 10);
}

/* Racks with 10, 8 and 1 free trays: the planner would think of domains of one tray. */
static void small_domains_are_left_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t wanted;
        size_t count;
    } cases[] = {{9, 10}, {10, 10}, {11, 18}, {18, 18}, {19, 19}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
        CLEANUP_DONE(gang_room) struct gang_room room = {.pool_count = 0};
        open_cluster(&fixture, "gb200-nvl72:54", 19, 4);
        for (uint32_t node = 0; node < 19; node++)
            fixture.candidates[node].node = node < 10 ? node : node < 18 ? 18 + node : 40;
        fixture.problem.candidate_count = 19;
        assert_int_equal(gang_room_find(&fixture.problem, cases[i].wanted, true, &room, &err), 0);
        assert_int_equal(room.pool_count, 1);
        assert_int_equal(room.pools[0].count, cases[i].count);
        assert_int_equal(room.pools[0].places, cases[i].count);
        for (size_t k = 1; k < room.pools[0].count; k++)
            assert_true(room.pools[0].candidates[k - 1].node < room.pools[0].candidates[k].node);
    }
}

/* Nodes whose NVLink stays inside are all alike, whatever their places. */
static void plain_nodes_are_not_sifted(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_fixture) struct gang_fixture fixture;
    CLEANUP_DONE(gang_room) struct gang_room room = {.pool_count = 0};
    open_cluster(&fixture, "dgx-h100:4", 4, 4);
    fixture.candidates[1].slots = 1;
    assert_int_equal(gang_room_find(&fixture.problem, 2, true, &room, &err), 0);
    assert_int_equal(room.pools[0].count, 4);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(single_places_are_the_nodes),
    cmocka_unit_test(places_of_a_node_are_together),
    cmocka_unit_test(domains_of_racks_stay_whole),
    cmocka_unit_test(nothing_is_invented),
    cmocka_unit_test(refuses_no_place_at_all),
    cmocka_unit_test(fails_cleanly),
    cmocka_unit_test(one_model_is_taken_where_it_is_enough),
    cmocka_unit_test(broken_nodes_come_last),
    cmocka_unit_test(small_domains_are_left_out),
    cmocka_unit_test(plain_nodes_are_not_sifted),
};

int main(void) { return unit_test_main("k8s_extender/gang_slots", tests, COUNT_OF(tests)); }
