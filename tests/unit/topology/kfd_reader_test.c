/* SPDX-License-Identifier: MIT */
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"
#include "topology/node_readers/sysfs/kfd_reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NODES "sys/class/kfd/kfd/topology/nodes"
#define GIGABYTE 1e9

enum { PCIE = 2, XGMI = 11, ONE_HOP = 15, IN_PACKAGE = 13 };

struct gpu {
    unsigned gfx, device, location;
    unsigned long long hive, unique, bytes; /* bytes 0: no bank */
};

static char root[FILE_TREE_ROOT_BYTES];

static void write_cpu(unsigned node)
{
    file_tree_write(root, "cpu_cores_count 64\nsimd_count 0\n", NODES "/%u/properties", node);
}

static void write_gpu(unsigned node, const struct gpu *gpu)
{
    char text[512];
    snprintf(text, sizeof(text),
             "cpu_cores_count 0\nsimd_count 416\ngfx_target_version %u\nvendor_id 4098\n"
             "device_id %u\nlocation_id %u\ndomain 0\nhive_id %llu\nunique_id %llu\nnum_xcc 1\n",
             gpu->gfx, gpu->device, gpu->location, gpu->hive, gpu->unique);
    file_tree_write(root, text, NODES "/%u/properties", node);
    if (gpu->bytes == 0)
        return;
    snprintf(text, sizeof(text), "heap_type 1\nsize_in_bytes %llu\nflags 0\n", gpu->bytes);
    file_tree_write(root, text, NODES "/%u/mem_banks/0/properties", node);
}

static void write_link(const char *kind, unsigned from, unsigned to, unsigned type, unsigned weight,
                       unsigned megabytes)
{
    char text[256];
    snprintf(text, sizeof(text),
             "type %u\nnode_from %u\nnode_to %u\nweight %u\nmin_bandwidth %u\nmax_bandwidth %u\n",
             type, from, to, weight, megabytes, megabytes);
    file_tree_write(root, text, NODES "/%u/%s/%u/properties", from, kind, to);
}

static void write_both(unsigned from, unsigned to, unsigned type, unsigned weight,
                       unsigned megabytes)
{
    write_link("io_links", from, to, type, weight, megabytes);
    write_link("io_links", to, from, type, weight, megabytes);
}

/* CPUs are nodes 0 and 1; GPUs stand behind them, half of them below each. */
static void write_node(unsigned gpus, const struct gpu *model)
{
    file_tree_create(root);
    write_cpu(0);
    write_cpu(1);
    for (unsigned i = 0; i < gpus; i++) {
        struct gpu gpu = *model;
        gpu.location += i << 8;
        gpu.unique += i;
        write_gpu(2 + i, &gpu);
        write_link("io_links", 2 + i, i < (gpus + 1) / 2 ? 0 : 1, PCIE, 20, 32000);
    }
}

static const struct gpu mi210 = {.gfx = 90010, .device = 0x740f, .location = 0x0300, .unique = 1};

static struct node_evidence *read_node(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    if (kfd_read(root, &evidence, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(evidence);
    assert_int_equal(evidence->source, EVIDENCE_KFD);
    return evidence;
}

static void expect_note(const struct node_evidence *evidence, const char *words)
{
    for (size_t i = 0; i < evidence->note_count; i++)
        if (strstr(evidence->notes[i], words))
            return;
    for (size_t i = 0; i < evidence->note_count; i++)
        print_message("note: %s\n", evidence->notes[i]);
    fail_msg("no note says '%s'", words);
}

static double rate_of(const struct node_evidence *evidence, unsigned i, unsigned j)
{
    return evidence->nvlink_bytes_per_second[i * evidence->gpu_count + j];
}

/* Two bridges of four, each below one socket. */
static void reads_two_bridges(void **state)
{
    (void)state;
    write_node(8, &mi210);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < i; j++)
            if (i / 4 == j / 4) {
                write_both(2 + i, 2 + j, XGMI, ONE_HOP, 50000);
            } else {
                write_link("p2p_links", 2 + i, 2 + j, PCIE, 72, 0);
                write_link("p2p_links", 2 + j, 2 + i, PCIE, 72, 0);
            }
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->gpu_count, 8);
    assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
    assert_false(evidence->nvlink_switched);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(evidence->gpus[i].numa, i / 4);
        assert_null(evidence->gpus[i].problem);
        assert_int_equal(evidence->gpus[i].memory_bytes, 0);
        for (unsigned j = 0; j < 8; j++)
            assert_true(rate_of(evidence, i, j) == (i != j && i / 4 == j / 4 ? 50 * GIGABYTE : 0));
    }
    assert_string_equal(evidence->gpus[7].bus_id, "0000:0a:00.0");
    assert_string_equal(evidence->gpus[0].model_text, "gfx90a 1002:740f");
    assert_string_equal(evidence->gpus[0].uuid, "GPU-0000000000000001");
    CLEANUP(gpu_catalogue) struct gpu_catalogue *catalogue = gpu_catalogue_builtin(NULL);
    assert_non_null(catalogue);
    const struct gpu_model *model =
        gpu_catalogue_find(catalogue, evidence->gpus[0].model_text, evidence->gpus[0].memory_bytes);
    assert_non_null(model);
    assert_string_equal(model->name, "mi210");
}

