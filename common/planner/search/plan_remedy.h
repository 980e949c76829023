/* SPDX-License-Identifier: MIT */
/*
 * plan_remedy: when nothing fits, what would help: each remedy is tried, and told with its
 * figures, nearest first: the value next to a bound, recompute and smaller micro batches (given
 * keys stand in the way), offload to host memory or NVMe, more nodes of the same kind, a shorter
 * sequence, a larger GPU.
 */
#ifndef PLANNER_SEARCH_PLAN_REMEDY_H
#define PLANNER_SEARCH_PLAN_REMEDY_H

#include "planner/plan_context.h"
#include "planner/search/candidate_pool.h"

#define REMEDY_MAXIMUM_NODES 16384u
#define REMEDY_EVERY_NODE_COUNT 64u /* up to here every count is tried, then doubled */
#define REMEDY_SHORTEST_SEQUENCE 512u
#define REMEDY_BOUND_STEPS 16384u /* how far beyond a bound a value is looked for */

/* nearest: the plan that misses by least; NULL where there is none: then bounds alone are looked
 * at. pool: a scratch one for trials. */
int plan_remedies(const struct plan_context *context, const struct plan *nearest,
                  struct candidate_pool *pool, struct arena *arena,
                  const struct plan_remedy **ret_remedies, size_t *ret_count,
                  struct error_info *err);

#endif
