/* SPDX-License-Identifier: MIT */
/*
 * plan_explain: what a plan_list says beyond the plans: every rule of the decision flow with
 * what it looked at, what it says and why; and the plans that nothing beats (plan_pareto.h).
 *
 * A stage of its own: whoever prints it hands the function to plan_search (plan_request's
 * explain); a program that does not carries none of its texts.
 */
#ifndef PLANNER_EXPLANATION_PLAN_EXPLAIN_H
#define PLANNER_EXPLANATION_PLAN_EXPLAIN_H

#include "planner/strategy.h"

/* Fills list->rules, in the flow's order, and list->pareto. Fails without memory only. */
int plan_explain(const struct strategy *strategy, struct plan_list *list, struct error_info *err);

#endif
