/* SPDX-License-Identifier: MIT */
/*
 * mapping_cost: bytes per step that a mapping moves over each tier.
 * Traffic per dimension comes from traffic.h (needs a model); without a model only the
 * number of neighbour pairs of each dimension per tier is known. A ring of k has k pairs
 * (each rank and its next, also when k is 2), a chain k - 1, a group of one none; expert
 * rings are those of the expert grid. Without degrees there are none.
 * O(blocks) for each dimension.
 */
#ifndef MAPPING_MAPPING_COST_H
#define MAPPING_MAPPING_COST_H

#include "mapping/rank_map.h"
#include "mapping/traffic.h"

/* Slots: 0 inside a node, 1 inside an NVLink domain across nodes, 2 + t tier t, last: unknown. */
#define COST_SLOT_NODE 0u
#define COST_SLOT_DOMAIN 1u
#define COST_SLOT_TIERS 2u
#define COST_SLOT_MAXIMUM (COST_SLOT_TIERS + FABRIC_MAXIMUM_TIERS + 1u)

struct mapping_cost {
    unsigned slot_count;
    const char *slot_names[COST_SLOT_MAXIMUM]; /* "node", "nvlink domain", "leaf", …, "unknown" */
    uint64_t pairs[TRAFFIC_DIMENSION_COUNT][COST_SLOT_MAXIMUM]; /* ring or chain neighbours */
    double bytes[TRAFFIC_DIMENSION_COUNT][COST_SLOT_MAXIMUM];   /* per step; 0 without traffic */
    bool bytes_known;
};

/* traffic may be NULL. Names point into the cluster. */
void mapping_cost_compute(const struct rank_map *map, const struct traffic *traffic,
                          struct mapping_cost *ret);

#endif