/* gpus x 8 partitions as a CPX node lists them, all with links to all. */
static void write_cpx(unsigned gpus, unsigned left_out)
{
    unsigned count = gpus * 8 - left_out;
    file_tree_create(root);
    write_cpu(0);
    for (unsigned i = 0; i < count; i++) {
        struct gpu part = {.gfx = 90402,
                           .device = 0x74a1,
                           .location = (i / 8 + 1) << 8 | i % 8 << 28,
                           .hive = 7,
                           .unique = i + 1,
                           .bytes = 1000};
        write_gpu(1 + i, &part);
        write_link("io_links", 1 + i, 0, PCIE, 20, 64000);
        for (unsigned j = 0; j < i; j++)
            write_both(1 + i, 1 + j, XGMI, i / 8 == j / 8 ? IN_PACKAGE : ONE_HOP, 64000);
    }
}

static void expect_cpx(unsigned gpus, unsigned left_out)
{
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->gpu_count, gpus);
    for (unsigned i = 0; i < gpus; i++) {
        unsigned partitions = i + 1 == gpus ? 8 - left_out : 8;
        assert_int_equal(evidence->gpus[i].memory_bytes, partitions * 1000);
        assert_null(evidence->gpus[i].uuid);
        for (unsigned j = 0; j < gpus; j++)
            assert_true(rate_of(evidence, i, j) == (i == j ? 0 : 64 * GIGABYTE));
    }
    assert_string_equal(evidence->gpus[1].bus_id, "0000:02:00.0");
    expect_note(evidence, "gpu 0000:01:00.0 is cut into 8 partitions (CPX)");
    if (left_out > 0)
        expect_note(evidence, "is cut into 7 partitions (CPX)");
}

static void joins_partitions(void **state)
{
    (void)state;
    write_cpx(2, 0);
    expect_cpx(2, 0);
    if (unit_test_is_tortured())
        return;
    write_cpx(8, 1); /* 63 logical devices: there were no more minor numbers */
    expect_cpx(8, 1);
}

/* Older kernels tell partitions apart by the function, and by nothing. */
static void joins_partitions_of_older_kernels(void **state)
{
    (void)state;
    struct gpu part = {.gfx = 90402, .device = 0x74a1, .location = 0x0c00, .bytes = 1000};
    file_tree_create(root);
    for (unsigned i = 0; i < 3; i++) {
        part.location = 0x0c00 + i;
        write_gpu(i, &part);
    }
    write_gpu(3, &part);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->gpu_count, 1);
    assert_string_equal(evidence->gpus[0].bus_id, "0000:0c:00.0");
    assert_int_equal(evidence->gpus[0].memory_bytes, 4000);
    assert_int_equal(evidence->nvlink, NVLINK_UNKNOWN); /* without any link listed */
}

static void keeps_boards_apart_that_cannot_be_cut(void **state)
{
    (void)state;
    struct gpu vega = {.gfx = 90000, .device = 0x6860, .location = 0x1900, .bytes = 17163091968};
    file_tree_create(root);
    write_cpu(0);
    for (unsigned i = 1; i < 3; i++) {
        write_gpu(i, &vega);
        write_link("io_links", i, 0, PCIE, 20, 0);
    }
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->gpu_count, 2);
    assert_null(evidence->gpus[0].bus_id);
    assert_null(evidence->gpus[1].bus_id);
    assert_true(evidence->gpus[1].memory_bytes == 17163091968);
    assert_int_equal(evidence->nvlink, NVLINK_NONE);
    expect_note(evidence, "gpu of node 1: another GPU has the same location_id");
}

/* --- NVLINK_NONE is said only where it is known ------------------------------------ */

enum lists { LISTS_WHOLE, LISTS_ABSENT, LISTS_HIVE, LISTS_BROKEN, LISTS_ALL_PAIRS, LISTS_FAR };

