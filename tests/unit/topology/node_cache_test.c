/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/node_cache.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_restate.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define GB 1e9

static const struct node_cache_key here = {.boot = "0f0e-1", .driver = "580.65.06"};

/* Pairs, a cut GPU, a lost one, NICs with and without a role, facts. */
static struct node_topology *odd_node(void)
{
    static const struct evidence_gpu gpus[] = {
        {.bus_id = "0000:01:00.0",
         .model_text = "NVIDIA B200",
         .uuid = "GPU-1",
         .numa = 0,
         .cpus = "0-3,8",
         .nvlink_clique = "1-2.7"},
        {.bus_id = "0000:02:00.0", .model_text = "NVIDIA B200", .numa = 0},
        {.bus_id = "0000:03:00.0", .model_text = "NVIDIA B200", .numa = 1, .mig = true},
        {.bus_id = "0000:04:00.0", .model_text = "NVIDIA B200", .numa = 1},
    };
    static const double rates[16] = {0, 900 * GB, 0, 0, 900 * GB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct evidence_nic nics[] = {
        {.name = "mlx5_0", .state = NIC_ACTIVE, .numa = 0, .bytes_per_second = 50 * GB},
        {.name = "mlx5_1", .state = NIC_DOWN, .numa = 1, .problem = "port is down"},
    };
    const struct node_evidence evidence = {.source = EVIDENCE_NVML,
                                           .source_text = "nvml",
                                           .gpus = gpus,
                                           .gpu_count = 4,
                                           .nics = nics,
                                           .nic_count = 2,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_switched = true,
                                           .nvlink_bytes_per_second = rates,
                                           .nvlink_leaves_node = true,
                                           .driver_version = "580.65.06"};
    const struct node_evidence *const all[] = {&evidence};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *catalogue = open_gpus();
    struct node_topology *node = node_topology_merge("n1", all, 1, catalogue, &err);
    expect_made(node, &err);
    return node;
}

static void encode(const struct node_topology *node, struct text_buffer *out)
{
    struct error_info err = {.kind = ERROR_NONE};
    text_buffer_init(out, NODE_CACHE_MAXIMUM_BYTES);
    if (node_cache_encode(node, &here, out, &err) < 0)
        fail_msg("%s", err.text);
    assert_false(out->failed);
}

static void expect_round_trip(const struct node_topology *node)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *made = NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    encode(node, &text);
    enum node_cache_state state = node_cache_decode(
        text_buffer_text(&text), strlen(text_buffer_text(&text)), "cache", &here, &made, &err);
    CLEANUP(node_topology) struct node_topology *again = made;
    expect_made(again, &err);
    assert_int_equal(state, NODE_CACHE_USED);
    CLEANUP_DONE(text_buffer) struct text_buffer second;
    encode(again, &second);
    assert_string_equal(text_buffer_text(&second), text_buffer_text(&text));
    assert_int_equal(again->domain_count, node->domain_count);
    assert_int_equal(again->warning_count, node->warning_count);
}

static void nodes_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const presets[] = {"dgx-h100", "gb200-nvl72", "a6000-pairs", "l40s-pcie"};
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        CLEANUP(node_topology) struct node_topology *node = open_preset_node(presets[i]);
        expect_round_trip(node);
    }
    CLEANUP(node_topology) struct node_topology *odd = odd_node();
    assert_true(odd->gpus[3].nvlink_lost && odd->gpus[2].mig);
    expect_round_trip(odd);
}

static void a_part_of_a_node_keeps_its_links(void **state)
{
    (void)state;
    static const unsigned gpus[] = {0, 1, 3};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology) struct node_topology *odd = odd_node();
    CLEANUP(node_topology)
    struct node_topology *part = node_topology_subset(odd, gpus, COUNT_OF(gpus), &err);
    expect_made(part, &err);
    assert_int_equal(part->gpu_count, 3);
    assert_string_equal(part->gpus[2].bus_id, "0000:04:00.0");
    assert_true(part->nvlink_bytes_per_second[1] > 899 * GB);
    assert_true(part->nvlink_bytes_per_second[2] <= 0);
    assert_int_equal(part->domain_count, 2);
    assert_int_equal(part->nic_count, odd->nic_count);
}

/* Links of GPUs that nobody names are counted: parts and caches must not take the assumed rates
 * for a capability. */
