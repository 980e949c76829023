/* SPDX-License-Identifier: MIT */
#include "planner/strategy.h"

#include "planner/pipeline_schedule.h"
#include "planner/strategy_words.h"
#include <stdio.h>

/* Among sharded plans that are as fast as each other. */
static const enum sharding prefer_in_node[] = {SHARDING_ZERO3, SHARDING_ZERO2, SHARDING_ZERO1,
                                               SHARDING_HSDP};
static const enum sharding prefer_across[] = {SHARDING_ZERO1, SHARDING_ZERO2, SHARDING_HSDP,
                                              SHARDING_ZERO3};

void plan_label(const struct plan *plan, char ret[static PLAN_LABEL_BYTES])
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    const char *name = plan->sharding == SHARDING_NONE ? "" : sharding_name(plan->sharding);
    const char *space = plan->sharding == SHARDING_NONE ? "" : " ";
    if (plan->sharding == SHARDING_HSDP)
        snprintf(ret, PLAN_LABEL_BYTES, "%s(%u)%s%s", name, plan->degrees.shard, space, degrees);
    else
        snprintf(ret, PLAN_LABEL_BYTES, "%s%s%s", name, space, degrees);
}

static const struct plan *best_of(const struct candidate_pool *pool, unsigned class)
{
    return pool->has_best[class] ? &pool->best[class] : NULL;
}

static const struct plan *sharded_choice(const struct plan_context *context,
                                         const struct candidate_pool *pool)
{
    const struct plan *fastest = NULL;
    for (unsigned i = SHARDING_ZERO1; i < SHARDING_COUNT; i++) {
        const struct plan *plan = best_of(pool, PLAN_CLASS_DATA_PARALLEL + i);
        if (plan && (!fastest || plan_compare(plan, fastest) < 0))
            fastest = plan;
    }
    if (!fastest)
        return NULL;
    bool one_node = context->world <= context->shape.gpus_per_node;
    const enum sharding *order = one_node ? prefer_in_node : prefer_across;
    double line = plan_cost_seconds(fastest) * (1 + STRATEGY_TIE_MARGIN);
    for (unsigned i = 0; i < COUNT_OF(prefer_across); i++) {
        const struct plan *plan = best_of(pool, PLAN_CLASS_DATA_PARALLEL + (unsigned)order[i]);
        if (plan && plan_cost_seconds(plan) <= line)
            return plan;
    }
    return fastest;
}

/* Whether the simpler one is slower by no more than the margin. */
static bool within_margin(const struct plan *simple, const struct plan *other)
{
    if (!simple || !other)
        return simple != NULL;
    return plan_cost_seconds(simple) <= other->time.step_seconds * (1 + STRATEGY_SIMPLICITY_MARGIN);
}

void strategy_choose(const struct plan_context *context, const struct candidate_pool *pool,
                     struct strategy *ret)
{
    struct arena *arena = ret->arena;
    const struct plan *ddp = best_of(pool, PLAN_CLASS_DATA_PARALLEL + SHARDING_NONE);
    const struct plan *sharded = sharded_choice(context, pool);
    *ret = (struct strategy){.context = context, .pool = pool, .arena = arena};
    ret->data_parallel = within_margin(ddp, sharded) ? ddp : sharded;
    ret->model_parallel = best_of(pool, PLAN_CLASS_MODEL_PARALLEL);
    ret->fastest_split = pool->has_fastest_split ? &pool->fastest_split : NULL;
    bool simple = within_margin(ret->data_parallel, ret->fastest_split);
    ret->chosen = simple ? ret->data_parallel : ret->model_parallel;
}

/* How much longer `slow` takes than `fast`, in percent. */
static double percent_slower(const struct plan *slow, const struct plan *fast)
{
    double base = fast->time.step_seconds;
    return base > 0 ? (slow->time.step_seconds / base - 1) * PERCENT : 0;
}

