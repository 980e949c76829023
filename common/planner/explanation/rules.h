/* SPDX-License-Identifier: MIT */
/*
 * rules: the turns of the decision flow. Each fills inputs, verdict and reason from the
 * strategy's arena; a NULL in one of them means out of memory. rules_setting.c: what was asked
 * and the machine; rules_fit.c: what fits and how it is sharded; rules_degrees.c: how the model
 * is split.
 */
#ifndef PLANNER_EXPLANATION_RULES_H
#define PLANNER_EXPLANATION_RULES_H

#include "planner/strategy.h"

typedef void (*rule_fn)(const struct strategy *strategy, struct plan_rule *ret);

void rule_golden(const struct strategy *strategy, struct plan_rule *ret);
void rule_inputs(const struct strategy *strategy, struct plan_rule *ret);
void rule_ddp(const struct strategy *strategy, struct plan_rule *ret);
void rule_sharded(const struct strategy *strategy, struct plan_rule *ret);
void rule_tensor(const struct strategy *strategy, struct plan_rule *ret);
void rule_pipeline(const struct strategy *strategy, struct plan_rule *ret);
void rule_expert(const struct strategy *strategy, struct plan_rule *ret);
void rule_context(const struct strategy *strategy, struct plan_rule *ret);
void rule_zero_pipeline(const struct strategy *strategy, struct plan_rule *ret);
void rule_sizing(const struct strategy *strategy, struct plan_rule *ret);
void rule_network(const struct strategy *strategy, struct plan_rule *ret);
void rule_recompute(const struct strategy *strategy, struct plan_rule *ret);
void rule_precision(const struct strategy *strategy, struct plan_rule *ret);
void rule_offload(const struct strategy *strategy, struct plan_rule *ret);
void rule_verify(const struct strategy *strategy, struct plan_rule *ret);

#endif
