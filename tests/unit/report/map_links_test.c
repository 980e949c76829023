/* SPDX-License-Identifier: MIT */
/* map_units and map_links: what a picture shows side by side, and who talks to whom. */
#include "report/pictures/map/map_links.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* 16 nodes over leaves of 6, 5, 3 and 2. */
static const struct test_switch uneven_switches[] = {
    {"leaf1", "n[01-06]", NULL}, {"leaf2", "n[07-11]", NULL},  {"leaf3", "n[12-14]", NULL},
    {"leaf4", "n[15-16]", NULL}, {"spine", NULL, "leaf[1-4]"},
};
static const struct test_cluster uneven = {
    .nodes = "n[01-16]",
    .gpus = 8,
    .switches = uneven_switches,
    .switch_count = COUNT_OF(uneven_switches),
};

struct scene {
    struct cluster_topology *cluster;
    struct rank_map *map;
    struct mapping_cost cost;
    struct map_units units;
    struct map_links links;
};

static bool scene_open(struct scene *scene, const struct test_cluster *test,
                       const struct degrees *degrees, enum rank_order order, bool identity)
{
    struct error_info err = {.kind = ERROR_NONE};
    *scene = (struct scene){.cluster = test_cluster_create(test, &err)};
    if (!scene->cluster)
        return false;
    struct node_mapping_request request = {
        .cluster = scene->cluster,
        .degrees = *degrees,
        .order = order,
        .gpus_per_node = test->gpus,
        .identity = identity,
    };
    if (degrees_complete(&request.degrees, degrees_world(degrees), &err) == 0) {
        request.world = degrees_world(&request.degrees);
        scene->map = rank_map_create(&request, &err);
    }
    if (!scene->map && err.kind != ERROR_MEMORY)
        fail_msg("%s", err.text);
    if (!scene->map)
        return false;
    mapping_cost_compute(scene->map, NULL, NULL, &scene->cost);
    return map_units_init(&scene->units, scene->map, &err) == 0 &&
           map_links_init(&scene->links, &scene->units, &scene->cost, &err) == 0;
}

static void scene_done(struct scene *scene)
{
    map_links_done(&scene->links);
    map_units_done(&scene->units);
    rank_map_free(scene->map);
    cluster_topology_free(scene->cluster);
}

/* The cost counts the same pairs by the slots of its tiers. */
static void expect_pairs_of_the_cost(const struct scene *scene)
{
    unsigned unknown = scene->cost.slot_count - 1;
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        uint64_t want[REACH_COUNT] = {0}, listed = 0, leaving = 0;
        for (unsigned slot = 0; slot <= unknown; slot++)
            want[slot == unknown           ? REACH_UNKNOWN
                 : slot <= COST_SLOT_TIERS ? REACH_NEAR
                                           : REACH_FAR] += scene->cost.pairs[dimension][slot];
        for (unsigned reach = 0; reach < REACH_COUNT; reach++)
            assert_int_equal(scene->links.pairs[dimension][reach], want[reach]);
        for (size_t i = 0; i < scene->links.count; i++)
            if (scene->links.links[i].dimension == dimension)
                listed += scene->links.links[i].pairs;
        for (unsigned i = 0; i < scene->units.count; i++)
            leaving += scene->links.leaving[i * TRAFFIC_DIMENSION_COUNT + dimension];
        assert_int_equal(leaving, 2 * listed);
    }
}

static void counts_the_pairs_of_the_cost(void **state)
{
    (void)state;
    static const struct {
        struct degrees degrees;
        enum rank_order order;
    } rows[] = {
        {{.tp = 8, .cp = 1, .ep = 1, .pp = 4, .vpp = 1, .dp = 4}, ORDER_TP_CP_EP_DP_PP},
        {{.tp = 8, .cp = 1, .ep = 1, .pp = 4, .vpp = 1, .dp = 4}, ORDER_TP_CP_EP_PP_DP},
        {{.tp = 2, .cp = 2, .ep = 8, .pp = 2, .vpp = 1, .dp = 16}, ORDER_TP_CP_EP_DP_PP},
        {{.tp = 4, .cp = 4, .ep = 1, .pp = 8, .vpp = 1, .dp = 1}, ORDER_TP_CP_EP_DP_PP},
        {{.tp = 1, .cp = 1, .ep = 32, .pp = 1, .vpp = 1, .dp = 128}, ORDER_TP_CP_EP_DP_PP},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene scene;
        if (scene_open(&scene, &uneven, &rows[i].degrees, rows[i].order, false))
            expect_pairs_of_the_cost(&scene);
        scene_done(&scene);
    }
}

