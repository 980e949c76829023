/* SPDX-License-Identifier: MIT */
#include "report/pictures/map/map_picture.h"
#include "tests/support/svg_check.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define SIZE_MAXIMUM ((size_t)300 << 10)

struct scene {
    struct cluster_topology *cluster;
    struct rank_map *map;
    struct mapping_cost cost;
};

struct setting {
    struct test_cluster cluster;
    struct degrees degrees;                     /* 0: one; dp 0: locality only */
    double pair_bytes[TRAFFIC_DIMENSION_COUNT]; /* pp 0: none are known */
};

static const struct test_switch uneven[] = {
    {"leaf1", "n[01-06]", NULL}, {"leaf2", "n[07-11]", NULL},  {"leaf3", "n[12-14]", NULL},
    {"leaf4", "n[15-16]", NULL}, {"spine", NULL, "leaf[1-4]"},
};
static const struct test_switch wide[] = {
    {"l1", "m[001-032]", NULL}, {"l2", "m[033-064]", NULL}, {"l3", "m[065-096]", NULL},
    {"l4", "m[097-128]", NULL}, {"s1", NULL, "l[1-2]"},     {"s2", NULL, "l[3-4]"},
    {"core", NULL, "s[1-2]"},
};

#define UNEVEN                                                                                     \
    {                                                                                              \
        .nodes = "n[01-16]", .gpus = 8, .switches = uneven, .switch_count = COUNT_OF(uneven)       \
    }
#define WIDE(list)                                                                                 \
    {                                                                                              \
        .nodes = (list), .gpus = 8, .switches = wide, .switch_count = COUNT_OF(wide)               \
    }
static uint64_t world_of(const struct degrees *degrees)
{
    uint64_t cp = degrees->cp > 0 ? degrees->cp : 1;
    return degrees->tp * cp * degrees->pp * degrees->dp;
}

static void fill_cost(struct scene *scene, const struct setting *setting)
{
    struct mapping_cost *cost = &scene->cost;
    mapping_cost_compute(scene->map, NULL, NULL, cost);
    cost->bytes_known = setting->pair_bytes[TRAFFIC_PP] > 0.0;
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++)
        for (unsigned slot = 0; slot < cost->slot_count; slot++)
            cost->bytes[dimension][slot] =
                setting->pair_bytes[dimension] * (double)cost->pairs[dimension][slot];
}

static bool scene_open(struct scene *scene, const struct setting *setting)
{
    struct error_info err = {.kind = ERROR_NONE};
    *scene = (struct scene){.cluster = test_cluster_create(&setting->cluster, &err)};
    struct node_mapping_request request = {
        .cluster = scene->cluster,
        .degrees = setting->degrees,
        .order = ORDER_TP_CP_EP_DP_PP,
        .gpus_per_node = setting->cluster.gpus,
        .locality_only = setting->degrees.dp == 0,
    };
    bool failed = !scene->cluster;
    if (!failed && !request.locality_only) {
        request.world = world_of(&setting->degrees);
        failed = degrees_complete(&request.degrees, request.world, &err) < 0;
    }
    if (!failed)
        scene->map = rank_map_create(&request, &err);
    if (!scene->map && err.kind != ERROR_MEMORY)
        fail_msg("%s", err.text);
    if (scene->map)
        fill_cost(scene, setting);
    return scene->map != NULL;
}

static void scene_done(struct scene *scene)
{
    rank_map_free(scene->map);
    cluster_topology_free(scene->cluster);
}

/* A word that begins with '!' must not be there. */
static void expect(const struct text_buffer *out, const char *const *words)
{
    const char *text = text_buffer_text(out), *wrong = svg_check_form(text);
    if (!wrong)
        wrong = svg_check_texts(text);
    if (wrong)
        fail_msg("%s in:\n%s", wrong, text);
    if (out->length > SIZE_MAXIMUM)
        fail_msg("%zu bytes", out->length);
    for (; *words; words++) {
        bool absent = **words == '!';
        if ((strstr(text, *words + absent) == NULL) != absent)
            fail_msg("'%s' is %sin:\n%s", *words + absent, absent ? "" : "not ", text);
    }
}

