/* SPDX-License-Identifier: MIT */
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"
#include "topology/groups/gpu_search.h"
#include "topology/groups/nvlink_domain.h"

#include <stdlib.h>
#include <string.h>

#define GPUS 8u
#define PAIRS 4u
#define QUADS 2u
#define ROUNDS 12u

static const unsigned widths[] = {2, 4};

/* Pairs worst first, then quads worst first. */
struct quality_list {
    struct gpu_group_quality pairs[PAIRS], quads[QUADS];
};

static int worst_first(const void *left, const void *right)
{
    return gpu_group_compare(right, left);
}

static void rate(const struct node_topology *node, const unsigned *gpus, struct quality_list *ret)
{
    for (unsigned i = 0; i < PAIRS; i++)
        gpu_group_rate(node, gpus + (size_t)i * 2, 2, &ret->pairs[i]);
    for (unsigned i = 0; i < QUADS; i++)
        gpu_group_rate(node, gpus + (size_t)i * 4, 4, &ret->quads[i]);
    qsort(ret->pairs, PAIRS, sizeof(*ret->pairs), worst_first);
    qsort(ret->quads, QUADS, sizeof(*ret->quads), worst_first);
}

static int compare(const struct quality_list *left, const struct quality_list *right)
{
    int order = 0;
    for (unsigned i = 0; order == 0 && i < PAIRS; i++)
        order = gpu_group_compare(&left->pairs[i], &right->pairs[i]);
    for (unsigned i = 0; order == 0 && i < QUADS; i++)
        order = gpu_group_compare(&left->quads[i], &right->quads[i]);
    return order;
}

/* Every order in which each pair ascends: all partitions, many of them twice. */
static void try_orders(const struct node_topology *node, unsigned *gpus, unsigned fixed,
                       struct quality_list *best)
{
    if (fixed == GPUS) {
        struct quality_list found;
        rate(node, gpus, &found);
        if (compare(&found, best) < 0)
            *best = found;
        return;
    }
    for (unsigned i = fixed; i < GPUS; i++) {
        unsigned kept = gpus[fixed];
        gpus[fixed] = gpus[i];
        gpus[i] = kept;
        if (fixed % 2 == 0 || gpus[fixed - 1] < gpus[fixed])
            try_orders(node, gpus, fixed + 1, best);
        gpus[i] = gpus[fixed];
        gpus[fixed] = kept;
    }
}

static struct node_topology *random_node(unsigned *seed)
{
    struct node_topology *node = test_node_create(GPUS, NULL, NVLINK_KNOWN);
    assert_non_null(node);
    double *rates = (double *)node->nvlink_bytes_per_second;
    for (unsigned i = 0; i < GPUS; i++) {
        for (unsigned j = 0; j < i; j++) {
            *seed = *seed * 1103515245u + 12345u;
            rates[i * GPUS + j] = rates[j * GPUS + i] = (*seed >> 16) % 3 * 25e9;
        }
    }
    return node;
}

static void nested_groups_match_brute_force(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (unsigned round = 0; round < ROUNDS; round++) {
        CLEANUP(node_topology) struct node_topology *node = random_node(&seed);
        unsigned order[] = {0, 1, 2, 3, 4, 5, 6, 7}, gpus[GPUS];
        struct quality_list best, found;
        CLEANUP_DONE(gpu_search) struct gpu_search search;
        assert_int_equal(gpu_search_init(&search, node, order, widths, 2, NULL), 0);
        assert_int_equal(gpu_search_read(&search, 0xff, gpus), GPUS);
        rate(node, gpus, &found);
        rate(node, order, &best);
        try_orders(node, order, 0, &best);
        assert_int_equal(compare(&found, &best), 0);
    }
}

/* Of equal answers the first of the order, in groups and among them. */
static void ties_go_by_the_order(void **state)
{
    (void)state;
    static const unsigned halves[GPUS] = {0, 1, 0, 1, 0, 1, 0, 1};
    static const unsigned order[] = {7, 6, 5, 4, 3, 2, 1, 0}, expected[] = {7, 5, 3, 1, 6, 4, 2, 0};
    unsigned gpus[GPUS];
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, halves, NVLINK_KNOWN);
    assert_non_null(node);
    CLEANUP_DONE(gpu_search) struct gpu_search search;
    assert_int_equal(gpu_search_init(&search, node, order, widths, 2, NULL), 0);
    assert_int_equal(gpu_search_best_set(&search, 8), 0xff);
    assert_int_equal(gpu_search_read(&search, 0xff, gpus), GPUS);
    assert_memory_equal(gpus, expected, sizeof(gpus));
    /* GPUs 7, 5, 3, 1 are bits 0, 2, 4, 6. */
    assert_int_equal(gpu_search_best_set(&search, 4), 0x55);
    assert_int_equal(gpu_search_read(&search, 0x7f, gpus), 4); /* three are left over */
}

static int init_once(void *context, struct error_info *err)
{
    static const unsigned order[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CLEANUP_DONE(gpu_search) struct gpu_search search;
    return gpu_search_init(&search, context, order, widths, 2, err);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, NULL, NVLINK_KNOWN);
    if (node)
        unit_test_expect_clean_failures(init_once, node);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nested_groups_match_brute_force),
    cmocka_unit_test(ties_go_by_the_order),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/groups/gpu_search", tests, COUNT_OF(tests)); }
