/* SPDX-License-Identifier: MIT */
#include "mapping/gpu_mapping.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GPUS 8u

static const unsigned hives[GPUS] = {0, 1, 0, 0, 1, 0, 1, 1}; /* {0,2,3,5} and {1,4,6,7} */
static const unsigned bridges[GPUS] = {0, 1, 2, 3, 0, 1, 2, 3};
static const unsigned alone[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};

static const struct row {
    const char *name;
    const unsigned *domains;
    enum nvlink_state nvlink;
    unsigned tp, ranks;
    unsigned gpus[GPUS];
} rows[] = {
    {"uniform node", NULL, NVLINK_KNOWN, 4, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"TP 1", hives, NVLINK_KNOWN, 1, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"NVLink unknown", hives, NVLINK_UNKNOWN, 4, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"hives", hives, NVLINK_KNOWN, 4, 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"one hive is enough", hives, NVLINK_KNOWN, 4, 4, {0, 2, 3, 5}},
    {"TP wider than the node's ranks", hives, NVLINK_KNOWN, 8, 4, {0, 2, 3, 5}},
    {"bridged pairs", bridges, NVLINK_KNOWN, 2, 8, {0, 4, 1, 5, 2, 6, 3, 7}},
    {"no NVLink", alone, NVLINK_NONE, 2, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
};

static void keeps_groups_on_their_links(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(node_topology)
        struct node_topology *node = test_node_create(GPUS, rows[i].domains, rows[i].nvlink);
        assert_non_null(node);
        struct error_info err = {.kind = ERROR_NONE};
        unsigned gpus[GPUS];
        if (gpu_mapping_solve(node, rows[i].tp, rows[i].ranks, gpus, &err) < 0)
            fail_msg("%s: %s", rows[i].name, err.text);
        for (unsigned rank = 0; rank < rows[i].ranks; rank++)
            if (gpus[rank] != rows[i].gpus[rank])
                fail_msg("%s: local rank %u is on GPU %u, not %u", rows[i].name, rank, gpus[rank],
                         rows[i].gpus[rank]);
    }
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, NULL, NVLINK_KNOWN);
    assert_non_null(node);
    struct error_info err = {.kind = ERROR_NONE};
    unsigned gpus[GPUS];
    assert_int_equal(gpu_mapping_solve(node, 1, 9, gpus, &err), -1);
    assert_string_equal(err.text, "9 ranks on test-node, which has 8 GPUs; use at most 8");
    assert_int_equal(gpu_mapping_solve(node, 3, 8, gpus, &err), -1);
    assert_string_equal(err.text, "tp=3 does not divide the 8 ranks of a node");
    assert_int_equal(gpu_mapping_solve(node, 1, 0, gpus, &err), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_groups_on_their_links),
    cmocka_unit_test(refuses_what_does_not_fit),
};

int main(void) { return unit_test_main("mapping/gpu_mapping", tests, COUNT_OF(tests)); }
