/* SPDX-License-Identifier: MIT */
/* node_topology_merge: which NICs of several sources are one, and rails that are down. */
#include "tests/unit/topology/topology_fixture.h"
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

static void expect_warnings(const struct node_topology *node, const char *only)
{
    assert_int_equal(node->warning_count, only ? 1 : 0);
    if (only)
        assert_string_equal(node->warnings[0], only);
}

static struct node_evidence file_of(const struct evidence_nic *nics, unsigned count)
{
    return (struct node_evidence){
        .source = EVIDENCE_ADMIN, .source_text = "n1.yaml", .nics = nics, .nic_count = count};
}

static struct node_evidence hwloc_of(const struct evidence_nic *nics, unsigned count)
{
    return (struct node_evidence){
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .nics = nics, .nic_count = count};
}

#define HCA(name_, bus_, state_)                                                                   \
    {                                                                                              \
        .name = (name_), .bus_id = (bus_), .driver_class = "openfabrics", .state = (state_),       \
        .numa = NUMA_UNKNOWN                                                                       \
    }

static const struct evidence_nic two_rails_of_three[] = {
    HCA("mlx5_2", "0000:a3:00.0", NIC_ACTIVE),
    HCA("mlx5_0", "0000:83:00.0", NIC_DOWN),
    HCA("mlx5_1", "0000:93:00.0", NIC_ACTIVE),
};

static void one_function_is_one_nic(void **state)
{
    (void)state;
    static const struct evidence_nic other_name[] = {{.name = "ibp147s0",
                                                      .bus_id = "0000:93:00.0",
                                                      .numa = NUMA_UNKNOWN,
                                                      .bytes_per_second = 50 * GB}};
    const struct node_evidence file = file_of(other_name, 1),
                               hwloc = hwloc_of(two_rails_of_three, 3);
    const struct node_evidence *const all[] = {&file, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 3);
    assert_string_equal(node->nics[0].name, "ibp147s0");
    assert_int_equal(node->nics[0].state, NIC_ACTIVE);
    assert_int_equal(node->nics[0].role, NIC_RAIL);
}

/* Names that changed places since the file was written. */
static void functions_count_more_than_names(void **state)
{
    (void)state;
    static const struct evidence_nic old[] = {
        {.name = "mlx5_1", .bus_id = "0000:83:00.0", .numa = 7, .bytes_per_second = 1 * GB},
        {.name = "mlx5_0", .bus_id = "0000:93:00.0", .numa = 8, .bytes_per_second = 2 * GB},
    };
    const struct node_evidence file = file_of(old, 2), hwloc = hwloc_of(two_rails_of_three, 3);
    const struct node_evidence *const all[] = {&file, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 3);
    assert_int_equal(node->nics[0].numa, 8);
    assert_int_equal(node->nics[0].state, NIC_ACTIVE);
    assert_int_equal(node->nics[1].numa, 7);
    assert_int_equal(node->nics[1].state, NIC_DOWN);
}

/* Two ports of one function stay two, whoever names both, and a name tells which is meant. */
static void ports_of_one_function_stay_apart(void **state)
{
    (void)state;
    static const struct evidence_nic ports[] = {HCA("mlx4_0", "0000:83:00.0", NIC_ACTIVE),
                                                HCA("mlx4_1", "0000:83:00.0", NIC_ACTIVE)};
    static const struct evidence_nic second[] = {
        {.name = "mlx4_1", .bus_id = "0000:83:00.0", .numa = 5, .state = NIC_DOWN}};
    const struct node_evidence file = file_of(second, 1), hwloc = hwloc_of(ports, 2);
    const struct node_evidence *const all[] = {&file, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 2);
    assert_int_equal(node->nics[0].numa, NUMA_UNKNOWN);
    assert_int_equal(node->nics[1].numa, 5);
    assert_int_equal(node->nics[1].state, NIC_DOWN);
}

static const struct evidence_nic nameless[] = {
    {.numa = NUMA_UNKNOWN, .rail = -1, .bytes_per_second = 50 * GB},
    {.numa = NUMA_UNKNOWN, .rail = -1, .bytes_per_second = 25 * GB},
    {.numa = NUMA_UNKNOWN, .rail = -1, .bytes_per_second = 25 * GB},
};

