/* SPDX-License-Identifier: MIT */
#include "planner/explanation/rules.h"

#include "planner/efficiency_catalogue.h"
#include "planner/explanation/rule_words.h"
#include "workload/job/job_bounds.h"

#define GIGA 1e9
#define BITS_PER_BYTE 8.0

void rule_golden(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    ret->inputs = arena_format(strategy->arena, "%u GPUs a node, NVLink domain %u%s, %llu GPUs",
                               context->shape.gpus_per_node, context->shape.domain_gpus,
                               context->shape.domain_known ? "" : " (unknown)",
                               (unsigned long long)context->world);
    if (!strategy->chosen) {
        ret->verdict = "nothing to place";
        ret->reason = rule_no_plan(strategy, "no plan fits");
        return;
    }
    ret->reason = words_golden(strategy, &ret->verdict);
}

/* ", within tp>=2, pp<=4"; NULL: out of memory. */
static const char *bounds_words(const struct strategy *strategy)
{
    const struct job_spec *job = strategy->context->request->job;
    const char *words = "";
    for (unsigned key = 0; key < JOB_KEY_COUNT && words; key++) {
        char text[JOB_BOUNDS_TEXT_BYTES];
        job_bounds_text(job, (enum job_key)key, text);
        if (text[0] != '\0')
            words = arena_format(strategy->arena, "%s%s%s", words,
                                 words[0] == '\0' ? ", within " : ",", text);
    }
    return words;
}

void rule_inputs(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    const struct training_spec *training = &context->training;
    bool defaults = training->sequence_length_is_default || training->global_batch_is_default;
    const char *bounds = bounds_words(strategy);
    if (!bounds)
        return;
    ret->inputs = arena_format(
        strategy->arena, "sequence %u%s, global batch %u%s, trainable %.3g, %.4g B parameters%s",
        training->sequence_length, training->sequence_length_is_default ? " (default)" : "",
        training->global_batch, training->global_batch_is_default ? " (default)" : "",
        training->trainable, (double)context->parameters.total / GIGA, bounds);
    ret->verdict = defaults ? "defaults taken" : "given";
    struct state_bytes bytes =
        state_bytes_of(context->profile, &context->training, context->precision);
    ret->reason = arena_format(
        strategy->arena,
        "%s keeps %.3g bytes of state per trained parameter: %.3g for itself, %.3g gradient, %.3g "
        "optimizer",
        context->profile->title ? context->profile->title : context->profile->name,
        bytes.parameter + bytes.gradient + bytes.optimizer, bytes.parameter, bytes.gradient,
        bytes.optimizer);
}

static const char *const verdict_words[] = {[PROFILE_RECOMMENDED] = "recommended",
                                            [PROFILE_ALLOWED] = "allowed on request",
                                            [PROFILE_REFUSED] = "refused"};

void rule_zero_pipeline(const struct strategy *strategy, struct plan_rule *ret)
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

void rule_precision(const struct strategy *strategy, struct plan_rule *ret)
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

void rule_network(const struct strategy *strategy, struct plan_rule *ret)
{
    const struct plan_context *context = strategy->context;
    double nic =
        context->network_assumed ? 0 : context->network_bytes_per_second / context->network->share;
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

void rule_verify(const struct strategy *strategy, struct plan_rule *ret)
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
