/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "topology/groups/nvlink_domain.h"

#define GB 1e9

/* A node with nothing but links: "ij:count" of 25 GB/s each, PCIe class SYS elsewhere. */
struct wired {
    struct node_topology node;
    double rates[NODE_MAXIMUM_GPUS * NODE_MAXIMUM_GPUS];
    enum link_kind links[NODE_MAXIMUM_GPUS * NODE_MAXIMUM_GPUS];
};

static void wire(struct wired *wired, unsigned n, const unsigned (*links)[3], size_t count)
{
    memset(wired, 0, sizeof(*wired));
    wired->node = (struct node_topology){
        .gpu_count = n,
        .nvlink = NVLINK_KNOWN,
        .nvlink_bytes_per_second = wired->rates,
        .links = wired->links,
    };
    for (size_t i = 0; i < (size_t)n * n; i++)
        wired->links[i] = LINK_SYS;
    for (size_t i = 0; i < count; i++) {
        size_t there = links[i][0] * n + links[i][1], back = links[i][1] * n + links[i][0];
        wired->rates[there] = wired->rates[back] = links[i][2] * 25 * GB;
        wired->links[there] = wired->links[back] = LINK_NVLINK;
    }
}

static void expect_groups(const struct node_topology *node, unsigned k, const unsigned *expected,
                          unsigned count)
{
    unsigned groups[NODE_MAXIMUM_GPUS], group_count = 0;
    struct error_info err = {.kind = ERROR_NONE};
    if (gpu_groups_partition(node, k, groups, &group_count, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(group_count, count);
    for (unsigned i = 0; i < count * k; i++)
        if (groups[i] != expected[i])
            fail_msg("k=%u: place %u has GPU %u, not %u", k, i, groups[i], expected[i]);
}

static void cube_mesh(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx1-v100");
    expect_groups(node, 1, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    expect_groups(node, 2, (const unsigned[]){0, 3, 1, 2, 4, 7, 5, 6}, 4);
    expect_groups(node, 4, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}, 2);
    /* A ring of double links exists: 0=3=2=1=5=6=7=4=0. */
    expect_groups(node, 8, (const unsigned[]){0, 3, 2, 1, 5, 6, 7, 4}, 1);
    struct gpu_group_quality all;
    gpu_group_rate(node, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}, 8, &all);
    assert_true(all.clique_bytes_per_second == 0);
    assert_true(all.ring_bytes_per_second == 50 * GB);
    assert_true(all.connected);
}

/* ROCm's hives {0,2,3,5} and {1,4,6,7}: index ranges are wrong. */
static void hives_out_of_order(void **state)
{
    (void)state;
    static const unsigned links[][3] = {
        {0, 2, 1}, {0, 3, 1}, {0, 5, 1}, {2, 3, 1}, {2, 5, 1}, {3, 5, 1},
        {1, 4, 1}, {1, 6, 1}, {1, 7, 1}, {4, 6, 1}, {4, 7, 1}, {6, 7, 1},
    };
    struct wired wired;
    wire(&wired, 8, links, COUNT_OF(links));
    expect_groups(&wired.node, 4, (const unsigned[]){0, 2, 3, 5, 1, 4, 6, 7}, 2);
    expect_groups(&wired.node, 2, (const unsigned[]){0, 2, 1, 4, 3, 5, 6, 7}, 4);
}

/* Two rings of four without a clique: 0-1-5-3 and 2-4-7-6. */
static void rings_without_cliques(void **state)
{
    (void)state;
    static const unsigned links[][3] = {
        {0, 1, 1}, {1, 5, 1}, {5, 3, 1}, {3, 0, 1}, {2, 4, 1}, {4, 7, 1}, {7, 6, 1}, {6, 2, 1},
    };
    struct wired wired;
    wire(&wired, 8, links, COUNT_OF(links));
    expect_groups(&wired.node, 4, (const unsigned[]){0, 1, 5, 3, 2, 4, 7, 6}, 2);
}

static void bridged_pairs(void **state)
{
    (void)state;
    static const unsigned links[][3] = {{0, 4, 4}, {1, 5, 4}, {2, 6, 4}, {3, 7, 4}};
    struct wired wired;
    wire(&wired, 8, links, COUNT_OF(links));
    expect_groups(&wired.node, 2, (const unsigned[]){0, 4, 1, 5, 2, 6, 3, 7}, 4);
    /* No group of four has a clique or a ring, but pairs stay together. */
    expect_groups(&wired.node, 4, (const unsigned[]){0, 1, 4, 5, 2, 3, 6, 7}, 2);
}

/* A GPU that fell off NVLink is the one left over. */
static void leaves_the_lost_gpu_over(void **state)
{
    (void)state;
    unsigned links[21][3];
    size_t count = 0;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < i; j++)
            if (i != 2 && j != 2) {
                links[count][0] = i;
                links[count][1] = j;
                links[count++][2] = 36;
            }
    struct wired wired;
    wire(&wired, 8, links, count);
    expect_groups(&wired.node, 7, (const unsigned[]){0, 1, 3, 4, 5, 6, 7}, 1);
    expect_groups(&wired.node, 3, (const unsigned[]){0, 1, 3, 4, 5, 6}, 2);
}