static void assumed_rates_stay_assumed(void **state)
{
    (void)state;
    static const struct evidence_gpu nameless[3];
    static const unsigned counts[9] = {0, 4, 2, 4, 0, 2, 2, 2, 0}, gpus[] = {0, 1};
    const struct node_evidence evidence = {.source = EVIDENCE_TOPO_M,
                                           .source_text = "topo -m",
                                           .gpus = nameless,
                                           .gpu_count = 3,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_link_counts = counts};
    const struct node_evidence *const all[] = {&evidence};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology)
    struct node_topology *node = node_topology_merge("n1", all, 1, NULL, &err);
    expect_made(node, &err);
    assert_true(node->nvlink_assumed);
    CLEANUP(node_topology)
    struct node_topology *part = node_topology_subset(node, gpus, COUNT_OF(gpus), &err);
    expect_made(part, &err);
    assert_true(part->nvlink_assumed);
    assert_true(part->nvlink_bytes_per_second[1] >= 4 * NVLINK_RATE_ASSUMED);
    assert_true(part->gpu_nvlink_bytes_per_second <= 0);
    expect_round_trip(node);
}

static void says_why_not(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to; /* one replacement in a good cache */
        enum node_cache_state state;
        const char *text;
    } cases[] = {
        {"boot 0f0e-1", "boot 0f0e-2", NODE_CACHE_STALE, "cache: written in another boot"},
        {"580.65.06\nparplan", "570.00.00\nparplan", NODE_CACHE_STALE, "with another GPU driver"},
        {"node-cache/1", "node-cache/9", NODE_CACHE_BAD, "not a node cache of this version"},
        {"boot 0f0e", "bOOt 0f0e", NODE_CACHE_BAD, "the lines boot and driver are expected"},
        {"\nend\n", "\n", NODE_CACHE_BAD, "cache: "},
        {"gpu 0000", "gpx 0000", NODE_CACHE_BAD, "cache: "},
    };
    CLEANUP(node_topology) struct node_topology *odd = odd_node();
    CLEANUP_DONE(text_buffer) struct text_buffer good;
    encode(odd, &good);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct node_topology *made = NULL;
        const char *text = text_buffer_text(&good), *at = strstr(text, cases[i].from);
        assert_non_null(at);
        CLEANUP_DONE(text_buffer) struct text_buffer bad;
        text_buffer_init(&bad, NODE_CACHE_MAXIMUM_BYTES);
        text_buffer_add_bytes(&bad, text, (size_t)(at - text));
        text_buffer_add(&bad, "%s%s", cases[i].to, at + strlen(cases[i].from));
        assert_int_equal(node_cache_decode(text_buffer_text(&bad), strlen(text_buffer_text(&bad)),
                                           "cache", &here, &made, &err),
                         cases[i].state);
        assert_null(made);
        if (!strstr(err.text, cases[i].text))
            fail_msg("'%s' lacks '%s'", err.text, cases[i].text);
    }
}

/* Every prefix of a cache is refused, whatever it cuts. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *odd = odd_node();
    CLEANUP_DONE(text_buffer) struct text_buffer good;
    encode(odd, &good);
    size_t bytes = strlen(text_buffer_text(&good));
    for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 200) {
        struct error_info err = {.kind = ERROR_NONE};
        struct node_topology *made = NULL;
        assert_int_not_equal(
            node_cache_decode(text_buffer_text(&good), cut, "cache", &here, &made, &err),
            NODE_CACHE_USED);
    }
}

static void files_must_be_safe(void **state)
{
    (void)state;
    char folder[] = "/tmp/node_cache_test.XXXXXX", path[64];
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *made = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/node.cache", folder);
    assert_int_equal(node_cache_load(path, geteuid(), &here, &made, &err), NODE_CACHE_MISSING);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("parplan.node-cache/1\n", file);
    fclose(file);
    chmod(path, 0666);
    err = (struct error_info){.kind = ERROR_NONE};
    assert_int_equal(node_cache_load(path, geteuid(), &here, &made, &err), NODE_CACHE_BAD);
    assert_non_null(strstr(err.text, "writable"));
    unlink(path);
    rmdir(folder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nodes_come_back_as_they_were),
    cmocka_unit_test(a_part_of_a_node_keeps_its_links),
    cmocka_unit_test(assumed_rates_stay_assumed),
    cmocka_unit_test(says_why_not),
    cmocka_unit_test(cut_files_are_refused),
    cmocka_unit_test(files_must_be_safe),
};

int main(void) { return unit_test_main("topology/node_cache", tests, COUNT_OF(tests)); }
