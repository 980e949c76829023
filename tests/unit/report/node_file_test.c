/* SPDX-License-Identifier: MIT */
/* Node files, written and read: report/files/node_file.c and topology/node_readers/node_file.c. */
#include "base/text_buffer.h"
#include "report/files/file_text.h"
#include "report/files/node_file.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/cluster_readers/rate.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_file.h"

#include <stdlib.h>

#define TEXT_BYTES ((size_t)1 << 20)
#define HEAD "schema: parplan.node/1\n"

/* NULL with err. */
static struct node_topology *read_node(const char *text, char name[static 64],
                                       struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    if (!gpus)
        return NULL;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = node_file_parse(text, strlen(text), "n1.yaml", err);
    if (!evidence)
        return NULL;
    snprintf(name, 64, "%s", evidence->node_name ? evidence->node_name : "");
    const struct node_evidence *const all[] = {evidence};
    return node_topology_merge("n1.yaml", all, 1, gpus, err);
}

static struct node_topology *open_node(const char *text)
{
    char name[64];
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *node = read_node(text, name, &err);
    expect_made(node, &err);
    return node;
}

static void write_node(const struct node_topology *node, const char *name, struct text_buffer *out)
{
    text_buffer_init(out, TEXT_BYTES);
    node_file_write(node, name, out);
    assert_false(text_buffer_failed(out));
}

static void expect_same_numbers(const struct node_topology *left, const struct node_topology *right)
{
    size_t n = left->gpu_count, m = left->nic_count;
    assert_int_equal(right->gpu_count, n);
    assert_int_equal(right->nic_count, m);
    assert_int_equal(right->nvlink, left->nvlink);
    assert_int_equal(right->domain_count, left->domain_count);
    assert_int_equal(right->warning_count, left->warning_count);
    assert_memory_equal(right->nvlink_bytes_per_second, left->nvlink_bytes_per_second,
                        n * n * sizeof(double));
    assert_memory_equal(right->links, left->links, n * n * sizeof(enum link_kind));
    assert_memory_equal(right->nic_links, left->nic_links, n * m * sizeof(enum link_kind));
    assert_true(right->gpu_nvlink_bytes_per_second == left->gpu_nvlink_bytes_per_second);
    assert_int_equal(right->nvlink_assumed, left->nvlink_assumed);
    assert_true(right->gpu_nic_bytes_per_second == left->gpu_nic_bytes_per_second);
    assert_true(right->pcie_bytes_per_second == left->pcie_bytes_per_second);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(right->gpus[i].nic_count, left->gpus[i].nic_count);
        assert_memory_equal(right->gpus[i].nics, left->gpus[i].nics,
                            left->gpus[i].nic_count * sizeof(unsigned));
    }
}

/* write(merge(read(write(node)))) == write(node), and nothing that counts is lost. */
static void expect_round_trip(const struct node_topology *node, const char *name)
{
    char read_name[64];
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    write_node(node, name, &first);
    text_buffer_init(&second, TEXT_BYTES);
    CLEANUP(node_topology)
    struct node_topology *back = read_node(text_buffer_text(&first), read_name, &err);
    if (!back)
        fail_msg("%s in:\n%s", err.text, text_buffer_text(&first));
    assert_string_equal(read_name, name ? name : "");
    node_file_write(back, name, &second);
    assert_string_equal(text_buffer_text(&second), text_buffer_text(&first));
    expect_same_numbers(node, back);
}

static void presets_come_back(void **state)
{
    (void)state;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    for (size_t i = 0; i < presets->count; i++) {
        CLEANUP(node_topology)
        struct node_topology *node = open_preset_node(presets->presets[i].name);
        expect_round_trip(node, presets->presets[i].name);
    }
}

