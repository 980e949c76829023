/* SPDX-License-Identifier: MIT */
/*
 * mapping_cost: what a mapping moves over each tier in a step, and how long that takes.
 *
 * Pairs: neighbours of each dimension per tier, known without a model. A ring of k has k pairs
 * (each rank and its next, also when k is 2), a chain k - 1, a group of one none; expert rings
 * are those of the expert grid. Without degrees there are none.
 * Bytes: what the flows of traffic.h carry per step (needs a model).
 * Seconds: the exposed share of those bytes in the seconds of link_seconds.h, a mean over the
 * ranks: each tier is a pipe as wide as the shares of the job's GPUs together, and the phases
 * of a step (TP, CP, EP and PP of every micro batch, then DP) follow one another:
 *     sum over flows f and slots s of   exposed_f bytes_f,s seconds_s / N
 * O(blocks) for each dimension.
 */
#ifndef MAPPING_MAPPING_COST_H
#define MAPPING_MAPPING_COST_H

#include "mapping/rank_map.h"
#include "mapping/solver/link_seconds.h"
#include "mapping/traffic.h"

struct mapping_cost {
    unsigned slot_count;
    const char *slot_names[COST_SLOT_MAXIMUM]; /* "node", "nvlink domain", "leaf", …, "unknown" */
    uint64_t pairs[TRAFFIC_DIMENSION_COUNT][COST_SLOT_MAXIMUM]; /* ring or chain neighbours */
    double bytes[TRAFFIC_DIMENSION_COUNT][COST_SLOT_MAXIMUM];   /* per step; 0 without traffic */
    bool bytes_known;
    double seconds[COST_SLOT_MAXIMUM]; /* exposed, per slot */
    double exposed_seconds;            /* of a step: their sum */
    bool seconds_known;
};

/* traffic may be NULL, and seconds (then seconds_known is false). Names point into the cluster.
 * The map's blocks may share nodes (a mapping made elsewhere, with blocks of one rank). */
void mapping_cost_compute(const struct rank_map *map, const struct traffic *traffic,
                          const struct link_seconds *seconds, struct mapping_cost *ret);

#endif
