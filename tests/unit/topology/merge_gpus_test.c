/* SPDX-License-Identifier: MIT */
/* node_topology_merge: which GPUs of several sources are one, and what they contradict. */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/node_evidence.h"

#define GIB ((uint64_t)1 << 30)

static struct node_topology *merge(const struct node_evidence *const *evidence, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    struct node_topology *node = node_topology_merge("node", evidence, count, gpus, &err);
    expect_made(node, &err);
    return node;
}

static struct node_topology *merge_two(const struct node_evidence *first,
                                       const struct node_evidence *second)
{
    const struct node_evidence *const all[] = {first, second};
    return merge(all, 2);
}

static void expect_warnings(const struct node_topology *node, const char *only)
{
    if (node->warning_count != (only ? 1 : 0))
        fail_msg("%zu warnings; the last: %s", node->warning_count,
                 node->warning_count > 0 ? node->warnings[node->warning_count - 1] : "-");
    if (only)
        assert_string_equal(node->warnings[0], only);
}

/* Value and source of the first fact of that name. */
static void expect_fact(const struct node_topology *node, const char *name, const char *value,
                        const char *source)
{
    for (size_t i = 0; i < node->fact_count; i++) {
        if (strcmp(node->facts[i].fact, name) != 0)
            continue;
        assert_string_equal(node->facts[i].value, value);
        assert_string_equal(node->facts[i].source, source);
        return;
    }
    fail_msg("no fact %s", name);
}

static const struct evidence_gpu turin[] = {
    {.bus_id = "0000:06:00.0",
     .model_text = "NVIDIA H200",
     .uuid = "GPU-a",
     .numa = 1,
     .memory_bytes = 140 * GIB},
    {.bus_id = "0000:16:00.0",
     .model_text = "NVIDIA H200",
     .uuid = "GPU-b",
     .numa = 2,
     .memory_bytes = 140 * GIB},
};

static const struct node_evidence hwloc = {
    .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = turin, .gpu_count = 2};

static struct node_evidence file_of(const struct evidence_gpu *gpus, unsigned count)
{
    return (struct node_evidence){
        .source = EVIDENCE_ADMIN, .source_text = "n1.yaml", .gpus = gpus, .gpu_count = count};
}

static void uuids_count_more_than_positions(void **state)
{
    (void)state;
    static const struct evidence_gpu swapped[] = {
        {.uuid = "GPU-b", .problem = "slow", .numa = NUMA_UNKNOWN},
        {.uuid = "GPU-a", .numa = NUMA_UNKNOWN}};
    const struct node_evidence file = file_of(swapped, 2), one = file_of(swapped, 1);
    CLEANUP(node_topology) struct node_topology *node = merge_two(&file, &hwloc);
    assert_string_equal(node->gpus[0].uuid, "GPU-a");
    assert_null(node->gpus[0].problem);
    assert_string_equal(node->gpus[1].problem, "slow");
    expect_warnings(node, "GPU 1 0000:16:00.0: slow");
    CLEANUP(node_topology) struct node_topology *part = merge_two(&one, &hwloc);
    assert_int_equal(part->gpu_count, 2);
    assert_string_equal(part->gpus[1].problem, "slow");
    assert_int_equal(part->warning_count, 1);
}

static void unknown_uuids_are_ignored(void **state)
{
    (void)state;
    static const struct evidence_gpu strange[] = {
        {.uuid = "GPU-b", .numa = NUMA_UNKNOWN},
        {.uuid = "GPU-x", .problem = "slow", .numa = NUMA_UNKNOWN}};
    static const struct evidence_gpu stranger[] = {
        {.uuid = "GPU-y", .problem = "slow", .numa = NUMA_UNKNOWN},
        {.uuid = "GPU-x", .problem = "slow", .numa = NUMA_UNKNOWN}};
    const struct node_evidence file = file_of(strange, 2), other = file_of(stranger, 2);
    CLEANUP(node_topology) struct node_topology *node = merge_two(&file, &hwloc);
    assert_int_equal(node->gpu_count, 2);
    expect_warnings(node, "n1.yaml: GPUs ignored: 1 of 2, no other source knows their UUIDs");
    CLEANUP(node_topology) struct node_topology *none = merge_two(&other, &hwloc);
    assert_null(none->gpus[0].problem);
    expect_warnings(none, "n1.yaml: GPUs ignored: 2 of 2, no other source knows their UUIDs");
}

