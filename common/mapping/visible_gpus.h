/* SPDX-License-Identifier: MIT */
/*
 * visible_gpus: the list of visible devices that a launcher set for a step's tasks on a node, in
 * the order of gpu_mapping (groups on links, then rails): local rank i takes the i-th.
 * A device is known by its number, which follows the PCI order, or by its UUID; a UUID is never
 * read as anything else where the node's are known. Text in, text out; no I/O.
 */
#ifndef MAPPING_VISIBLE_GPUS_H
#define MAPPING_VISIBLE_GPUS_H

#include "base/error.h"
#include "base/text_buffer.h"
#include "topology/node_topology.h"
#include "workload/rank_order.h"

enum visible_order {
    VISIBLE_SAME,    /* the order that is there is as good as any */
    VISIBLE_CHANGED, /* *ret holds the new list */
    VISIBLE_UNKNOWN, /* the devices cannot be matched with the node; err says why */
    VISIBLE_FAILED   /* out of memory */
};

/* GPUs of a node, and where they stand in a list. */
struct visible_gpus {
    unsigned gpus[NODE_MAXIMUM_GPUS]; /* indices of the node's, ascending */
    unsigned positions[NODE_MAXIMUM_GPUS];
    unsigned count;
};

/* The GPUs of the first `ranks` devices of a list. visible: "0,1,2,3" or "GPU-…,GPU-…". devices:
 * the same devices' numbers on the node, position by position, where a container or cgroup counts
 * its own (SLURM_STEP_GPUS); or NULL. -1: fewer devices, one that is none of the node's, or one
 * twice. */
int visible_gpus_match(const struct node_topology *node, unsigned ranks, const char *visible,
                       const char *devices, struct visible_gpus *ret, struct error_info *err);

/* ranks: tasks' GPUs on this node; another number of visible devices is VISIBLE_UNKNOWN.
 * ret_gpus[i]: the node's index of local rank i's GPU, with VISIBLE_SAME and VISIBLE_CHANGED. */
enum visible_order visible_gpus_order(const struct node_topology *node,
                                      const struct degrees *degrees, enum rank_order rank_order,
                                      unsigned ranks, const char *visible, const char *devices,
                                      struct text_buffer *ret,
                                      unsigned ret_gpus[static NODE_MAXIMUM_GPUS],
                                      struct error_info *err);

#endif
