/* SPDX-License-Identifier: MIT */
#include "planner/explanation/plan_explain.h"

#include "planner/explanation/plan_pareto.h"
#include "planner/explanation/rules.h"

struct named_rule {
    const char *name;
    rule_fn fill;
};

static const struct named_rule rules[] = {
    {"golden-rule", rule_golden},
    {"inputs", rule_inputs},
    {"ddp-fits", rule_ddp},
    {"sharded-dp", rule_sharded},
    {"tensor-parallel", rule_tensor},
    {"pipeline-parallel", rule_pipeline},
    {"expert-parallel", rule_expert},
    {"context-parallel", rule_context},
    {"zero-with-pipeline", rule_zero_pipeline},
    {"sizing", rule_sizing},
    {"fabric", rule_network},
    {"recompute", rule_recompute},
    {"precision", rule_precision},
    {"offload", rule_offload},
    {"verify", rule_verify},
};

int plan_explain(const struct strategy *strategy, struct plan_list *list, struct error_info *err)
{
    struct plan_rule *rows = arena_allocate_array(strategy->arena, COUNT_OF(rules), sizeof(*rows));
    if (!rows)
        return error_set_memory(err);
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        rows[i].rule = rules[i].name;
        rules[i].fill(strategy, &rows[i]);
        if (!rows[i].inputs || !rows[i].verdict || !rows[i].reason)
            return error_set_memory(err);
    }
    list->rules = rows;
    list->rule_count = COUNT_OF(rules);
    return plan_pareto(strategy, list, err);
}