/* A source whose GPUs are not the node's says nothing of NVLink either. */
static void ignored_sources_do_not_speak(void **state)
{
    (void)state;
    static const struct evidence_gpu three[] = {{.model_text = "gb200", .numa = NUMA_UNKNOWN},
                                                {.model_text = "gb200", .numa = NUMA_UNKNOWN},
                                                {.model_text = "gb200", .numa = NUMA_UNKNOWN}};
    struct node_evidence file = file_of(three, 3);
    file.nvlink_domain_nodes = 18;
    file.nvlink_leaves_node = true;
    file.pcie_bytes_per_second = 1e9;
    CLEANUP(node_topology) struct node_topology *node = merge_two(&file, &hwloc);
    assert_int_equal(node->nvlink_domain_nodes, 1);
    assert_false(node->nvlink_leaves_node);
    assert_true(node->pcie_bytes_per_second > 1e10);
    expect_warnings(node, "n1.yaml: GPUs ignored: 3 of 3, they are named by position, and "
                          "the node has 2");
    expect_fact(node, "nvlink", "unknown", "hwloc");
    expect_fact(node, "gpu models", "2 x h200-sxm", "hwloc");
    file.gpu_count = 0; /* about the node alone */
    CLEANUP(node_topology) struct node_topology *reach = merge_two(&file, &hwloc);
    assert_int_equal(reach->nvlink_domain_nodes, 18);
    expect_warnings(reach, NULL);
}

static void facts_name_who_said_them(void **state)
{
    (void)state;
    static const struct evidence_gpu other[] = {{.bus_id = "0000:16:00.0", .numa = NUMA_UNKNOWN},
                                                {.bus_id = "0000:26:00.0", .numa = NUMA_UNKNOWN}};
    static const struct evidence_gpu named[] = {{.model_text = "h200-sxm", .numa = NUMA_UNKNOWN},
                                                {.model_text = "h200-sxm", .numa = NUMA_UNKNOWN}};
    struct node_evidence file = file_of(other, 2), hint = file_of(named, 2);
    CLEANUP(node_topology) struct node_topology *node = merge_two(&file, &hwloc);
    assert_int_equal(node->gpu_count, 3);
    expect_fact(node, "gpus", "3", "n1.yaml, hwloc");
    expect_warnings(node, "GPUs: n1.yaml lists 2, hwloc 2; the node is taken to have all 3");
    expect_fact(node, "gpu models", "2 x h200-sxm", "hwloc");
    hint.source = EVIDENCE_PCI;
    hint.source_text = "--gpu";
    CLEANUP(node_topology) struct node_topology *plain = merge_two(&hint, &hwloc);
    expect_fact(plain, "gpus", "2", "hwloc");
    expect_warnings(plain, NULL);
}

/* What a process may not use is no contradiction, what the node lacks is one. */
static void views_of_a_process_may_be_smaller(void **state)
{
    (void)state;
    struct node_evidence nccl = file_of(turin, 1), kernel = file_of(turin, 1);
    nccl.source = EVIDENCE_NCCL_XML;
    CLEANUP(node_topology) struct node_topology *node = merge_two(&nccl, &hwloc);
    expect_warnings(node, NULL);
    kernel.source = EVIDENCE_KFD;
    kernel.source_text = "kfd";
    CLEANUP(node_topology) struct node_topology *fewer = merge_two(&kernel, &hwloc);
    expect_warnings(fewer, "GPUs: kfd lists 1, hwloc 2; the node is taken to have all 2");
}

static void contradictions_are_told_once(void **state)
{
    (void)state;
    static const struct {
        struct evidence_gpu said[2];
        const char *warning;
    } rows[] = {
        {{{.model_text = "a6000", .numa = NUMA_UNKNOWN}, {.numa = NUMA_UNKNOWN}},
         "model of GPU 0: n1.yaml says a6000, hwloc says NVIDIA H200; n1.yaml stands"},
        {{{.memory_bytes = GIB, .numa = NUMA_UNKNOWN}, {.memory_bytes = GIB, .numa = NUMA_UNKNOWN}},
         "memory of GPU 0 (and others): n1.yaml says 1 GiB, hwloc says 140 GiB; n1.yaml stands"},
        {{{.memory_bytes = 142 * GIB, .numa = 1}, {.model_text = "h200-sxm", .numa = 2}}, NULL},
        {{{.model_text = "Some Board", .numa = 1}, {.uuid = "0x12", .numa = 2}}, NULL},
        {{{.bus_id = "0000:06:00.0", .uuid = "GPU-a", .numa = NUMA_UNKNOWN},
          {.bus_id = "0000:16:00.0", .uuid = "GPU-c", .numa = NUMA_UNKNOWN}},
         "UUID of GPU 1: n1.yaml says GPU-c, hwloc says GPU-b; n1.yaml stands"},
        {{{.numa = 2}, {.numa = 1}},
         "NUMA node of GPU 0 (and others): n1.yaml says 2, hwloc says 1; n1.yaml stands"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct node_evidence file = file_of(rows[i].said, 2);
        CLEANUP(node_topology) struct node_topology *node = merge_two(&file, &hwloc);
        expect_warnings(node, rows[i].warning);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(uuids_count_more_than_positions),
    cmocka_unit_test(unknown_uuids_are_ignored),
    cmocka_unit_test(ignored_sources_do_not_speak),
    cmocka_unit_test(facts_name_who_said_them),
    cmocka_unit_test(views_of_a_process_may_be_smaller),
    cmocka_unit_test(contradictions_are_told_once),
};

int main(void) { return unit_test_main("topology/merge_gpus", tests, COUNT_OF(tests)); }
