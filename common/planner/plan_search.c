/* SPDX-License-Identifier: MIT */
#include "planner/plan_search.h"

#include "planner/search/configuration_search.h"
#include "planner/search/plan_remedy.h"
#include "planner/search/refusal.h"
#include "planner/step_time.h"
#include "planner/strategy.h"
#include <string.h>

#define PLAN_LIST_MAXIMUM_BYTES ((size_t)64 << 20)
#define NOTES_MAXIMUM 16u

struct assembly {
    struct plan_context context;
    struct plan_list *list;
    struct candidate_pool *pool;
    struct strategy strategy;
};

/* What no search could satisfy is an error: a product that is not N, keys that contradict
 * each other or the kind of model. The rest of the given keys are the search's business. */
static int check_given(const struct plan_context *context, struct error_info *err)
{
    const struct job_spec *job = context->request->job;
    struct degrees degrees;
    if (job_spec_check_available(job, err) < 0)
        return -1;
    job_spec_degrees(job, &degrees);
    if (context->model->experts == 0 && degrees.etp > 1)
        return error_set(err, "%s: etp=%u: %s has no experts; leave etp out",
                         job->values[JOB_ETP].where, degrees.etp, context->model->name);
    degrees.shard = 0;
    degrees.ep = degrees.etp = degrees.vpp = 0;
    return degrees_complete(&degrees, context->world, err);
}

/* Given degrees stand in the way whatever else would be chosen. */
static void judge_given(const struct plan_context *context, struct policy_verdict *ret)
{
    struct degrees degrees = DEGREES_ONE, given;
    struct policy_verdict spans;
    degrees.tp = (unsigned)job_spec_number(context->request->job, JOB_TP, 1);
    degrees.etp = (unsigned)job_spec_number(context->request->job, JOB_ETP, 1);
    policy_check(&context->policy, &degrees, &context->place, ret);
    job_spec_degrees(context->request->job, &given);
    policy_check_spans(&context->policy, &given, context->order, &context->place, &spans);
    if (spans.result > ret->result)
        *ret = spans;
}

static int add_note(struct plan_list *list, const char *text, struct error_info *err)
{
    const char **notes = (const char **)list->notes;
    if (!text)
        return error_set_memory(err);
    if (list->note_count < NOTES_MAXIMUM)
        notes[list->note_count++] = text;
    return 0;
}

static int add_default_notes(struct assembly *assembly, struct error_info *err)
{
    const struct training_spec *training = &assembly->context.training;
    struct plan_list *list = assembly->list;
    if (training->sequence_length_is_default &&
        add_note(list,
                 arena_format(list->arena, "sequence_length is not given: %u",
                              training->sequence_length),
                 err) < 0)
        return -1;
    if (training->global_batch_is_default &&
        add_note(list,
                 arena_format(
                     list->arena,
                     "global_batch is not given: %u sequences, about %.1f million tokens a step",
                     training->global_batch,
                     (double)training->global_batch * training->sequence_length / 1e6),
                 err) < 0)
        return -1;
    return 0;
}

struct fixed_note {
    bool applies;
    const char *text;
};

static int add_fixed_notes(struct assembly *assembly, struct error_info *err)
{
    const struct plan_context *context = &assembly->context;
    const struct job_spec *job = context->request->job;
    bool many = context->world > context->shape.gpus_per_node;
    const struct fixed_note notes[] = {
        {!context->gpu, PACKED_TEXT("the GPU is not in the catalogue: no step times, no MFU")},
        {context->capacity_bytes == 0,
         PACKED_TEXT("the GPU's memory is unknown: nothing says what fits")},
        {!context->shape.domain_known,
         PACKED_TEXT("NVLink is unknown: times assume PCIe between the GPUs of a node")},
        {many && context->network_assumed,
         PACKED_TEXT("the NICs' rate is unknown: times assume 100 Gb/s for each GPU")},
        {many && context->shape.tier_count == 0,
         PACKED_TEXT("nothing is known between nodes: all count as equally far")},
        {context->model->experts == 0 &&
             (job->values[JOB_IMBALANCE].given || job->values[JOB_CAPACITY_FACTOR].given),
         PACKED_TEXT(
             "imbalance and capacity_factor are of experts, which the model does not have")},
    };
    for (size_t i = 0; i < COUNT_OF(notes); i++)
        if (notes[i].applies && add_note(assembly->list, packed_text(notes[i].text), err) < 0)
            return -1;
    return 0;
}