static void expect_picture(const struct setting *setting, const char *const *words)
{
    struct scene scene;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    if (scene_open(&scene, setting)) {
        map_picture(scene.map, &scene.cost, "policy <x>: careful", &out);
        if (!text_buffer_failed(&out))
            expect(&out, words);
    }
    scene_done(&scene);
}

static void shows_which_pipelines_cross(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = UNEVEN,
                                           .degrees = {.tp = 8, .pp = 4, .dp = 4}};
    static const char *const words[] = {
        ">tp=8,pp=4,dp=4<",
        ">128 ranks on 16 nodes of ",
        ">2 of 4 pipelines cross a leaf switch: dp 2, 3 · pairs that cross: pp 16 of 96, dp ",
        "<desc>128 ranks",
        ">leaf1 · 6 nodes<",
        ">leaf4 · 2 nodes<",
        ">spine<",
        ">n16<",
        ">pp 3<",
        ">dp 3<",
        ">127<",
        "class=\"arc cross lpp\"",
        "class=\"arc near lpp\"",
        "class=\"arc cross ldp\"",
        "class=\"ca hue0\"",
        "class=\"cb hue3\"",
        ">Neighbour pairs, by how far they are<",
        ">crosses a leaf switch<",
        "policy &lt;x&gt;: careful",
        "!>spare<",
        "!arc lost",
        NULL,
    };
    expect_picture(&setting, words);
}

static void is_pale_where_nothing_crosses(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = WIDE("m[001-008]"),
                                           .degrees = {.tp = 8, .pp = 4, .dp = 2}};
    static const char *const words[] = {
        ">No pipeline crosses a leaf switch<",   "arc near lpp",   "arc near ldp",
        "!arc cross lpp\" stroke-width=\"4.2\"", ">l1 · 8 nodes<", NULL};
    expect_picture(&setting, words);
}

/* One byte moved by PP and a hundred by DP: the widths differ, and the table says bytes. */
static void is_as_wide_as_the_bytes(void **state)
{
    (void)state;
    static const struct setting setting = {
        .cluster = WIDE("m[001-008]"),
        .degrees = {.tp = 8, .pp = 4, .dp = 2},
        .pair_bytes = {[TRAFFIC_TP] = 1, [TRAFFIC_PP] = 1024, [TRAFFIC_DP] = 102400}};
    static const char *const words[] = {">Bytes per step, by how far they go<",
                                        "arc near ldp\" stroke-width=\"4.2\"",
                                        "arc near lpp\" stroke-width=\"1.2\"", ">48.0 KiB<", NULL};
    expect_picture(&setting, words);
}

static void shows_nodes_without_a_rank(void **state)
{
    (void)state;
    static const struct setting few = {.cluster = UNEVEN, .degrees = {.tp = 8, .pp = 4, .dp = 3}};
    static const struct setting many = {.cluster = WIDE("m[001-128]"),
                                        .degrees = {.tp = 8, .pp = 3, .dp = 2}};
    static const char *const each[] = {
        ">spare<", ">no rank<", ": no rank<", ">leaf2 · 5 nodes, 1 ", ">leaf4 · 2 spare<", NULL};
    static const char *const counted[] = {">26 spare<", ">l1 · 32 nodes, 26 spare<",
                                          "96 nodes below switches without a rank are not shown",
                                          "!>l2", NULL};
    expect_picture(&few, each);
    expect_picture(&many, counted);
}

static void draws_64_nodes(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = WIDE("m[001-064]"),
                                           .degrees = {.tp = 8, .pp = 4, .dp = 16}};
    static const char *const words[] = {">l2 · 32 nodes<",
                                        "<title>m064: ranks 504-511, pp 3-3, dp 15-15</title>",
                                        ">15<",
                                        ">core<",
                                        ">s1<",
                                        "!>511<",
                                        NULL};
    expect_picture(&setting, words);
}

