/* SPDX-License-Identifier: MIT */
#include "planner/measured/mfu_checks.h"

#include "planner/communication_model.h"
#include "planner/efficiency_catalogue.h"
#include "planner/strategy.h"

#define PERCENT 100.0
#define TERA 1e12
#define SMALL_KERNELS_SHARE 0.75 /* of what large matrix products reach */

struct check_list {
    const struct mfu_gap *gap;
    struct arena *arena;
    struct mfu_check *checks;
    size_t count;
    bool failed;
};

typedef void (*check_fn)(struct check_list *list);

static void add(struct check_list *list, const char *name, const char *text)
{
    list->failed = list->failed || !text;
    if (!list->failed && list->count < MFU_CHECKS_MAXIMUM)
        list->checks[list->count++] = (struct mfu_check){.name = name, .text = text};
}

static double share_of(const struct mfu_gap *gap, enum time_part part)
{
    return gap->plan->time.parts[part] / gap->plan->time.step_seconds;
}

static double gemm_ceiling(const struct plan_context *context)
{
    double training = context->architecture ? context->architecture->gemm_share : 1;
    double peak = context->peak_flops_per_second * training;
    return peak > 0 ? context->gemm_flops_per_second / peak : 1;
}

/* --- figures that cannot be right ---------------------------------------------------- */

static void check_units(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    double ceiling = gemm_ceiling(gap->context);
    if (gap->verdict == MFU_IMPOSSIBLE) {
        add(list, "units",
            arena_format(list->arena,
                         "an MFU of %.0f %% is impossible: is the figure of the whole job or of "
                         "one GPU, is the global batch in sequences, do %llu GPUs take part, and "
                         "is %s the precision (dense peak %.0f TFLOP/s; data sheets also print the "
                         "double, with sparsity)?",
                         gap->speed->mfu * PERCENT, (unsigned long long)gap->size->gpus,
                         precision_name(gap->context->precision),
                         gap->size->peak_flops_per_second / TERA));
        return;
    }
    if (gap->speed->mfu > ceiling)
        add(list, "units",
            arena_format(list->arena,
                         "an MFU of %.0f %% is more than the largest matrix products reach on "
                         "this GPU (%.0f %%): check the unit, the batch, and whether the figure "
                         "counts hardware FLOPs or the whole square of attention",
                         gap->speed->mfu * PERCENT, ceiling * PERCENT));
}

static void check_faster(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    if (gap->verdict != MFU_IMPOSSIBLE && gap->ratio > 0 && gap->ratio * MFU_GAP_RATIO < 1)
        add(list, "faster",
            arena_format(list->arena,
                         "%.0f %% faster than predicted: check the batch and the unit; if they "
                         "are right, the model is too slow for this run, and its plans for this "
                         "cluster with it",
                         (1 / gap->ratio - 1) * PERCENT));
}

/* --- where a gap may sit -------------------------------------------------------------- */

static void check_recompute(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    if (gap->plan->recompute != RECOMPUTE_FULL)
        return;
    add(list, "recompute",
        arena_format(list->arena,
                     "full recompute does %.0f %% more work than MFU counts: HFU is %.1f %%; "
                     "memory for selective or no recompute is worth up to that",
                     (gap->size->hardware_ratio - 1) * PERCENT, gap->speed->hfu * PERCENT));
}

static void check_bubble(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    const struct plan *plan = gap->plan;
    unsigned line = STRATEGY_MICRO_BATCHES_PER_STAGE * plan->degrees.pp;
    if (plan->degrees.pp == 1 ||
        (plan->micro_batches >= line && plan->time.bubble_fraction < MFU_CHECK_SHARE))
        return;
    add(list, "bubble",
        arena_format(list->arena,
                     "the pipeline's bubble is %.1f %% of the predicted step (pp=%u, vpp=%u, "
                     "M=%u, %s 4 pp = %u): more micro batches, a larger vpp or a smaller pp "
                     "shorten it",
                     plan->time.bubble_fraction * PERCENT, plan->degrees.pp, plan->degrees.vpp,
                     plan->micro_batches, plan->micro_batches < line ? "below" : "at least", line));
}

static void check_tensor(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    struct plan_spans spans;
    plan_spans_of(gap->context, gap->plan, &spans);
    const struct group_span *span = &spans.of[GROUP_TP];
    if (span->size == 1 || span->per_domain >= span->size)
        return;
    const char *where = span->nodes > 1 ? "spans nodes" : "leaves the NVLink domain";
    add(list, "tensor-parallel",
        arena_format(list->arena,
                     "tp=%u %s (%u ranks of a group in one domain), and it talks in every layer: "
                     "predicted %.1f %% of the step; tp=%u stays inside",
                     span->size, where, span->per_domain, share_of(gap, TIME_TP) * PERCENT,
                     span->per_domain));
}

static void check_communication(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    double exposed = gap->nccl.exposed_seconds / gap->plan->time.step_seconds;
    if (gap->context->world == 1)
        return;
    if (!gap->profile) {
        if (exposed >= MFU_CHECK_SHARE)
            add(list, "communication",
                arena_format(list->arena,
                             "exposed communication is predicted as %.1f %% of the step (NCCL "
                             "%.1f %% of kernel time): measure it with --profile",
                             exposed * PERCENT, gap->nccl.of_kernels * PERCENT));
        return;
    }
    double measured = kernel_profile_nccl_share(gap->profile);
    if (measured > gap->nccl.of_kernels + MFU_NCCL_MARGIN)
        add(list, "communication",
            arena_format(list->arena,
                         "NCCL takes %.1f %% of kernel time, predicted %.1f %%: links slower than "
                         "thought (nccl-tests, `parplan topology` for lost NVLink and NICs), or "
                         "ranks that wait for a slow one (compare profiles of several ranks)",
                         measured * PERCENT, gap->nccl.of_kernels * PERCENT));
    else
        add(list, "kernels",
            arena_format(list->arena,
                         "NCCL takes %.1f %% of kernel time, predicted %.1f %%: the gap is not "
                         "there, but in slow kernels or in time when the GPU does nothing",
                         measured * PERCENT, gap->nccl.of_kernels * PERCENT));
}

