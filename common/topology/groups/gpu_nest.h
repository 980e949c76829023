/* SPDX-License-Identifier: MIT */
/*
 * gpu_nest: GPUs of a node for ranks whose groups lie inside each other: TP groups, and around
 * them CP, EP or shard groups. TP groups first: they are what gpu_groups_partition finds best,
 * on links or not. A wider group counts only where each of its groups has a ring of NVLinks
 * and no TP group is worse for it.
 */
#ifndef TOPOLOGY_GPU_NEST_H
#define TOPOLOGY_GPU_NEST_H

#include "base/error.h"
#include "topology/node_topology.h"

#define GPU_NEST_WIDER 3u

struct gpu_nest {
    unsigned gpus[NODE_MAXIMUM_GPUS]; /* groups one after the other, narrower inside wider; in the
                                       * narrowest as in `order` */
    unsigned widths[1 + GPU_NEST_WIDER]; /* of the groups that are kept, narrowest first */
    unsigned width_count;                /* 0: nothing decides, and gpus are the order's */
};

/* ranks GPUs of the node (all, or those whose groups are best). order: each GPU of the node
 * once; of equal answers the one with the first of them. tp divides ranks; 1: no TP
 * groups. wider: widths, descending, that divide ranks and that tp divides; the first that the
 * links hold decides, then narrower ones inside it. Exact up to GPU_SEARCH_MAXIMUM GPUs; above,
 * TP groups only, by index. Refused: out of memory. */
int gpu_nest_solve(const struct node_topology *node, const unsigned *order, unsigned ranks,
                   unsigned tp, const unsigned *wider, unsigned wider_count, struct gpu_nest *ret,
                   struct error_info *err);

#endif
