/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/gang_plan.h"
#include "k8s_extender/placement/planning/gang_plan_text.h"
#include "k8s_extender/placement/planning/gang_replan.h"
#include "k8s_extender/placement/planning/gang_slots.h"
#include "k8s_extender/placement/planning/gang_words.h"
#include "k8s_extender/placement/pod_inputs.h"
#include "workload/admin/policy_origin.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLAN_ARENA_MAXIMUM_BYTES ((size_t)32 << 20)
#define POD_WHERE "a pod of this gang"

/* One plan on its way. What refuses it is an error like any other, and `refusal` says of which
 * kind. */
struct planning {
    const struct gang_problem *problem;
    const struct gang_plan_sources *sources;
    struct policy_subject subject;
    struct policy policy;
    struct pod_inputs inputs;
    struct policy_verdict warning;
    uint64_t world, spare;
    enum gang_outcome refusal;
    struct gang_plan *plan;
};

static int refuse(struct planning *planning, enum gang_outcome outcome, struct error_info *err,
                  const char *text)
{
    planning->refusal = outcome;
    return error_set(err, "%s", text);
}

static int refuse_verdict(struct planning *planning, struct policy_verdict *verdict,
                          struct error_info *err)
{
    const struct admin_config *config = planning->sources->config;
    policy_origin_add(&config->policy, &config->scopes, &planning->subject, verdict);
    return refuse(planning, GANG_DENIED, err, verdict->text);
}

/* A denial refuses; of warnings the first is kept. */
static int judge(struct planning *planning, struct policy_verdict *verdict, struct error_info *err)
{
    if (verdict->result == POLICY_DENIED)
        return refuse_verdict(planning, verdict, err);
    if (verdict->result == POLICY_WARNED && planning->warning.result == POLICY_ALLOWED)
        planning->warning = *verdict;
    return 0;
}

/* --- what is asked ------------------------------------------------------------------ */

static bool is_declared(const struct planning *planning)
{
    return planning->inputs.model || job_spec_has_degrees(planning->inputs.job);
}

/* A TP group that no place of that size can hold, however much is free: said before all else. */
static int judge_tp(struct planning *planning, struct error_info *err)
{
    const struct job_spec *job = planning->inputs.job;
    const struct policy_place place = {.where = POD_WHERE,
                                       .gpus_per_node = planning->problem->gpus_per_pod};
    struct policy_verdict verdict;
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = (unsigned)job_spec_number(job, JOB_TP, 1);
    degrees.etp = (unsigned)job_spec_number(job, JOB_ETP, 1);
    policy_check(&planning->policy, &degrees, &place, &verdict);
    bool lasts = verdict.code == POLICY_TP_EXCEEDS_NODE || verdict.code == POLICY_TP_SPLITS_NODE ||
                 verdict.code == POLICY_TP_EXCEEDS_MAXIMUM;
    return lasts ? judge(planning, &verdict, err) : 0;
}

static int check_product(const struct planning *planning, struct error_info *err)
{
    struct degrees degrees;
    job_spec_degrees(planning->inputs.job, &degrees);
    degrees.shard = 0;
    if (planning->inputs.model)
        degrees.ep = degrees.etp = degrees.vpp = 0;
    return degrees_complete(&degrees, planning->world, err);
}

static int judge_inputs(struct planning *planning, struct error_info *err)
{
    struct policy_verdict verdict;
    if (!is_declared(planning)) {
        policy_check_undeclared(&planning->policy, POD_WHERE, &verdict);
        return judge(planning, &verdict, err);
    }
    policy_check_order(&planning->policy, job_spec_order(planning->inputs.job), &verdict);
    if (judge_tp(planning, err) < 0 || judge(planning, &verdict, err) < 0)
        return -1;
    return job_spec_has_degrees(planning->inputs.job) ? check_product(planning, err) : 0;
}

