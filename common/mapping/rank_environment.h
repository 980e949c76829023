/* SPDX-License-Identifier: MIT */
/*
 * rank_environment: the variables of one task, as a list of name and value. The core
 * computes them, an adapter sets them. Names come from a fixed table.
 *
 * One task per GPU: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK, GROUP_RANK,
 * MASTER_ADDR, MASTER_PORT, CUDA_DEVICE_ORDER, PARPLAN_{TP,CP,EP,ETP,PP,DP}_{RANK,SIZE},
 * PARPLAN_VPP_SIZE, PARPLAN_ORDER, PARPLAN_PLAN_ID.
 * One task per node (torchrun): PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE,
 * PET_MASTER_ADDR, PET_MASTER_PORT, PET_RDZV_BACKEND=static, MASTER_*, and of PARPLAN_* the
 * sizes, order and plan id. (torchrun's c10d rendezvous ignores the node's rank: static.)
 * One GPU per node and one task on it is one task per GPU, with torchrun's PET_* too.
 * Locality only (no degrees): no PARPLAN_*_RANK and _SIZE, and no PARPLAN_ORDER.
 *
 * Both, and only where the user has no value of its own: NCCL_IB_HCA, CUDA_DEVICE_MAX_CONNECTIONS
 * and (one task per GPU) OMP_NUM_THREADS where they are known; JAX_COORDINATOR_PORT = MASTER_PORT;
 * JAX_LOCAL_DEVICE_IDS = LOCAL_RANK, or 0,1,… for one task per node. JAX takes its process id
 * from SLURM_PROCID and its coordinator from the first name of the node list
 * (jax/_src/clusters/slurm_cluster.py): JAX_COORDINATOR_ADDRESS is set only where RANK is
 * SLURM_PROCID everywhere (wire_facts.slurm_ranks), since MASTER_ADDR is RANK 0's node.
 * PARPLAN_CPUS (one task per GPU): the CPUs near the task's GPU, where they are known.
 *
 * NODE_RANK = GROUP_RANK = PET_NODE_RANK = RANK / GPUs per node: the block's number, not the
 * node's index in the step.
 */
#ifndef MAPPING_RANK_ENVIRONMENT_H
#define MAPPING_RANK_ENVIRONMENT_H

#include "base/error.h"
#include "mapping/wire_plan.h"

#define RANK_ENVIRONMENT_MAXIMUM 40u
#define RANK_ENVIRONMENT_VALUE_BYTES 512u

struct environment_entry {
    const char *name; /* static */
    bool users;       /* set only where the user has not set it */
    char value[RANK_ENVIRONMENT_VALUE_BYTES];
};

struct rank_environment {
    struct environment_entry entries[RANK_ENVIRONMENT_MAXIMUM];
    unsigned count;
};

struct rank_task {
    unsigned node;         /* index in the wire plan's (= the step's) node list */
    unsigned local_task;   /* 0 … tasks_per_node - 1 */
    unsigned process;      /* SLURM_PROCID; used where the plan is by_slurm */
    unsigned visible_gpus; /* devices the task sees; 0: unknown */
    unsigned master_port;
    const char *nics;         /* NCCL_IB_HCA for this node (node_rails.h); NULL: unknown */
    const char *cpus;         /* near the task's GPU, "0-23,96-119"; NULL: unknown */
    unsigned threads;         /* CPUs for this task alone; 0: unknown */
    bool hidden_gpus_allowed; /* policy hidden_gpus: allow: a task that sees one GPU gets LOCAL_RANK
                                 0 instead of a refusal */
};

/* Refused: node or local task out of range, a port out of range, and fewer visible GPUs than
 * the node's ranks (one GPU each unless hidden_gpus_allowed): LOCAL_RANK would name a device
 * that the task cannot see; and of a plan by_slurm a task that Slurm numbers otherwise. */
int rank_environment_compute(const struct wire_plan *wire, const struct rank_task *task,
                             struct rank_environment *ret, struct error_info *err);

/* The names that only a plan gives a meaning: whoever starts a step clears those that an outer
 * step or another mode left behind. *ret_users: it may be the user's own where no plan is around
 * this one (JAX_*). NULL past the last one. */
const char *rank_environment_name(size_t index, bool *ret_users);

/* MASTER_PORT below the ephemeral range: 10000 + (61 * job + step) mod 20000. Jobs whose
 * numbers are less than 300 apart never meet as long as they have at most 61 steps. */
unsigned rank_environment_port(uint64_t job, uint64_t step);

#endif