static void check_network(struct check_list *list)
{
    const struct plan_context *context = list->gap->context;
    if (context->world > context->shape.gpus_per_node && context->network_assumed)
        add(list, "network",
            "the NICs' rate is assumed: describe the node (--node FILE) before trusting the "
            "prediction between nodes");
}

static void check_kernels(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    double flops = gap->context->model_flops * gap->size->hardware_ratio / (double)gap->size->gpus;
    double reached = flops / gap->plan->time.parts[TIME_COMPUTE];
    double large = gap->context->gemm_flops_per_second;
    if (reached >= large * SMALL_KERNELS_SHARE)
        return;
    add(list, "small-kernels",
        arena_format(list->arena,
                     "computing alone is predicted at %.0f TFLOP/s of the %.0f that large "
                     "products reach: a larger micro batch (now %u) or a smaller tp (now %u) "
                     "makes them larger",
                     reached / TERA, large / TERA, gap->plan->micro_batch, gap->plan->degrees.tp));
}

static void check_host(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    if (share_of(gap, TIME_HOST) >= MFU_CHECK_SHARE)
        add(list, "host",
            arena_format(list->arena,
                         "launching kernels takes %.1f %% of the predicted step: CUDA graphs, "
                         "fused kernels or a larger micro batch hide it",
                         share_of(gap, TIME_HOST) * PERCENT));
}

static void check_memory(struct check_list *list)
{
    if (list->gap->plan->memory.verdict == FIT_TIGHT || list->gap->plan->memory.verdict == FIT_OOM)
        add(list, "memory",
            "memory is tight by the model: allocations that are retried slow every step (look "
            "for num_alloc_retries, set expandable_segments)");
}

static void check_routing(struct check_list *list)
{
    const struct model_spec *model = list->gap->context->model;
    if (model->experts > 0)
        add(list, "routing",
            "prediction and references assume experts with equal shares of the tokens: compare "
            "the busiest expert's tokens with the mean");
}

static void check_steady(struct check_list *list)
{
    bool many = list->gap->context->world > list->gap->context->shape.gpus_per_node;
    add(list, "steady-state",
        arena_format(list->arena,
                     "count steady steps only, without warm-up, checkpoints and evaluation; check "
                     "clocks and power limits%s, and whether the data loader keeps up",
                     many ? " of every node (the slowest sets the pace)" : ""));
}

static void check_prediction(struct check_list *list)
{
    const struct mfu_gap *gap = list->gap;
    double predicted = gap->plan->time.mfu;
    if (gap->range->count > 0 && predicted > gap->range->high * MFU_GAP_RATIO)
        add(list, "prediction",
            arena_format(list->arena,
                         "the prediction itself is above what published runs reach (an MFU of %.1f "
                         "%% against %.1f %%): the reference counts for more here",
                         predicted * PERCENT, gap->range->high * PERCENT));
}

static void check_precision(struct check_list *list)
{
    const struct plan_context *context = list->gap->context;
    const struct gpu_model *gpu = context->gpu;
    if (!gpu || context->precision == PRECISION_BF16 || context->precision == PRECISION_FP8)
        return;
    double best = gpu->flops_per_second[GPU_BF16] > 0 ? gpu->flops_per_second[GPU_BF16]
                                                      : gpu->flops_per_second[GPU_FP16];
    if (best > list->gap->size->peak_flops_per_second)
        add(list, "precision",
            arena_format(
                list->arena,
                "%s runs at a dense peak of %.0f TFLOP/s, 16 bit products at %.0f: a share "
                "of the smaller peak may look well",
                precision_name(context->precision), list->gap->size->peak_flops_per_second / TERA,
                best / TERA));
}

static void check_basis(struct check_list *list)
{
    if (!list->gap->degrees_given)
        add(list, "basis",
            "no degrees are given: the prediction is for the plan that parplan would take, not "
            "for the run; give --plan with the run's own");
}

struct check_rule {
    check_fn check;
    bool of_gap;     /* only where there is one */
    bool needs_plan; /* and its step */
};

static const struct check_rule rules[] = {
    {check_units, false, false},    {check_faster, false, false},
    {check_basis, true, true},      {check_precision, false, false},
    {check_prediction, true, true}, {check_tensor, true, true},
    {check_bubble, true, true},     {check_communication, true, true},
    {check_recompute, true, true},  {check_kernels, true, true},
    {check_host, true, true},       {check_memory, true, true},
    {check_network, true, false},   {check_routing, true, false},
    {check_steady, true, false},
};

bool mfu_gap_exists(const struct mfu_gap *gap)
{
    return gap->verdict == MFU_BELOW || gap->ratio > MFU_GAP_RATIO;
}

int mfu_checks_of(const struct mfu_gap *gap, struct arena *arena, struct mfu_check *ret,
                  size_t *ret_count, struct error_info *err)
{
    struct check_list list = {.gap = gap, .arena = arena, .checks = ret};
    bool predicted = gap->plan && gap->plan->time.step_seconds > 0;
    bool exists = mfu_gap_exists(gap);
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if ((exists || !rules[i].of_gap) && (predicted || !rules[i].needs_plan))
            rules[i].check(&list);
    if (list.failed)
        return error_set_memory(err);
    *ret_count = list.count;
    return 0;
}