static int open_inputs(struct planning *planning, struct error_info *err)
{
    const struct gang_problem *problem = planning->problem;
    const struct pod_inputs_request request = {
        .annotations = problem->inputs,
        .arguments = problem->arguments,
        .argument_count = problem->argument_count,
        .config = planning->sources->config,
        .models = planning->sources->models,
    };
    if (pod_inputs_read(&request, &planning->inputs, err) < 0)
        return -1;
    planning->spare = job_spec_number(planning->inputs.job, JOB_SPARE, 0);
    return pod_inputs_check_counts(&planning->inputs, problem->pods, problem->gpus_per_pod,
                                   is_declared(planning), err);
}

/* --- taking a plan ------------------------------------------------------------------ */

static int finish_plan(struct planning *planning, const uint32_t *view_nodes,
                       struct error_info *err)
{
    struct gang_plan *plan = planning->plan;
    const struct cluster_topology *cluster = planning->problem->view->cluster;
    const char **names = arena_allocate_array(plan->arena, plan->pods, sizeof(*names));
    for (uint32_t pod = 0; names && pod < plan->pods; pod++)
        if (!(names[pod] = arena_copy_text(plan->arena, cluster->nodes[view_nodes[pod]].name)))
            return error_set_memory(err);
    if (!names)
        return error_set_memory(err);
    plan->nodes = names;
    gang_plan_make_id(plan, planning->problem->key, plan->id);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, GANG_PLAN_TEXT_MAXIMUM);
    if (gang_plan_encode(plan, &text) == 0) {
        plan->outcome = GANG_PLANNED;
        return 0;
    }
    if (text.length + NODE_LIST_NAME_BYTES < GANG_PLAN_TEXT_MAXIMUM)
        return error_set_memory(err);
    return error_set(err,
                     "the nodes' names of %" PRIu32 " pods are longer than the %zu bytes that a "
                     "pod's annotation can hold; use fewer pods with more GPUs each",
                     plan->pods, GANG_PLAN_TEXT_MAXIMUM);
}

