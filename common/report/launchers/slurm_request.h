/* SPDX-License-Identifier: MIT */
/*
 * slurm_request: what a plan asks of Slurm: a batch script's #SBATCH lines and its srun line.
 *
 * --switches (topology/tree): the fewest leaf switches that hold the nodes. --segment
 * (topology/block, Slurm 24.05 and later): the job's nodes come in segments of that size, each
 * inside one block, and their number divides by it (sbatch(1)). The segment is the widest group of
 * ranks that talk in every micro batch (a shard group, a pipeline, experts, a context or tensor
 * group) that one block holds. A block is what the cluster calls one: an NVLink domain that joins
 * nodes, a block of Slurm's, else a leaf switch.
 */
#ifndef REPORT_LAUNCHERS_SLURM_REQUEST_H
#define REPORT_LAUNCHERS_SLURM_REQUEST_H

#include "report/plan_report.h"

struct slurm_request {
    uint64_t nodes;         /* with the spare ones */
    unsigned spare;         /* of them, without ranks */
    unsigned gpus_per_node; /* and tasks */
    uint64_t segment;       /* nodes; 0: none is needed, or none is possible */
    const char *segment_of; /* what it holds whole */
    bool has_blocks;        /* the cluster tells of blocks, so --switches says nothing there */
    uint64_t switches;      /* 0: leaves are not known */
};

/* Of the report's best plan, which there is. */
int slurm_request_of(const struct plan_report *report, struct slurm_request *ret,
                     struct error_info *err);
int slurm_request_text(const struct plan_report *report, struct text_buffer *out,
                       struct error_info *err);
/* "slurm": {nodes, spare, tasks_per_node, gpus_per_node, segment, switches, parplan}; segment and
 * switches null where there is nothing to ask. */
int slurm_request_json(const struct plan_report *report, struct json_value *document,
                       struct error_info *err);

#endif
