/* SPDX-License-Identifier: MIT */
/*
 * rank_map: RANK -> node, local rank, GPU, NIC. Immutable, and compact: blocks of
 * consecutive RANKs on nodes, and one GPU permutation per node kind.
 */
#ifndef MAPPING_RANK_MAP_H
#define MAPPING_RANK_MAP_H

#include "mapping/node_mapping.h"
#include <stdbool.h>

struct rank_place {
    uint64_t rank;
    unsigned node;       /* index into the cluster's nodes */
    unsigned local_rank; /* RANK % gpus_per_node: an index into the visible devices */
    unsigned gpu;        /* PCI order index on the node */
    int nic;             /* NIC index of the node, or -1 */
    struct rank_coordinates coordinates;
};

struct rank_map {
    const struct cluster_topology *cluster; /* not owned */
    struct degrees degrees;
    enum rank_order order;
    bool locality_only; /* degrees and coordinates mean nothing */
    uint64_t world;
    unsigned gpus_per_node;
    size_t block_count;
    const unsigned *block_nodes;      /* block -> node index: a bijection onto the used nodes */
    struct mapping_quality quality;   /* all 0 under locality_only and identity */
    const unsigned *const *kind_gpus; /* kind -> gpus_per_node GPU indices by local rank */
    struct arena *arena;
};

struct rank_map *rank_map_create(const struct node_mapping_request *request,
                                 struct error_info *err);
void rank_map_free(struct rank_map *map);
void rank_map_place(const struct rank_map *map, uint64_t rank, struct rank_place *ret);
/* The name of RANK 0's node. */
const char *rank_map_master(const struct rank_map *map);

DEFINE_CLEANUP(rank_map);

#endif