static void sums_up_what_is_large(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = WIDE("m[001-128]"),
                                           .degrees = {.tp = 8, .pp = 8, .dp = 16}};
    static const struct setting fewer = {.cluster = WIDE("m[001-128]"),
                                         .degrees = {.tp = 8, .pp = 5, .dp = 25}};
    static const char *const words[] = {
        ">l4<",         ">32 nodes<",      ">256 ranks<", ">pp 0-7<",
        ">dp out 128<", ">s1 · 64 nodes<", ">core<",      "arc cross ldp",
        "!class=\"ca",  "!>3 spare<",      NULL};
    static const char *const some[] = {", 1 spare<", ">2 spare<",
                                       "2 of 25 pipelines cross a leaf switch: dp ", NULL};
    expect_picture(&setting, words);
    expect_picture(&fewer, some);
}

static void says_what_is_not_known(void **state)
{
    (void)state;
    static const struct setting apart = {
        .cluster = {.nodes = "rack-with-a-long-name-n[1-4]", .gpus = 8},
        .degrees = {.tp = 8, .pp = 2, .dp = 2}};
    static const struct setting rings = {.cluster = {.nodes = "n[1-4]", .gpus = 8},
                                         .degrees = {.tp = 8, .pp = 1, .dp = 4}};
    static const struct setting plain = {.cluster = UNEVEN};
    static const char *const pipelines[] = {
        ">2 of 2 pipelines on nodes that no known switch joins: dp 0, 1<",
        ">switch ? · 4 nodes<",
        "class=\"unsure\"",
        "arc lost lpp",
        "name-n4<",
        NULL};
    static const char *const none[] = {">How far nodes are from each other, no source tells<",
                                       NULL};
    static const char *const locality[] = {">Nodes, GPUs and NICs by locality<",
                                           ">No degrees are given: who talks to whom is not known<",
                                           ">127<", "!class=\"arc", NULL};
    expect_picture(&apart, pipelines);
    expect_picture(&rings, none);
    expect_picture(&plain, locality);
}

static void draws_domains_and_odd_nodes(void **state)
{
    (void)state;
    static const char *const domains[] = {"n[1-4]", "n[5-8]"};
    static const struct test_switch leaf[] = {{"a<b", "n[1-8]", NULL}};
    static const struct setting racks = {.cluster = {.nodes = "n[1-8]",
                                                     .gpus = 4,
                                                     .switches = leaf,
                                                     .switch_count = 1,
                                                     .domains = domains,
                                                     .domain_count = 2},
                                         .degrees = {.tp = 8, .pp = 1, .dp = 4}};
    static const struct setting large = {.cluster = {.nodes = "n[1-2]", .gpus = 64},
                                         .degrees = {.tp = 64, .pp = 2, .dp = 1}};
    static const struct setting mixed = {
        .cluster = {.nodes = "n[1-8]", .gpus = 8, .switches = leaf, .switch_count = 1},
        .degrees = {.tp = 2, .cp = 8, .ep = 16, .pp = 2, .dp = 2}};
    static const char *const bands[] = {"class=\"dom\"", ">NVLink<", "a&lt;b",
                                        "arc near ltp",  "!a<b",     NULL};
    static const char *const cells[] = {"ranks 64-127", NULL};
    static const char *const rings[] = {"arc near lcp", "arc near lep", ">cp 0-3<", NULL};
    expect_picture(&racks, bands);
    expect_picture(&large, cells);
    expect_picture(&mixed, rings);
}

