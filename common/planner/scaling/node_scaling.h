/* SPDX-License-Identifier: MIT */
/*
 * node_scaling: the same job on different numbers of nodes of one cluster: the plan for each,
 * how well it scales, which number is best, which is the smallest that fits or that finishes a
 * run in time.
 *
 * Every count is planned as a job of that many nodes would be; a default global batch follows
 * the number of GPUs. Pure, as plan_search.
 */
#ifndef PLANNER_SCALING_NODE_SCALING_H
#define PLANNER_SCALING_NODE_SCALING_H

#include "planner/plan_search.h"
#include "planner/scaling/run_length.h"

#define SCALING_ROWS_MAXIMUM 256u
/* Counts that are planned one by one to find the smallest; beyond, every k-th. */
#define SCALING_SCAN_MAXIMUM 1024u

enum scaling_preference { PREFER_THROUGHPUT, PREFER_GPU_HOURS };

struct scaling_request {
    const struct plan_request *plan; /* its world and top are not looked at */
    unsigned gpus_per_node;
    unsigned first, last; /* node counts; last at most the cluster's */
    bool doubling;        /* the smallest that fits, twice that, …, last; else every count */
    enum scaling_preference prefer;
    struct run_length run;
};

struct scaling_row {
    unsigned nodes;
    uint64_t gpus;
    bool fits;
    struct plan plan;    /* without reasons; when it fits */
    const char *why_not; /* else */
    double efficiency; /* tokens per second and GPU, against the first row that fits; 0: unknown */
    double trillion_gpu_hours; /* for 10^12 tokens */
    struct run_figures run;
    bool pareto; /* no other row is as good in time, GPU-hours, memory and simplicity, and better
                    in one */
};

struct node_scaling {
    const struct scaling_row *rows;
    size_t row_count;
    const struct scaling_row *recommended; /* NULL: nothing fits, or not in time */
    const char *reason;                    /* why that one, or why none */
    const struct scaling_row *in_time;     /* the smallest that finishes within; NULL */
    unsigned stride;                       /* counts tried for it: every one, or every k-th */
    unsigned smallest_that_fits;           /* nodes, from `first` on; 0: none */
    struct arena *arena;
};

struct node_scaling *node_scaling_create(const struct scaling_request *request,
                                         struct error_info *err);
void node_scaling_free(struct node_scaling *scaling);

DEFINE_CLEANUP(node_scaling);

#endif
