/* SPDX-License-Identifier: MIT */
#include "mapping/solver/block_order.h"
#include "base/cleanup.h"
#include <inttypes.h>

enum {
    LOOP_OUTER_STAGE,
    LOOP_OUTER_UNIT,
    LOOP_MIDDLE_STAGE,
    LOOP_UNIT,
    LOOP_STAGE,
    LOOP_GROUP,
    LOOP_INSIDE
};

#define ONCE ((struct block_loop){1, 0})

static uint64_t greatest_common_divisor(uint64_t left, uint64_t right)
{
    while (right != 0) {
        uint64_t rest = left % right;
        left = right;
        right = rest;
    }
    return left;
}

/* Of numbers from 1 on; both divide a stage, which bounds the turns. */
static uint64_t least_common_multiple(uint64_t left, uint64_t right)
{
    uint64_t larger = left > right ? left : right, smaller = left > right ? right : left;
    uint64_t multiple = larger;
    while (multiple % smaller != 0)
        multiple += larger;
    return multiple;
}

/* The shapes in ranks; each divides the world that check_shape has accepted. */
struct rank_shape {
    uint64_t block, tp, cell, experts, stage, world;
    unsigned pp, dp, shard;
};

static void add_unit(struct block_order *order, uint64_t blocks)
{
    unsigned last = order->units[order->unit_count - 1];
    if (blocks > 0 && blocks < last && last % blocks == 0)
        order->units[order->unit_count++] = (unsigned)blocks;
}

/* What is wider than a node inside a stage; what does not consist of TP groups stays out. */
static void add_inner_units(struct block_order *order, const struct rank_shape *shape)
{
    const uint64_t widths[] = {shape->experts, shape->cell, shape->tp};
    for (size_t i = 0; i < COUNT_OF(widths); i++)
        if (widths[i] % shape->block == 0 && widths[i] % shape->tp == 0)
            add_unit(order, widths[i] / shape->block);
    add_unit(order, 1);
}

void block_order_plain(unsigned block_count, struct block_order *ret)
{
    *ret = (struct block_order){
        .block_count = block_count,
        .loops = {ONCE, ONCE, ONCE, ONCE, ONCE, ONCE, {block_count, 1}},
        .units = {block_count},
        .unit_count = 1,
        .tp_blocks = 1,
        .alike = 1,
    };
    add_unit(ret, 1);
}

/* The first size that the blocks hold several of: a ring of replicas, or one chain of stages. */
static unsigned first_repeated(unsigned blocks, uint64_t replicas, uint64_t stage)
{
    if (replicas < blocks)
        return (unsigned)replicas;
    return stage < blocks ? (unsigned)stage : blocks;
}

/* Neighbouring replica groups that one narrow shard group spans. */
static unsigned groups_per_unit(const struct rank_shape *shape, uint64_t group_replicas)
{
    if (shape->shard <= 1 || shape->shard >= shape->dp)
        return 1;
    return shape->shard / (unsigned)greatest_common_divisor(shape->shard, group_replicas);
}

/* Stages far apart in RANK: dp varies faster than pp (or there is one stage). */
static void order_stages_apart(const struct rank_shape *shape, struct block_order *ret)
{
    uint64_t width =
        least_common_multiple(least_common_multiple(shape->block, shape->cell), shape->experts);
    unsigned inside = (unsigned)(width / shape->block);
    unsigned stage_blocks = (unsigned)(shape->stage / shape->block);
    unsigned groups = groups_per_unit(shape, width / shape->cell);
    unsigned unit = groups * inside;
    ret->loops[LOOP_UNIT] = (struct block_loop){stage_blocks / unit, unit};
    ret->loops[LOOP_STAGE] = (struct block_loop){shape->pp, stage_blocks};
    ret->loops[LOOP_GROUP] = (struct block_loop){groups, inside};
    ret->loops[LOOP_INSIDE] = (struct block_loop){inside, 1};
    ret->alike = first_repeated(ret->block_count, (uint64_t)unit * shape->pp, unit);
    add_unit(ret, (uint64_t)unit * shape->pp);
    add_unit(ret, unit);
    add_unit(ret, inside);
}