/* Each file is a wiring of its own; it is read, written, read and written. */
static const char *const files[] = {
    HEAD "gpus: []\n",
    HEAD "name: n001\ngpus:\n  - {model: h100-sxm, bus_id: \"0000:06:00.0\"}\n",
    HEAD "gpus: [{model: h100}, {model: h100}]\n",
    HEAD "gpus: [{model: l40s}, {model: l40s}]\n",
    HEAD "gpus: [{}, {}, {}]\nnvlink: none\n",
    HEAD "gpus: [{model: NVIDIA Something New}, {model: x}]\nnvlink: {rate: 18 links}\n",
    HEAD "gpus: [{model: a100-sxm-80}, {model: a100-sxm-80}]\n"
         "nvlink: {switched: true, rate: 12 links}\n",
    HEAD "gpus: [{}, {}, {}]\nnvlink: {pairs: {4 links: [0-1], 1 links: [1-2]}}\n",
    /* known rates that look like counts */
    HEAD "gpus: [{}, {}]\nnvlink: {rate: 40GB/s}\n",
    /* bus ids out of order, uuids, CPUs */
    HEAD "gpus:\n"
         "  - {model: a6000, bus_id: \"C1:00.0\", uuid: GPU-2, numa: 1, cpus: \"8-15\"}\n"
         "  - {model: a6000, bus_id: \"00000000:41:00.0\", uuid: GPU-1, numa: 0, cpus: \"0-7\"}\n"
         "  - {model: a6000, bus_id: \"0001:01:00.0\", memory: 48GiB}\n"
         "nvlink: {pairs: {56.25GB/s: [0-1]}}\n",
    /* a hybrid cube mesh */
    HEAD
    "gpus: [{model: v100-sxm-32}, {model: v100-sxm-32}, {model: v100-sxm-32},\n"
    "       {model: v100-sxm-32}]\n"
    "nvlink: {pairs: {25GB/s: [0-1, 2-3], 50GB/s: [0-3, 1-2], 33.333333333333336GB/s: [0-2]}}\n",
    /* instances and problems */
    HEAD "gpus:\n"
         "  - {model: h100-sxm, bus_id: \"06:00.0\"}\n"
         "  - {model: h100-sxm, bus_id: \"07:00.0\", problem: \"lost NVLink, \\\"all\\\" of it\"}\n"
         "  - {model: h100-sxm, bus_id: \"08:00.0\", mig: true}\n"
         "  - {model: h100-sxm, bus_id: \"09:00.0\"}\n"
         "nvlink: {switched: true, pairs: {450GB/s: [0-3]}}\n",
    /* a tray of NVL72 */
    HEAD "driver: 580.65.06\ncpus: 144\nhost_memory: 960GB\nhost_nvme: 1B\npcie: 63GB/s\n"
         "gpus: [{model: gb200}, {model: gb200}]\n"
         "nvlink: {rate: 900GB/s, gpu_rate: 850.5GB/s, domain_nodes: 18, leaves_node: true,\n"
         "         clique: 3d8f6a52-9c3b-4f43-9b7a-2f9f1c0d8f11.32766}\n",
    HEAD "gpus: [{model: gb200}]\nnvlink: {state: unknown, leaves_node: true, clique: a.1}\n",
    HEAD "gpus: [{model: gb200}]\nnvlink: {gpu_rate: 900GB/s}\n",
    /* NICs of every role and state, rails with and without numbers, links */
    HEAD
    "gpus: [{model: h100-sxm}, {model: h100-sxm}]\n"
    "nics:\n"
    "  - {name: mlx5_1, role: rail, rail: 1, state: active, numa: 1, rate: 400Gb/s}\n"
    "  - {name: mlx5_0, role: rail, rail: 0, state: active, rate: 400Gb/s,\n"
    "     reason: \"nearest: it's \\\"beside\\\" the GPU\"}\n"
    "  - {name: mlx5_2, bus_id: \"0000:05:00.1\", role: storage, rate: 200Gb/s, ethernet: true}\n"
    "  - {name: eth0, role: management, state: down, problem: port is down}\n"
    "  - {name: mlx5_8, role: nvswitch}\n"
    "  - {name: mlx5_9, role: other}\n"
    "gpu_links: [\". pxb\", \"pxb .\"]\n"
    "nic_links: [\"pix sys node . . phb\", \"sys pix node . . unknown\"]\n"
    "nvlink: unknown\n",
    /* NICs that the merge decides on */
    HEAD "gpus: [{model: h100-sxm}]\n"
         "nics: [{rate: 400Gb/s, state: active}, {rate: 200Gb/s, state: active}, {role: rail},\n"
         "       {role: rail, rail: 7}, {role: rail}]\n",
    HEAD "gpus: [{model: mi300x}, {model: mi300x}]\nnvlink: {rate: 64GB/s}\n"
         "facts:\n  - {fact: nvlink, value: known, source: kfd}\n"
         "  - {fact: \"a: b\", value: \"caf\\u00e9 \\U0001f600\", source: \"- #\"}\n",
};

