/* SPDX-License-Identifier: MIT */
/*
 * block_order: in which order the blocks of consecutive RANKs want to be laid side by side,
 * and which stretches of that order want to stay together.
 *
 * A block is gpus_per_node consecutive RANKs (g). Let S = tp * cp (a cell: the ranks of one
 * dp and pp) and E = etp * ep. Blocks belong together, nearest first:
 *   a TP group wider than a node; a cell; an expert group; the blocks that share any of
 *   these (W = lcm(g, S, E) ranks inside one pipeline stage); under 1 < shard < dp the shard
 *   group; then all stages of those (whole replicas, from the first to the last pp);
 *   replicas come last, in the order of dp, so that replicate is outermost.
 * Order tp-cp-ep-dp-pp has the stages of one replica L = S * dp ranks apart, order
 * tp-cp-ep-pp-dp has them side by side; the result is the same. Where g does not divide L
 * (a node holds ranks of two stages) no replica is separate, and the numbering's order stays.
 *
 * Pure; closed form, no allocation.
 */
#ifndef MAPPING_SOLVER_BLOCK_ORDER_H
#define MAPPING_SOLVER_BLOCK_ORDER_H

#include "base/error.h"
#include "workload/parallelism.h"
#include "workload/rank_order.h"

#define BLOCK_ORDER_LOOPS 7u
#define BLOCK_ORDER_UNITS 10u

/* Block of position p: nested loops, outermost first: rectangles of stages, rectangles of units of
 * replicas, stages between tiles of one rectangle (each of the three once, unless
 * block_order_tile), unit of replicas, stage, replica group, block inside. */
struct block_loop {
    unsigned count, stride;
};

struct block_order {
    unsigned block_count;
    struct block_loop loops[BLOCK_ORDER_LOOPS];
    /* Sizes in blocks of the stretches that stay together, each a divisor of the one before:
     * units[0] = block_count, …, the last one is 1. Every multiple of a size starts one. */
    unsigned units[BLOCK_ORDER_UNITS];
    unsigned unit_count;
    unsigned tp_blocks; /* of a TP group; 1: inside one */
    /* Stretches of this many blocks, from a multiple on, are like each other: it does not
     * matter for the cost which of them a switch gets, as long as it gets them whole. */
    unsigned alike;
};

/* Refuses degrees whose world is not a multiple of gpus_per_node, a TP group that a block's
 * end would cut, and what rank_order_check refuses. */
int block_order_of(const struct degrees *degrees, enum rank_order order, unsigned gpus_per_node,
                   struct block_order *ret, struct error_info *err);
/* Without degrees: the numbering's order, everything together. */
void block_order_plain(unsigned block_count, struct block_order *ret);

/* Stages that can be laid side by side: as many as one replica's blocks have; 1: none. */
unsigned block_order_stages(const struct block_order *order);
unsigned block_order_units(const struct block_order *order);       /* of replicas */
unsigned block_order_unit_blocks(const struct block_order *order); /* of one stage of a unit */

/* Rectangles of stages and units of replicas instead of whole replicas one after the other: for a
 * leaf and for what is above it. stages divides outer_stages, that the stages, outer_units the
 * units. stages = outer_stages = 1 and all units: stage after stage. */
struct block_tile {
    unsigned stages;                    /* side by side, before the next unit's */
    unsigned outer_stages, outer_units; /* of the larger rectangle */
};

void block_order_tile(struct block_order *order, const struct block_tile *tile);

/* ret_blocks[position] = block; block_count entries. */
void block_order_fill(const struct block_order *order, unsigned *ret_blocks);

#endif
