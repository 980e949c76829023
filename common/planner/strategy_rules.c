/* SPDX-License-Identifier: MIT */
#include "planner/strategy.h"

#include "planner/efficiency_catalogue.h"
#include "planner/memory_model.h"
#include "planner/pipeline_schedule.h"
#include "planner/search/configuration_search.h"
#include "planner/strategy_words.h"

#define GIB 1073741824.0
#define GIGA 1e9
#define BITS_PER_BYTE 8.0

/* Every text of a rule comes from the arena; NULL anywhere means out of memory. */
typedef void (*rule_fn)(const struct strategy *strategy, struct plan_rule *ret);

struct named_rule {
    const char *name;
    rule_fn fill;
};

static double gib(double bytes) { return bytes / GIB; }

/* Why there is no plan: nothing was costed, or what was did not do. */
static const char *no_plan(const struct strategy *strategy, const char *costed)
{
    return strategy->pool->examined > 0
               ? costed
               : "no split satisfies the constraints (see the remedies), so that none was costed";
}

static void rule_golden(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    ret->inputs = arena_format(strategy->arena, "%u GPUs a node, NVLink domain %u%s, %llu GPUs",
                               context->shape.gpus_per_node, context->shape.domain_gpus,
                               context->shape.domain_known ? "" : " (unknown)",
                               (unsigned long long)context->world);
    if (!strategy->chosen) {
        ret->verdict = "nothing to place";
        ret->reason = no_plan(strategy, "no plan fits");
        return;
    }
    ret->reason = words_golden(strategy, &ret->verdict);
}

static void rule_inputs(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    const struct training_spec *training = &context->training;
    bool defaults = training->sequence_length_is_default || training->global_batch_is_default;
    ret->inputs = arena_format(
        strategy->arena, "sequence %u%s, global batch %u%s, trainable %.3g, %.4g B parameters",
        training->sequence_length, training->sequence_length_is_default ? " (default)" : "",
        training->global_batch, training->global_batch_is_default ? " (default)" : "",
        training->trainable, (double)context->parameters.total / GIGA);
    ret->verdict = defaults ? "defaults taken" : "given";
    struct state_bytes bytes = state_bytes_of(context->profile, context->precision);
    ret->reason = arena_format(
        strategy->arena,
        "%s keeps %.3g bytes of state per trained parameter: %.3g for itself, %.3g gradient, %.3g "
        "optimizer",
        context->profile->title ? context->profile->title : context->profile->name,
        bytes.parameter + bytes.gradient + bytes.optimizer, bytes.parameter, bytes.gradient,
        bytes.optimizer);
}

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

static void rule_ddp(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    const struct candidate_pool *pool = strategy->pool;
    struct plan smallest = smallest_data_parallel(context, SHARDING_NONE);
    unsigned class = PLAN_CLASS_DATA_PARALLEL + SHARDING_NONE;
    ret->inputs = arena_format(
        strategy->arena, "whole model on one GPU: at least %.1f GiB, GPU has %.1f",
        gib((double)smallest.memory.total_bytes), gib((double)context->capacity_bytes));
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
            gib((double)(smallest.memory.parts[MEMORY_PARAMETERS] +
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
                        gib((double)smallest.memory.total_bytes));
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

static void rule_sharded(const struct strategy *strategy, struct plan_rule *ret)
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
        ret->reason = no_plan(strategy, "no form of it fits with this batch");
    } else {
        ret->reason = sharded_reason(strategy, simple, split);
    }
}

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
    struct state_bytes states = state_bytes_of(context->profile, context->precision);
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

static const struct plan *best_with(const struct strategy *strategy,
                                    bool (*matches)(const struct plan *plan, unsigned value),
                                    unsigned value)
{
    for (size_t i = 0; i < strategy->pool->count; i++)
        if (matches(&strategy->pool->plans[i], value))
            return &strategy->pool->plans[i];
    return NULL;
}

