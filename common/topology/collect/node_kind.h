/* SPDX-License-Identifier: MIT */
/*
 * node_kind: when two nodes are of one kind, and what a kind is called. Pure.
 */
#ifndef TOPOLOGY_NODE_KIND_H
#define TOPOLOGY_NODE_KIND_H

#include "base/text_buffer.h"
#include "topology/node_topology.h"

/* Memory and disks of equal nodes differ a little: the firmware and the kernel take their part. */
#define NODE_KIND_HOST_TOLERANCE 0.02

/* Everything is the same but what only one node can have: name, uuids, clique; and facts,
 * warnings and reasons, which say from where. Problems count. */
bool node_kind_is_same(const struct node_topology *left, const struct node_topology *right);

/* "8x-h100-sxm"; "4x-mixed" where the models differ, "8x-gpu" where none is known, "no-gpus";
 * with "-degraded" where a GPU or NIC has a problem. Characters that no node name has are
 * left out. */
void node_kind_name(const struct node_topology *node, struct text_buffer *out);

/* "GPU 2,3: lost NVLink; NIC mlx5_3: port is down"; returns false and adds nothing where no
 * problem is known. */
bool node_kind_problems(const struct node_topology *node, struct text_buffer *out);

#endif