static void files_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        CLEANUP(node_topology) struct node_topology *node = open_node(files[i]);
        expect_round_trip(node, "n001");
        expect_round_trip(node, NULL);
    }
}

static void reads_what_people_write(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = open_node(
        HEAD "gpus: [{model: h100, bus_id: \"C1:00.0\"}, {model: h100, bus_id: \"06:00.0\"}]\n"
             "nics: [{name: mlx5_0, role: rail}, {name: mlx5_1, role: rail}]\n"
             "nvlink: {rate: 450GB/s}\n");
    assert_string_equal(node->gpus[0].bus_id, "0000:06:00.0");
    assert_string_equal(node->gpus[1].bus_id, "0000:c1:00.0");
    assert_string_equal(node->gpus[0].model, "h100-sxm");
    assert_true(node->gpus[0].memory_bytes > 0);
    assert_int_equal(node->gpus[0].numa, NUMA_UNKNOWN);
    assert_int_equal(node->nvlink, NVLINK_KNOWN);
    assert_true(node->nvlink_bytes_per_second[1] == 450e9);
    assert_int_equal(node->nics[0].rail, 0);
    assert_int_equal(node->nics[1].rail, 1);
    assert_string_equal(node->nics[0].reason, "the file says so");
}

/* Rows and pairs name the GPUs as the file lists them, whatever the bus ids' order. */
static void pairs_follow_the_bus_ids(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = open_node(
        HEAD "gpus: [{bus_id: \"03:00.0\"}, {bus_id: \"02:00.0\"}, {bus_id: \"01:00.0\"}]\n"
             "nvlink: {pairs: {50GB/s: [0-1]}}\n"
             "gpu_links: [\". . sys\", \". . pix\", \"sys pix .\"]\n");
    assert_true(node->nvlink_bytes_per_second[1 * 3 + 2] == 50e9);
    assert_true(node->nvlink_bytes_per_second[0 * 3 + 1] == 0);
    assert_int_equal(node->links[0 * 3 + 1], LINK_PIX);
    assert_int_equal(node->links[0 * 3 + 2], LINK_SYS);
}

