/* SPDX-License-Identifier: MIT */
#include "mapping/visible_gpus.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/node_evidence.h"
#include <stdio.h>

#define GB 1e9

/* Hives {0,2,3,5} and {1,4,6,7}: index ranges are no groups. */
static struct node_topology *hives(bool with_uuids)
{
    static const unsigned hive_of[8] = {0, 1, 0, 0, 1, 0, 1, 1};
    static double rates[64];
    static char uuids[8][8];
    struct evidence_gpu gpus[8];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(uuids[i], sizeof(uuids[i]), "GPU-%u", i);
        gpus[i] = (struct evidence_gpu){.uuid = with_uuids ? uuids[i] : NULL, .numa = NUMA_UNKNOWN};
        for (unsigned j = 0; j < 8; j++)
            rates[i * 8 + j] = i != j && hive_of[i] == hive_of[j] ? 50 * GB : 0;
    }
    const struct node_evidence evidence = {.source = EVIDENCE_KFD,
                                           .source_text = "kfd",
                                           .gpus = gpus,
                                           .gpu_count = 8,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_bytes_per_second = rates};
    const struct node_evidence *const all[] = {&evidence};
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *node = node_topology_merge("n1", all, 1, NULL, &err);
    expect_made(node, &err);
    return node;
}

static struct degrees with_tp(unsigned tp, unsigned ep)
{
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = tp;
    degrees.ep = ep;
    return degrees;
}

static void orders_devices(void **state)
{
    (void)state;
    static const struct {
        unsigned tp, ranks;
        const char *visible, *devices;
        enum visible_order order;
        const char *expected; /* the list, or a part of the reason */
        unsigned ep;
    } cases[] = {
        {4, 8, "0,1,2,3,4,5,6,7", NULL, VISIBLE_CHANGED, "0,2,3,5,1,4,6,7", 1},
        {2, 8, "0,1,2,3,4,5,6,7", NULL, VISIBLE_CHANGED, "0,2,1,4,3,5,6,7", 1},
        {1, 8, "0,1,2,3,4,5,6,7", NULL, VISIBLE_SAME, "", 1},
        {1, 8, "0,1,2,3,4,5,6,7", NULL, VISIBLE_CHANGED, "0,2,3,5,1,4,6,7", 4},
        {1, 4, "0,1,2,3", "1,2,4,5", VISIBLE_CHANGED, "0,2,1,3", 2},
        /* A cgroup counts its own: the tokens stay the job's, their places follow the devices. */
        {2, 4, "0,1,2,3", "1,2,4,5", VISIBLE_CHANGED, "0,2,1,3", 1},
        {2, 4, "GPU-1,GPU-2,GPU-4,GPU-5", NULL, VISIBLE_CHANGED, "GPU-1,GPU-4,GPU-2,GPU-5", 1},
        /* A UUID counts, whatever numbers stand beside it. */
        {2, 4, "GPU-5,GPU-1,GPU-2,GPU-4", "1,2,4,5", VISIBLE_CHANGED, "GPU-1,GPU-4,GPU-2,GPU-5", 1},
        {2, 2, "GPU-1,GPU-9", "0,1", VISIBLE_UNKNOWN, "device GPU-9 is none of the 8 GPUs", 1},
        {2, 2, "0,1", "0,8", VISIBLE_UNKNOWN, "device 8 is none of the 8 GPUs", 1},
        {2, 4, "7,6,4,1", NULL, VISIBLE_CHANGED, "1,4,6,7", 1},
        {4, 4, "0,2,3,5", NULL, VISIBLE_SAME, "", 1},
        {8, 8, "0,1,2,3,4,5,6,7", NULL, VISIBLE_SAME, "", 1},
        {2, 4, "0,1", NULL, VISIBLE_UNKNOWN, "2 devices are visible to 4 ranks", 1},
        {2, 2, "0,8", NULL, VISIBLE_UNKNOWN, "device 8 is none of the 8 GPUs", 1},
        {2, 2, "3,3", NULL, VISIBLE_UNKNOWN, "device 3 is none of the 8 GPUs", 1},
        {2, 2, "0,MIG-1", NULL, VISIBLE_UNKNOWN, "device MIG-1 is none", 1},
        {2, 2, "0,", NULL, VISIBLE_UNKNOWN, "1 devices", 1},
        {2, 2, ",,", NULL, VISIBLE_UNKNOWN, "none of the 8", 1},
        {2, 0, "", NULL, VISIBLE_UNKNOWN, "", 1},
        {2, 2, "0,1", "1", VISIBLE_UNKNOWN, "2 devices", 1},
        {2, 2, "0,99999999999999999999", NULL, VISIBLE_UNKNOWN, "none of the 8", 1},
    };
    CLEANUP(node_topology) struct node_topology *node = hives(true);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer list;
        text_buffer_init(&list, 4096);
        const struct degrees degrees = with_tp(cases[i].tp, cases[i].ep);
        unsigned gpus[NODE_MAXIMUM_GPUS];
        enum visible_order order =
            visible_gpus_order(node, &degrees, ORDER_TP_CP_EP_DP_PP, cases[i].ranks,
                               cases[i].visible, cases[i].devices, &list, gpus, &err);
        if (order != cases[i].order)
            fail_msg("case %zu: order %d, reason '%s'", i, (int)order, err.text);
        if (order == VISIBLE_UNKNOWN)
            assert_non_null(strstr(err.text, cases[i].expected));
        else
            assert_string_equal(text_buffer_text(&list), cases[i].expected);
    }
}

