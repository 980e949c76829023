/* SPDX-License-Identifier: MIT */
/* node_topology_merge: counted links, contradictions, faults, roles and facts of a file. */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/groups/nvlink_domain.h"
#include "topology/node_evidence.h"

#define GB 1e9

static struct node_topology *merge(const struct node_evidence *const *evidence, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    struct node_topology *node = node_topology_merge("node", evidence, count, gpus, &err);
    expect_made(node, &err);
    return node;
}

static struct node_topology *merge_one(const struct node_evidence *evidence)
{
    return merge(&evidence, 1);
}

static bool has_text(const char *const *texts, size_t count, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(texts[i], part))
            return true;
    return false;
}

static void expect_warning(const struct node_topology *node, const char *part)
{
    if (!has_text(node->warnings, node->warning_count, part))
        fail_msg("no warning has '%s'; the first of %zu: %s", part, node->warning_count,
                 node->warning_count > 0 ? node->warnings[0] : "-");
}

static const struct evidence_gpu four_b200[] = {
    {.model_text = "NVIDIA B200", .numa = 0},
    {.model_text = "NVIDIA B200", .numa = 0},
    {.model_text = "NVIDIA B200", .numa = 1},
    {.model_text = "NVIDIA B200", .numa = 1},
};
static const struct evidence_gpu four_nameless[4];

static const unsigned all_18[16] = {0, 18, 18, 18, 18, 0, 18, 18, 18, 18, 0, 18, 18, 18, 18, 0};
/* GPU 2 has fallen off. */
static const unsigned without_2[16] = {0, 18, 0, 18, 18, 0, 0, 18, 0, 0, 0, 0, 18, 18, 0, 0};

static struct node_evidence counted(const struct evidence_gpu *gpus, const unsigned *counts)
{
    return (struct node_evidence){
        .source = EVIDENCE_TOPO_M,
        .source_text = "topo -m",
        .gpus = gpus,
        .gpu_count = 4,
        .nvlink = NVLINK_KNOWN,
        .nvlink_switched = true,
        .nvlink_link_counts = counts,
    };
}

static void links_are_rated_by_the_model(void **state)
{
    (void)state;
    const struct node_evidence evidence = counted(four_b200, all_18);
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_int_equal(node->nvlink, NVLINK_KNOWN);
    assert_true(node->nvlink_switched);
    assert_true(node->nvlink_bytes_per_second[1] > 899 * GB &&
                node->nvlink_bytes_per_second[1] < 901 * GB);
    assert_true(node->gpu_nvlink_bytes_per_second > 899 * GB);
    assert_int_equal(node->warning_count, 0);
    assert_int_equal(node->domain_count, 1);
}

static void links_of_unnamed_gpus_compare_but_do_not_rate(void **state)
{
    (void)state;
    struct node_evidence evidence = counted(four_nameless, all_18);
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_int_equal(node->nvlink, NVLINK_KNOWN);
    assert_int_equal(node->domains[0].gpu_count, 4);
    assert_true(node->gpu_nvlink_bytes_per_second <= 0); /* unknown */

    evidence.nvlink_link_bytes_per_second = 25 * GB; /* the source knows its generation */
    CLEANUP(node_topology) struct node_topology *rated = merge_one(&evidence);
    assert_true(rated->gpu_nvlink_bytes_per_second > 449 * GB &&
                rated->gpu_nvlink_bytes_per_second < 451 * GB);
}

static void a_lost_gpu_is_told(void **state)
{
    (void)state;
    const struct node_evidence evidence = counted(four_b200, without_2);
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_int_equal(node->domain_count, 2);
    assert_true(node->gpus[2].nvlink_lost);
    assert_false(node->gpus[0].nvlink_lost);
    assert_string_equal(node->gpus[2].problem,
                        "lost NVLink: others of its model have it, it has none");
    expect_warning(node, "GPU 2: lost NVLink");
}