#define GPUS2 HEAD "gpus: [{}, {}]\n"

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"", "n1.yaml"},
    {"schema: parplan.node/2\ngpus: []\n", "parplan.node/1"},
    {HEAD, "gpus is missing"},
    {HEAD "gpus: 8\n", "n1.yaml:2: gpus: a list is expected"},
    {HEAD "gpus: [8]\n", "n1.yaml:2: gpus[0]"},
    {HEAD "gpus: []\ncolour: red\n", "n1.yaml:3: colour: unknown key"},
    {HEAD "gpus: []\nnvlnk: none\n", "did you mean nvlink"},
    {HEAD "gpus: [{modl: x}]\n", "did you mean model"},
    {HEAD "gpus: [{bus_id: \"6:0.0\"}]\n", "gpus[0].bus_id: '6:0.0' is no PCI bus id"},
    {HEAD "gpus: [{bus_id: \"0000:06:00.x\"}]\n", "is no PCI bus id"},
    {HEAD "gpus: [{bus_id: \"06:00.0\"}, {}]\n", "either all GPUs have a bus_id, or none"},
    {HEAD "gpus: [{bus_id: \"06:00.0\"}, {bus_id: \"0000:06:00.0\"}]\n", "stands twice"},
    {HEAD "gpus: [{memory: 80}]\n", "has no unit"},
    {HEAD "gpus: [{numa: -1}]\n", "gpus[0].numa"},
    {HEAD "gpus: [{mig: maybe}]\n", "neither true nor false"},
    {GPUS2 "cpus: 12x\n", "n1.yaml:3: cpus"},
    {GPUS2 "pcie: fast\n", "pcie: 'fast' is not a rate"},
    {GPUS2 "pcie: [1]\n", "a rate is expected"},
    {GPUS2 "nics: {a: 1}\n", "a list is expected"},
    {GPUS2 "nics: [{name: a}, {name: a}]\n", "nics[1]: this NIC stands in nics[0] too"},
    {GPUS2 "nics: [{bus_id: \"01:00.0\"}, {name: b, bus_id: \"01:00.0\"}]\n", "stands in nics[0]"},
    {GPUS2 "nics: [{name: a, role: railway}]\n", "nics[0].role"},
    {GPUS2 "nics: [{name: a, role: storage, rail: 1}]\n", "only a NIC with role: rail"},
    {GPUS2 "nics: [{name: a, rail: 128}]\n", "nics[0].rail"},
    {GPUS2 "nics: [{name: a, rate: 400}]\n", "400 has no unit"},
    {GPUS2 "nics: [{name: a, rate: 0.1B/s}]\n", "is not a rate"},
    {GPUS2 "nvlink: full\n", "unknown, none or {rate"},
    {GPUS2 "nvlink: known\n", "unknown, none or {rate"},
    {GPUS2 "nvlink: []\n", "unknown, none or {rate"},
    {GPUS2 "nvlink: {switched: true}\n", "say rate: of each pair"},
    {GPUS2 "nvlink: {state: none, rate: 1GB/s}\n", "go with state: known"},
    {GPUS2 "nvlink: {rate: 1GB/s, pairs: {1GB/s: [0-1]}}\n", "keep one of the two"},
    {GPUS2 "nvlink: {rate: [1]}\n", "a rate is expected, as 450GB/s, or 18 links"},
    {GPUS2 "nvlink: {rate: 0 links}\n", "from 1 to 1024"},
    {GPUS2 "nvlink: {pairs: [0-1]}\n", "RATE: [pairs] is expected"},
    {GPUS2 "nvlink: {pairs: {}}\n", "RATE: [pairs] is expected"},
    {GPUS2 "nvlink: {pairs: {1GB/s: 0-1}}\n", "a list of pairs"},
    {GPUS2 "nvlink: {pairs: {1GB/s: []}}\n", "a list of pairs"},
    {GPUS2 "nvlink: {pairs: {fast: [0-1]}}\n", "'fast' is not a rate"},
    {GPUS2 "nvlink: {pairs: {1GB/s: [0-2]}}\n", "two GPUs from 0 to 1"},
    {GPUS2 "nvlink: {pairs: {1GB/s: [0-0]}}\n", "two GPUs from 0 to 1"},
    {GPUS2 "nvlink: {pairs: {1GB/s: [01]}}\n", "two GPUs from 0 to 1"},
    {GPUS2 "nvlink: {pairs: {1GB/s: [[0, 1]]}}\n", "two GPUs from 0 to 1"},
    {GPUS2 "nvlink: {pairs: {1GB/s: [0-1], 2GB/s: [1-0]}}\n", "the pair 1-0 stands twice"},
    {HEAD "gpus: [{}, {}, {}]\nnvlink: {pairs: {1GB/s: [0-1], 2 links: [1-2]}}\n",
     "do not go together"},
    {HEAD "gpus: []\nnvlink: {pairs: {1GB/s: [0-1]}}\n", "two GPUs"},
    {GPUS2 "gpu_links: pix\n", "a list of 2 rows"},
    {GPUS2 "gpu_links: [\". pix\"]\n", "a list of 2 rows"},
    {GPUS2 "gpu_links: [\". pix\", \"pix\"]\n", "gpu_links[1]: 2 words are expected"},
    {GPUS2 "gpu_links: [\". pix\", \"pix . .\"]\n", "2 words are expected"},
    {GPUS2 "gpu_links: [\". pix\", [pix]]\n", "2 words are expected"},
    {GPUS2 "gpu_links: [\". pix\", \"pixx .\"]\n", "'pixx' is no link"},
    {GPUS2 "nic_links: [pix, pix]\n", "0 words are expected"},
    {GPUS2 "facts: {a: b}\n", "a list is expected"},
    {GPUS2 "facts: [{fact: a, value: b}]\n", "source is missing"},
    {GPUS2 "facts: [{fact: a, value: b, source: \"\"}]\n", "must not be empty"},
};

