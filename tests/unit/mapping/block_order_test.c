/* SPDX-License-Identifier: MIT */
#include "mapping/solver/block_order.h"
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include <string.h>

#define BLOCKS_MAXIMUM 64u

static const struct row {
    const char *name;
    struct degrees degrees;
    enum rank_order order;
    unsigned gpus_per_node;
    const char *blocks, *units;
} rows[] = {
    {"two pipelines of four nodes",
     {8, 1, 1, 8, 4, 1, 2, 1, 2},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 2 4 6 1 3 5 7",
     "8 4 1"},
    {"the same, stages side by side",
     {8, 1, 1, 8, 4, 1, 2, 1, 2},
     ORDER_TP_CP_EP_PP_DP,
     8,
     "0 1 2 3 4 5 6 7",
     "8 4 1"},
    {"data parallel only",
     {1, 1, 1, 1, 1, 1, 64, 1, 64},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 1 2 3 4 5 6 7",
     "8 1"},
    {"a pipeline only", {8, 1, 1, 8, 4, 1, 1, 1, 1}, ORDER_TP_CP_EP_DP_PP, 8, "0 1 2 3", "4 1"},
    {"cells of two nodes",
     {8, 2, 1, 8, 2, 1, 2, 1, 2},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 1 4 5 2 3 6 7",
     "8 4 2 1"},
    {"TP over two nodes in cells of four",
     {8, 2, 1, 8, 1, 1, 2, 1, 2},
     ORDER_TP_CP_EP_DP_PP,
     4,
     "0 1 2 3 4 5 6 7",
     "8 4 2 1"},
    {"expert groups of two nodes",
     {1, 1, 16, 1, 2, 1, 32, 1, 32},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 1 4 5 2 3 6 7",
     "8 4 2 1"},
    {"shard groups of two replicas",
     {8, 1, 1, 8, 2, 1, 4, 2, 2},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 1 4 5 2 3 6 7",
     "8 4 2 1"},
    {"the same, stages side by side",
     {8, 1, 1, 8, 2, 1, 4, 2, 2},
     ORDER_TP_CP_EP_PP_DP,
     8,
     "0 2 1 3 4 6 5 7",
     "8 4 2 1"},
    {"sharded over everything",
     {8, 1, 1, 8, 2, 1, 4, 4, 1},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 4 1 5 2 6 3 7",
     "8 2 1"},
    {"two cells in a block",
     {4, 1, 1, 4, 2, 1, 4, 1, 4},
     ORDER_TP_CP_EP_DP_PP,
     8,
     "0 2 1 3",
     "4 2 1"},
    {"two stages in a block",
     {4, 1, 1, 4, 4, 1, 2, 1, 2},
     ORDER_TP_CP_EP_PP_DP,
     8,
     "0 1 2 3",
     "4 2 1"},
    {"blocks across stages", {4, 1, 1, 4, 2, 1, 3, 1, 3}, ORDER_TP_CP_EP_DP_PP, 8, "0 1 2", "3 1"},
    {"blocks across replicas",
     {4, 1, 1, 4, 3, 1, 4, 1, 4},
     ORDER_TP_CP_EP_PP_DP,
     8,
     "0 1 2 3 4 5",
     "6 3 1"},
};

static void joins(const unsigned *numbers, unsigned count, struct text_buffer *out)
{
    text_buffer_init(out, 4096);
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(out, "%s%u", i ? " " : "", numbers[i]);
}

static void orders_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct block_order order;
        struct error_info err = {.kind = ERROR_NONE};
        if (block_order_of(&rows[i].degrees, rows[i].order, rows[i].gpus_per_node, &order, &err) <
            0)
            fail_msg("%s: %s", rows[i].name, err.text);
        unsigned blocks[BLOCKS_MAXIMUM];
        block_order_fill(&order, blocks);
        CLEANUP_DONE(text_buffer) struct text_buffer got, units;
        joins(blocks, order.block_count, &got);
        joins(order.units, order.unit_count, &units);
        if (strcmp(text_buffer_text(&got), rows[i].blocks) != 0 ||
            strcmp(text_buffer_text(&units), rows[i].units) != 0)
            fail_msg("%s: blocks %s, units %s", rows[i].name, text_buffer_text(&got),
                     text_buffer_text(&units));
        text_buffer_done(&units);
        text_buffer_done(&got);
    }
}