static bool has_tp(const struct plan *plan, unsigned value) { return plan->degrees.tp == value; }
static bool has_cp(const struct plan *plan, unsigned value) { return plan->degrees.cp > value; }
static bool has_ep(const struct plan *plan, unsigned value) { return plan->degrees.ep > value; }

/* "the best plan with it is …; the chosen is …", and why a dearer one was chosen. */
static const char *compare_with(const struct strategy *strategy, const struct plan *other,
                                const char *rule)
{
    const struct plan *chosen = strategy->chosen;
    const char *ours = words_figure(strategy, chosen), *theirs = words_figure(strategy, other);
    if (!ours || !theirs || !rule)
        return NULL;
    if (!other)
        return arena_format(strategy->arena,
                            "%s; no such plan fits or is possible, the chosen is %s", rule, ours);
    bool dearer = plan_cost_seconds(chosen) > plan_cost_seconds(other);
    return arena_format(strategy->arena, "%s; the best plan with that is %s; the chosen is %s%s",
                        rule, theirs, ours,
                        dearer ? ", simpler or with more headroom, within the margins" : "");
}

static void rule_tensor(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    unsigned wanted = sized_tp(strategy);
    ret->inputs =
        arena_format(strategy->arena,
                     "one layer %.2f GiB (states and one sequence), %.0f %% of the GPU %.1f GiB",
                     gib(layer_bytes(strategy, 1)), STRATEGY_LAYER_SHARE * PERCENT,
                     gib(STRATEGY_LAYER_SHARE * (double)context->capacity_bytes));
    const char *rule = arena_format(strategy->arena, "a layer fits with tp=%u", wanted);
    unsigned tp = strategy->chosen ? strategy->chosen->degrees.tp : wanted;
    if (tp != wanted) {
        ret->verdict = "overruled";
        ret->reason = compare_with(strategy, best_with(strategy, has_tp, wanted), rule);
        return;
    }
    ret->verdict = wanted > 1 ? "taken" : "not needed";
    ret->reason = rule;
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

static void rule_pipeline(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    if (!plan) {
        ret->inputs = "no plan";
        ret->verdict = "does not help";
        ret->reason = no_plan(strategy, "no depth that the layers and the batch allow fits");
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
    if (depth)
        ret->reason = arena_format(strategy->arena, "bubble %.1f %% of the step (computed, %s); %s",
                                   plan->time.bubble_fraction * PERCENT,
                                   schedule_name(plan->schedule), depth);
}

static void rule_expert(const struct strategy *strategy, struct plan_rule *ret)
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
        ret->reason = no_plan(strategy, "no plan fits");
        return;
    }
    if (plan->degrees.ep == 1) {
        ret->verdict = "not needed";
        ret->reason = compare_with(strategy, best_with(strategy, has_ep, 1),
                                   "ep > 1 spreads the experts of a layer over ranks");
        return;
    }
    ret->verdict = "taken";
    ret->reason = arena_format(
        strategy->arena,
        "ep=%u, exposed all-to-all %.3g s a step with balanced routing; risks: imbalance between "
        "experts (capacity factor, dropped tokens, auxiliary loss)",
        plan->degrees.ep, plan->time.parts[TIME_EP]);
}

static void rule_context(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    unsigned sequence = strategy->context->training.sequence_length;
    bool lengthy = sequence >= STRATEGY_SEQUENCE_FOR_CP;
    ret->inputs =
        arena_format(strategy->arena, "sequence %u, line %u", sequence, STRATEGY_SEQUENCE_FOR_CP);
    if (!plan) {
        ret->verdict = lengthy ? "does not help" : "not applicable";
        ret->reason = no_plan(strategy, "no plan fits");
        return;
    }
    if (plan->degrees.cp > 1) {
        ret->verdict = "taken";
        ret->reason = arena_format(strategy->arena,
                                   "cp=%u, ring attention; exposed exchange %.3g s a step (Ulysses "
                                   "needs heads divisible by cp and moves queries too)",
                                   plan->degrees.cp, plan->time.parts[TIME_CP]);
        return;
    }
    ret->verdict = lengthy ? "overruled" : "not needed";
    ret->reason = lengthy ? compare_with(strategy, best_with(strategy, has_cp, 1),
                                         "a sequence of that length suits cp > 1")
                          : "the sequence is below the line; give cp to force it";
}

