/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "topology/merge/nic_roles.h"
#include <string.h>

#define X LINK_UNKNOWN

/* One NIC and what must come of it, for two GPUs. */
struct row {
    const char *name, *driver_class;
    enum nic_state state;
    bool ethernet;
    enum link_kind links[2];
    enum nic_role role;
    int rail;
};

static void decide(struct nic_roles *roles, const struct row *rows, unsigned count)
{
    memset(roles, 0, sizeof(*roles));
    roles->count = count;
    roles->gpu_count = 2;
    for (unsigned i = 0; i < count; i++) {
        roles->nics[i].said = (struct evidence_nic){
            .name = rows[i].name,
            .driver_class = rows[i].driver_class,
            .state = rows[i].state,
            .is_ethernet = rows[i].ethernet,
            .numa = NUMA_UNKNOWN,
        };
        memcpy(roles->nics[i].links, rows[i].links, sizeof(rows[i].links));
    }
    nic_roles_decide(roles);
}

static void check(const struct row *rows, unsigned count)
{
    struct nic_roles roles;
    decide(&roles, rows, count);
    for (unsigned i = 0; i < count; i++) {
        if (roles.nics[i].role != rows[i].role || roles.nics[i].rail != rows[i].rail)
            fail_msg("%s: role %s, rail %d", rows[i].name, nic_role_name(roles.nics[i].role),
                     roles.nics[i].rail);
        assert_non_null(roles.nics[i].reason);
    }
}

/* As on a Turin node: two HCAs down, two Ethernet ports, two rails. */
static void down_ports_are_no_rails(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_0", "openfabrics", NIC_DOWN, false, {LINK_PIX, LINK_SYS}, NIC_OTHER, -1},
        {"mlx5_1", "openfabrics", NIC_DOWN, true, {LINK_SYS, LINK_SYS}, NIC_OTHER, -1},
        {"mlx5_4", "openfabrics", NIC_ACTIVE, false, {LINK_SYS, LINK_PIX}, NIC_RAIL, 0},
        {"eno6", "ethernet", NIC_STATE_UNKNOWN, false, {LINK_SYS, LINK_SYS}, NIC_MANAGEMENT, -1},
    };
    check(rows, COUNT_OF(rows));
}

static void ethernet_counts_where_it_is_alone(void **state)
{
    (void)state;
    static const struct row beside[] = {
        {"mlx5_an0", "openfabrics", NIC_ACTIVE, true, {X, X}, NIC_OTHER, -1},
        {"mlx5_ib0", "openfabrics", NIC_ACTIVE, false, {X, X}, NIC_RAIL, 0},
    };
    static const struct row alone[] = {
        {"mlx5_0", "openfabrics", NIC_ACTIVE, true, {LINK_PIX, LINK_SYS}, NIC_RAIL, 0},
        {"mlx5_1", "openfabrics", NIC_ACTIVE, true, {LINK_SYS, LINK_PIX}, NIC_RAIL, 1},
        {"mlx5_2", "openfabrics", NIC_DOWN, false, {LINK_SYS, LINK_SYS}, NIC_OTHER, -1},
    };
    check(beside, COUNT_OF(beside));
    check(alone, COUNT_OF(alone));
}

static void far_devices_are_storage(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_0", NULL, NIC_ACTIVE, false, {LINK_PXB, LINK_SYS}, NIC_RAIL, 0},
        {"mlx5_1", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_PXB}, NIC_RAIL, 1},
        {"mlx5_4", NULL, NIC_ACTIVE, false, {LINK_NODE, LINK_SYS}, NIC_STORAGE, -1},
        {"mlx5_5", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_SYS}, NIC_STORAGE, -1},
        {"mlx5_bond_0", NULL, NIC_ACTIVE, false, {LINK_PIX, LINK_SYS}, NIC_STORAGE, -1},
    };
    /* EFA on one socket of two: far from half of the GPUs, but all there is. */
    static const struct row single[] = {
        {"rdmap197s0", "openfabrics", NIC_ACTIVE, false, {LINK_SYS, LINK_NODE}, NIC_RAIL, 0},
    };
    check(rows, COUNT_OF(rows));
    check(single, COUNT_OF(single));
}

/* RoCE beside every GPU; the InfiniBand of the storage, or unread NVSwitch functions, is far. */
static void far_infiniband_takes_no_rails(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_0", NULL, NIC_ACTIVE, true, {LINK_PIX, LINK_NODE}, NIC_RAIL, 0},
        {"mlx5_1", NULL, NIC_ACTIVE, true, {LINK_NODE, LINK_PIX}, NIC_RAIL, 1},
        {"mlx5_2", NULL, NIC_ACTIVE, false, {LINK_NODE, LINK_NODE}, NIC_STORAGE, -1},
        {"mlx5_3", NULL, NIC_ACTIVE, true, {LINK_SYS, LINK_SYS}, NIC_STORAGE, -1},
    };
    static const struct row as_near[] = {
        {"mlx5_0", NULL, NIC_ACTIVE, true, {LINK_PIX, LINK_NODE}, NIC_OTHER, -1},
        {"mlx5_1", NULL, NIC_ACTIVE, false, {LINK_PHB, LINK_NODE}, NIC_RAIL, 0},
    };
    check(rows, COUNT_OF(rows));
    check(as_near, COUNT_OF(as_near));
}