static void refuses_with_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char name[64];
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_topology) struct node_topology *node = read_node(refused[i].text, name, &err);
        if (node)
            fail_msg("accepted: %s", refused[i].text);
        expect_message(&err, refused[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void refuses_more_than_fits(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_BYTES);
    text_buffer_add_text(&text, HEAD "gpus: [{}");
    for (unsigned i = 0; i < NODE_MAXIMUM_GPUS; i++)
        text_buffer_add_text(&text, ", {}");
    text_buffer_add_text(&text, "]\n");
    char name[64];
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(read_node(text_buffer_text(&text), name, &err));
    expect_message(&err, "65 entries are more than the 64 that are possible");
    CLEANUP_MEMORY char *large = memory_allocate(NODE_FILE_MAXIMUM_BYTES + 1);
    assert_non_null(large);
    assert_null(node_file_parse(large, NODE_FILE_MAXIMUM_BYTES + 1, "n1.yaml", &err));
    expect_message(&err, "are more than the 4194304 of a node file");
}

/* What ends in reports is one line, also where the file was made to break it. */
static void texts_are_cleaned(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node =
        open_node(HEAD "gpus: [{model: \"a\\nb\\u001b[31m\", problem: \"x\\ty\"}]\n");
    assert_string_equal(node->gpus[0].model, "a?b?[31m");
    assert_string_equal(node->gpus[0].problem, "x?y");
}

static void numbers_come_back(void **state)
{
    (void)state;
    static const double rates[] = {1,
                                   1.5,
                                   25e9,
                                   450e9,
                                   64285714285.714287,
                                   1e15,
                                   0.1 + 1e12,
                                   56249999999.5,
                                   1234567.8,
                                   3.3333333333333335e10,
                                   123456.78901234567};
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (unsigned unit = RATE_IN_BYTES; unit <= RATE_IN_BITS; unit++) {
            CLEANUP_DONE(text_buffer) struct text_buffer text;
            text_buffer_init(&text, 100);
            file_add_rate(&text, rates[i], (enum rate_unit)unit);
            double back = 0;
            assert_int_equal(rate_parse(text_buffer_text(&text), &back, NULL), 0);
            assert_true(back == rates[i]);
        }
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {UINT64_C(80) << 30, "80GiB"},
        {UINT64_C(2) << 40, "2TiB"},
        {UINT64_C(30720000000000), "30720GB"},
        {1, "1B"},
        {1024, "1KiB"},
        {85899345921u, "85899345921B"},
    };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 100);
        file_add_bytes(&text, sizes[i].bytes);
        assert_string_equal(text_buffer_text(&text), sizes[i].text);
    }
}

/* What people see: one device a line, rates where they are one, pairs where they differ. */
static void looks_like_this(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "name: n001\n"
             "driver: \"580.65.06\"\n"
             "host_memory: 1TiB\n"
             "pcie: 31.5GB/s\n"
             "gpus:\n"
             "  - {model: a6000, bus_id: \"0000:01:00.0\", memory: 48GiB, numa: 0, cpus: \"0-7\"}\n"
             "  - {model: a6000, bus_id: \"0000:02:00.0\", memory: 48GiB, numa: 0, cpus: \"0-7\"}\n"
             "  - {model: a6000, bus_id: \"0000:41:00.0\", memory: 48GiB, problem: slow}\n"
             "nics:\n"
             "  - {name: mlx5_0, role: rail, rail: 0, state: active, rate: 200Gb/s, reason: near}\n"
             "  - {name: mlx5_1, role: storage, state: down, numa: 1, ethernet: true, reason: "
             "\"far: SYS\"}\n"
             "nvlink:\n"
             "  state: known\n"
             "  pairs:\n"
             "    56.25GB/s: [0-1]\n"
             "  gpu_rate: 56.25GB/s\n"
             "gpu_links:\n"
             "  - \".      nvlink sys\"\n"
             "  - \"nvlink .      sys\"\n"
             "  - \"sys    sys    .\"\n"
             "nic_links:\n"
             "  - \"pix sys\"\n"
             "  - \"pxb sys\"\n"
             "  - \"sys sys\"\n"
             "facts:\n"
             "  - {fact: gpus, value: \"3\", source: hwloc}\n";
    CLEANUP(node_topology) struct node_topology *node = open_node(text);
    CLEANUP_DONE(text_buffer) struct text_buffer written;
    write_node(node, "n001", &written);
    assert_string_equal(text_buffer_text(&written), text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(presets_come_back),       cmocka_unit_test(files_come_back),
    cmocka_unit_test(reads_what_people_write), cmocka_unit_test(pairs_follow_the_bus_ids),
    cmocka_unit_test(refuses_with_line),       cmocka_unit_test(refuses_more_than_fits),
    cmocka_unit_test(texts_are_cleaned),       cmocka_unit_test(numbers_come_back),
    cmocka_unit_test(looks_like_this),
};

int main(void) { return unit_test_main("report/node_file", tests, COUNT_OF(tests)); }