/* Bridged pairs and corners of a mesh are no fault. */
static void direct_links_may_differ(void **state)
{
    (void)state;
    static const unsigned pair_and_triangle[16] = {0, 4, 0, 0, 4, 0, 2, 0, 0, 2, 0, 2, 0, 0, 2, 0};
    struct node_evidence evidence = counted(four_nameless, pair_and_triangle);
    evidence.nvlink_switched = false;
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_int_equal(node->warning_count, 0);
    assert_int_equal(node->domain_count, 1);
}

/* Four H200 joined directly, the third has lost its links: no switch tells, the others do. */
static void a_gpu_left_out_of_a_mesh_is_told(void **state)
{
    (void)state;
    static const unsigned mesh[16] = {0, 6, 0, 6, 6, 0, 0, 6, 0, 0, 0, 0, 6, 6, 0, 0};
    struct node_evidence evidence = counted(four_nameless, mesh);
    evidence.nvlink_switched = false;
    evidence.nvlink_link_bytes_per_second = 25 * GB;
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_true(node->gpus[2].nvlink_lost);
    assert_null(node->gpus[0].problem);
    expect_warning(node, "GPU 2: lost NVLink: others of its model have it, it has none");
}

/* A slow slot of a board without a bridge is no lost NVLink. */
static void other_problems_lose_no_link(void **state)
{
    (void)state;
    static const struct evidence_gpu gpus[2] = {
        {.model_text = "NVIDIA H100 PCIe", .problem = "PCIe x8 of x16", .numa = 0},
        {.model_text = "NVIDIA H100 PCIe", .numa = 0}};
    const struct node_evidence evidence = {.source = EVIDENCE_NVML,
                                           .source_text = "nvml",
                                           .gpus = gpus,
                                           .gpu_count = 2,
                                           .nvlink = NVLINK_NONE};
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_int_equal(node->nvlink, NVLINK_NONE);
    assert_false(node->gpus[0].nvlink_lost);
    expect_warning(node, "GPU 0: PCIe x8 of x16");
    struct node_fault fault;
    assert_false(node_topology_find_fault(node, &fault));
}

static void instances_have_no_links(void **state)
{
    (void)state;
    struct evidence_gpu gpus[4];
    memcpy(gpus, four_b200, sizeof(gpus));
    gpus[1].mig = true;
    const struct node_evidence evidence = counted(gpus, all_18);
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_true(node->gpus[1].mig);
    assert_int_equal(node->domain_count, 2);
    assert_false(node->gpus[1].nvlink_lost);
    assert_null(node->gpus[1].problem);
    expect_warning(node, "GPU 1 is cut into MIG instances");
    unsigned groups[NODE_MAXIMUM_GPUS], count = 9;
    assert_int_equal(gpu_groups_usable(node, 2, groups, &count, NULL), 0);
    assert_int_equal(count, 1); /* of the three that are whole */
    assert_true(groups[0] != 1 && groups[1] != 1);
    assert_int_equal(gpu_groups_usable(node, 4, groups, &count, NULL), 0);
    assert_int_equal(count, 0);

    for (unsigned i = 0; i < 4; i++)
        gpus[i].mig = true;
    CLEANUP(node_topology) struct node_topology *cut = merge_one(&evidence);
    assert_int_equal(cut->nvlink, NVLINK_NONE);
}

static void unknown_pairs_stay_open(void **state)
{
    (void)state;
    static const double some[16] = {0, 20 * GB, -1, 0, 20 * GB, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0};
    static const double other[16] = {0, 0, 40 * GB, 0, 0, 0, 0, 0, 40 * GB, 0, 0, 0, 0, 0, 0, 0};
    const struct node_evidence nvml = {.source = EVIDENCE_NVML,
                                       .source_text = "nvml",
                                       .gpus = four_nameless,
                                       .gpu_count = 4,
                                       .nvlink = NVLINK_KNOWN,
                                       .nvlink_bytes_per_second = some};
    const struct node_evidence lower = {.source = EVIDENCE_NCCL_XML,
                                        .source_text = "nccl",
                                        .gpus = four_nameless,
                                        .gpu_count = 4,
                                        .nvlink = NVLINK_KNOWN,
                                        .nvlink_bytes_per_second = other};
    const struct node_evidence *const all[] = {&lower, &nvml};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_true(node->nvlink_bytes_per_second[2] > 39 * GB); /* where nvml says unknown */
    assert_true(node->nvlink_bytes_per_second[1] > 19 * GB); /* nvml's link stands */
    expect_warning(node, "NVLink of GPUs 0 and 1: nvml says a link, nccl says none; nvml stands");
}