static int add_mixed_note(struct assembly *assembly, struct error_info *err)
{
    const struct plan_context *context = &assembly->context;
    const struct gpu_model *gpu = context->gpu;
    if (context->request->cluster->kind_count < 2)
        return 0;
    return add_note(assembly->list,
                    arena_format(assembly->list->arena,
                                 "nodes differ: planned for the slowest GPU (%s of kind %s), the "
                                 "smallest memory and the slowest links; faster nodes wait in "
                                 "every step",
                                 gpu ? gpu->name : "unknown", context->kind_name),
                    err);
}

/* Every node gives as many GPUs as the smallest, or as was asked for. */
static int add_idle_note(struct assembly *assembly, struct error_info *err)
{
    const struct plan_request *request = assembly->context.request;
    unsigned used = assembly->context.shape.gpus_per_node;
    uint64_t all = cluster_gpu_count(request->cluster);
    uint64_t busy = (uint64_t)request->cluster->node_count * used;
    if (request->cluster->kind_count < 2 || request->gpus_per_node > used || busy >= all)
        return 0;
    return add_note(assembly->list,
                    arena_format(assembly->list->arena,
                                 "%llu of %llu GPUs stay idle: every node gives %u, as many as the "
                                 "smallest; plan each kind alone to use all",
                                 (unsigned long long)(all - busy), (unsigned long long)all, used),
                    err);
}

static int add_notes(struct assembly *assembly, struct error_info *err)
{
    struct plan_list *list = assembly->list;
    list->notes = arena_allocate_array(list->arena, NOTES_MAXIMUM, sizeof(*list->notes));
    if (!list->notes)
        return error_set_memory(err);
    if (add_default_notes(assembly, err) < 0 || add_fixed_notes(assembly, err) < 0 ||
        add_mixed_note(assembly, err) < 0 || add_idle_note(assembly, err) < 0)
        return -1;
    if (list->policy.result == POLICY_WARNED)
        return add_note(list, arena_copy_text(list->arena, list->policy.text), err);
    return 0;
}

static int give_reason(struct assembly *assembly, struct plan *plan, bool chosen,
                       struct error_info *err)
{
    const char **reasons = arena_allocate_array(assembly->list->arena, 1, sizeof(*reasons));
    if (!reasons)
        return error_set_memory(err);
    reasons[0] = chosen ? strategy_reason_chosen(&assembly->strategy)
                        : strategy_reason_against(&assembly->strategy, plan);
    if (!reasons[0])
        return error_set_memory(err);
    plan->reasons = reasons;
    plan->reason_count = 1;
    return 0;
}

/* The answer, then the best of other splits. */
static int fill_plans(struct assembly *assembly, struct error_info *err)
{
    struct plan_list *list = assembly->list;
    const struct candidate_pool *pool = assembly->pool;
    unsigned top = assembly->context.request->top;
    size_t wanted = top > 0 ? top : PLAN_DEFAULT_TOP;
    if (wanted > pool->count + 1)
        wanted = pool->count + 1;
    struct plan *plans = arena_allocate_array(list->arena, wanted, sizeof(*plans));
    if (!plans)
        return error_set_memory(err);
    plans[list->plan_count++] = *assembly->strategy.chosen;
    for (size_t i = 0; i < pool->count && list->plan_count < wanted; i++)
        if (!plan_is_variant(&pool->plans[i], assembly->strategy.chosen))
            plans[list->plan_count++] = pool->plans[i];
    for (size_t i = 0; i < list->plan_count; i++)
        if (give_reason(assembly, &plans[i], i == 0, err) < 0)
            return -1;
    list->plans = plans;
    return 0;
}