static void write_lists(enum lists lists)
{
    struct gpu gpu = mi210;
    gpu.hive = lists == LISTS_HIVE || lists == LISTS_ALL_PAIRS ? 5 : 0;
    write_node(2, &gpu);
    if (lists == LISTS_BROKEN)
        file_tree_write(root, "type 11\nweight 15\n", NODES "/2/io_links/1/properties");
    if (lists == LISTS_FAR)
        write_both(2, 3, XGMI, 30, 0);
    if (lists == LISTS_ALL_PAIRS)
        write_link("p2p_links", 2, 3, PCIE, 52, 0);
    for (unsigned i = 0; lists == LISTS_ABSENT && i < 2; i++) {
        char path[128];
        snprintf(path, sizeof(path), NODES "/%u/io_links/%u/properties", 2 + i, i);
        file_tree_remove(root, path);
        *strrchr(path, '/') = '\0';
        file_tree_remove(root, path);
    }
}

static void says_none_only_where_it_is_known(void **state)
{
    (void)state;
    static const struct {
        enum lists lists;
        enum nvlink_state want;
    } rows[] = {
        {LISTS_WHOLE, NVLINK_NONE},     {LISTS_ABSENT, NVLINK_UNKNOWN},
        {LISTS_HIVE, NVLINK_UNKNOWN},   {LISTS_BROKEN, NVLINK_UNKNOWN},
        {LISTS_ALL_PAIRS, NVLINK_NONE}, {LISTS_FAR, NVLINK_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_lists(rows[i].lists);
        CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
        if (evidence->nvlink != rows[i].want)
            fail_msg("row %zu: %s", i, nvlink_state_name(evidence->nvlink));
        assert_null(evidence->nvlink_bytes_per_second);
    }
}

static void rates_links(void **state)
{
    (void)state;
    static const struct {
        unsigned gfx, there, back;
        double gigabytes; /* 0: by count */
    } rows[] = {
        {90010, 50000, 50000, 50}, {90010, 200000, 100000, 100}, {90010, 0, 0, 50},
        {90402, 0, 0, 64},         {90500, 0, 0, 76.5},          {90006, 0, 0, 0},
        {90006, 46000, 46000, 46}, {90010, 4000000000u, 0, 50},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct gpu gpu = mi210;
        gpu.gfx = rows[i].gfx;
        write_node(3, &gpu);
        write_link("io_links", 2, 3, XGMI, ONE_HOP, rows[i].there);
        write_link("io_links", 3, 2, XGMI, ONE_HOP, rows[i].back);
        CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
        assert_int_equal(evidence->nvlink, NVLINK_KNOWN);
        assert_int_equal(evidence->nvlink_bytes_per_second == NULL, rows[i].gigabytes <= 0);
        if (rows[i].gigabytes > 0) {
            assert_true(rate_of(evidence, 0, 1) == rows[i].gigabytes * GIGABYTE);
            assert_true(rate_of(evidence, 0, 2) == 0);
        } else {
            assert_int_equal(evidence->nvlink_link_counts[1], 1);
            assert_int_equal(evidence->nvlink_link_counts[2], 0);
        }
    }
}

static void doubts_one_sided_links(void **state)
{
    (void)state;
    write_node(3, &mi210);
    write_both(2, 3, XGMI, ONE_HOP, 50000);
    write_link("io_links", 3, 4, XGMI, ONE_HOP, 50000);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_true(rate_of(evidence, 1, 2) == NVLINK_RATE_UNKNOWN);
    assert_true(rate_of(evidence, 0, 2) == 0);
    expect_note(evidence, "gpu 0000:05:00.0 and gpu 0000:04:00.0: only one of them lists");
}

static void tells_a_gpu_that_fell_off_its_hive(void **state)
{
    (void)state;
    struct gpu gpu = mi210;
    gpu.hive = 9;
    write_node(4, &gpu);
    for (unsigned i = 2; i < 5; i++)
        for (unsigned j = 2; j < i; j++)
            write_both(i, j, XGMI, ONE_HOP, 50000);
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_null(evidence->gpus[0].problem);
    assert_string_equal(evidence->gpus[3].problem,
                        "no XGMI link, while 3 other GPUs of its hive have some");
}

/* --- beside KFD: the PCI devices --------------------------------------------------- */

#define BOARD "sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0"

static void asks_the_pci_device(void **state)
{
    (void)state;
    static const struct {
        const char *numa, *lanes, *bridge_lanes;
        int want_numa;
        const char *want_cpus, *want_problem;
    } rows[] = {
        {"1\n", "16\n", "16\n", 1, "64-127", NULL},
        {"-1\n", "16\n", "16\n", NUMA_UNKNOWN, NULL, NULL}, /* KFD says node 0 all the same */
        {"garbage\n", "0\n", "63\n", 0, NULL, NULL},
        {"1\n", "8\n", "16\n", 1, "64-127", "PCIe x8 of x16"},
        {"1\n", "16\n", "4\n", 1, "64-127", "PCIe x4 of x16"},
    };
    write_node(1, &mi210);
    file_tree_link(root,
                   "../../../devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/"
                   "0000:03:00.0",
                   "sys/bus/pci/devices/0000:03:00.0");
    file_tree_write(root, "64-127\n", BOARD "/local_cpulist");
    file_tree_write(root, "16\n", BOARD "/max_link_width");
    file_tree_write(root, "0x1002\n", BOARD "/vendor");
    file_tree_write(root, "0x1002\n", BOARD "/../vendor");
    file_tree_write(root, "16\n", BOARD "/../max_link_width");
    file_tree_write(root, "0x1022\n", BOARD "/../../vendor"); /* the host's: may have any width */
    file_tree_write(root, "1\n", BOARD "/../../current_link_width");
    file_tree_write(root, "16\n", BOARD "/../../max_link_width");
    file_tree_write(root, "6.12.12\n", "sys/module/amdgpu/version");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        file_tree_write(root, rows[i].numa, BOARD "/numa_node");
        file_tree_write(root, rows[i].lanes, BOARD "/current_link_width");
        file_tree_write(root, rows[i].bridge_lanes, BOARD "/../current_link_width");
        CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
        const struct evidence_gpu *gpu = &evidence->gpus[0];
        if (gpu->numa != rows[i].want_numa || !gpu->cpus != !rows[i].want_cpus ||
            !gpu->problem != !rows[i].want_problem)
            fail_msg("row %zu: %d %s %s", i, gpu->numa, gpu->cpus, gpu->problem);
        if (gpu->cpus)
            assert_string_equal(gpu->cpus, rows[i].want_cpus);
        if (gpu->problem)
            assert_string_equal(gpu->problem, rows[i].want_problem);
        assert_string_equal(evidence->driver_version, "6.12.12");
    }
}