/* Stages side by side in RANK; the expert grid is the dense one (rank_order_check). */
static void order_stages_together(const struct rank_shape *shape, struct block_order *ret)
{
    uint64_t replica = shape->cell * shape->pp;
    uint64_t width = least_common_multiple(shape->block, replica);
    unsigned group = (unsigned)(width / shape->block);
    unsigned inside = shape->cell % shape->block == 0 ? (unsigned)(shape->cell / shape->block) : 1;
    unsigned groups = groups_per_unit(shape, width / replica);
    unsigned unit = groups * group;
    bool whole =
        width == replica && (shape->cell % shape->block == 0 || shape->block % shape->cell == 0);
    ret->alike = first_repeated(ret->block_count, unit, whole ? groups * inside : unit);
    ret->loops[LOOP_UNIT] = (struct block_loop){ret->block_count / unit, unit};
    ret->loops[LOOP_STAGE] = (struct block_loop){group / inside, inside};
    ret->loops[LOOP_GROUP] = (struct block_loop){groups, group};
    ret->loops[LOOP_INSIDE] = (struct block_loop){inside, 1};
    add_unit(ret, unit);
    add_unit(ret, (uint64_t)groups * inside);
    add_unit(ret, inside);
}

static int check_shape(const struct rank_shape *shape, struct error_info *err)
{
    if (shape->world == 0 || shape->block == 0)
        return error_set(err, "a mapping needs at least one rank and one rank per node");
    if (shape->block % shape->tp != 0 && shape->tp % shape->block != 0)
        return error_set(err,
                         "tp=%" PRIu64 ": nodes of %" PRIu64 " ranks would cut a TP group; use "
                         "tp=%" PRIu64 ", or %" PRIu64 " ranks per node",
                         shape->tp, shape->block, greatest_common_divisor(shape->tp, shape->block),
                         shape->tp);
    if (shape->world % shape->block != 0)
        return error_set(err,
                         "%" PRIu64 " ranks do not fill nodes of %" PRIu64 "; use a multiple of "
                         "%" PRIu64 " ranks",
                         shape->world, shape->block, shape->block);
    if (shape->experts == 0 || shape->stage % shape->experts != 0)
        return error_set(err, "experts of %" PRIu64 " ranks do not divide a stage of %" PRIu64,
                         shape->experts, shape->stage);
    if (shape->shard == 0 || shape->dp % shape->shard != 0)
        return error_set(err, "shard=%u does not divide dp=%u", shape->shard, shape->dp);
    return 0;
}

int block_order_of(const struct degrees *degrees, enum rank_order order, unsigned gpus_per_node,
                   struct block_order *ret, struct error_info *err)
{
    const struct rank_shape shape = {
        .block = gpus_per_node,
        .tp = degrees->tp,
        .cell = (uint64_t)degrees->tp * degrees->cp,
        .experts = (uint64_t)degrees->etp * degrees->ep,
        .stage = (uint64_t)degrees->tp * degrees->cp * degrees->dp,
        .world = degrees_world(degrees),
        .pp = degrees->pp,
        .dp = degrees->dp,
        .shard = degrees->shard,
    };
    if (check_shape(&shape, err) < 0 || rank_order_check(order, degrees, err) < 0)
        return -1;
    unsigned blocks = (unsigned)(shape.world / shape.block);
    *ret = (struct block_order){.block_count = blocks, .units = {blocks}, .unit_count = 1};
    bool apart = order == ORDER_TP_CP_EP_DP_PP || degrees->pp == 1;
    if (!apart) {
        order_stages_together(&shape, ret);
    } else if (shape.stage % shape.block == 0) {
        order_stages_apart(&shape, ret);
    } else {
        block_order_plain(blocks, ret);
        ret->unit_count = 1;
        ret->alike = blocks;
    }
    ret->loops[LOOP_OUTER_STAGE] = ret->loops[LOOP_OUTER_UNIT] = ret->loops[LOOP_MIDDLE_STAGE] =
        ONCE;
    add_inner_units(ret, &shape);
    ret->tp_blocks = shape.tp > shape.block ? (unsigned)(shape.tp / shape.block) : 1;
    return 0;
}

