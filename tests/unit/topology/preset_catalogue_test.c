/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

static void makes_every_builtin_node(void **state)
{
    (void)state;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    for (size_t i = 0; i < presets->count; i++) {
        const struct node_preset *preset = &presets->presets[i];
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_topology)
        struct node_topology *node = node_topology_from_preset(preset, gpus, &err);
        expect_made(node, &err);
        assert_string_equal(node->name, preset->name);
        assert_int_equal(node->gpu_count, preset->gpu_count);
        assert_int_equal(node->nic_count, preset->nic_count);
        assert_int_equal(node->nvlink, preset->wiring == WIRING_NONE ? NVLINK_NONE : NVLINK_KNOWN);
        assert_true(node->gpu_nic_bytes_per_second > 0);
        assert_true(node->host_memory_bytes > 0);
        for (unsigned g = 0; g < node->gpu_count; g++)
            assert_int_equal(node->gpus[g].nic_count, node->nic_count);
    }
}

static void named_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *model;
        unsigned gpus, domains, domain_nodes, nics;
        double nvlink_gb, nic_gb;
        bool uniform;
    } cases[] = {
        {"dgx-h100", "h100-sxm", 8, 1, 1, 8, 450, 50, true},
        {"dgx-h200", "h200-sxm", 8, 1, 1, 8, 450, 50, true},
        {"dgx-a100", "a100-sxm-80", 8, 1, 1, 8, 300, 25, true},
        {"dgx-a100-40", "a100-sxm-40", 8, 1, 1, 8, 300, 25, true},
        {"dgx-b200", "b200", 8, 1, 1, 8, 900, 50, true},
        {"gb200-nvl72", "gb200", 4, 1, 18, 4, 900, 50, true},
        {"gb300-nvl72", "gb300", 4, 1, 18, 4, 900, 100, true},
        {"mi300x", "mi300x", 8, 1, 1, 8, 448, 50, true},
        {"dgx2", "v100-sxm3-32", 16, 1, 1, 8, 150, 6.25, true},
        {"v100-dgx1", "v100-sxm2-32", 8, 1, 1, 4, 150, 6.25, false},
        {"a6000-pairs", "a6000", 8, 4, 1, 2, 56, 3.125, false},
        {"l40s-pcie", "l40s", 8, 8, 1, 2, 0, 6.25, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(node_topology) struct node_topology *node = open_preset_node(cases[i].name);
        assert_string_equal(node->gpus[0].model, cases[i].model);
        assert_int_equal(node->gpu_count, cases[i].gpus);
        assert_int_equal(node->domain_count, cases[i].domains);
        assert_int_equal(node->nvlink_domain_nodes, cases[i].domain_nodes);
        assert_int_equal(node->nic_count, cases[i].nics);
        assert_true(node->gpu_nvlink_bytes_per_second == cases[i].nvlink_gb * 1e9);
        assert_true(node->gpu_nic_bytes_per_second == cases[i].nic_gb * 1e9);
        assert_int_equal(node_topology_is_uniform(node), cases[i].uniform);
    }
}

/* Six links on each V100 of a DGX-1. */
static void cube_mesh_uses_all_links(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx1-v100");
    for (unsigned i = 0; i < 8; i++) {
        double sum = 0;
        for (unsigned j = 0; j < 8; j++)
            sum += node->nvlink_bytes_per_second[i * 8 + j];
        assert_true(sum == 150e9);
    }
}

static void nics_of_presets_have_no_names(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx-h100");
    for (unsigned i = 0; i < node->nic_count; i++) {
        assert_null(node->nics[i].name);
        assert_int_equal(node->nics[i].role, NIC_RAIL);
        assert_int_equal(node->nics[i].rail, i);
        assert_int_equal(node->gpus[i].nics[0], i);
    }
}