/* --- hostile and broken trees ------------------------------------------------------ */

static void answers_in_part(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *note;
    } rows[] = {
        {"2/io_links/9/properties", "type 11\nnode_to 4000000000\nweight 15\n",
         "/2/io_links/9: leads to a node that is not there; left out"},
        {"2/io_links/9/properties", "type 11\nnode_to 77\nweight 15\n",
         "/2/io_links/9: leads to a node that is not there; left out"},
        {"2/io_links/9/properties", "type 11\nnode_to 3\n",
         "/2/io_links/9: type, node_to or weight is missing; left out"},
        {"2/io_links/9/properties", "", "type, node_to or weight is missing"},
        {"2/io_links/9/properties", "type 2\nnode_to 3\nweight 20\nnode_from 7\n",
         "/2/io_links/9: node_from is 7; taken as 2"},
        {"2/io_links/9/properties", "type 2\nnode_to 3\nweight 20\n\x01\x02 9x\n",
         "/2/io_links/9/properties: line 4: "},
        {"4/properties", "\xff\xfe garbage", "/4/properties: neither CPU nor GPU; left out"},
        {"4/properties", "simd_count 4", "gpu of node 4: no location_id"},
        {"4/properties/oops", "", "/4/properties: not a regular file"},
        {"007/properties", "simd_count 4\n", "/007: no number of a node below 1024"},
        {"1024/properties", "simd_count 4\n", "/1024: no number of a node below 1024"},
        {"x/properties", "simd_count 4\n", "/x: no number of a node below 1024"},
        {"2/mem_banks/0/properties", "heap_type 1\nsize_in_bytes x\n",
         "/2/mem_banks/0/properties: line 2: size_in_bytes: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_node(2, &mi210);
        write_both(2, 3, XGMI, ONE_HOP, 50000);
        file_tree_write(root, rows[i].text, NODES "/%s", rows[i].path);
        CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
        expect_note(evidence, rows[i].note);
        assert_true(evidence->gpu_count >= 2);
        assert_true(rate_of(evidence, 0, 1) == 50 * GIGABYTE);
    }
}

