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
 * sizes, order and plan id.
 * Locality only (no degrees): no PARPLAN_*_RANK and _SIZE.
 */
#ifndef MAPPING_RANK_ENVIRONMENT_H
#define MAPPING_RANK_ENVIRONMENT_H

#include "base/error.h"
#include "mapping/wire_plan.h"

#define RANK_ENVIRONMENT_MAXIMUM 40u
#define RANK_ENVIRONMENT_VALUE_BYTES 512u

struct environment_entry {
    const char *name; /* static */
    char value[RANK_ENVIRONMENT_VALUE_BYTES];
};

struct rank_environment {
    struct environment_entry entries[RANK_ENVIRONMENT_MAXIMUM];
    unsigned count;
};

struct rank_task {
    unsigned node;         /* index in the wire plan's (= the step's) node list */
    unsigned local_task;   /* 0 … tasks_per_node - 1 */
    unsigned visible_gpus; /* devices the task sees; 0: unknown */
    unsigned master_port;
};

int rank_environment_compute(const struct wire_plan *wire, const struct rank_task *task,
                             struct rank_environment *ret, struct error_info *err);

/* MASTER_PORT below the ephemeral range (10000 … 29999) from job and step number. */
unsigned rank_environment_port(uint64_t job, uint64_t step);

#endif