static void matches_gres(void **state)
{
    (void)state;
    static const struct {
        const char *gpu;
        unsigned count;
        const char *preset;
    } cases[] = {
        {"h100", 8, "dgx-h100"},
        {"NVIDIA H200", 8, "dgx-h200"},
        {"a100_80gb", 8, "dgx-a100-80"},
        {"gb200", 4, "gb200-nvl72"},
        {"h100", 4, NULL},
        {"gpu", 8, NULL},
        {NULL, 8, NULL},
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct node_preset *preset =
            preset_catalogue_match(presets, gpus, cases[i].gpu, cases[i].count);
        if (!cases[i].preset)
            assert_null(preset);
        else
            assert_string_equal(preset ? preset->name : "nothing", cases[i].preset);
    }
    assert_null(preset_catalogue_find(presets, "dgx"));
    assert_string_equal(preset_catalogue_find(presets, "dgx-a100")->name, "dgx-a100-80");
}

#define ENTRY                                                                                      \
    "title: T, gpu: h100-sxm, gpus: 2, nics: 1, nic_gbit_per_second: 100, host_memory: 1GiB, "     \
    "cpus: 4, nodes_per_leaf: 4, source: s"
#define HEAD "schema: parplan.node_presets/1\npresets:\n"

static void refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"schema: parplan.node_presets/1\npresets: {}\n",
         "presets: needs a list of 1 to 512 presets"},
        {HEAD "  - {" ENTRY ", wiring: none}\n", "name is missing"},
        {HEAD "  - {name: \"\", " ENTRY ", wiring: none}\n", "must not be empty"},
        {HEAD "  - {name: x, " ENTRY ", wiring: star}\n", "none, switch, mesh, links"},
        {HEAD "  - {name: x, " ENTRY ", wiring: links}\n", "go with wiring: links"},
        {HEAD "  - {name: x, " ENTRY ", wiring: none, links: [[0, 1, 1]], link_gb_per_second: 1}\n",
         "go with wiring: links"},
        {HEAD "  - {name: x, " ENTRY ", wiring: links, links: 3, link_gb_per_second: 1}\n",
         "a list of at most"},
        {HEAD "  - {name: x, " ENTRY ", wiring: links, links: [[0, 1]], link_gb_per_second: 1}\n",
         "[GPU, GPU, number of links]"},
        {HEAD "  - {name: x, " ENTRY
              ", wiring: links, links: [[0, 2, 1]], link_gb_per_second: 1}\n",
         "from 0 to 1"},
        {HEAD "  - {name: x, " ENTRY
              ", wiring: links, links: [[1, 1, 1]], link_gb_per_second: 1}\n",
         "linked to itself"},
        {HEAD "  - {name: x, " ENTRY
              ", wiring: links, links: [[0, [1], 1]], link_gb_per_second: 1}\n",
         "a number is expected"},
        {HEAD "  - {name: x, " ENTRY ", wiring: none}\n  - {name: x, " ENTRY ", wiring: none}\n",
         "the name x stands twice"},
        {HEAD "  - {name: x, " ENTRY ", wiring: none, gpuz: 3}\n", "unknown key"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(
            preset_catalogue_parse(cases[i].text, strlen(cases[i].text), "presets.yaml", &err));
        expect_message(&err, cases[i].message);
    }
}

static void names_a_gpu_that_is_not_there(void **state)
{
    (void)state;
    static const char text[] = HEAD "  - {name: x, title: T, gpu: h1000, gpus: 2, wiring: none, "
                                    "nics: 0, host_memory: 1GiB, cpus: 4, nodes_per_leaf: 4, "
                                    "source: s}\n";
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue)
    struct preset_catalogue *presets =
        preset_catalogue_parse(text, sizeof(text) - 1, "presets.yaml", &err);
    expect_made(presets, &err);
    assert_null(node_topology_from_preset(&presets->presets[0], gpus, &err));
    expect_message(&err, "no h1000");
}

static int make_node(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    if (!gpus)
        return -1;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(err);
    if (!presets)
        return -1;
    CLEANUP(node_topology)
    struct node_topology *node =
        node_topology_from_preset(preset_catalogue_find(presets, "dgx1-v100"), gpus, err);
    return node ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(make_node, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(makes_every_builtin_node),
    cmocka_unit_test(named_nodes),
    cmocka_unit_test(cube_mesh_uses_all_links),
    cmocka_unit_test(nics_of_presets_have_no_names),
    cmocka_unit_test(matches_gres),
    cmocka_unit_test(refuses_bad_files),
    cmocka_unit_test(names_a_gpu_that_is_not_there),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/preset_catalogue", tests, COUNT_OF(tests)); }