/* In the order of the names the last pipeline but one lies over two leaves. */
static void finds_pipelines_that_cross(void **state)
{
    (void)state;
    static const struct degrees degrees = {.tp = 8, .cp = 1, .ep = 1, .pp = 2, .vpp = 1, .dp = 8};
    static const unsigned char want[] = {REACH_NEAR, REACH_NEAR, REACH_NEAR, REACH_NEAR,
                                         REACH_NEAR, REACH_FAR,  REACH_NEAR, REACH_NEAR};
    struct scene scene;
    if (scene_open(&scene, &uneven, &degrees, ORDER_TP_CP_EP_PP_DP, true)) {
        assert_int_equal(scene.links.pipeline_count, 8);
        assert_int_equal(scene.links.far_pipelines, 1);
        assert_int_equal(scene.links.unknown_pipelines, 0);
        assert_memory_equal(scene.links.pipelines, want, sizeof(want));
        assert_int_equal(scene.units.frame_count, 4);
        assert_int_equal(scene.units.frames[0].count, 6);
        assert_int_equal(scene.units.frames[3].count, 2);
    }
    scene_done(&scene);
}

/* n07 and n08 hold the first stages of dp 6 and 7, n09 to n11 the second ones of 0 to 2. */
static void has_replicas_side_by_side(void **state)
{
    (void)state;
    static const struct degrees degrees = {.tp = 8, .cp = 1, .ep = 1, .pp = 2, .vpp = 1, .dp = 8};
    static const char *const want[] = {"n09", "n10", "n11", "n07", "n08"};
    struct scene scene;
    if (scene_open(&scene, &uneven, &degrees, ORDER_TP_CP_EP_DP_PP, true)) {
        for (unsigned i = 0; i < COUNT_OF(want); i++) {
            const struct map_unit *unit = &scene.units.units[scene.units.frames[1].first + i];
            assert_string_equal(scene.cluster->nodes[scene.units.order[unit->first]].name, want[i]);
        }
        assert_int_equal(scene.links.far_pipelines, 8);
    }
    scene_done(&scene);
}

static void keeps_spare_nodes_last_in_their_leaf(void **state)
{
    (void)state;
    static const struct degrees degrees = {.tp = 8, .cp = 1, .ep = 1, .pp = 2, .vpp = 1, .dp = 4};
    struct scene scene;
    if (scene_open(&scene, &uneven, &degrees, ORDER_TP_CP_EP_DP_PP, false)) {
        unsigned spare = 0;
        for (unsigned i = 0; i < scene.units.count; i++) {
            const struct map_unit *unit = &scene.units.units[i];
            bool follows = i > 0 && scene.units.units[i - 1].frame == unit->frame;
            spare += unit->kind == UNIT_SPARE;
            if (follows && scene.units.units[i - 1].kind == UNIT_SPARE)
                assert_int_equal(unit->kind, UNIT_SPARE);
        }
        assert_int_equal(scene.units.count, 16);
        assert_int_equal(spare, 8);
        assert_int_equal(scene.units.left_out_nodes, 0);
    }
    scene_done(&scene);
}

