/* SPDX-License-Identifier: MIT */
/*
 * gpu_search: groups of GPUs and groups of those groups, nested, exactly, by dynamic
 * programming over sets of GPUs. Of the partitions of a set the best has, level by level from
 * the narrowest on, the best worst group, then the best second worst, … (gpu_group_compare);
 * ties go to the GPUs that `order` has first. What a wider level wants never costs a narrower one
 * anything.
 */
#ifndef TOPOLOGY_GPU_SEARCH_H
#define TOPOLOGY_GPU_SEARCH_H

#include "base/error.h"
#include "base/memory.h"
#include "topology/node_topology.h"

#define GPU_SEARCH_MAXIMUM 16u /* GPUs */
#define GPU_SEARCH_LEVELS 4u
#define GPU_SEARCH_CLASSES 16u /* 8 + 4 + 2 + 1 groups of 16 GPUs, and one to spare */

/* Classes of the groups in a partition of some set, level after level, each level worst first:
 * class 0 is the best quality, so the smaller list is better. Adding the same groups to two
 * lists keeps their order, which is what makes the dynamic programming exact. */
struct gpu_score {
    uint16_t classes[GPU_SEARCH_CLASSES];
};

struct gpu_search_level {
    unsigned width;
    unsigned first, end;    /* of this level's classes in a score */
    uint16_t *class_of;     /* set of `width` GPUs -> class */
    struct gpu_score *best; /* set of GPUs -> score of its best partition */
    uint16_t *choice;       /* … and the first group of it; 0: not computed */
};

struct gpu_search {
    const struct node_topology *node;
    const unsigned *order; /* bit i of a set is GPU order[i] */
    unsigned level_count;
    struct gpu_search_level levels[GPU_SEARCH_LEVELS];
};

/* order: each GPU of the node once; the caller's. Widths ascending, each a multiple of the one
 * before and at least 2; the node has at most GPU_SEARCH_MAXIMUM GPUs, at least widths[count - 1].
 * gpu_search_done also after -1. */
int gpu_search_init(struct gpu_search *search, const struct node_topology *node,
                    const unsigned *order, const unsigned *widths, unsigned count,
                    struct error_info *err);
void gpu_search_done(struct gpu_search *search);

/* The set of so many GPUs (bit i: order[i]) whose partition is best; of equal ones the smallest
 * number. */
unsigned gpu_search_best_set(struct gpu_search *search, unsigned gpus);
/* The GPUs of the best partition of the set into groups of the widest level; what no whole group is
 * left for is left over. Widest groups one after the other, inside them narrower ones, inside the
 * narrowest the GPUs as in `order`. Returns how many. */
unsigned gpu_search_read(struct gpu_search *search, unsigned set, unsigned *ret_gpus);

DEFINE_CLEANUP_DONE(gpu_search);

#endif
