/* SPDX-License-Identifier: MIT */
#include "planner/explanation/rules.h"

#include "planner/explanation/rule_words.h"
#include "planner/memory_model.h"
#include "planner/pipeline_schedule.h"

#define GIGA 1e9

/* Bytes of one layer: states as the chosen or usual sharding leaves them unsharded, and
 * activations of one sequence. */
static double layer_bytes(const struct strategy *strategy, unsigned tp)
{
    const struct plan_context *context = strategy->context;
    struct plan plan = {.degrees = DEGREES_ONE, .precision = context->precision, .micro_batch = 1};
    struct rank_parameters layer;
    bool moe = context->model->experts > 0;
    plan.degrees.tp = plan.degrees.etp = tp;
    struct plan_shape shape = plan_context_shape(context, &plan);
    struct state_bytes states =
        state_bytes_of(context->profile, &context->training, context->precision);
    rank_layer_parameters(&shape, moe, &layer);
    return (states.parameter + states.gradient + states.optimizer) * (layer.dense + layer.expert) +
           memory_layer_activations(context, &plan, moe, RECOMPUTE_NONE);
}

/* The smallest TP where one layer stays below the share; the domain at most. */
static unsigned sized_tp(const struct strategy *strategy)
{
    const struct plan_context *context = strategy->context;
    double line = STRATEGY_LAYER_SHARE * (double)context->capacity_bytes;
    unsigned tp = 1;
    while (line > 0 && layer_bytes(strategy, tp) > line && tp * 2 <= context->shape.gpus_per_node)
        tp *= 2;
    return tp;
}

static bool has_tp(const struct plan *plan, unsigned value) { return plan->degrees.tp == value; }
static bool other_tp(const struct plan *plan, unsigned value) { return plan->degrees.tp != value; }
static bool equal_pp(const struct plan *plan, unsigned value) { return plan->degrees.pp == value; }
static bool equal_cp(const struct plan *plan, unsigned value) { return plan->degrees.cp == value; }
static bool equal_ep(const struct plan *plan, unsigned value) { return plan->degrees.ep == value; }
static bool has_cp(const struct plan *plan, unsigned value) { return plan->degrees.cp > value; }
static bool has_ep(const struct plan *plan, unsigned value) { return plan->degrees.ep > value; }

void rule_tensor(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    unsigned wanted = sized_tp(strategy);
    ret->inputs =
        arena_format(strategy->arena,
                     "one layer %.2f GiB (states and one sequence), %.0f %% of the GPU %.1f GiB",
                     rule_gib(layer_bytes(strategy, 1)), STRATEGY_LAYER_SHARE * PERCENT,
                     rule_gib(STRATEGY_LAYER_SHARE * (double)context->capacity_bytes));
    const char *rule = arena_format(strategy->arena, "a layer fits with tp=%u", wanted);
    unsigned tp = strategy->chosen ? strategy->chosen->degrees.tp : wanted;
    if (tp != wanted) {
        ret->verdict = "overruled";
        ret->reason = rule_compare(strategy, rule_best_with(strategy, has_tp, wanted), rule);
        return;
    }
    ret->verdict = wanted > 1 ? "taken" : "not needed";
    ret->reason = strategy->chosen
                      ? rule_agree(strategy, rule_best_with(strategy, other_tp, wanted), rule,
                                   "with another tp")
                      : rule;
}

static unsigned deepest_within_line(const struct strategy *strategy, const struct plan *plan)
{
    unsigned ranks = plan->degrees.pp * plan->degrees.dp;
    unsigned best = 1;
    for (unsigned pp = 2; pp <= ranks && pp <= strategy->context->model->layers; pp++) {
        struct pipeline_layout layout;
        uint64_t rows = (uint64_t)plan->micro_batch * (ranks / pp);
        if (ranks % pp == 0 &&
            pipeline_layout_of(strategy->context->model->layers, pp, 1, &layout) &&
            strategy->context->training.global_batch / rows >=
                (uint64_t)STRATEGY_MICRO_BATCHES_PER_STAGE * pp)
            best = pp;
    }
    return best;
}

void rule_pipeline(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    if (!plan) {
        ret->inputs = "no plan";
        ret->verdict = "does not help";
        ret->reason = rule_no_plan(strategy, "no depth that the layers and the batch allow fits");
        return;
    }
    unsigned pp = plan->degrees.pp, line = STRATEGY_MICRO_BATCHES_PER_STAGE * pp;
    unsigned deepest = deepest_within_line(strategy, plan);
    ret->inputs = arena_format(strategy->arena, "P=%u, M=%u, v=%u, line M >= %uP = %u", pp,
                               plan->micro_batches, plan->degrees.vpp,
                               STRATEGY_MICRO_BATCHES_PER_STAGE, line);
    if (pp == 1) {
        const char *other = words_figure(strategy, strategy->model_parallel);
        ret->verdict = "not needed";
        ret->reason = other ? arena_format(strategy->arena,
                                           "fits without; with tp or pp the best is %s", other)
                            : NULL;
        return;
    }
    ret->verdict = plan->micro_batches >= line ? "taken" : "taken, below the line";
    const char *depth =
        deepest > 1 ? arena_format(strategy->arena,
                                   "with this tp and micro batch pp=%u is the deepest that keeps "
                                   "to the line",
                                   deepest)
                    : "with this tp and micro batch no pp > 1 keeps to the line";
    if (!depth)
        return;
    const char *bubble =
        arena_format(strategy->arena, "bubble %.1f %% of the step (computed, %s); %s",
                     plan->time.bubble_fraction * PERCENT, schedule_name(plan->schedule), depth);
    ret->reason = rule_agree(strategy, rule_best_with(strategy, equal_pp, 1), bubble, "without");
}

