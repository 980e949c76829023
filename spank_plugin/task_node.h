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

#define TASK_NICS_BYTES 512u

/* cache_path NULL: NODE_CACHE_PATH. In slurmstepd, as root, before any task. Never fails: a cache
 * that cannot be used is said once in slurmd's log. */
void task_node_prepare(const char *cache_path, unsigned owner_uid);

/* What the policy may know of the step's GPUs here (SLURM_STEP_GPUS, else the visible devices),
 * of which tasks use place->gpus_per_node: the faults among them, and the NVLink domain where it
 * ends in this node. Unknown where they cannot be matched with the cache. -1: out of memory. */
int task_node_complete_place(spank_t spank, struct policy_place *place, struct error_info *err);

/* Permutes one list of visible devices, into the order of gpu_mapping, also without degrees:
 * the outermost that is set. On AMD's GPUs that is ROCR_VISIBLE_DEVICES, which applies first;
 * CUDA_ and HIP_VISIBLE_DEVICES are indices into what it leaves (ROCm documentation, "GPU
 * isolation techniques"), and one that names the same devices again becomes 0,1,…. Elsewhere it
 * is CUDA_VISIBLE_DEVICES. GPU_DEVICE_ORDINAL stays.
 * Devices that cannot be matched stay in Slurm's order, said once per node, by local_task 0. -1:
 * out of memory (else the tasks of a node would have different orders), or Slurm refuses. */
int task_node_order_gpus(spank_t spank, const struct wire_plan *wire, unsigned local_task,
                         struct error_info *err);

/* What the policy says of this node beside the plan (on_mismatch, code node-mismatch): a warning
 * is said once per node, by local_task 0. -1: refused, or out of memory. */
int task_node_compare(const struct wire_plan *wire, const struct policy *policy,
                      unsigned local_task, struct error_info *err);

/* For the task's variables, after task_node_order_gpus. What is unknown stays as it is. */
struct task_devices {
    char nics[TASK_NICS_BYTES]; /* NCCL_IB_HCA of this node, or "" */
    const char *cpus;           /* near the task's GPU, or NULL */
    unsigned sharers;           /* tasks of the step with those CPUs, at least 1 */
};
void task_node_devices(const struct wire_plan *wire, unsigned local_task, struct task_devices *ret);

#endif