static const char *const verdict_words[] = {[PROFILE_RECOMMENDED] = "recommended",
                                            [PROFILE_ALLOWED] = "allowed on request",
                                            [PROFILE_REFUSED] = "refused"};

static void rule_zero_pipeline(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct framework_profile *profile = strategy->context->profile;
    ret->inputs =
        arena_format(strategy->arena, "%s with pp > 1: zero1 %s, zero2 %s, zero3 %s, hsdp %s",
                     profile->name, verdict_words[profile->pipeline[SHARDING_ZERO1]],
                     verdict_words[profile->pipeline[SHARDING_ZERO2]],
                     verdict_words[profile->pipeline[SHARDING_ZERO3]],
                     verdict_words[profile->pipeline[SHARDING_HSDP]]);
    const struct plan *plan = strategy->chosen;
    if (!plan || plan->degrees.pp == 1) {
        ret->verdict = "not applicable";
        ret->reason = "no pipeline";
        return;
    }
    const char *why = profile->pipeline_reason[plan->sharding];
    ret->verdict = verdict_words[profile->pipeline[plan->sharding]];
    ret->reason = why ? why : "as the framework's profile says";
}

static const struct plan *best_sized(const struct strategy *strategy, unsigned tp, unsigned pp)
{
    for (size_t i = 0; i < strategy->pool->count; i++) {
        const struct plan *plan = &strategy->pool->plans[i];
        if (plan->degrees.tp == tp && plan->degrees.pp == pp)
            return plan;
    }
    return NULL;
}

static void rule_sizing(const struct strategy *strategy, struct plan_rule *ret)
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
                     gib(layer), tp, fitting);
    const struct plan *plan = strategy->chosen;
    const char *rule = arena_format(strategy->arena, "rule of thumb tp=%u, pp=%u, dp=%llu", tp, pp,
                                    (unsigned long long)(dp > 0 ? dp : 1));
    if (plan && (plan->degrees.tp != tp || plan->degrees.pp != pp)) {
        ret->verdict = "overruled";
        ret->reason = compare_with(strategy, best_sized(strategy, tp, pp), rule);
        return;
    }
    ret->verdict = plan ? "agrees" : strategy->pool->examined > 0 ? "does not fit" : "not costed";
    ret->reason = rule;
}

static void rule_precision(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    const struct gpu_model *gpu = context->gpu;
    ret->inputs = arena_format(strategy->arena, "%s, %s", gpu ? gpu->title : "unknown GPU",
                               context->training.precision_given ? "given" : "not given");
    ret->verdict = precision_name(context->precision);
    if (gpu && context->peak_flops_per_second <= 0)
        ret->reason = "the GPU does not have it: no step times";
    else if (context->precision == PRECISION_FP16)
        ret->reason = "16 bit with loss scaling (BF16 needs Ampere or MI200 and later)";
    else if (context->precision == PRECISION_FP8)
        ret->reason = "asked for: matrix products in FP8, the rest in BF16";
    else
        ret->reason = "BF16 where the GPU has it; FP8 only on request";
}

static void rule_recompute(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    bool fused = strategy->context->framework->fused_attention;
    bool sequence = strategy->context->profile->sequence_parallel;
    ret->inputs = arena_format(strategy->arena, "%s attention, sequence parallelism with TP: %s",
                               fused ? "fused" : "unfused", sequence ? "yes" : "no");
    if (!plan) {
        ret->verdict = "does not help";
        ret->reason = no_plan(strategy, "even full recompute does not fit");
        return;
    }
    ret->verdict = recompute_name(plan->recompute);
    ret->reason = arena_format(
        strategy->arena, "activations %.1f GiB of %.1f in all, GPU has %.1f%s",
        gib((double)plan->memory.parts[MEMORY_ACTIVATIONS]), gib((double)plan->memory.total_bytes),
        gib((double)plan->memory.capacity_bytes),
        fused ? "; selective recompute saves nothing with fused attention" : "");
}

