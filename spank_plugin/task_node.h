/* SPDX-License-Identifier: MIT */
/*
 * task_node: this node as its cache tells (topology/node_cache.h). slurmstepd discovers nothing:
 * without a cache, or with one of another boot or driver, the node is unknown and everything
 * stays in Slurm's order.
 */
#ifndef SPANK_PLUGIN_TASK_NODE_H
#define SPANK_PLUGIN_TASK_NODE_H

#include "mapping/wire_plan.h"
#include "topology/node_topology.h"
#include "workload/policy.h"
#include <slurm/spank.h>

/* cache_path NULL: NODE_CACHE_PATH. In slurmstepd, as root, before any task. Never fails: a cache
 * that cannot be used is said once in slurmd's log. */
void task_node_prepare(const char *cache_path, unsigned owner_uid);

/* What the policy may know of this node beside its tasks. */
void task_node_complete_place(struct policy_place *place);

/* Permutes the visible devices that Slurm set, so that TP groups are groups of linked GPUs. */
int task_node_order_gpus(spank_t spank, const struct wire_plan *wire, struct error_info *err);

#endif