static void numa_contradictions_are_told(void **state)
{
    (void)state;
    static const struct evidence_gpu here[1] = {{.bus_id = "0000:01:00.0", .numa = 1}};
    static const struct evidence_gpu there[1] = {{.bus_id = "0000:01:00.0", .numa = 0}};
    const struct node_evidence nvml = {
        .source = EVIDENCE_NVML, .source_text = "nvml", .gpus = here, .gpu_count = 1};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = there, .gpu_count = 1};
    const struct node_evidence *const all[] = {&hwloc, &nvml};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->gpus[0].numa, 1);
    expect_warning(node, "NUMA node of GPU 0: nvml says 1, hwloc says 0; nvml stands");
}

static void hidden_gpus_are_told(void **state)
{
    (void)state;
    static const struct evidence_gpu two[] = {
        {.bus_id = "0000:01:00.0", .model_text = "NVIDIA B200", .numa = NUMA_UNKNOWN},
        {.bus_id = "0000:02:00.0", .model_text = "NVIDIA B200", .numa = NUMA_UNKNOWN}};
    const struct node_evidence nvml = {
        .source = EVIDENCE_NVML, .source_text = "nvml", .gpus = two, .gpu_count = 1};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = two, .gpu_count = 2};
    const struct node_evidence *const all[] = {&hwloc, &nvml};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->gpu_count, 2);
    assert_null(node->gpus[0].problem);
    assert_non_null(strstr(node->gpus[1].problem, "does not list it"));
    struct node_fault fault;
    assert_true(node_topology_find_fault(node, &fault));
    assert_int_equal(fault.gpu, 1);
    assert_int_equal(fault.sound_gpus, 1);
}

static void known_names_win(void **state)
{
    (void)state;
    static const struct evidence_gpu kfd_gpu[] = {
        {.bus_id = "0000:01:00.0", .model_text = "gfx90a 1002:ffff", .numa = NUMA_UNKNOWN}};
    static const struct evidence_gpu hwloc_gpu[] = {
        {.bus_id = "0000:01:00.0", .model_text = "AMD Instinct MI210", .numa = NUMA_UNKNOWN}};
    const struct node_evidence kfd = {
        .source = EVIDENCE_KFD, .source_text = "kfd", .gpus = kfd_gpu, .gpu_count = 1};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = hwloc_gpu, .gpu_count = 1};
    const struct node_evidence *const all[] = {&hwloc, &kfd};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_string_equal(node->gpus[0].model, "mi210");
    CLEANUP(node_topology) struct node_topology *alone = merge_one(&kfd);
    assert_string_equal(alone->gpus[0].model, "gfx90a 1002:ffff");
}