static void rule_offload(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    bool asked = strategy->context->request->job->values[JOB_OFFLOAD].given;
    ret->inputs = asked ? "asked for" : "not asked for";
    if (plan && plan->offload != OFFLOAD_NONE) {
        ret->verdict = offload_name(plan->offload);
        ret->reason = arena_format(strategy->arena, "%.0f GiB a node outside the GPUs",
                                   gib(memory_offload_bytes_per_node(strategy->context, plan)));
        return;
    }
    ret->verdict = plan ? "none" : "see remedies";
    ret->reason = plan ? "fits in GPU memory"
                       : no_plan(strategy, "a remedy when nothing fits, never the default");
}

static void rule_network(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    double nic = context->node->gpu_nic_bytes_per_second;
    bool many = context->world > context->shape.gpus_per_node;
    bool nvlink = context->nvlink_bytes_per_second > 0;
    const char *inside = nvlink ? "NVLink" : "no NVLink";
    ret->inputs = nic > 0
                      ? arena_format(strategy->arena, "%.0f Gb/s a GPU between nodes, %s inside",
                                     nic * BITS_PER_BYTE / GIGA, inside)
                      : arena_format(strategy->arena, "NICs unknown, %s inside", inside);
    if (!many) {
        ret->verdict = "one node";
        ret->reason = nvlink ? "PP, TP and ZeRO are about equal over NVLink; the times decide"
                             : "without NVLink PP first, since TP talks most; the times decide";
        return;
    }
    if (nic <= 0) {
        ret->verdict = "unknown";
        ret->reason = "times assume a rate for the NICs (see the notes)";
        return;
    }
    bool fast = nic >= STRATEGY_FAST_NETWORK_BYTES_PER_SECOND;
    ret->verdict = fast ? "fast fabric" : "slow fabric";
    ret->reason = fast ? "ZeRO/FSDP, or TP with PP and DP; the times decide"
                       : "with short memory DP, PP, TP and ZeRO-1; the times decide";
}

static void rule_verify(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan *plan = strategy->chosen;
    if (!plan || plan->time.step_seconds <= 0) {
        ret->inputs = "no step time";
        ret->verdict = "measure";
        ret->reason = "no prediction to compare with";
        return;
    }
    double exposed = plan->time.parts[TIME_TP] + plan->time.parts[TIME_CP] +
                     plan->time.parts[TIME_EP] + plan->time.parts[TIME_PP] +
                     plan->time.parts[TIME_DP];
    const struct plan *other =
        plan == strategy->data_parallel ? strategy->model_parallel : strategy->data_parallel;
    const char *figure = words_figure(strategy, other);
    const char *next = figure && other ? arena_format(strategy->arena, ", and with %s", figure)
                                       : (figure ? "" : NULL);
    ret->inputs = arena_format(strategy->arena, "%s on %s", precision_name(plan->precision),
                               strategy->context->gpu->name);
    ret->verdict = "measure";
    if (next)
        ret->reason = arena_format(strategy->arena,
                                   "expect %.4g s a step, %.0f TFLOP/s a GPU, MFU %.1f %%, exposed "
                                   "communication %.1f %%; compare with what is measured%s",
                                   plan->time.step_seconds, plan->time.tflops_per_gpu,
                                   plan->time.mfu * PERCENT,
                                   exposed / plan->time.step_seconds * PERCENT, next);
}

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

int strategy_rules(const struct strategy *strategy, const struct plan_rule **ret_rules,
                   size_t *ret_count, struct error_info *err)
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
    *ret_rules = rows;
    *ret_count = COUNT_OF(rules);
    return 0;
}
