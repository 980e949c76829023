/* SPDX-License-Identifier: MIT */
/*
 * placement: the whole way from what a user asks for to where every rank sits, for every
 * caller that launches (srun, the extender, `parplan map` and `env`): plan, policy, map.
 *
 * Three cases: a model (the planner chooses what is not given), degrees without a model
 * (numbering and policy only), neither (nodes and GPUs in fabric order, no degrees).
 * Pure; everything that the result points to belongs to it or to the request.
 */
#ifndef MAPPING_PLACEMENT_H
#define MAPPING_PLACEMENT_H

#include "mapping/objective.h"
#include "mapping/rank_map.h"
#include "planner/plan_search.h"

enum placement_outcome {
    PLACEMENT_DONE,   /* map is there */
    PLACEMENT_NO_FIT, /* nothing fits: list->nearest and list->remedies say what would */
    PLACEMENT_DENIED  /* by policy: verdict */
};

struct placement {
    enum placement_outcome outcome;
    struct plan_list *list; /* NULL without a model */
    struct plan plan;       /* the answer; with neither model nor degrees all degrees are 1 */
    struct policy_verdict verdict;
    struct rank_map *map;            /* PLACEMENT_DONE only */
    struct objective_result outlook; /* what the map costs, likewise */
};

/* request->model may be NULL here; wishes may be NULL. */
int placement_create(const struct plan_request *request, const struct mapping_wishes *wishes,
                     struct placement *ret, struct error_info *err);
void placement_done(struct placement *placement);

/* The one line that refuses: the verdict's words, or what is needed, available and the
 * nearest remedy. For PLACEMENT_NO_FIT and PLACEMENT_DENIED; always returns -1. */
int placement_refusal(const struct placement *placement, struct error_info *err);

DEFINE_CLEANUP_DONE(placement);

#endif