static void keeps_everything_together_without_degrees(void **state)
{
    (void)state;
    struct block_order order;
    unsigned blocks[3];
    block_order_plain(3, &order);
    block_order_fill(&order, blocks);
    assert_int_equal(blocks[0], 0);
    assert_int_equal(blocks[2], 2);
    assert_int_equal(order.unit_count, 2);
    assert_int_equal(order.units[0], 3);
    assert_int_equal(order.units[1], 1);
}

/* Four stages of four replicas, or two of two that are two nodes wide. */
static const struct degrees square = {8, 1, 1, 8, 4, 1, 4, 1, 4};
static const struct degrees cells = {8, 2, 1, 16, 2, 1, 2, 1, 2};

static const struct tile_row {
    const char *name;
    const struct degrees *degrees;
    enum rank_order order;
    struct block_tile tile;
    const char *blocks, *units;
} tiles[] = {
    {"all stages of all units: replica after replica",
     &square,
     ORDER_TP_CP_EP_DP_PP,
     {4, 4, 4},
     "0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15",
     "16 4 1"},
    {"stage after stage",
     &square,
     ORDER_TP_CP_EP_DP_PP,
     {1, 1, 4},
     "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
     "16 4 1"},
    {"two stages side by side",
     &square,
     ORDER_TP_CP_EP_DP_PP,
     {2, 2, 4},
     "0 4 1 5 2 6 3 7 8 12 9 13 10 14 11 15",
     "16 8 2 1"},
    {"squares inside of halves of the replicas",
     &square,
     ORDER_TP_CP_EP_DP_PP,
     {2, 4, 2},
     "0 4 1 5 8 12 9 13 2 6 3 7 10 14 11 15",
     "16 8 4 2 1"},
    {"the same, stages side by side in RANK",
     &square,
     ORDER_TP_CP_EP_PP_DP,
     {2, 4, 2},
     "0 1 4 5 2 3 6 7 8 9 12 13 10 11 14 15",
     "16 8 4 2 1"},
    {"stage after stage from there",
     &square,
     ORDER_TP_CP_EP_PP_DP,
     {1, 1, 4},
     "0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15",
     "16 4 1"},
    {"cells of two nodes stay whole",
     &cells,
     ORDER_TP_CP_EP_DP_PP,
     {1, 1, 2},
     "0 1 2 3 4 5 6 7",
     "8 4 2 1"},
    {"the same, stages side by side in RANK",
     &cells,
     ORDER_TP_CP_EP_PP_DP,
     {1, 1, 2},
     "0 1 4 5 2 3 6 7",
     "8 4 2 1"},
};

static void lays_rectangles(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tiles); i++) {
        const struct tile_row *row = &tiles[i];
        struct block_order order;
        struct error_info err = {.kind = ERROR_NONE};
        if (block_order_of(row->degrees, row->order, 8, &order, &err) < 0)
            fail_msg("%s: %s", row->name, err.text);
        assert_int_equal(block_order_stages(&order), row->degrees->pp);
        assert_int_equal(block_order_units(&order), row->degrees->dp);
        assert_int_equal(block_order_unit_blocks(&order), row->degrees->cp);
        block_order_tile(&order, &row->tile);
        unsigned blocks[BLOCKS_MAXIMUM];
        memset(blocks, 0xff, sizeof(blocks));
        block_order_fill(&order, blocks);
        assert_int_equal(blocks[order.block_count], ~0u); /* as many as there are, no more */
        CLEANUP_DONE(text_buffer) struct text_buffer got, units;
        joins(blocks, order.block_count, &got);
        joins(order.units, order.unit_count, &units);
        if (strcmp(text_buffer_text(&got), row->blocks) != 0 ||
            strcmp(text_buffer_text(&units), row->units) != 0)
            fail_msg("%s: blocks %s, units %s", row->name, text_buffer_text(&got),
                     text_buffer_text(&units));
        text_buffer_done(&units);
        text_buffer_done(&got);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lays_rectangles),
    cmocka_unit_test(orders_blocks),
    cmocka_unit_test(keeps_everything_together_without_degrees),
};

int main(void) { return unit_test_main("mapping/solver/block_order", tests, COUNT_OF(tests)); }
