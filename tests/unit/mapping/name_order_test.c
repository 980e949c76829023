/* SPDX-License-Identifier: MIT */
#include "mapping/name_order.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#define NODES_MAXIMUM 16u

/* Every list must come out as node_name_compare orders it, however its names begin. */
static void sorts_as_names_compare(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "n1",
        "n2,n10,n1",
        "n[001-010]",
        "n10,n9,n08,n008,n8",
        "n1,n1a,n1-2,n1b10,n1b9",
        "gpu-a,gpu-b,gpu-10,gpu-9",
        "rack10n1,rack9n2,rack10n10,rack10n2",
        "a,b,c",
        "n,n1,n0",
        "x99999999999999999999,x100000000000000000000,x5",
        "1,10,9,2",
        "n1x2,n1x10,n01x1",
        "abc1,ab1,abcd1",
        "r2n1,r10n1,r2n10,r2n02,r2n2,r02n2,r1n999999999",
        "r1n9999999999,r1n1",
        "r999999999n999999999m999999999,r1n1m1",
        "a1b1c1d1e2,a1b1c1d1e1",
        "1a,01a,001a,2a",
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const struct test_cluster test = {.nodes = lists[i], .gpus = 1};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(&test, &err);
        assert_non_null(cluster);
        unsigned nodes[NODES_MAXIMUM], seen = 0;
        unsigned count = (unsigned)cluster->node_count;
        for (unsigned n = 0; n < count; n++)
            nodes[n] = count - 1 - n;
        assert_int_equal(name_order_sort(cluster, nodes, count, &err), 0);
        for (unsigned n = 0; n < count; n++) {
            seen |= 1u << nodes[n];
            if (n > 0)
                assert_true(node_name_compare(cluster->nodes[nodes[n - 1]].name,
                                              cluster->nodes[nodes[n]].name) < 0);
        }
        assert_int_equal(seen, (1u << count) - 1);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_as_names_compare)};

int main(void) { return unit_test_main("mapping/name_order", tests, COUNT_OF(tests)); }