static void pcie_classes_decide_without_nvlink(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, 4, NULL, 0);
    wired.links[0 * 4 + 3] = wired.links[3 * 4 + 0] = LINK_PIX;
    wired.links[1 * 4 + 2] = wired.links[2 * 4 + 1] = LINK_PXB;
    expect_groups(&wired.node, 2, (const unsigned[]){0, 3, 1, 2}, 2);
    wired.node.nvlink = NVLINK_UNKNOWN;
    expect_groups(&wired.node, 2, (const unsigned[]){0, 3, 1, 2}, 2);
}

static void refuses_impossible_sizes(void **state)
{
    (void)state;
    unsigned groups[NODE_MAXIMUM_GPUS], count = 99;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx-h100");
    assert_int_equal(gpu_groups_partition(node, 0, groups, &count, &err), -1);
    assert_int_equal(gpu_groups_partition(node, 9, groups, &count, &err), -1);
    expect_message(&err, "groups of 9 GPUs on a node that has 8");
    assert_int_equal(count, 99);
}

static void uniform_nodes_keep_their_order(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx2");
    static const unsigned order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (unsigned k = 1; k <= 16; k++)
        expect_groups(node, k, order, 16 / k);
}

/* More GPUs than the exact search takes: pairs must still be found. */
static void large_nodes_are_greedy(void **state)
{
    (void)state;
    unsigned links[32][3], expected[64];
    for (unsigned i = 0; i < 32; i++) {
        links[i][0] = expected[2 * i] = i;
        links[i][1] = expected[2 * i + 1] = 63 - i;
        links[i][2] = 1;
    }
    struct wired wired;
    wire(&wired, 64, links, COUNT_OF(links));
    expect_groups(&wired.node, 2, expected, 32);
    unsigned groups[64], count;
    assert_int_equal(gpu_groups_partition(&wired.node, 20, groups, &count, NULL), 0);
    assert_int_equal(count, 3);
}

/* --- against brute force --- */

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static double best_ring(const struct wired *wired, unsigned *order, unsigned k, unsigned fixed)
{
    if (fixed == k) {
        double weakest = 1e30;
        for (unsigned i = 0; i < k; i++) {
            double rate = wired->rates[order[i] * wired->node.gpu_count + order[(i + 1) % k]];
            weakest = rate < weakest ? rate : weakest;
        }
        return weakest;
    }
    double best = 0;
    for (unsigned i = fixed; i < k; i++) {
        unsigned swap = order[fixed];
        order[fixed] = order[i];
        order[i] = swap;
        double rate = best_ring(wired, order, k, fixed + 1);
        best = rate > best ? rate : best;
        order[i] = order[fixed];
        order[fixed] = swap;
    }
    return best;
}

static void rate_by_force(const struct wired *wired, const unsigned *gpus, unsigned k,
                          double *ret_clique, double *ret_ring)
{
    unsigned order[8];
    memcpy(order, gpus, k * sizeof(*order));
    *ret_clique = 1e30;
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < i; j++) {
            double rate = wired->rates[gpus[i] * wired->node.gpu_count + gpus[j]];
            *ret_clique = rate < *ret_clique ? rate : *ret_clique;
        }
    *ret_ring = best_ring(wired, order, k, 1);
}

