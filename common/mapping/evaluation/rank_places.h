/* SPDX-License-Identifier: MIT */
/*
 * rank_places: a mapping made elsewhere: the node and the GPU of every RANK, each for itself.
 * Unlike rank_map it need not keep blocks of RANKs whole.
 */
#ifndef MAPPING_RANK_PLACES_H
#define MAPPING_RANK_PLACES_H

#include "base/cleanup.h"
#include <stdbool.h>
#include <stdint.h>

#define RANK_PLACE_NONE (~0u)

struct rank_places {
    uint64_t world;
    unsigned *nodes; /* RANK -> index into the cluster's nodes */
    unsigned *gpus;  /* RANK -> GPU of that node, PCI order index */
    bool gpus_told;  /* by the source; false: the k-th rank on a node has GPU k */
};

/* All places RANK_PLACE_NONE. NULL: out of memory. */
struct rank_places *rank_places_create(uint64_t world);
void rank_places_free(struct rank_places *places);
/* Gives the k-th rank of each node GPU k, as launchers number local ranks. All nodes are known.
 * -1: out of memory. */
int rank_places_number_gpus(struct rank_places *places, size_t node_count);

DEFINE_CLEANUP(rank_places);

#endif