unsigned block_order_stages(const struct block_order *order)
{
    return order->loops[LOOP_STAGE].count;
}

unsigned block_order_units(const struct block_order *order)
{
    return order->loops[LOOP_UNIT].count;
}

unsigned block_order_unit_blocks(const struct block_order *order)
{
    return order->loops[LOOP_GROUP].count * order->loops[LOOP_INSIDE].count;
}

static struct block_loop steps_of(const struct block_loop *loop, unsigned step)
{
    return (struct block_loop){loop->count / step, loop->stride * step};
}

void block_order_tile(struct block_order *order, const struct block_tile *tile)
{
    struct block_order tiled = *order;
    const struct block_loop *stages = &order->loops[LOOP_STAGE], *units = &order->loops[LOOP_UNIT];
    uint64_t group = block_order_unit_blocks(order);
    tiled.loops[LOOP_OUTER_STAGE] = steps_of(stages, tile->outer_stages);
    tiled.loops[LOOP_OUTER_UNIT] = steps_of(units, tile->outer_units);
    tiled.loops[LOOP_MIDDLE_STAGE] = steps_of(stages, tile->stages);
    tiled.loops[LOOP_MIDDLE_STAGE].count = tile->outer_stages / tile->stages;
    tiled.loops[LOOP_UNIT].count = tile->outer_units;
    tiled.loops[LOOP_STAGE].count = tile->stages;
    tiled.alike = tiled.block_count;
    tiled.unit_count = 1;
    add_unit(&tiled, units->count * tile->outer_stages * group);
    add_unit(&tiled, (uint64_t)tile->outer_units * tile->outer_stages * group);
    add_unit(&tiled, (uint64_t)tile->outer_units * tile->stages * group);
    add_unit(&tiled, tile->stages * group);
    for (unsigned i = 0; i < order->unit_count; i++)
        if (order->units[i] <= group && tiled.unit_count < BLOCK_ORDER_UNITS)
            add_unit(&tiled, order->units[i]);
    *order = tiled;
}

static size_t fill_unit(const struct block_order *order, unsigned first, size_t position,
                        unsigned *ret_blocks)
{
    const struct block_loop *loops = order->loops;
    for (unsigned stage = 0; stage < loops[LOOP_STAGE].count; stage++)
        for (unsigned group = 0; group < loops[LOOP_GROUP].count; group++) {
            unsigned block =
                first + stage * loops[LOOP_STAGE].stride + group * loops[LOOP_GROUP].stride;
            for (unsigned inside = 0; inside < loops[LOOP_INSIDE].count; inside++)
                ret_blocks[position++] = block + inside;
        }
    return position;
}

/* Block at the step-th turn of the four outer loops. */
static unsigned first_of(const struct block_order *order, unsigned step)
{
    unsigned first = 0;
    for (unsigned loop = LOOP_UNIT + 1; loop-- > 0;) {
        first += step % order->loops[loop].count * order->loops[loop].stride;
        step /= order->loops[loop].count;
    }
    return first;
}

void block_order_fill(const struct block_order *order, unsigned *ret_blocks)
{
    unsigned steps = 1;
    for (unsigned loop = 0; loop <= LOOP_UNIT; loop++)
        steps *= order->loops[loop].count;
    size_t position = 0;
    for (unsigned step = 0; step < steps; step++)
        position = fill_unit(order, first_of(order, step), position, ret_blocks);
}
