/* SPDX-License-Identifier: MIT */
/*
 * block_graph: which blocks of consecutive RANKs talk to each other, and how many pairs of ranks
 * of each flow do; pairs inside a block are counted apart. Symmetric: every pair of blocks
 * stands in the lists of both.
 */
#ifndef MAPPING_SOLVER_BLOCK_GRAPH_H
#define MAPPING_SOLVER_BLOCK_GRAPH_H

#include "base/arena.h"
#include "mapping/solver/flow_weights.h"

/* A ring or all-to-all over many nodes: more edges than this are not worth a search. */
#define BLOCK_GRAPH_MAXIMUM_EDGES (UINT64_C(1) << 23)

struct block_edge {
    unsigned to, pairs, flow;
};

struct block_graph {
    unsigned block_count;
    const uint64_t *first; /* block_count + 1: where each block's edges begin */
    const struct block_edge *edges;
    uint64_t inside[TRAFFIC_FLOWS_MAXIMUM];
    const struct flow_weights *weights;
    struct arena *arena;
};

/* Blocks of block_ranks ranks. The weights stay the caller's. */
struct block_graph *block_graph_create(const struct flow_weights *weights, uint64_t world,
                                       unsigned block_ranks, struct error_info *err);
void block_graph_free(struct block_graph *graph);

DEFINE_CLEANUP(block_graph);

#endif
