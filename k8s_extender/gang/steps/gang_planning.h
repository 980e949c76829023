/* SPDX-License-Identifier: MIT */
/*
 * gang_planning: which gang is planned next, and what becomes of its plan.
 */
#ifndef K8S_EXTENDER_GANG_STEPS_GANG_PLANNING_H
#define K8S_EXTENDER_GANG_STEPS_GANG_PLANNING_H

#include "k8s_extender/gang/gang_state.h"

#define PLAN_RETRY_MILLISECONDS 500u /* after something became free, at the earliest */
#define DRAIN_MILLISECONDS                                                                         \
    2000u /* and not while more becomes free: a job that ends frees node                           \
           * after node, and the first enough would lie badly */

/* Whether the gang may be tried (again) now; else gang->due is when. */
bool gang_plan_is_due(const struct gang_machine *machine, struct gang *gang);
/* Asks for the plan of the first of those that want one. False: none. */
bool gang_plan_next(struct gang_machine *machine, struct gang_task *ret);
/* Takes the plan. */
void gang_plan_answer(struct gang_machine *machine, const struct gang_problem *problem,
                      struct gang_plan *plan);

#endif
