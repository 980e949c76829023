/* SPDX-License-Identifier: MIT */
/*
 * plan_pareto: what else could be wanted: the plans that no other candidate beats in step time,
 * memory and simplicity (plan_complexity) at once. On a given number of GPUs, GPU-hours are the
 * step time in another unit; across numbers of nodes they are scaling/node_scaling.h's.
 *
 * The candidates are the best variant of every split and sharding (candidate_pool.h), so that a
 * variant with less memory of a split that is in the list may be missing.
 */
#ifndef PLANNER_EXPLANATION_PLAN_PARETO_H
#define PLANNER_EXPLANATION_PLAN_PARETO_H

#include "planner/strategy.h"

#define PLAN_PARETO_MAXIMUM 16u

/* Fills list->pareto, cheapest first, at most PLAN_PARETO_MAXIMUM. Fails without memory only. */
int plan_pareto(const struct strategy *strategy, struct plan_list *list, struct error_info *err);

#endif
