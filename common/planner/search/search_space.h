/* SPDX-License-Identifier: MIT */
/*
 * search_space: which values each part of a configuration may take, given what is chosen so far.
 * A given key is the only value; a bounded one leaves those within. Values ascend, but for the
 * shardings and recomputes, which come in the order of their enums.
 *
 * Space: tp over divisors of N up to a node or NVLink domain; cp over powers of two, 1 alone for
 * sequences below SEARCH_CP_SEQUENCE tokens unless it is bounded from 2 on or `long_contexts`;
 * pp over divisors up to the layers; ep over divisors of the experts; etp over divisors of tp and
 * of the experts' width; HSDP widths over the divisors of dp from a node's ranks on; vpp over
 * what has a layout; micro batches in powers of two and their bounds; recompute where it keeps
 * less (selective: only without fused attention, which keeps no scores).
 */
#ifndef PLANNER_SEARCH_SEARCH_SPACE_H
#define PLANNER_SEARCH_SEARCH_SPACE_H

#include "planner/plan_context.h"

#define SEARCH_CP_SEQUENCE 32768u /* tokens from which context parallelism is tried */
#define SEARCH_CP_MAXIMUM 64u
#define SEARCH_MICRO_BATCH_MAXIMUM 64u
#define SEARCH_LIST_MAXIMUM 256u

struct search_list {
    unsigned values[SEARCH_LIST_MAXIMUM];
    unsigned count;
};

void search_space_tp(const struct plan_context *context, struct search_list *ret);
/* plan: with what was chosen before. ranks: those that are left. */
void search_space_cp(const struct plan_context *context, uint64_t ranks, bool long_contexts,
                     struct search_list *ret);
void search_space_pp(const struct plan_context *context, uint64_t ranks, struct search_list *ret);
void search_space_ep(const struct plan_context *context, const struct plan *plan,
                     struct search_list *ret);
void search_space_etp(const struct plan_context *context, const struct plan *plan,
                      struct search_list *ret);
void search_space_sharding(const struct plan_context *context, struct search_list *ret);
void search_space_width(const struct plan_context *context, const struct plan *plan,
                        struct search_list *ret);
void search_space_vpp(const struct plan_context *context, const struct plan *plan,
                      struct search_list *ret);
void search_space_micro_batch(const struct plan_context *context, const struct plan *plan,
                              struct search_list *ret);
void search_space_recompute(const struct plan_context *context, struct search_list *ret);

#endif
