/* SPDX-License-Identifier: MIT */
#include "report/devices/map_devices.h"
#include "report/map_report.h"
#include "tests/support/unit_test.h"
#include "topology/preset_catalogue.h"

#include "base/json_document.h"
#include <string.h>

/* A cluster and a map over it; false without memory. */
struct scene {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct cluster_topology *cluster;
    struct rank_map *map;
    struct objective_result outlook;
};

static bool scene_open(struct scene *scene, const char *cluster, unsigned tp, unsigned pp,
                       bool locality_only)
{
    struct error_info err = {.kind = ERROR_NONE};
    *scene = (struct scene){.gpus = gpu_catalogue_builtin(&err)};
    if (scene->gpus)
        scene->presets = preset_catalogue_builtin(&err);
    if (scene->presets)
        scene->cluster = cluster_topology_from_preset(cluster, scene->presets, scene->gpus, &err);
    if (!scene->cluster)
        return false;
    struct node_mapping_request request = {
        .cluster = scene->cluster,
        .degrees = {.tp = tp, .pp = pp},
        .order = ORDER_TP_CP_EP_DP_PP,
        .gpus_per_node = cluster_gpus_per_node(scene->cluster),
        .world = cluster_gpu_count(scene->cluster),
        .locality_only = locality_only,
    };
    if (degrees_complete(&request.degrees, request.world, &err) == 0)
        scene->map = rank_map_create(&request, &err);
    if (!scene->map)
        return false;
    mapping_cost_compute(scene->map, NULL, NULL, &scene->outlook.cost);
    scene->outlook.quality = scene->map->quality;
    return true;
}

static void scene_done(struct scene *scene)
{
    rank_map_free(scene->map);
    cluster_topology_free(scene->cluster);
    preset_catalogue_free(scene->presets);
    gpu_catalogue_free(scene->gpus);
}

typedef void (*write_fn)(const struct map_report *report, struct text_buffer *out);

static void write_text(const struct map_report *report, struct text_buffer *out)
{
    const struct text_style style = {.width = 100};
    map_report_text(report, &style, out);
}

