/* SPDX-License-Identifier: MIT */
/*
 * node_restate: a merged node as evidence of the highest rank, so that merging it alone gives
 * the same node again: what a node's cache stores, and how a part of a node is made.
 */
#ifndef TOPOLOGY_NODE_RESTATE_H
#define TOPOLOGY_NODE_RESTATE_H

#include "topology/node_evidence.h"

/* Shares the node's texts and tables: the node must outlive it. */
struct node_evidence *node_restate(const struct node_topology *node, struct error_info *err);

/* The node as a job sees it that has only these GPUs of it (indices, each once). NICs and host
 * stay. */
struct node_topology *node_topology_subset(const struct node_topology *node, const unsigned *gpus,
                                           unsigned gpu_count, struct error_info *err);

#endif