static void bonds_are_rails_where_no_others_are(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_bond_0", NULL, NIC_ACTIVE, true, {LINK_PIX, LINK_SYS}, NIC_RAIL, 0},
        {"mlx5_bond_1", NULL, NIC_ACTIVE, true, {LINK_SYS, LINK_PIX}, NIC_RAIL, 1},
        {"mlx5_bond_2", NULL, NIC_ACTIVE, true, {LINK_SYS, LINK_NODE}, NIC_STORAGE, -1},
        {"mlx5_4", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_NODE}, NIC_STORAGE, -1},
    };
    check(rows, COUNT_OF(rows));
}

static void other_kinds(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_8", "nvswitch", NIC_ACTIVE, false, {LINK_SYS, LINK_SYS}, NIC_NVSWITCH, -1},
        {"cxi0", "cxi", NIC_STATE_UNKNOWN, false, {LINK_PHB, LINK_SYS}, NIC_RAIL, 0},
        {"hsi1", "hsi", NIC_ACTIVE, false, {LINK_SYS, LINK_PHB}, NIC_RAIL, 1},
    };
    check(rows, COUNT_OF(rows));
}

/* Rails are numbered along the GPUs, not by name. */
static void rails_follow_gpus(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"mlx5_0", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_PIX}, NIC_RAIL, 1},
        {"mlx5_1", NULL, NIC_ACTIVE, false, {LINK_PIX, LINK_SYS}, NIC_RAIL, 0},
    };
    check(rows, COUNT_OF(rows));
}

static void orders_for_each_gpu(void **state)
{
    (void)state;
    static const struct row shared[] = {
        {"a", NULL, NIC_ACTIVE, false, {LINK_PXB, LINK_PXB}, NIC_RAIL, 0},
        {"b", NULL, NIC_ACTIVE, false, {LINK_PXB, LINK_PXB}, NIC_RAIL, 1},
        {"c", NULL, NIC_ACTIVE, false, {LINK_PHB, LINK_PHB}, NIC_RAIL, 2},
        {"d", NULL, NIC_DOWN, false, {LINK_PIX, LINK_PIX}, NIC_OTHER, -1},
    };
    const struct node_gpu gpus[] = {{.numa = 0}, {.numa = 1}};
    struct nic_roles roles;
    unsigned order[NODE_MAXIMUM_NICS];
    decide(&roles, shared, COUNT_OF(shared));
    assert_int_equal(nic_roles_order(&roles, gpus, 0, order), 3);
    assert_memory_equal(order, ((const unsigned[]){0, 1, 2}), 3 * sizeof(unsigned));
    /* The second GPU starts at the other of the two equally near rails. */
    assert_int_equal(nic_roles_order(&roles, gpus, 1, order), 3);
    assert_memory_equal(order, ((const unsigned[]){1, 0, 2}), 3 * sizeof(unsigned));
}

/* GB200: all classes are SYS, NUMA nodes decide. */
static void numa_breaks_ties(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_SYS}, NIC_RAIL, 0},
        {"b", NULL, NIC_ACTIVE, false, {LINK_SYS, LINK_SYS}, NIC_RAIL, 1},
    };
    const struct node_gpu gpus[] = {{.numa = 1}, {.numa = 0}};
    struct nic_roles roles;
    unsigned order[NODE_MAXIMUM_NICS];
    decide(&roles, rows, COUNT_OF(rows));
    roles.nics[0].said.numa = 0;
    roles.nics[1].said.numa = 1;
    assert_int_equal(nic_roles_order(&roles, gpus, 0, order), 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(nic_roles_order(&roles, gpus, 1, order), 2);
    assert_int_equal(order[0], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(down_ports_are_no_rails),
    cmocka_unit_test(ethernet_counts_where_it_is_alone),
    cmocka_unit_test(far_infiniband_takes_no_rails),
    cmocka_unit_test(bonds_are_rails_where_no_others_are),
    cmocka_unit_test(far_devices_are_storage),
    cmocka_unit_test(other_kinds),
    cmocka_unit_test(rails_follow_gpus),
    cmocka_unit_test(orders_for_each_gpu),
    cmocka_unit_test(numa_breaks_ties),
};

int main(void) { return unit_test_main("topology/nic_roles", tests, COUNT_OF(tests)); }
