/* SPDX-License-Identifier: MIT */
/*
 * slurm_blocks: the tiers of Slurm's topology/block over blocks that a draft holds as NVLink
 * domains, one domain for each block in Slurm's order.
 *
 * BlockSizes=18,36,72: blocks count as 18 nodes, two consecutive ones are an aggregate of 36,
 * four one of 72; the last aggregate of a tier may be short. Source: topology.conf(5).
 */
#ifndef TOPOLOGY_SLURM_BLOCKS_H
#define TOPOLOGY_SLURM_BLOCKS_H

#include "topology/fabric_readers/fabric_draft.h"

struct slurm_block_sizes {
    unsigned nodes[FABRIC_MAXIMUM_TIERS];
    unsigned count;
};

/* The next size: the first one times a power of two, and larger than the one before; one that
 * is equal to the last adds nothing. The message has no place: prefix it. */
int slurm_block_sizes_add(struct slurm_block_sizes *sizes, const char *text,
                          struct error_info *err);

/* Each domain becomes a switch of tier "block" with its name and nodes, too, and aggregates
 * become tiers "aggregate-36". For drafts without other switches. */
int slurm_blocks_place(struct fabric_draft *draft, const struct slurm_block_sizes *sizes,
                       struct error_info *err);

#endif