/* leaf_nodes nodes below each leaf, two leaves below each spine. */
static void expect_grid(unsigned nodes, unsigned leaf_nodes, const struct degrees *degrees)
{
    struct error_info err = {.kind = ERROR_NONE};
    unsigned leaves[256];
    char list[32];
    snprintf(list, sizeof(list), "node-[001-%03u]", nodes);
    CLEANUP(node_list) struct node_list *names = node_list_decode(list, &err);
    for (unsigned i = 0; i < nodes; i++)
        leaves[i] = i / leaf_nodes;
    const struct test_grid grid = {.names = names,
                                   .leaves = leaves,
                                   .leaf_count = (nodes + leaf_nodes - 1) / leaf_nodes,
                                   .leaves_per_pod = 2,
                                   .gpus = 8};
    struct node_mapping_request request = {.degrees = *degrees,
                                           .order = ORDER_TP_CP_EP_DP_PP,
                                           .gpus_per_node = 8,
                                           .world = world_of(degrees)};
    struct scene scene = {.cluster = names ? test_grid_create(&grid, &err) : NULL};
    request.cluster = scene.cluster;
    if (scene.cluster && degrees_complete(&request.degrees, request.world, &err) == 0)
        scene.map = rank_map_create(&request, &err);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    if (!scene.map)
        fail_msg("%u nodes, %u a leaf: %s", nodes, leaf_nodes, err.text);
    mapping_cost_compute(scene.map, NULL, NULL, &scene.cost);
    map_picture(scene.map, &scene.cost, NULL, &out);
    expect(&out, (const char *const[]){NULL});
    scene_done(&scene);
}

/* No text touches another or leaves the page, whatever there is to draw. */
static void keeps_texts_apart(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 3, 6, 12, 20, 21, 40, 64, 96, 97, 120, 200};
    static const unsigned leaf_counts[] = {1, 2, 5, 32, 256};
    UNIT_TEST_SKIP_TORTURE();
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        for (size_t j = 0; j < COUNT_OF(leaf_counts); j++) {
            unsigned nodes = counts[i], used = nodes > 2 ? nodes - 1 : nodes;
            const struct degrees all[] = {
                {.tp = 8, .pp = nodes % 2 == 0 ? 2 : 1, .dp = nodes % 2 == 0 ? nodes / 2 : nodes},
                {.tp = 1, .cp = 2, .pp = used, .dp = 4},
                {.tp = 4, .ep = 2, .pp = 1, .dp = 2 * used},
                {.tp = 8, .pp = nodes / 3 + 1, .dp = 1},
            };
            for (size_t k = 0; k < COUNT_OF(all); k++)
                expect_grid(nodes, leaf_counts[j], &all[k]);
        }
    }
}

static void is_the_same_every_time(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = UNEVEN,
                                           .degrees = {.tp = 4, .cp = 2, .pp = 4, .dp = 4}};
    struct scene scene;
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    text_buffer_init(&first, 16 << 20);
    text_buffer_init(&second, 16 << 20);
    if (scene_open(&scene, &setting)) {
        map_picture(scene.map, &scene.cost, NULL, &first);
        map_picture(scene.map, &scene.cost, NULL, &second);
        if (!text_buffer_failed(&first) && !text_buffer_failed(&second))
            assert_string_equal(text_buffer_text(&first), text_buffer_text(&second));
    }
    scene_done(&scene);
}

static int draw(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    const struct scene *scene = context;
    map_picture(scene->map, &scene->cost, NULL, &out);
    return text_buffer_failed(&out) ? error_set_memory(err) : 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    static const struct setting setting = {.cluster = WIDE("m[001-008]"),
                                           .degrees = {.tp = 8, .pp = 4, .dp = 2}};
    struct scene scene;
    if (scene_open(&scene, &setting))
        unit_test_expect_clean_failures(draw, &scene);
    scene_done(&scene);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_which_pipelines_cross),
    cmocka_unit_test(is_pale_where_nothing_crosses),
    cmocka_unit_test(is_as_wide_as_the_bytes),
    cmocka_unit_test(shows_nodes_without_a_rank),
    cmocka_unit_test(draws_64_nodes),
    cmocka_unit_test(sums_up_what_is_large),
    cmocka_unit_test(says_what_is_not_known),
    cmocka_unit_test(draws_domains_and_odd_nodes),
    cmocka_unit_test(keeps_texts_apart),
    cmocka_unit_test(is_the_same_every_time),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("report/map_picture", tests, COUNT_OF(tests)); }
