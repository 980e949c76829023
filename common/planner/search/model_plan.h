/* SPDX-License-Identifier: MIT */
/*
 * model_plan: a plan over stages and ranks of which only the degrees and the model are known:
 * no cluster, no batch. What `parplan models --plan` shows.
 */
#ifndef PLANNER_SEARCH_MODEL_PLAN_H
#define PLANNER_SEARCH_MODEL_PLAN_H

#include "planner/plan.h"
#include "workload/job_spec.h"
#include "workload/model_spec.h"

/* Degrees that are not given are 1; dp is the smallest over which experts go: parameters of a
 * rank do not depend on it. Refuses keys that change no parameter count, and degrees that the
 * model's heads, layers or experts do not go over, with the nearest that would do. */
int model_plan_from_job(const struct model_spec *model, const struct job_spec *job,
                        struct plan *ret, struct error_info *err);

#endif