/* 40 leaves of 10: 15 of them and a bundle, which holds all other nodes. */
static void bundles_what_does_not_fit(void **state)
{
    (void)state;
    static const struct test_switch switches[] = {
        {"l01", "n[001-010]", NULL}, {"l02", "n[011-020]", NULL}, {"l03", "n[021-030]", NULL},
        {"l04", "n[031-040]", NULL}, {"l05", "n[041-050]", NULL}, {"l06", "n[051-060]", NULL},
        {"l07", "n[061-070]", NULL}, {"l08", "n[071-080]", NULL}, {"l09", "n[081-090]", NULL},
        {"l10", "n[091-100]", NULL}, {"l11", "n[101-110]", NULL}, {"l12", "n[111-120]", NULL},
        {"l13", "n[121-130]", NULL}, {"l14", "n[131-140]", NULL}, {"l15", "n[141-150]", NULL},
        {"l16", "n[151-160]", NULL}, {"l17", "n[161-170]", NULL}, {"l18", "n[171-180]", NULL},
        {"spine", NULL, "l[01-18]"},
    };
    static const struct test_cluster test = {
        .nodes = "n[001-180]", .gpus = 4, .switches = switches, .switch_count = COUNT_OF(switches)};
    static const struct degrees degrees = {.tp = 4, .cp = 1, .ep = 1, .pp = 2, .vpp = 1, .dp = 90};
    struct scene scene;
    if (scene_open(&scene, &test, &degrees, ORDER_TP_CP_EP_DP_PP, false)) {
        assert_true(scene.units.grouped);
        assert_int_equal(scene.units.count, 16);
        assert_int_equal(scene.units.frame_count, 1);
        assert_int_equal(scene.units.units[15].kind, UNIT_BUNDLE);
        assert_int_equal(scene.units.units[15].switches, 3);
        assert_int_equal(scene.units.units[15].used, 30);
        for (size_t i = 0; i < scene.cluster->node_count; i++)
            assert_true(scene.units.unit_of[i] < scene.units.count);
        expect_pairs_of_the_cost(&scene);
    }
    scene_done(&scene);
}

/* A flat fabric, and nothing known at all. */
static void does_with_what_is_known(void **state)
{
    (void)state;
    static const struct degrees degrees = {.tp = 8, .cp = 1, .ep = 1, .pp = 2, .vpp = 1, .dp = 2};
    static const struct test_cluster test = {.nodes = "n[1-4]", .gpus = 8};
    struct scene scene;
    if (scene_open(&scene, &test, &degrees, ORDER_TP_CP_EP_DP_PP, false)) {
        assert_int_equal(scene.units.frame_count, 1);
        assert_int_equal(scene.units.frames[0].switch_index, FABRIC_NONE);
        assert_int_equal(scene.links.unknown_pipelines, 2);
        assert_int_equal(scene.links.far_pipelines, 0);
        expect_pairs_of_the_cost(&scene);
    }
    scene_done(&scene);
}

static void joins_domains(void **state)
{
    (void)state;
    static const char *const domains[] = {"n[1,3]", "n[2,4]"};
    static const struct test_switch switches[] = {{"leaf", "n[1-5]", NULL}};
    static const struct test_cluster test = {.nodes = "n[1-5]",
                                             .gpus = 4,
                                             .switches = switches,
                                             .switch_count = 1,
                                             .domains = domains,
                                             .domain_count = 2};
    static const struct degrees degrees = {.tp = 4, .cp = 1, .ep = 1, .pp = 1, .vpp = 1, .dp = 5};
    struct scene scene;
    if (scene_open(&scene, &test, &degrees, ORDER_TP_CP_EP_DP_PP, true)) {
        assert_int_equal(map_units_domain(&scene.units, 0), map_units_domain(&scene.units, 1));
        assert_int_equal(map_units_domain(&scene.units, 2), map_units_domain(&scene.units, 3));
        assert_int_not_equal(map_units_domain(&scene.units, 0), map_units_domain(&scene.units, 2));
        assert_int_equal(map_units_domain(&scene.units, 4), FABRIC_NONE);
        expect_pairs_of_the_cost(&scene);
    }
    scene_done(&scene);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_the_pairs_of_the_cost),
    cmocka_unit_test(finds_pipelines_that_cross),
    cmocka_unit_test(has_replicas_side_by_side),
    cmocka_unit_test(keeps_spare_nodes_last_in_their_leaf),
    cmocka_unit_test(bundles_what_does_not_fit),
    cmocka_unit_test(does_with_what_is_known),
    cmocka_unit_test(joins_domains),
};

int main(void) { return unit_test_main("report/map_links", tests, COUNT_OF(tests)); }