static void roles_of_a_file_stand(void **state)
{
    (void)state;
    static const struct evidence_nic nics[] = {
        {.name = "mlx5_0",
         .numa = NUMA_UNKNOWN,
         .rail = 1,
         .has_role = true,
         .role = NIC_RAIL,
         .reason = "by hand"},
        {.name = "mlx5_1", .numa = NUMA_UNKNOWN, .rail = 0, .has_role = true, .role = NIC_RAIL},
        {.name = "mlx5_2",
         .numa = NUMA_UNKNOWN,
         .rail = -1,
         .has_role = true,
         .role = NIC_STORAGE,
         .reason = "by hand",
         .state = NIC_ACTIVE},
    };
    static const struct topology_fact facts[] = {{"gpus", "0", "hwloc live"}};
    const struct node_evidence file = {.source = EVIDENCE_ADMIN,
                                       .source_text = "n1.yaml",
                                       .nics = nics,
                                       .nic_count = 3,
                                       .facts = facts,
                                       .fact_count = 1};
    CLEANUP(node_topology) struct node_topology *node = merge_one(&file);
    assert_int_equal(node->nics[0].rail, 1);
    assert_int_equal(node->nics[1].rail, 0);
    assert_int_equal(node->nics[2].role, NIC_STORAGE);
    assert_string_equal(node->nics[2].reason, "by hand");
    assert_int_equal(node->fact_count, 1);
    assert_string_equal(node->facts[0].source, "hwloc live");
}

static void slow_rails_are_told(void **state)
{
    (void)state;
    static const struct evidence_nic nics[] = {
        {.name = "mlx5_0", .numa = NUMA_UNKNOWN, .state = NIC_ACTIVE, .bytes_per_second = 50 * GB},
        {.name = "mlx5_1", .numa = NUMA_UNKNOWN, .state = NIC_ACTIVE, .bytes_per_second = 25 * GB},
        {.name = "mlx5_2", .numa = NUMA_UNKNOWN, .state = NIC_ACTIVE, .bytes_per_second = 50 * GB},
    };
    const struct node_evidence evidence = {
        .source = EVIDENCE_INFINIBAND, .source_text = "sysfs", .nics = nics, .nic_count = 3};
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    assert_null(node->nics[0].problem);
    assert_string_equal(node->nics[1].problem, "runs at 200 of 400 Gb/s, the rate of its rails");
    expect_warning(node, "NIC mlx5_1: runs at 200 of 400 Gb/s");
}

/* Four single cards and two cards of two ports, all as far from the GPUs. */
static void storage_cards_of_a_tray_are_no_rails(void **state)
{
    (void)state;
    static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                        "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"};
    struct evidence_nic nics[8] = {{.name = NULL}};
    enum link_kind links[32];
    for (unsigned i = 0; i < 8; i++)
        nics[i] = (struct evidence_nic){.name = names[i],
                                        .numa = NUMA_UNKNOWN,
                                        .rail = -1,
                                        .state = NIC_ACTIVE,
                                        .shares_card = i % 4 >= 2};
    for (unsigned i = 0; i < 32; i++)
        links[i] = LINK_SYS;
    struct node_evidence evidence = counted(four_b200, all_18);
    evidence.nics = nics;
    evidence.nic_count = 8;
    evidence.nic_links = links;
    evidence.nvlink_leaves_node = true;
    CLEANUP(node_topology) struct node_topology *node = merge_one(&evidence);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(node->nics[i].role, i % 4 >= 2 ? NIC_STORAGE : NIC_RAIL);
    assert_true(node->nvlink_leaves_node);
    assert_int_equal(node->nvlink_domain_nodes, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(links_are_rated_by_the_model),
    cmocka_unit_test(links_of_unnamed_gpus_compare_but_do_not_rate),
    cmocka_unit_test(a_lost_gpu_is_told),
    cmocka_unit_test(direct_links_may_differ),
    cmocka_unit_test(a_gpu_left_out_of_a_mesh_is_told),
    cmocka_unit_test(other_problems_lose_no_link),
    cmocka_unit_test(instances_have_no_links),
    cmocka_unit_test(unknown_pairs_stay_open),
    cmocka_unit_test(numa_contradictions_are_told),
    cmocka_unit_test(hidden_gpus_are_told),
    cmocka_unit_test(known_names_win),
    cmocka_unit_test(roles_of_a_file_stand),
    cmocka_unit_test(slow_rails_are_told),
    cmocka_unit_test(storage_cards_of_a_tray_are_no_rails),
};

int main(void) { return unit_test_main("topology/merge_evidence", tests, COUNT_OF(tests)); }