/* Nothing was costed: bounds, which say the nearest value, or constraints stand against all. */
static int refuse(struct assembly *assembly, struct error_info *err)
{
    struct plan_list *list = assembly->list;
    const struct plan_remedy *beyond = NULL;
    size_t count = 0;
    if (refusal_remedies(&assembly->context, assembly->pool, list->arena, &list->remedies,
                         &list->remedy_count, err) < 0)
        return -1;
    if (assembly->context.request->brief)
        return 0;
    if (plan_remedies(&assembly->context, NULL, assembly->pool, list->arena, &beyond, &count, err) <
        0)
        return -1;
    if (count > 0) {
        list->remedies = beyond;
        list->remedy_count = count;
    }
    return 0;
}

static int fill_nearest(struct assembly *assembly, struct error_info *err)
{
    struct plan_list *list = assembly->list;
    if (!assembly->pool->has_nearest)
        return refuse(assembly, err);
    struct plan *nearest = arena_allocate(list->arena, sizeof(*nearest));
    if (!nearest)
        return error_set_memory(err);
    *nearest = assembly->pool->nearest;
    step_time_of(&assembly->context, nearest, &nearest->time);
    list->nearest = nearest;
    if (assembly->context.request->brief)
        return 0;
    return plan_remedies(&assembly->context, nearest, assembly->pool, list->arena, &list->remedies,
                         &list->remedy_count, err);
}

/* offload=auto: the host only where nothing fits without it. */
static void run_search(struct assembly *assembly)
{
    uint64_t offload = job_spec_number(assembly->context.request->job, JOB_OFFLOAD, OFFLOAD_NONE);
    if (offload < OFFLOAD_COUNT) {
        configuration_search_run(&assembly->context, (enum offload)offload, SEARCH_ALL,
                                 assembly->pool);
        return;
    }
    for (unsigned i = OFFLOAD_NONE; i < OFFLOAD_COUNT && assembly->pool->count == 0; i++)
        configuration_search_run(&assembly->context, (enum offload)i, SEARCH_ALL, assembly->pool);
}

static int search_and_explain(struct assembly *assembly, struct error_info *err)
{
    struct plan_list *list = assembly->list;
    run_search(assembly);
    memcpy(list->rejected, assembly->pool->rejected, sizeof(list->rejected));
    list->examined = assembly->pool->examined;
    list->pruned = assembly->pool->pruned;
    strategy_choose(&assembly->context, assembly->pool, &assembly->strategy);
    plan_explain_fn explain = assembly->context.request->explain;
    if (explain && explain(&assembly->strategy, list, err) < 0)
        return -1;
    if (!assembly->strategy.chosen)
        return fill_nearest(assembly, err);
    return fill_plans(assembly, err);
}

static int assemble(struct assembly *assembly, const struct plan_request *request,
                    struct error_info *err)
{
    struct plan_list *list = assembly->list;
    if (plan_context_init(&assembly->context, request, err) < 0)
        return -1;
    /* Policy first: a product's remedy must not be a tp that is denied next. */
    judge_given(&assembly->context, &list->policy);
    if (list->policy.result != POLICY_DENIED && check_given(&assembly->context, err) < 0)
        return -1;
    if (add_notes(assembly, err) < 0)
        return -1;
    if (list->policy.result == POLICY_DENIED)
        return 0;
    assembly->strategy.arena = list->arena;
    return search_and_explain(assembly, err);
}

struct plan_list *plan_search(const struct plan_request *request, struct error_info *err)
{
    struct assembly assembly = {.list = NULL};
    struct arena *arena = arena_create(PLAN_LIST_MAXIMUM_BYTES);
    if (arena)
        assembly.list = arena_allocate(arena, sizeof(*assembly.list));
    CLEANUP_MEMORY void *pool = memory_allocate(sizeof(*assembly.pool));
    assembly.pool = pool;
    if (!assembly.list || !assembly.pool) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    assembly.list->arena = arena;
    int result = assemble(&assembly, request, err);
    plan_context_done(&assembly.context);
    if (result == 0)
        return assembly.list;
    plan_list_free(assembly.list);
    return NULL;
}
