/* SPDX-License-Identifier: MIT */
#include "planner/explanation/rules.h"

#include "planner/efficiency_catalogue.h"
#include "planner/explanation/rule_words.h"
#include "planner/memory_model.h"

/* Pure data parallelism at its smallest: one sequence, full recompute. */
static struct plan smallest_data_parallel(const struct plan_context *context,
                                          enum sharding sharding)
{
    struct plan plan = {.degrees = DEGREES_ONE,
                        .sharding = sharding,
                        .precision = context->precision,
                        .order = context->order,
                        .recompute = RECOMPUTE_FULL,
                        .micro_batch = 1,
                        .micro_batches = 1};
    plan.degrees.dp = (unsigned)context->world;
    if (sharding != SHARDING_NONE) {
        plan.degrees.shard = plan.degrees.dp;
        plan.degrees.replicate = 1;
    } else {
        plan.degrees.replicate = plan.degrees.dp;
    }
    memory_estimate_plan(context, &plan, &plan.memory);
    return plan;
}

void rule_ddp(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    const struct candidate_pool *pool = strategy->pool;
    struct plan smallest = smallest_data_parallel(context, SHARDING_NONE);
    unsigned class = PLAN_CLASS_DATA_PARALLEL + SHARDING_NONE;
    ret->inputs = arena_format(
        strategy->arena,
        "whole model on one GPU, one sequence, full recompute: %.1f GiB, GPU has %.1f",
        rule_gib((double)smallest.memory.total_bytes), rule_gib((double)context->capacity_bytes));
    if (!pool->has_best[class] && smallest.memory.verdict != FIT_OOM) {
        ret->verdict = "not possible";
        ret->reason = "not possible with this batch or the given keys";
        return;
    }
    if (!pool->has_best[class]) {
        ret->verdict = "does not fit";
        ret->reason = arena_format(
            strategy->arena,
            "DDP replicates everything: %.1f GiB for parameters, gradients and optimizer",
            rule_gib((double)(smallest.memory.parts[MEMORY_PARAMETERS] +
                              smallest.memory.parts[MEMORY_GRADIENTS] +
                              smallest.memory.parts[MEMORY_OPTIMIZER])));
        return;
    }
    const struct plan *ddp = &pool->best[class];
    bool taken = strategy->chosen && strategy->chosen->sharding == SHARDING_NONE &&
                 plan_class_of(strategy->chosen) == class;
    const char *ours = words_figure(strategy, ddp),
               *chosen = words_figure(strategy, strategy->chosen);
    ret->verdict = taken ? "taken" : "overruled";
    if (ours && chosen)
        ret->reason =
            taken ? ours
                  : arena_format(strategy->arena, "fits, but %s; the chosen %s", ours, chosen);
}

/* Each sharding's figure, or what its smallest form needs. */
static const char *sharding_figure(const struct strategy *strategy, enum sharding sharding)
{
    unsigned class = PLAN_CLASS_DATA_PARALLEL + (unsigned)sharding;
    const struct candidate_pool *pool = strategy->pool;
    if (pool->has_best[class])
        return arena_format(strategy->arena, "%s %.4g s%s", sharding_name(sharding),
                            pool->best[class].time.step_seconds,
                            pool->best[class].memory.verdict == FIT_TIGHT ? " (memory tight)" : "");
    if (sharding == SHARDING_HSDP)
        return strategy->context->world <= strategy->context->shape.gpus_per_node
                   ? "hsdp the same as zero3 in one node"
               : strategy->pool->examined > 0 ? "hsdp none fits"
                                              : "hsdp not possible";
    struct plan smallest = smallest_data_parallel(strategy->context, sharding);
    bool fits = smallest.memory.verdict != FIT_OOM;
    return arena_format(strategy->arena, "%s %s (%.1f GiB)", sharding_name(sharding),
                        fits ? "not possible with this batch or the given keys" : "does not fit",
                        rule_gib((double)smallest.memory.total_bytes));
}