static void expect_words(const struct map_report *report, write_fn write, const char *const *words)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 64 << 20);
    write(report, &out);
    if (text_buffer_failed(&out))
        return;
    for (; *words; words++) {
        if (!strstr(text_buffer_text(&out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(&out));
    }
}

static void shows_every_rank_of_a_small_map(void **state)
{
    (void)state;
    static const char *const text[] = {
        "16 ranks on 2 nodes of dgx-h100:2\n",
        "tp=4,pp=2,dp=2, rank order tp-cp-ep-dp-pp; MASTER_ADDR 10.0.0.1\n",
        "policy: careful\n",
        "  rank  node  local  gpu  nic  tp  pp  dp\n",
        "     0  n001      0    0  #0    0   0   0\n",
        "    15  n002",
        "Neighbour pairs, by how far they are (bytes need --model)\n",
        NULL,
    };
    static const char *const json[] = {
        "\"schema\": \"parplan.map/1\"",
        "\"world\": 16,\n",
        "\"master_addr\": \"n001\"",
        "\"degrees\": {\"tp\": 4, \"cp\": 1, \"ep\": 1, \"etp\": 4, \"pp\": 2",
        "\"exposed_seconds\": null",
        "{\"rank\": 0, \"node\": \"n001\", \"local_rank\": 0, \"gpu\": 0, \"nic\": null, "
        "\"nics\": null, \"rail\": 0, \"numa\": null, \"cpus\": null, \"tp\": 0, \"cp\": 0, "
        "\"ep\": 0, \"etp\": 0, \"pp\": 0, \"dp\": 0}",
        NULL,
    };
    static const char *const hosts[] = {"n001\nn001\n", "n002\n", NULL};
    static const char *const ranks[] = {"rank 0=n001 slot=0\n", "rank 15=n002 slot=7\n", NULL};
    struct scene scene;
    if (scene_open(&scene, "dgx-h100:2", 4, 2, false)) {
        const struct map_report report = {.map = scene.map,
                                          .outlook = &scene.outlook,
                                          .policy_note = "policy: careful",
                                          .master = "10.0.0.1"};
        expect_words(&report, write_text, text);
        expect_words(&report, map_report_json, json);
        expect_words(&report, map_report_hostfile, hosts);
        expect_words(&report, map_report_rankfile, ranks);
    }
    scene_done(&scene);
}

static void write_note(const struct map_report *report, struct text_buffer *out)
{
    map_rail_note(report->map, out);
}

/* Two NICs for each GPU of one kind, the rails the other way round on the other, whose pairs lie
 * across. */
static const char two_kinds[] =
    "schema: parplan.cluster/1\n"
    "kinds:\n"
    "  plain:\n"
    "    node:\n"
    "      gpus: [{numa: 0, cpus: 0-7}, {numa: 0, cpus: 0-7}, {numa: 1, cpus: 8-15}, {numa: 1}]\n"
    "      nics:\n"
    "        - {name: a, role: rail, rail: 0, state: active}\n"
    "        - {name: b, role: rail, rail: 1, state: active}\n"
    "        - {name: c, role: rail, rail: 2, state: active}\n"
    "        - {name: d, role: rail, rail: 3, state: active}\n"
    "        - {name: a2, role: rail, rail: 4, state: active}\n"
    "      nvlink: {pairs: {50GB/s: [0-1, 2-3]}}\n"
    "      nic_links: [pix sys sys sys pix, sys pix sys sys sys, sys sys pix sys sys, "
    "sys sys sys pix sys]\n"
    "  across:\n"
    "    node:\n"
    "      gpus: [{numa: 0}, {numa: 0}, {numa: 0}, {numa: 0}]\n"
    "      nics:\n"
    "        - {name: a, role: rail, rail: 0, state: active}\n"
    "        - {name: b, role: rail, rail: 1, state: active}\n"
    "        - {name: c, role: rail, rail: 2, state: active}\n"
    "        - {name: d, role: rail, rail: 3, state: active}\n"
    "      nvlink: {pairs: {50GB/s: [0-2, 1-3]}}\n"
    "      nic_links: [pix sys sys sys, sys pix sys sys, sys sys pix sys, sys sys sys pix]\n"
    "nodes: [{names: p1, kind: plain}, {names: x1, kind: across}]\n";

static bool scene_open_two_kinds(struct scene *scene)
{
    struct error_info err = {.kind = ERROR_NONE};
    *scene = (struct scene){.gpus = gpu_catalogue_builtin(&err)};
    if (scene->gpus)
        scene->cluster = cluster_topology_parse(two_kinds, sizeof(two_kinds) - 1, "two.yaml", NULL,
                                                scene->gpus, &err);
    if (!scene->cluster && err.kind == ERROR_INPUT)
        fail_msg("%s", err.text);
    if (!scene->cluster)
        return false;
    const struct node_mapping_request request = {
        .cluster = scene->cluster, .degrees = {2, 1, 1, 2, 1, 1, 4, 1, 4}, .gpus_per_node = 4};
    scene->map = rank_map_create(&request, &err);
    if (!scene->map)
        return false;
    mapping_cost_compute(scene->map, NULL, NULL, &scene->outlook.cost);
    return true;
}

static void shows_the_devices_of_a_rank(void **state)
{
    (void)state;
    static const char *const text[] = {
        "  rails: as noted\n",
        "  rank  node  local  gpu  nic   rail  numa  cpus  tp  dp\n",
        "     0  p1        0    0  a,a2     0     0  0-7    0   0\n",
        "     3  p1        3    3  d        3     1         1   1\n",
        "     5  x1        1    2  c        2     0         1   2\n",
        NULL,
    };
    static const char *const json[] = {
        "\"notes\": [\"rails: as noted\"]",
        "\"gpu\": 0, \"nic\": \"a\", \"nics\": [\"a\", \"a2\"], \"rail\": 0, \"numa\": 0, "
        "\"cpus\": \"0-7\", \"tp\": 0",
        "\"gpu\": 3, \"nic\": \"d\", \"nics\": [\"d\"], \"rail\": 3, \"numa\": 1, "
        "\"cpus\": null, \"tp\": 1",
        NULL,
    };
    static const char *const note[] = {"rails: local rank 1 uses rail 1 on kind plain, rail 2 on "
                                       "kind across (the order of its GPU "
                                       "groups); 2 local ranks differ",
                                       NULL};
    struct scene scene;
    if (scene_open_two_kinds(&scene)) {
        const struct map_report report = {.map = scene.map,
                                          .outlook = &scene.outlook,
                                          .rail_note = "rails: as noted",
                                          .every_rank = true,
                                          .add_devices = map_devices_add};
        expect_words(&report, write_text, text);
        expect_words(&report, map_report_json, json);
        expect_words(&report, write_note, note);
    }
    scene_done(&scene);
}

static void folds_a_large_map(void **state)
{
    (void)state;
    static const char *const folded[] = {
        "504-511  n",
        "…  32 more\n",
        "one row per node; --all prints one per rank\n",
        NULL,
    };
    static const char *const whole[] = {"\n   511  n", NULL};
    struct scene scene;
    if (scene_open(&scene, "dgx-h100:64", 8, 4, false)) {
        struct map_report report = {.map = scene.map, .outlook = &scene.outlook};
        expect_words(&report, write_text, folded);
        report.every_rank = true;
        expect_words(&report, write_text, whole);
    }
    scene_done(&scene);
}

static void shows_bytes_where_they_are_known(void **state)
{
    (void)state;
    static const char *const text[] = {"Bytes per step, by how far they go\n", "tp  64.0 MiB",
                                       NULL};
    static const char *const json[] = {"\"bytes\": {\"node\": 67108864, ", NULL};
    struct scene scene;
    if (scene_open(&scene, "dgx-h100:1", 8, 1, false)) {
        struct traffic traffic = {.flows = {{TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 8388608, 1}},
                                  .flow_count = 1};
        mapping_cost_compute(scene.map, &traffic, NULL, &scene.outlook.cost);
        const struct map_report report = {.map = scene.map, .outlook = &scene.outlook};
        expect_words(&report, write_text, text);
        expect_words(&report, map_report_json, json);
    }
    scene_done(&scene);
}

static void has_no_coordinates_for_locality_only(void **state)
{
    (void)state;
    static const char *const text[] = {"locality only: node, GPU and NIC order",
                                       "rank  node  local", NULL};
    static const char *const json[] = {"\"degrees\": null", "\"tp\": null, \"cp\": null", NULL};
    struct scene scene;
    if (scene_open(&scene, "dgx-h100:1", 1, 1, true)) {
        const struct map_report report = {.map = scene.map, .outlook = &scene.outlook};
        expect_words(&report, write_text, text);
        expect_words(&report, map_report_json, json);
    }
    scene_done(&scene);
}

static void the_document_is_json(void **state)
{
    (void)state;
    struct scene scene;
    struct error_info err = {.kind = ERROR_NONE};
    if (scene_open(&scene, "a6000-pairs:2", 2, 2, false)) {
        const struct map_report report = {.map = scene.map, .outlook = &scene.outlook};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 1 << 20);
        map_report_json(&report, &out);
        CLEANUP(json_value)
        struct json_value *document =
            json_value_parse(text_buffer_text(&out), out.length, "map", &err);
        if (!document && err.kind != ERROR_MEMORY && !text_buffer_failed(&out))
            fail_msg("%s", err.text);
        if (document)
            assert_int_equal(json_value_count(json_value_get(document, "ranks")), 16);
    }
    scene_done(&scene);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_every_rank_of_a_small_map),
    cmocka_unit_test(shows_the_devices_of_a_rank),
    cmocka_unit_test(folds_a_large_map),
    cmocka_unit_test(shows_bytes_where_they_are_known),
    cmocka_unit_test(has_no_coordinates_for_locality_only),
    cmocka_unit_test(the_document_is_json),
};

int main(void) { return unit_test_main("report/map_report", tests, COUNT_OF(tests)); }