static const char *layout_words(const struct strategy *strategy, const struct plan *plan)
{
    struct pipeline_layout layout;
    unsigned layers = strategy->context->model->layers;
    if (!pipeline_layout_of(layers, plan->degrees.pp, plan->degrees.vpp, &layout) ||
        pipeline_layout_is_even(&layout))
        return "";
    const char *words = arena_format(
        strategy->arena, "; %u layers do not divide evenly: %s%s, the others hold %u each", layers,
        layout.first_short > 0 ? UNPACKED_TEXT("the embedding counts as a layer, ") : "",
        layout.last_short > 1 ? UNPACKED_TEXT("the last stage holds fewer")
                              : UNPACKED_TEXT("the loss counts as a layer"),
        layout.chunk_layers * layout.vpp);
    return words ? words : "";
}

const char *strategy_reason_chosen(const struct strategy *strategy)
{
    const struct plan *chosen = strategy->chosen;
    const struct plan *simple = strategy->data_parallel, *fastest = strategy->fastest_split;
    const char *layout = layout_words(strategy, chosen);
    if (chosen->time.step_seconds <= 0)
        return arena_format(strategy->arena,
                            "the simplest that fits; no step times, since the GPU is not in the "
                            "catalogue%s",
                            layout);
    if (!simple || !fastest)
        return arena_format(strategy->arena, "%.4g s a step, the best that fits; nothing %s fits%s",
                            chosen->time.step_seconds,
                            simple ? "that splits the model"
                                   : UNPACKED_TEXT("without splitting the model"),
                            layout);
    const char *ours = words_figure(strategy, simple), *theirs = words_figure(strategy, fastest);
    const char *margin = words_against_margin(strategy, simple, fastest);
    if (!ours || !theirs || !margin)
        return NULL;
    return arena_format(strategy->arena,
                        "%.4g s a step; the best without splitting the model is %s, the fastest "
                        "that splits it %s: the simpler one takes %s%s",
                        chosen->time.step_seconds, ours, theirs, margin, layout);
}

/* The part of the step that grows most against the chosen plan. */
static enum time_part costliest_part(const struct plan *plan, const struct plan *chosen)
{
    enum time_part worst = TIME_COMPUTE;
    double most = -1e30;
    for (unsigned part = 0; part < TIME_PART_COUNT; part++) {
        double more = plan->time.parts[part] - chosen->time.parts[part];
        if (more > most) {
            most = more;
            worst = (enum time_part)part;
        }
    }
    return worst;
}

const char *strategy_reason_against(const struct strategy *strategy, const struct plan *plan)
{
    const struct plan *chosen = strategy->chosen;
    double slower = percent_slower(plan, chosen);
    double seconds = plan->time.step_seconds, ours = chosen->time.step_seconds;
    if (seconds <= 0)
        return arena_format(strategy->arena, "no step time; %u dimensions against %u",
                            plan_complexity(plan), plan_complexity(chosen));
    enum time_part part = costliest_part(plan, chosen);
    if (slower > 0)
        return arena_format(strategy->arena,
                            "%.1f %% slower: %.4g s against %.4g s; most of it %s, %.3g s against "
                            "%.3g s",
                            slower, seconds, ours, time_part_name(part), plan->time.parts[part],
                            chosen->time.parts[part]);
    double cost = plan_cost_seconds(plan), our_cost = plan_cost_seconds(chosen);
    if (cost > our_cost)
        return arena_format(strategy->arena,
                            "%.1f %% faster (%.4g s against %.4g s), but memory is tight, which "
                            "counts as %.4g s",
                            -slower, seconds, ours, cost);
    return arena_format(
        strategy->arena,
        "%.1f %% faster (%.4g s against %.4g s), but within the margins: the chosen "
        "takes %.3g %% more, up to %.0f %% are allowed for a simpler plan, %.0f %% "
        "between ways of sharding",
        -slower, seconds, ours, (our_cost / seconds - 1) * PERCENT,
        STRATEGY_SIMPLICITY_MARGIN * PERCENT, STRATEGY_TIE_MARGIN * PERCENT);
}