static const char *sharded_reason(const struct strategy *strategy, const struct plan *simple,
                                  const struct plan *split)
{
    const char *ours = words_figure(strategy, simple), *theirs = words_figure(strategy, split);
    if (!ours || !theirs)
        return NULL;
    if (!split)
        return arena_format(strategy->arena, "%s; nothing that splits the model fits or is allowed",
                            ours);
    const char *margin = words_against_margin(strategy, simple, split);
    if (!margin)
        return NULL;
    return arena_format(strategy->arena,
                        "%s; the fastest that splits the model is %s: the first takes %s", ours,
                        theirs, margin);
}

void rule_sharded(const struct strategy *strategy, struct plan_rule *ret)
{
    const char *figures[SHARDING_COUNT];
    for (unsigned i = SHARDING_ZERO1; i < SHARDING_COUNT; i++) {
        figures[i] = sharding_figure(strategy, (enum sharding)i);
        if (!figures[i])
            return;
    }
    ret->inputs =
        arena_format(strategy->arena, "%s, %s, %s, %s", figures[SHARDING_ZERO1],
                     figures[SHARDING_ZERO2], figures[SHARDING_ZERO3], figures[SHARDING_HSDP]);
    const struct plan *simple = strategy->data_parallel, *split = strategy->fastest_split;
    bool taken = simple && strategy->chosen == simple;
    ret->verdict = taken ? "taken" : "not taken";
    if (taken && simple->sharding == SHARDING_NONE) {
        ret->verdict = "not needed";
        ret->reason = "DDP fits, and nothing sharded is faster by more than the margin";
    } else if (!simple) {
        ret->reason = rule_no_plan(strategy, "no form of it fits with this batch");
    } else {
        ret->reason = sharded_reason(strategy, simple, split);
    }
}

void rule_recompute(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    bool fused = strategy->context->framework->fused_attention;
    bool sequence = strategy->context->profile->sequence_parallel;
    ret->inputs = arena_format(strategy->arena, "%s attention, sequence parallelism with TP: %s",
                               fused ? "fused" : "unfused", sequence ? "yes" : "no");
    if (!plan) {
        ret->verdict = "does not help";
        ret->reason = rule_no_plan(strategy, "even full recompute does not fit");
        return;
    }
    ret->verdict = recompute_name(plan->recompute);
    ret->reason = arena_format(
        strategy->arena, "activations %.1f GiB of %.1f in all, GPU has %.1f%s",
        rule_gib((double)plan->memory.parts[MEMORY_ACTIVATIONS]),
        rule_gib((double)plan->memory.total_bytes), rule_gib((double)plan->memory.capacity_bytes),
        fused ? "; selective recompute saves nothing with fused attention" : "");
}

void rule_offload(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    bool asked = strategy->context->request->job->values[JOB_OFFLOAD].given;
    ret->inputs = asked ? "asked for" : "not asked for";
    if (plan && plan->offload != OFFLOAD_NONE) {
        ret->verdict = offload_name(plan->offload);
        const struct memory_estimate *memory = &plan->memory;
        const char *room = memory->host_capacity_bytes > 0
                               ? arena_format(strategy->arena, "of %.0f",
                                              rule_gib((double)memory->host_capacity_bytes))
                               : "(what it has is unknown)";
        const char *tiles =
            memory->tiles > 1
                ? arena_format(strategy->arena,
                               "; memory-centric tiling cuts a layer into %u, for its parameters "
                               "alone: activations stay",
                               memory->tiles)
                : "";
        if (room && tiles)
            ret->reason = arena_format(strategy->arena, "%.0f GiB a node %s outside the GPUs%s",
                                       rule_gib((double)memory->host_bytes), room, tiles);
        return;
    }
    ret->verdict = plan ? "none" : "see remedies";
    ret->reason = plan ? "fits in GPU memory"
                       : rule_no_plan(strategy, "a remedy when nothing fits, never the default");
}