static void nameless_ones_are_the_rails(void **state)
{
    (void)state;
    const struct node_evidence file = file_of(nameless, 2), hwloc = hwloc_of(two_rails_of_three, 3);
    const struct node_evidence *const all[] = {&file, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 3);
    assert_string_equal(node->nics[1].name, "mlx5_1");
    assert_true(node->nics[0].bytes_per_second <= 0);
    assert_true(node->nics[1].bytes_per_second >= 50 * GB);
    assert_true(node->nics[2].bytes_per_second <= 25 * GB);
    assert_int_equal(node->nics[2].rail, 1);
}

static void nameless_ones_that_do_not_fit_are_ignored(void **state)
{
    (void)state;
    static const struct evidence_nic storage[] = {
        {.numa = NUMA_UNKNOWN, .has_role = true, .role = NIC_STORAGE, .rail = -1},
        {.numa = NUMA_UNKNOWN, .rail = -1}};
    struct node_evidence file = file_of(nameless, 3);
    const struct node_evidence hwloc = hwloc_of(two_rails_of_three, 3);
    const struct node_evidence *const all[] = {&file, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 3);
    assert_true(node->nics[1].bytes_per_second <= 0);
    expect_warnings(node, "n1.yaml: its 3 NICs without names are ignored, the node has 2 rails");
    file = file_of(storage, 2);
    CLEANUP(node_topology) struct node_topology *other = merge(all, 2);
    assert_int_equal(other->nic_count, 3);
    assert_int_equal(other->warning_count, 1);
}

/* Both without names: by position. */
static void nameless_ones_complete_each_other(void **state)
{
    (void)state;
    const struct node_evidence file = file_of(nameless, 2);
    struct node_evidence preset = file_of(nameless, 3);
    preset.source = EVIDENCE_PRESET;
    const struct node_evidence *const all[] = {&preset, &file};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_int_equal(node->nic_count, 3);
    expect_warnings(node, NULL);
}

static void rails_that_are_down_serve_nobody(void **state)
{
    (void)state;
    static const struct evidence_gpu gpus[] = {{.model_text = "h200-sxm", .numa = 0}};
    static const struct evidence_nic given[] = {
        {.name = "mlx5_0",
         .numa = 0,
         .has_role = true,
         .role = NIC_RAIL,
         .rail = 0,
         .state = NIC_DOWN,
         .bytes_per_second = 50 * GB},
        {.name = "mlx5_1",
         .numa = 0,
         .has_role = true,
         .role = NIC_RAIL,
         .rail = 1,
         .state = NIC_ACTIVE,
         .bytes_per_second = 50 * GB},
    };
    struct node_evidence file = file_of(given, 2);
    file.gpus = gpus;
    file.gpu_count = 1;
    const struct node_evidence *const all[] = {&file};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 1);
    assert_int_equal(node->nics[0].role, NIC_RAIL);
    assert_int_equal(node->nics[0].rail, 0);
    assert_int_equal(node->gpus[0].nic_count, 1);
    assert_int_equal(node->gpus[0].nics[0], 1);
    assert_true(node->gpu_nic_bytes_per_second <= 50 * GB);
    expect_warnings(node, "NIC mlx5_0: port is down");
}

static void given_problems_stand(void **state)
{
    (void)state;
    static const struct evidence_nic nics[] = {
        {.name = "mlx5_0", .numa = NUMA_UNKNOWN, .state = NIC_DOWN, .problem = "cable pulled"},
        {.name = "mlx5_1", .numa = NUMA_UNKNOWN, .state = NIC_DOWN, .problem = "port is down"},
    };
    const struct node_evidence file = file_of(nics, 2);
    const struct node_evidence *const all[] = {&file};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 1);
    assert_string_equal(node->nics[0].problem, "cable pulled");
    assert_null(node->nics[1].problem); /* not wired, perhaps */
    expect_warnings(node, "NIC mlx5_0: cable pulled");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_function_is_one_nic),
    cmocka_unit_test(functions_count_more_than_names),
    cmocka_unit_test(ports_of_one_function_stay_apart),
    cmocka_unit_test(nameless_ones_are_the_rails),
    cmocka_unit_test(nameless_ones_that_do_not_fit_are_ignored),
    cmocka_unit_test(nameless_ones_complete_each_other),
    cmocka_unit_test(rails_that_are_down_serve_nobody),
    cmocka_unit_test(given_problems_stand),
};

int main(void) { return unit_test_main("topology/merge_nics", tests, COUNT_OF(tests)); }
