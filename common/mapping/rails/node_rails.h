/* SPDX-License-Identifier: MIT */
/*
 * node_rails: the NICs of a node that carry a job's traffic between nodes, as NCCL and RCCL are
 * told them, and what a node lacks beside the plan that was made for it.
 */
#ifndef MAPPING_NODE_RAILS_H
#define MAPPING_NODE_RAILS_H

#include "base/text_buffer.h"
#include "mapping/wire_plan.h"
#include "topology/node_topology.h"

/* How many NICs have the role rail and a port that is not down. */
unsigned node_rails_count(const struct node_topology *node);

/* NCCL_IB_HCA: "=mlx5_0,mlx5_3", those NICs by rail; "=" asks for whole names (NCCL user guide,
 * "NCCL_IB_HCA"; without it mlx5_1 means mlx5_10 too). Adds nothing where one of them has no name
 * or that of a network interface, which NCCL would not find among its verbs devices (Ethernet
 * without RDMA, Slingshot). */
void node_rails_write(const struct node_topology *node, struct text_buffer *out);

/* Adds in words what the node has less than, or other than, the plan takes for true: GPUs, their
 * model, rails. Adds nothing where all agrees, or where one side does not know. */
void node_rails_compare(const struct node_topology *node, const struct wire_plan *wire,
                        struct text_buffer *out);

#endif