static void make_random(struct wired *wired, unsigned n, unsigned *seed)
{
    unsigned links[64][3];
    size_t count = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++) {
            unsigned strength = next_random(seed) % 4;
            if (strength == 0)
                continue;
            links[count][0] = i;
            links[count][1] = j;
            links[count++][2] = strength;
        }
    wire(wired, n, links, count);
}

static void ring_matches_brute_force(void **state)
{
    (void)state;
    unsigned seed = 7;
    struct wired wired;
    for (unsigned round = 0; round < 40; round++) {
        make_random(&wired, 7, &seed);
        for (unsigned k = 2; k <= 6; k++) {
            const unsigned gpus[] = {0, 2, 3, 4, 5, 6};
            double clique, ring;
            struct gpu_group_quality quality;
            rate_by_force(&wired, gpus, k, &clique, &ring);
            gpu_group_rate(&wired.node, gpus, k, &quality);
            assert_true(quality.clique_bytes_per_second == clique);
            assert_true(quality.ring_bytes_per_second == ring);
        }
    }
}

/* Every partition of 6 GPUs into pairs or threes, the worst group first. */
struct best_partition {
    const struct wired *wired;
    unsigned k;
    bool any;
    struct gpu_group_quality worst, second;
};

static void take_partition(struct best_partition *best, const unsigned *order)
{
    struct gpu_group_quality q[3];
    unsigned count = 6 / best->k;
    for (unsigned i = 0; i < count; i++)
        gpu_group_rate(&best->wired->node, order + i * best->k, best->k, &q[i]);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = i + 1; j < count; j++)
            if (gpu_group_compare(&q[j], &q[i]) > 0) {
                struct gpu_group_quality swap = q[i];
                q[i] = q[j];
                q[j] = swap;
            }
    int order_of_worst = best->any ? gpu_group_compare(&q[0], &best->worst) : -1;
    if (order_of_worst < 0 ||
        (order_of_worst == 0 && gpu_group_compare(&q[1], &best->second) < 0)) {
        best->worst = q[0];
        best->second = q[1];
        best->any = true;
    }
}

static void permute(struct best_partition *best, unsigned *order, unsigned fixed)
{
    if (fixed == 6) {
        take_partition(best, order);
        return;
    }
    for (unsigned i = fixed; i < 6; i++) {
        unsigned swap = order[fixed];
        order[fixed] = order[i];
        order[i] = swap;
        permute(best, order, fixed + 1);
        order[i] = order[fixed];
        order[fixed] = swap;
    }
}

static void partition_matches_brute_force(void **state)
{
    (void)state;
    unsigned seed = 11;
    struct wired wired;
    for (unsigned round = 0; round < 6; round++) {
        make_random(&wired, 6, &seed);
        for (unsigned k = 2; k <= 3; k++) {
            unsigned order[] = {0, 1, 2, 3, 4, 5}, groups[6], count;
            struct best_partition best = {.wired = &wired, .k = k};
            permute(&best, order, 0);
            assert_int_equal(gpu_groups_partition(&wired.node, k, groups, &count, NULL), 0);
            struct best_partition ours = {.wired = &wired, .k = k};
            take_partition(&ours, groups);
            assert_int_equal(gpu_group_compare(&ours.worst, &best.worst), 0);
            assert_int_equal(gpu_group_compare(&ours.second, &best.second), 0);
        }
    }
}

static int partition(void *context, struct error_info *err)
{
    unsigned groups[8], count;
    return gpu_groups_partition(context, 4, groups, &count, err);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    static const unsigned links[][3] = {{0, 1, 1}};
    struct wired wired;
    wire(&wired, 8, links, COUNT_OF(links));
    unit_test_expect_clean_failures(partition, &wired.node);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cube_mesh),
    cmocka_unit_test(hives_out_of_order),
    cmocka_unit_test(rings_without_cliques),
    cmocka_unit_test(bridged_pairs),
    cmocka_unit_test(leaves_the_lost_gpu_over),
    cmocka_unit_test(pcie_classes_decide_without_nvlink),
    cmocka_unit_test(refuses_impossible_sizes),
    cmocka_unit_test(uniform_nodes_keep_their_order),
    cmocka_unit_test(large_nodes_are_greedy),
    cmocka_unit_test(ring_matches_brute_force),
    cmocka_unit_test(partition_matches_brute_force),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/groups/nvlink_domain", tests, COUNT_OF(tests)); }
