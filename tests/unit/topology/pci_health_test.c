/* SPDX-License-Identifier: MIT */
#include "tests/support/file_tree.h"
#include "tests/support/unit_test.h"
#include "topology/node_readers/sysfs/pci_health.h"

#include <string.h>

#define DEVICES "sys/bus/pci/devices"

static char root[FILE_TREE_ROOT_BYTES];

static void write_gpu(const char *bus_id, const char *numa, const char *cpus, const char *lanes)
{
    file_tree_write(root, numa, DEVICES "/%s/numa_node", bus_id);
    file_tree_write(root, cpus, DEVICES "/%s/local_cpulist", bus_id);
    file_tree_write(root, lanes, DEVICES "/%s/current_link_width", bus_id);
    file_tree_write(root, "16\n", DEVICES "/%s/max_link_width", bus_id);
    file_tree_write(root, "0x10de\n", DEVICES "/%s/vendor", bus_id);
}

static const struct evidence_gpu gpus[] = {
    {.bus_id = "0000:06:00.0"},
    {.bus_id = "0000:07:00.0"},
    {.bus_id = "0000:08:00.0"},
    {.bus_id = "0000:09:00.0"},
    {.bus_id = NULL},
    {.bus_id = "0000:ff:00.0"},
    {.bus_id = "../../../../../../../../etc"},
};
static const struct node_evidence of = {.gpus = gpus, .gpu_count = COUNT_OF(gpus)};

static void tells_place_and_lanes(void **state)
{
    (void)state;
    struct node_evidence *evidence = NULL;
    struct error_info err = {.kind = ERROR_NONE};
    file_tree_create(root);
    write_gpu("0000:06:00.0", "0\n", "0-23,96-119\n", "16\n");
    write_gpu("0000:07:00.0", "1\n", "24-47\n", "8\n");
    write_gpu("0000:08:00.0", "-1\n", "0-191\n", "255\n");
    write_gpu("0000:09:00.0", "65536\n", "all\n", "garbage\n");
    file_tree_write(root, "1\n", "etc/numa_node");
    if (pci_health_read(root, &of, &evidence, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(evidence);
    assert_int_equal(evidence->source, EVIDENCE_PCI);
    assert_int_equal(evidence->nvlink, NVLINK_UNKNOWN);
    assert_int_equal(evidence->gpu_count, 4);
    static const struct {
        int numa;
        const char *cpus, *problem;
    } want[] = {
        {0, "0-23,96-119", NULL},
        {1, "24-47", "PCIe x8 of x16"},
        {NUMA_UNKNOWN, NULL, NULL},
        {NUMA_UNKNOWN, NULL, NULL},
    };
    for (unsigned i = 0; i < COUNT_OF(want); i++) {
        const struct evidence_gpu *gpu = &evidence->gpus[i];
        assert_string_equal(gpu->bus_id, gpus[i].bus_id);
        assert_int_equal(gpu->numa, want[i].numa);
        assert_int_equal(gpu->cpus == NULL, want[i].cpus == NULL);
        assert_int_equal(gpu->problem == NULL, want[i].problem == NULL);
        if (gpu->cpus)
            assert_string_equal(gpu->cpus, want[i].cpus);
        if (gpu->problem)
            assert_string_equal(gpu->problem, want[i].problem);
    }
    node_evidence_free(evidence);
}

static void refuses_lists_that_are_none(void **state)
{
    (void)state;
    static const char *const lists[] = {"\n", "0-23;x\n", "0-\x01\n", "a-b\n"};
    struct pci_health health;
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        file_tree_create(root);
        write_gpu("0000:06:00.0", "0\n", lists[i], "16\n");
        CLEANUP(sysfs_tree) struct sysfs_tree *tree = sysfs_tree_open(root, NULL);
        assert_non_null(tree);
        assert_int_equal(pci_health_of_bus_id(tree, "0000:06:00.0", &found, &health, NULL), 0);
        assert_true(found && health.says_numa);
        assert_string_equal(health.cpus, "");
        assert_int_equal(pci_health_of_bus_id(tree, "0000:07:00.0", &found, &health, NULL), 0);
        assert_false(found || health.says_numa);
    }
}

static void says_when_there_is_nothing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct node_evidence untouched, *evidence = &untouched;
    file_tree_create(root);
    assert_int_equal(pci_health_read(root, &of, &evidence, &err), 0);
    assert_null(evidence);
    evidence = &untouched;
    assert_int_equal(pci_health_read("/nowhere", &of, &evidence, &err), -1);
    assert_string_equal(err.text, "/nowhere: No such file or directory");
    assert_ptr_equal(evidence, &untouched);
}

static int read_scenario(void *context, struct error_info *err)
{
    struct node_evidence *evidence = NULL;
    int result = pci_health_read(context, &of, &evidence, err);
    node_evidence_free(evidence);
    return result;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    file_tree_create(root);
    write_gpu("0000:07:00.0", "1\n", "24-47\n", "8\n");
    unit_test_expect_clean_failures(read_scenario, root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tells_place_and_lanes),
    cmocka_unit_test(refuses_lists_that_are_none),
    cmocka_unit_test(says_when_there_is_nothing),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void)
{
    if (!file_tree_begin())
        return 1;
    int result = unit_test_main("topology/pci_health", tests, COUNT_OF(tests));
    file_tree_end();
    return result;
}