/* What routing is taken for; NULL: no memory. */
static const char *expert_load(const struct strategy *strategy)
{
    const struct job_value *values = strategy->context->request->job->values;
    double load = training_expert_load(&strategy->context->training);
    double imbalance = values[JOB_IMBALANCE].given ? values[JOB_IMBALANCE].real : 1;
    if (load <= 1)
        return "balanced routing";
    if (imbalance > load)
        return arena_format(strategy->arena,
                            "experts filled to %.3g times an even load (the fullest drop %.0f %% "
                            "of their tokens)",
                            load, (1 - load / imbalance) * PERCENT);
    return arena_format(strategy->arena, "experts of the fullest rank at %.3g times an even load",
                        load);
}

void rule_expert(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct model_spec *model = strategy->context->model;
    if (model->experts == 0) {
        ret->inputs = "no experts";
        ret->verdict = "not applicable";
        ret->reason = "a dense model";
        return;
    }
    ret->inputs = arena_format(strategy->arena, "%u experts, %u per token, %.3g B of %.3g B active",
                               model->experts, model->experts_per_token,
                               (double)strategy->context->parameters.active / GIGA,
                               (double)strategy->context->parameters.total / GIGA);
    const struct plan *plan = strategy->chosen;
    if (!plan) {
        ret->verdict = "does not help";
        ret->reason = rule_no_plan(strategy, "no plan fits");
        return;
    }
    if (plan->degrees.ep == 1) {
        ret->verdict = "not needed";
        ret->reason = rule_compare(strategy, rule_best_with(strategy, has_ep, 1),
                                   "ep > 1 spreads the experts of a layer over ranks");
        return;
    }
    ret->verdict = "taken";
    const char *load = expert_load(strategy);
    const char *traffic =
        load ? arena_format(strategy->arena,
                            "ep=%u, exposed all-to-all %.3g s a step with %s; risks: imbalance "
                            "between experts (capacity factor, dropped tokens, auxiliary loss)",
                            plan->degrees.ep, plan->time.parts[TIME_EP], load)
             : NULL;
    ret->reason = rule_agree(strategy, rule_best_with(strategy, equal_ep, 1), traffic, "without");
}

void rule_context(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    unsigned sequence = strategy->context->training.sequence_length;
    bool lengthy = sequence >= STRATEGY_SEQUENCE_FOR_CP;
    ret->inputs =
        arena_format(strategy->arena, "sequence %u, line %u", sequence, STRATEGY_SEQUENCE_FOR_CP);
    if (!plan) {
        ret->verdict = lengthy ? "does not help" : "not applicable";
        ret->reason = rule_no_plan(strategy, "no plan fits");
        return;
    }
    if (plan->degrees.cp > 1) {
        ret->verdict = "taken";
        const char *exchange =
            arena_format(strategy->arena,
                         "cp=%u, ring attention; exposed exchange %.3g s a step (Ulysses "
                         "needs heads divisible by cp and moves queries too)",
                         plan->degrees.cp, plan->time.parts[TIME_CP]);
        ret->reason =
            rule_agree(strategy, rule_best_with(strategy, equal_cp, 1), exchange, "without");
        return;
    }
    ret->verdict = lengthy ? "overruled" : "not needed";
    ret->reason = lengthy ? rule_compare(strategy, rule_best_with(strategy, has_cp, 1),
                                         "a sequence of that length suits cp > 1")
                          : "the sequence is below the line; give cp to force it";
}

/* The best that has that tp and pp, or that has not. */
static const struct plan *best_sized(const struct strategy *strategy, unsigned tp, unsigned pp,
                                     bool with)
{
    for (size_t i = 0; i < strategy->pool->count; i++) {
        const struct plan *plan = &strategy->pool->plans[i];
        if ((plan->degrees.tp == tp && plan->degrees.pp == pp) == with)
            return plan;
    }
    return NULL;
}

void rule_sizing(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    unsigned tp = sized_tp(strategy), layers = context->model->layers;
    double layer = layer_bytes(strategy, tp);
    double fitting = layer > 0 ? (double)context->capacity_bytes / layer : layers;
    double stages = fitting > 0 ? layers / fitting : layers;
    unsigned pp = 1;
    while (pp < stages && (uint64_t)tp * pp * 2 <= context->world)
        pp *= 2;
    uint64_t dp = context->world / ((uint64_t)tp * pp);
    ret->inputs =
        arena_format(strategy->arena, "%u layers of %.2f GiB with tp=%u, %.1f fit in a GPU", layers,
                     rule_gib(layer), tp, fitting);
    const struct plan *plan = strategy->chosen;
    const char *rule = arena_format(strategy->arena, "rule of thumb tp=%u, pp=%u, dp=%llu", tp, pp,
                                    (unsigned long long)(dp > 0 ? dp : 1));
    if (plan && (plan->degrees.tp != tp || plan->degrees.pp != pp)) {
        ret->verdict = "overruled";
        ret->reason = rule_compare(strategy, best_sized(strategy, tp, pp, true), rule);
        return;
    }
    ret->verdict = plan ? "agrees" : strategy->pool->examined > 0 ? "does not fit" : "not costed";
    ret->reason = plan ? rule_agree(strategy, best_sized(strategy, tp, pp, false), rule,
                                    "with another tp or pp")
                       : rule;
}