static int take_placement(struct planning *planning, const struct gang_slots *slots,
                          const struct placement *placement, struct error_info *err)
{
    struct gang_plan *plan = planning->plan;
    const struct rank_map *map = placement->map;
    CLEANUP_MEMORY uint32_t *nodes = memory_allocate_array(plan->pods, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        nodes[pod] = slots->nodes[map->block_nodes[pod]];
    plan->has_degrees = !map->locality_only;
    if (plan->has_degrees) {
        plan->degrees = map->degrees;
        plan->order = map->order;
    }
    const struct gang_words_success success = {
        .problem = planning->problem,
        .placement = placement,
        .view_nodes = nodes,
        .notices = text_buffer_text(&planning->inputs.notices),
        .warning = planning->warning.result == POLICY_WARNED ? planning->warning.text : "",
    };
    return gang_words_planned(&success, plan->reason, err) < 0 ? -1
                                                               : finish_plan(planning, nodes, err);
}

/* --- planning anew ------------------------------------------------------------------ */

/* Whether the verdict is about how the free nodes lie, and not about the cluster as a whole. */
static bool may_fit_later(const struct planning *planning, const struct policy_verdict *verdict)
{
    const struct job_spec *job = planning->inputs.job;
    struct policy_place place;
    struct policy_verdict whole;
    struct degrees degrees = DEGREES_ONE;
    if (verdict->code != POLICY_TP_EXCEEDS_DOMAIN && verdict->code != POLICY_SPANS)
        return false;
    degrees.tp = (unsigned)job_spec_number(job, JOB_TP, 1);
    degrees.etp = (unsigned)job_spec_number(job, JOB_ETP, 1);
    policy_place_of(planning->problem->view->cluster, planning->problem->gpus_per_pod,
                    planning->world, NULL, &place);
    policy_check(&planning->policy, &degrees, &place, &whole);
    return whole.result != POLICY_DENIED;
}

static int refuse_denied(struct planning *planning, struct policy_verdict *verdict,
                         struct error_info *err)
{
    if (!may_fit_later(planning, verdict))
        return refuse_verdict(planning, verdict, err);
    planning->refusal = GANG_NO_FIT;
    return error_set(err, "gang %.300s: the nodes that are free now do not lie together: %s",
                     planning->problem->key, verdict->text);
}

static int check_gpus(const struct planning *planning, const struct cluster_topology *cluster,
                      struct error_info *err)
{
    for (size_t i = 0; i < cluster->kind_count && planning->inputs.model; i++) {
        const struct node_gpu *gpu = cluster->kinds[i]->gpus;
        if (gpu->model &&
            gpu_catalogue_find(planning->sources->gpus, gpu->model, gpu->memory_bytes))
            continue;
        return error_set(err,
                         "%s: model=%.80s cannot be planned: the GPU kind of nodes of kind %.80s "
                         "is unknown; run parplan-node-agent there, label them "
                         "nvidia.com/gpu.product, or give degrees (tp, pp) without a model",
                         planning->inputs.job->values[JOB_MODEL].where,
                         planning->inputs.job->values[JOB_MODEL].text, cluster->kind_names[i]);
    }
    return 0;
}

static struct plan_request request_of(const struct planning *planning,
                                      const struct cluster_topology *cluster)
{
    uint32_t gpus = planning->problem->gpus_per_pod;
    return (struct plan_request){
        .model = planning->inputs.model,
        .cluster = cluster,
        .gpus = planning->sources->gpus,
        .frameworks = planning->sources->frameworks,
        .job = planning->inputs.job,
        .policy = &planning->policy,
        .policy_where = gpus < cluster_gpus_per_node(cluster) ? POD_WHERE : NULL,
        .world = planning->world,
        .gpus_per_node = gpus,
        .top = 1,
        .efficiencies = planning->sources->efficiencies,
    };
}

static int lay_out(struct planning *planning, const struct gang_slots *slots,
                   struct error_info *err)
{
    const struct plan_request request = request_of(planning, slots->cluster);
    CLEANUP_DONE(placement) struct placement placement = {.map = NULL};
    if (check_gpus(planning, slots->cluster, err) < 0 ||
        placement_create(&request, NULL, &placement, err) < 0)
        return -1;
    if (placement.outcome == PLACEMENT_DENIED)
        return refuse_denied(planning, &placement.verdict, err);
    if (placement.outcome == PLACEMENT_NO_FIT) {
        planning->refusal = GANG_NO_FIT;
        placement_refusal(&placement, err);
        return error_prefix(err, "gang %.300s", planning->problem->key);
    }
    if (judge(planning, &placement.verdict, err) < 0)
        return -1;
    return take_placement(planning, slots, &placement, err);
}

/* Only the places nearest to each other, so that what is spare lies near those that work. */
static int keep_near(const struct planning *planning, const struct gang_slots *slots,
                     struct gang_slots *ret, struct error_info *err)
{
    const struct cluster_topology *cluster = slots->cluster;
    const struct node_mapping_request request = {
        .cluster = cluster,
        .gpus_per_node = planning->problem->gpus_per_pod,
        .world = planning->world + planning->spare * planning->problem->gpus_per_pod,
        .locality_only = true,
    };
    size_t count = 0;
    CLEANUP_MEMORY unsigned *near = memory_allocate_array(cluster->node_count, sizeof(*near));
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    if (!near || !names)
        return error_set_memory(err);
    if (node_mapping_solve(&request, near, &count, NULL, err) < 0)
        return -1;
    CLEANUP_MEMORY uint32_t *nodes = memory_allocate_array(count, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = slots->nodes[near[i]];
        if (node_list_add(names, cluster->nodes[near[i]].name, err) < 0)
            return -1;
    }
    struct cluster_topology *kept = cluster_topology_select(cluster, names, err);
    if (!kept)
        return -1;
    *ret = (struct gang_slots){.cluster = kept, .nodes = move_pointer(nodes)};
    return 0;
}

/* -1 with an error of memory, or where the near places do not take the gang, without one. */
static int lay_out_near(struct planning *planning, const struct gang_slots *slots,
                        struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP_DONE(gang_slots) struct gang_slots near = {.cluster = NULL};
    if (keep_near(planning, slots, &near, &why) == 0 && near.cluster &&
        lay_out(planning, &near, &why) == 0)
        return 0;
    return why.kind == ERROR_MEMORY ? error_set_memory(err) : -1;
}

static int plan_on_pool(struct planning *planning, const struct gang_pool *pool,
                        struct error_info *err)
{
    CLEANUP_DONE(gang_slots) struct gang_slots slots = {.cluster = NULL};
    if (gang_slots_create(planning->problem->view->cluster, pool->candidates, pool->count,
                          planning->problem->pods, &slots, err) < 0)
        return -1;
    if (planning->spare > 0) {
        if (lay_out_near(planning, &slots, err) == 0)
            return 0;
        if (err->kind == ERROR_MEMORY)
            return -1;
    }
    planning->refusal = GANG_BAD_INPUT;
    return lay_out(planning, &slots, err);
}

/* The first pool whose nodes take the gang; else what the first one said. */
static int plan_on_room(struct planning *planning, const struct gang_room *room,
                        struct error_info *err)
{
    struct error_info first = {.kind = ERROR_NONE};
    enum gang_outcome refusal = GANG_BAD_INPUT;
    for (size_t i = 0; i < room->pool_count; i++) {
        struct error_info why = {.kind = ERROR_NONE};
        if (plan_on_pool(planning, &room->pools[i], &why) == 0)
            return 0;
        if (why.kind == ERROR_MEMORY)
            return error_set_memory(err);
        if (i > 0)
            continue;
        first = why;
        refusal = planning->refusal;
    }
    return refuse(planning, refusal, err, first.text);
}

static int plan_anew(struct planning *planning, struct error_info *err)
{
    const struct gang_problem *problem = planning->problem;
    CLEANUP_DONE(gang_room) struct gang_room room = {.pool_count = 0};
    if (open_inputs(planning, err) < 0 || judge_inputs(planning, err) < 0)
        return -1;
    bool by_domain =
        planning->inputs.model && planning->policy.tp_within == TP_WITHIN_NVLINK_DOMAIN;
    if (gang_room_find(problem, problem->pods + planning->spare, by_domain, &room, err) < 0)
        return -1;
    if (room.pool_count > 0)
        return plan_on_room(planning, &room, err);
    char text[GANG_REASON_BYTES];
    gang_words_no_room(problem, &room, problem->pods, planning->spare, text);
    return refuse(planning, GANG_NO_FIT, err, text);
}

/* --- planning again ----------------------------------------------------------------- */

static int refuse_no_spare(struct planning *planning, uint32_t pod, uint32_t group,
                           struct error_info *err)
{
    planning->plan->no_spare = true;
    planning->refusal = GANG_NO_FIT;
    return error_set(err,
                     "gang %.300s: the TP group of pods %" PRIu32 " to %" PRIu32
                     " needs a node in its NVLink domain, and no free node is in it; annotation "
                     "parplan.io/on-no-spare says what to do then",
                     planning->problem->key, pod / group * group, pod / group * group + group - 1);
}

static int refuse_no_room(struct planning *planning, struct error_info *err)
{
    const struct gang_problem *problem = planning->problem;
    struct gang_room room = {.pool_count = 0};
    uint64_t lost = 0, held = 0;
    char text[GANG_REASON_BYTES];
    for (uint32_t pod = 0; pod < problem->pods; pod++)
        lost += problem->fixed[pod] == VIEW_NODE_NONE;
    for (size_t i = 0; i < problem->candidate_count; i++) {
        room.places += problem->candidates[i].slots;
        room.shared = room.shared || problem->candidates[i].slots > 1;
    }
    held = problem->pods - lost;
    room.places -= held < room.places ? held : room.places;
    gang_words_no_room(problem, &room, lost, 0, text);
    return refuse(planning, GANG_NO_FIT, err, text);
}

static int check_replan(const struct gang_problem *problem, struct error_info *err)
{
    struct degrees degrees = problem->degrees;
    uint64_t world = (uint64_t)problem->pods * problem->gpus_per_pod;
    if (problem->has_degrees && degrees_world(&degrees) != world)
        return error_set(err,
                         "gang %.300s: its plan is of %" PRIu64 " ranks, its pods have %" PRIu64,
                         problem->key, degrees_world(&degrees), world);
    for (uint32_t pod = 0; pod < problem->pods; pod++)
        if (problem->fixed[pod] != VIEW_NODE_NONE &&
            problem->fixed[pod] >= problem->view->cluster->node_count)
            return error_set(err, "gang %.300s: pod %" PRIu32 " is on a node that is not known",
                             problem->key, pod);
    return 0;
}

static int plan_again(struct planning *planning, struct error_info *err)
{
    const struct gang_problem *problem = planning->problem;
    struct gang_plan *plan = planning->plan;
    enum gang_replan_outcome outcome;
    uint32_t pod;
    if (!problem->view->cluster)
        return refuse_no_room(planning, err);
    if (check_replan(problem, err) < 0)
        return -1;
    const struct gang_replan_request request = {
        .problem = problem,
        .shape = {.pods = problem->pods,
                  .gpus_per_pod = problem->gpus_per_pod,
                  .has_degrees = problem->has_degrees,
                  .degrees = problem->degrees,
                  .order = problem->order},
        .limited = !problem->relax && planning->policy.tp_within != TP_WITHIN_OFF,
    };
    CLEANUP_MEMORY uint32_t *nodes = memory_allocate_array(problem->pods, sizeof(*nodes));
    if (!nodes)
        return error_set_memory(err);
    if (gang_replan(&request, nodes, &outcome, &pod, err) < 0)
        return -1;
    if (outcome == REPLAN_NO_ROOM)
        return refuse_no_room(planning, err);
    if (outcome == REPLAN_NO_SPARE)
        return refuse_no_spare(planning, pod, gang_shape_group(&request.shape), err);
    plan->has_degrees = problem->has_degrees;
    plan->degrees = problem->has_degrees ? problem->degrees : DEGREES_ONE;
    plan->order = problem->order;
    gang_words_replanned(problem, nodes, plan->reason);
    return finish_plan(planning, nodes, err);
}

/* A pod that is fixed in another NVLink domain than an earlier one of its TP group, where policy
 * keeps such groups in one; `pods` where there is none. */
static uint32_t find_split_pod(const struct planning *planning)
{
    const struct gang_problem *problem = planning->problem;
    uint32_t group = gang_plan_group_pods(planning->plan), first = VIEW_NODE_NONE;
    bool limited = !problem->relax && planning->policy.tp_within != TP_WITHIN_OFF && group > 1;
    for (uint32_t pod = 0; limited && pod < problem->pods; pod++) {
        uint32_t node = problem->fixed[pod];
        first = pod % group == 0 ? VIEW_NODE_NONE : first;
        if (first != VIEW_NODE_NONE && node != VIEW_NODE_NONE &&
            cluster_distance(problem->view->cluster, first, node) > DISTANCE_SAME_NVLINK_DOMAIN)
            return pod;
        first = first == VIEW_NODE_NONE ? node : first;
    }
    return problem->pods;
}

/* The fixed pods came before the plan: first what a plan would be without them, then around them.
 */
static int plan_around(struct planning *planning, struct error_info *err)
{
    if (plan_anew(planning, err) < 0)
        return -1;
    const struct gang_plan *plan = planning->plan;
    struct gang_problem around = *planning->problem;
    around.has_degrees = plan->has_degrees;
    around.degrees = plan->degrees;
    around.order = plan->order;
    planning->problem = &around;
    planning->plan->outcome = GANG_NO_FIT;
    uint32_t split = find_split_pod(planning);
    int result = split < around.pods
                     ? refuse_no_spare(planning, split, gang_plan_group_pods(plan), err)
                     : plan_again(planning, err);
    planning->problem = NULL;
    return result;
}

static int make_plan(struct planning *planning, struct error_info *err)
{
    const struct gang_problem *problem = planning->problem;
    if (!planning->sources->config->enabled && (!problem->fixed || problem->anew))
        return refuse(
            planning, GANG_DENIED, err,
            "no gang is placed while parplan.yaml says enabled: false; set it to true, or "
            "make the pods anew with label parplan.io/gang: \"off\"");
    if (!problem->fixed)
        return plan_anew(planning, err);
    return problem->anew ? plan_around(planning, err) : plan_again(planning, err);
}

/* --- the whole ---------------------------------------------------------------------- */

static struct gang_plan *create_empty(const struct gang_problem *problem, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(PLAN_ARENA_MAXIMUM_BYTES);
    struct gang_plan *plan = arena ? arena_allocate(arena, sizeof(*plan)) : NULL;
    if (!plan)
        return error_null(error_set_memory(err));
    plan->pods = problem->pods;
    plan->gpus_per_pod = problem->gpus_per_pod;
    plan->degrees = DEGREES_ONE;
    plan->arena = move_pointer(arena);
    return plan;
}

static int check_size(const struct gang_problem *problem, struct error_info *err)
{
    if (problem->pods == 0 || problem->pods > GANG_MAXIMUM_PODS)
        return error_set(err, "gang %.300s has %" PRIu32 " pods; 1 to %u are possible",
                         problem->key, problem->pods, GANG_MAXIMUM_PODS);
    if (problem->gpus_per_pod == 0 || problem->gpus_per_pod > NODE_MAXIMUM_GPUS)
        return error_set(err, "gang %.300s: its pods have %" PRIu32 " GPUs; 1 to %u are possible",
                         problem->key, problem->gpus_per_pod, NODE_MAXIMUM_GPUS);
    return 0;
}

static struct gang_plan *plan_once(const struct gang_problem *problem,
                                   const struct gang_plan_sources *sources, struct error_info *err)
{
    CLEANUP(gang_plan) struct gang_plan *plan = create_empty(problem, err);
    struct error_info why = {.kind = ERROR_NONE};
    if (!plan)
        return NULL;
    struct planning planning = {
        .problem = problem,
        .sources = sources,
        .subject = {{[SCOPE_PARTITION] = problem->namespace}},
        .world = (uint64_t)problem->pods * problem->gpus_per_pod,
        .refusal = GANG_BAD_INPUT,
        .plan = plan,
    };
    admin_config_policy(sources->config, &planning.subject, &planning.policy);
    int result = check_size(problem, &why);
    if (result == 0)
        result = make_plan(&planning, &why);
    pod_inputs_done(&planning.inputs);
    if (result < 0 && why.kind == ERROR_MEMORY)
        return error_null(error_set_memory(err));
    if (result < 0) {
        plan->outcome = planning.refusal;
        snprintf(plan->reason, sizeof(plan->reason), "%s", why.text);
    }
    return move_pointer(plan);
}

struct gang_plan *gang_plan_create(const struct gang_problem *problem,
                                   const struct gang_plan_sources *sources, struct error_info *err)
{
    CLEANUP(gang_plan) struct gang_plan *plan = plan_once(problem, sources, err);
    if (!plan || plan->outcome != GANG_NO_FIT || !problem->empty)
        return move_pointer(plan);
    struct gang_problem alone = *problem;
    alone.candidates = problem->empty;
    alone.candidate_count = problem->empty_count;
    CLEANUP(gang_plan) struct gang_plan *other = plan_once(&alone, sources, err);
    if (!other)
        return NULL;
    plan->fits_empty = other->outcome == GANG_PLANNED;
    return move_pointer(plan);
}

void gang_plan_free(struct gang_plan *plan)
{
    if (plan)
        arena_free(plan->arena);
}

void gang_plan_coordinates(const struct gang_plan *plan, uint32_t pod, struct rank_coordinates *ret)
{
    *ret = (struct rank_coordinates){0};
    if (plan->has_degrees)
        rank_coordinates_of(plan->order, &plan->degrees, (uint64_t)pod * plan->gpus_per_pod, ret);
}

uint32_t gang_plan_group_pods(const struct gang_plan *plan)
{
    const struct gang_shape shape = {.pods = plan->pods,
                                     .gpus_per_pod = plan->gpus_per_pod,
                                     .has_degrees = plan->has_degrees,
                                     .degrees = plan->degrees,
                                     .order = plan->order};
    return gang_shape_group(&shape);
}
