/* SPDX-License-Identifier: MIT */
/*
 * refusal: why no configuration was worth costing, in one sentence: what was asked for, what
 * stands against it, and the nearest value that would do.
 */
#ifndef PLANNER_SEARCH_REFUSAL_H
#define PLANNER_SEARCH_REFUSAL_H

#include "planner/search/candidate_pool.h"

/* The sentence on a plan that fails that constraint, from the arena; NULL: out of memory. */
const char *refusal_text(const struct plan_context *context, const struct plan *plan,
                         enum constraint_id constraint, struct arena *arena);
/* What refused most, as one remedy: first what a given key decides, then what is most
 * frequent. None where no constraint failed. */
int refusal_remedies(const struct plan_context *context, const struct candidate_pool *pool,
                     struct arena *arena, const struct plan_remedy **ret_remedies,
                     size_t *ret_count, struct error_info *err);

#endif