static void is_not_held_up(void **state)
{
    (void)state;
    static char huge[1 << 20];
    memset(huge, '1', sizeof(huge));
    write_node(4, &mi210);
    write_both(4, 5, XGMI, ONE_HOP, 50000);
    file_tree_remove(root, NODES "/2/properties");
    file_tree_fifo(root, NODES "/2/properties");
    file_tree_write_bytes(root, huge, sizeof(huge), NODES "/3/properties");
    file_tree_link(root, "loop", NODES "/loop");
    file_tree_link(root, "../7", NODES "/7/properties");
    file_tree_link(root, "/etc", NODES "/8");
    file_tree_link(root, "..", NODES "/9");
    CLEANUP(node_evidence) struct node_evidence *evidence = read_node();
    assert_int_equal(evidence->gpu_count, 2);
    expect_note(evidence, "/2/properties: not a regular file");
    expect_note(evidence, "/3/properties: larger than");
    expect_note(evidence, "/7/properties: not a regular file");
    expect_note(evidence, "/8/properties: No such file or directory");
}

static void limits_the_number_of_nodes(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence *evidence = NULL;
    write_node(NODE_MAXIMUM_GPUS + 1, &mi210);
    assert_int_equal(kfd_read(root, &evidence, &err), -1);
    assert_non_null(strstr(err.text, "more than 64 GPUs in one node"));
    write_node(2, &mi210);
    for (unsigned i = 4; i < 10000; i++)
        file_tree_folder(root, NODES "/%u", i);
    evidence = read_node();
    assert_int_equal(evidence->gpu_count, 2);
    node_evidence_free(evidence);
}

static void finds_copies(void **state)
{
    (void)state;
    static const struct {
        const char *below, *source;
    } rows[] = {
        {"", ""},
        {"/sys", "/sys"},
        {"/sys/class/kfd/kfd", "/sys/class/kfd/kfd"},
        {"/sys/class/kfd/kfd/topology", "/sys/class/kfd/kfd/topology"},
        {"/" NODES, "/" NODES},
    };
    struct error_info err = {.kind = ERROR_NONE};
    char path[2 * FILE_TREE_ROOT_BYTES];
    write_node(2, &mi210);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct node_evidence *evidence = NULL;
        snprintf(path, sizeof(path), "%s%s", root, rows[i].below);
        assert_int_equal(kfd_read(path, &evidence, &err), 0);
        assert_non_null(evidence);
        assert_int_equal(strncmp(evidence->source_text, "kfd ", 4), 0);
        assert_string_equal(evidence->source_text + 4 + strlen(root), rows[i].source);
        node_evidence_free(evidence);
    }
}

static void says_when_there_is_nothing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence untouched, *evidence = &untouched;
    file_tree_create(root);
    assert_int_equal(kfd_read(root, &evidence, &err), 0);
    assert_null(evidence);
    write_cpu(0); /* the driver without a GPU */
    evidence = &untouched;
    assert_int_equal(kfd_read(root, &evidence, &err), 0);
    assert_null(evidence);
    evidence = &untouched;
    assert_int_equal(kfd_read("/nowhere", &evidence, &err), -1);
    assert_string_equal(err.text, "/nowhere: No such file or directory");
    assert_ptr_equal(evidence, &untouched);
}

static int read_scenario(void *context, struct error_info *err)
{
    struct node_evidence *evidence = NULL;
    int result = kfd_read(context, &evidence, err);
    node_evidence_free(evidence);
    return result;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    write_node(2, &mi210);
    write_both(2, 3, XGMI, ONE_HOP, 50000);
    write_link("io_links", 2, 77, XGMI, ONE_HOP, 50000);
    unit_test_expect_clean_failures(read_scenario, root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_two_bridges),
    cmocka_unit_test(joins_partitions),
    cmocka_unit_test(joins_partitions_of_older_kernels),
    cmocka_unit_test(keeps_boards_apart_that_cannot_be_cut),
    cmocka_unit_test(says_none_only_where_it_is_known),
    cmocka_unit_test(rates_links),
    cmocka_unit_test(doubts_one_sided_links),
    cmocka_unit_test(tells_a_gpu_that_fell_off_its_hive),
    cmocka_unit_test(asks_the_pci_device),
    cmocka_unit_test(answers_in_part),
    cmocka_unit_test(is_not_held_up),
    cmocka_unit_test(limits_the_number_of_nodes),
    cmocka_unit_test(finds_copies),
    cmocka_unit_test(says_when_there_is_nothing),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int result = unit_test_main("topology/kfd_reader", tests, COUNT_OF(tests));
    file_tree_end();
    return result;
}
