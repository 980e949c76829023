/* SPDX-License-Identifier: MIT */
/*
 * method_comparison: what else there is beside the chosen plan: each way to split the job for
 * itself (data parallelism alone as DDP, ZeRO-1 and FSDP, tensor parallelism, pipeline
 * parallelism, and both), and the chosen plan's neighbours, in which one degree is doubled or
 * halved, or the sharding or the micro batch is another, and dp takes up the difference. The best
 * plan of each, or what is in its way. One search for each, within the given keys.
 */
#ifndef PLANNER_EXPLANATION_METHOD_COMPARISON_H
#define PLANNER_EXPLANATION_METHOD_COMPARISON_H

#include "planner/plan_search.h"

enum method { METHOD_DDP, METHOD_ZERO1, METHOD_FSDP, METHOD_TP, METHOD_PP, METHOD_TP_PP };
#define METHOD_COUNT 6u
#define NEIGHBOUR_MAXIMUM 16u

struct method_row {
    const char *name; /* "DDP", "tp=4" */
    bool fits;
    struct plan plan;    /* without reasons; when it fits */
    const char *why_not; /* else */
};

struct method_comparison {
    struct method_row rows[METHOD_COUNT];
    struct method_row neighbours[NEIGHBOUR_MAXIMUM];
    size_t neighbour_count;
    struct arena *arena;
};

/* The request's top and explain are not looked at. chosen: NULL: no neighbours. */
struct method_comparison *method_comparison_create(const struct plan_request *request,
                                                   const struct plan *chosen,
                                                   struct error_info *err);
void method_comparison_free(struct method_comparison *comparison);

DEFINE_CLEANUP(method_comparison);

#endif
