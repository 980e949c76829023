/* SPDX-License-Identifier: MIT */
#include "planner/search/search_space.h"

#include "planner/efficiency_catalogue.h"
#include "planner/pipeline_schedule.h"
#include "workload/job/job_bounds.h"

static const struct job_spec *job_of(const struct plan_context *context)
{
    return context->request->job;
}

static void add(struct search_list *list, uint64_t value)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return;
    if (list->count < SEARCH_LIST_MAXIMUM)
        list->values[list->count++] = (unsigned)value;
}

/* Starts the list; true: the key is given, and nothing else is to be added. */
static bool is_given(const struct plan_context *context, enum job_key key, struct search_list *list)
{
    const struct job_value *value = &job_of(context)->values[key];
    list->count = 0;
    if (value->given)
        add(list, value->number);
    return value->given;
}

static void add_within(const struct plan_context *context, enum job_key key, uint64_t value,
                       struct search_list *list)
{
    if (job_bounds_hold(job_of(context), key, value))
        add(list, value);
}

static void add_divisors(const struct plan_context *context, enum job_key key, uint64_t value,
                         uint64_t maximum, struct search_list *list)
{
    for (uint64_t divisor = 1; divisor <= maximum && divisor <= value; divisor++)
        if (value % divisor == 0)
            add_within(context, key, divisor, list);
}

static unsigned domain_of(const struct plan_context *context)
{
    const struct cluster_shape *shape = &context->shape;
    return shape->domain_gpus > shape->gpus_per_node ? shape->domain_gpus : shape->gpus_per_node;
}

void search_space_tp(const struct plan_context *context, struct search_list *ret)
{
    if (!is_given(context, JOB_TP, ret))
        add_divisors(context, JOB_TP, context->world, domain_of(context), ret);
}

void search_space_cp(const struct plan_context *context, uint64_t ranks, bool long_contexts,
                     struct search_list *ret)
{
    const struct job_bound *least = &job_of(context)->bounds[JOB_CP][JOB_LEAST];
    bool tried = long_contexts || context->training.sequence_length >= SEARCH_CP_SEQUENCE ||
                 (least->given && least->number > 1);
    if (is_given(context, JOB_CP, ret))
        return;
    for (unsigned cp = 1; cp == 1 || (tried && cp <= SEARCH_CP_MAXIMUM); cp *= 2)
        if (ranks % cp == 0)
            add_within(context, JOB_CP, cp, ret);
}

void search_space_pp(const struct plan_context *context, uint64_t ranks, struct search_list *ret)
{
    uint64_t dp = job_spec_number(job_of(context), JOB_DP, 0);
    if (is_given(context, JOB_PP, ret))
        return;
    if (dp == 0)
        add_divisors(context, JOB_PP, ranks, context->model->layers, ret);
    else if (ranks % dp == 0)
        add_within(context, JOB_PP, ranks / dp, ret);
}

void search_space_ep(const struct plan_context *context, const struct plan *plan,
                     struct search_list *ret)
{
    uint64_t stage = (uint64_t)plan->degrees.tp * plan->degrees.cp * plan->degrees.dp;
    unsigned experts = context->model->experts;
    if (!is_given(context, JOB_EP, ret))
        add_divisors(context, JOB_EP, experts > 0 ? experts : 1, stage, ret);
}

void search_space_etp(const struct plan_context *context, const struct plan *plan,
                      struct search_list *ret)
{
    uint64_t stage = (uint64_t)plan->degrees.tp * plan->degrees.cp * plan->degrees.dp;
    unsigned width = context->model->expert_ffn;
    if (is_given(context, JOB_ETP, ret))
        return;
    if (context->model->experts == 0) {
        add_within(context, JOB_ETP, plan->degrees.ep > 1 ? 1 : plan->degrees.tp, ret);
        return;
    }
    for (unsigned etp = 1; etp <= plan->degrees.tp; etp++)
        if (plan->degrees.tp % etp == 0 && width % etp == 0 &&
            stage % ((uint64_t)plan->degrees.ep * etp) == 0)
            add_within(context, JOB_ETP, etp, ret);
}

void search_space_sharding(const struct plan_context *context, struct search_list *ret)
{
    if (!is_given(context, JOB_SHARDING, ret))
        for (unsigned sharding = 0; sharding < SHARDING_COUNT; sharding++)
            add(ret, sharding);
}

void search_space_width(const struct plan_context *context, const struct plan *plan,
                        struct search_list *ret)
{
    unsigned dp = plan->degrees.dp, cell = plan->degrees.tp * plan->degrees.cp;
    unsigned least = context->shape.gpus_per_node / cell;
    bool narrow = plan->sharding == SHARDING_HSDP || job_bounds_given(job_of(context), JOB_SHARD);
    if (is_given(context, JOB_SHARD, ret))
        return;
    if (plan->sharding == SHARDING_NONE) {
        add_within(context, JOB_SHARD, 1, ret);
        return;
    }
    least = least > 1 ? least : 2;
    for (unsigned copies = dp / least; narrow && copies > 1; copies--)
        if (dp % copies == 0)
            add_within(context, JOB_SHARD, dp / copies, ret);
    if (plan->sharding != SHARDING_HSDP)
        add_within(context, JOB_SHARD, dp, ret);
}

static bool may_interleave(const struct plan_context *context, const struct degrees *degrees)
{
    const struct job_value *schedule = &job_of(context)->values[JOB_SCHEDULE];
    return degrees->pp > 1 && context->framework->interleaves &&
           (!schedule->given || schedule->number == SCHEDULE_INTERLEAVED);
}

void search_space_vpp(const struct plan_context *context, const struct plan *plan,
                      struct search_list *ret)
{
    const struct degrees *degrees = &plan->degrees;
    unsigned layers = context->model->layers;
    struct pipeline_layout layout;
    if (is_given(context, JOB_VPP, ret))
        return;
    if (degrees->pp == 1 ||
        job_spec_number(job_of(context), JOB_SCHEDULE, SCHEDULE_1F1B) != SCHEDULE_INTERLEAVED)
        add_within(context, JOB_VPP, 1, ret);
    for (unsigned vpp = 2; may_interleave(context, degrees) && vpp <= layers / degrees->pp + 1;
         vpp++)
        if (pipeline_layout_of(layers, degrees->pp, vpp, &layout))
            add_within(context, JOB_VPP, vpp, ret);
}

void search_space_micro_batch(const struct plan_context *context, const struct plan *plan,
                              struct search_list *ret)
{
    const struct job_bound *bounds = job_of(context)->bounds[JOB_MICRO_BATCH];
    unsigned largest = context->training.global_batch / plan->degrees.dp;
    if (is_given(context, JOB_MICRO_BATCH, ret))
        return;
    if (bounds[JOB_LEAST].given)
        add_within(context, JOB_MICRO_BATCH, bounds[JOB_LEAST].number, ret);
    for (unsigned batch = 1; batch <= SEARCH_MICRO_BATCH_MAXIMUM; batch *= 2)
        if (batch == 1 || batch <= largest)
            add_within(context, JOB_MICRO_BATCH, batch, ret);
    if (bounds[JOB_MOST].given && bounds[JOB_MOST].number <= largest)
        add_within(context, JOB_MICRO_BATCH, bounds[JOB_MOST].number, ret);
}

void search_space_recompute(const struct plan_context *context, struct search_list *ret)
{
    if (is_given(context, JOB_RECOMPUTE, ret))
        return;
    add(ret, RECOMPUTE_NONE);
    if (!context->framework->fused_attention)
        add(ret, RECOMPUTE_SELECTIVE);
    add(ret, RECOMPUTE_FULL);
}