/* A cache that was written without NVML: the numbers are all there is. */
static void takes_numbers_where_no_uuid_is_known(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = hives(false);
    CLEANUP_DONE(text_buffer) struct text_buffer list;
    struct error_info err = {.kind = ERROR_NONE};
    const struct degrees pairs = with_tp(2, 1);
    unsigned gpus[NODE_MAXIMUM_GPUS];
    text_buffer_init(&list, 4096);
    assert_int_equal(visible_gpus_order(node, &pairs, ORDER_TP_CP_EP_DP_PP, 4,
                                        "GPU-a,GPU-b,GPU-c,GPU-d", "1,2,4,5", &list, gpus, &err),
                     VISIBLE_CHANGED);
    assert_string_equal(text_buffer_text(&list), "GPU-a,GPU-c,GPU-b,GPU-d");
    static const unsigned order[] = {1, 4, 2, 5};
    assert_memory_equal(gpus, order, sizeof(order));
}

static void says_which_gpus_a_step_has(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = hives(true);
    struct error_info err = {.kind = ERROR_NONE};
    struct visible_gpus found;
    assert_int_equal(visible_gpus_match(node, 2, "7,GPU-3,0", NULL, &found, &err), 0);
    assert_int_equal(found.count, 2); /* no rank takes the third */
    assert_int_equal(found.gpus[0], 3);
    assert_int_equal(found.positions[0], 1);
    assert_int_equal(found.gpus[1], 7);
    assert_int_equal(found.positions[1], 0);
    assert_int_equal(visible_gpus_match(node, 4, "7,3,0", NULL, &found, &err), -1);
    assert_int_equal(found.gpus[1], 7);
}

static void long_lists_are_counted_only(void **state)
{
    (void)state;
    CLEANUP(node_topology) struct node_topology *node = hives(true);
    CLEANUP_DONE(text_buffer) struct text_buffer many, list;
    struct error_info err = {.kind = ERROR_NONE};
    text_buffer_init(&many, 65536);
    text_buffer_init(&list, 4096);
    unsigned gpus[NODE_MAXIMUM_GPUS];
    for (unsigned i = 0; i < 5000; i++)
        text_buffer_add(&many, "%u,", i);
    const struct degrees pairs = with_tp(2, 1);
    assert_int_equal(visible_gpus_order(node, &pairs, ORDER_TP_CP_EP_DP_PP, 5000,
                                        text_buffer_text(&many), NULL, &list, gpus, &err),
                     VISIBLE_UNKNOWN);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(orders_devices),
    cmocka_unit_test(takes_numbers_where_no_uuid_is_known),
    cmocka_unit_test(says_which_gpus_a_step_has),
    cmocka_unit_test(long_lists_are_counted_only),
};

int main(void) { return unit_test_main("mapping/visible_gpus", tests, COUNT_OF(tests)); }
