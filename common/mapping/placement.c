/* SPDX-License-Identifier: MIT */
#include "mapping/placement.h"
#include "base/numbers/real.h"
#include "workload/job/job_bounds.h"

static unsigned ranks_per_node(const struct plan_request *request)
{
    return request->gpus_per_node ? request->gpus_per_node
                                  : cluster_gpus_per_node(request->cluster);
}

static uint64_t world_of(const struct plan_request *request)
{
    return request->world ? request->world
                          : (uint64_t)ranks_per_node(request) * request->cluster->node_count;
}

static int plan_with_model(const struct plan_request *request, struct placement *placement,
                           struct error_info *err)
{
    placement->list = plan_search(request, err);
    if (!placement->list)
        return -1;
    placement->verdict = placement->list->policy;
    if (placement->list->policy.result == POLICY_DENIED)
        placement->outcome = PLACEMENT_DENIED;
    else if (placement->list->plan_count == 0)
        placement->outcome = PLACEMENT_NO_FIT;
    else
        placement->plan = placement->list->plans[0];
    return 0;
}

/* What is said already stands, unless this is a denial. */
static void take_verdict(struct placement *placement, const struct policy_verdict *verdict)
{
    bool said = placement->verdict.result != POLICY_ALLOWED && verdict->result != POLICY_DENIED;
    if (verdict->result == POLICY_ALLOWED || said)
        return;
    placement->verdict = *verdict;
    if (verdict->result != POLICY_DENIED)
        return;
    placement->outcome = PLACEMENT_DENIED;
    rank_map_free(placement->map);
    placement->map = NULL;
}

static void check_spans(const struct plan_request *request, struct placement *placement,
                        const struct policy_place *place)
{
    struct policy_verdict verdict;
    policy_check_spans(request->policy, &placement->plan.degrees, job_spec_order(request->job),
                       place, &verdict);
    take_verdict(placement, &verdict);
}

static int plan_without_model(const struct plan_request *request, struct placement *placement,
                              struct error_info *err)
{
    struct policy_place place;
    int result =
        plan_from_degrees(request->job, request->cluster, world_of(request), &placement->plan, err);
    if (result < 0) {
        placement->plan.degrees = DEGREES_ONE;
        placement->plan.degrees.tp = (unsigned)job_spec_number(request->job, JOB_TP, 1);
    }
    policy_place_of(request->cluster, ranks_per_node(request), world_of(request),
                    request->policy_where, &place);
    policy_check(request->policy, &placement->plan.degrees, &place, &placement->verdict);
    if (placement->verdict.result != POLICY_DENIED)
        check_spans(request, placement, &place);
    /* A tp that is denied whatever else is given: no product would help. */
    if (result < 0 && placement->verdict.result != POLICY_DENIED)
        return -1;
    if (placement->verdict.result == POLICY_DENIED)
        placement->outcome = PLACEMENT_DENIED;
    return 0;
}

static int choose_plan(const struct plan_request *request, struct placement *placement,
                       struct error_info *err)
{
    if (request->model)
        return plan_with_model(request, placement, err);
    if (job_bounds_refuse(request->job, err) < 0)
        return -1;
    if (job_spec_has_degrees(request->job))
        return plan_without_model(request, placement, err);
    placement->plan.degrees = DEGREES_ONE;
    return 0;
}

/* What order the ranks are numbered in, where that is to be chosen. */
static int choose_order(const struct plan_request *request, struct placement *placement,
                        struct error_info *err)
{
    return job_spec_order_is_open(request->job)
               ? objective_choose_order(request, &placement->plan, world_of(request), err)
               : 0;
}

static int map_plan(const struct plan_request *request, const struct mapping_wishes *wishes,
                    struct placement *placement, struct error_info *err)
{
    bool locality_only = !request->model && !job_spec_has_degrees(request->job);
    if (!locality_only && choose_order(request, placement, err) < 0)
        return -1;
    placement->map = objective_map(request, &placement->plan, world_of(request), locality_only,
                                   wishes, &placement->outlook, err);
    return placement->map ? 0 : -1;
}

static void check_order(const struct plan_request *request, struct placement *placement)
{
    struct policy_verdict verdict;
    if (placement->map->locality_only)
        return;
    policy_check_order(request->policy, placement->map->order, &verdict);
    take_verdict(placement, &verdict);
}

/* Sizes can allow what the nodes at hand do not: 16 of the 18 trays of two NVL72 racks. */
static void check_map(const struct plan_request *request, struct placement *placement)
{
    const struct mapping_cost *cost = &placement->outlook.cost;
    struct policy_place place;
    struct policy_verdict verdict;
    uint64_t links_out = 0;
    if (placement->map->locality_only || request->policy->tp_within == TP_WITHIN_OFF)
        return;
    bool domain = request->policy->tp_within == TP_WITHIN_NVLINK_DOMAIN;
    for (unsigned slot = domain ? COST_SLOT_TIERS : COST_SLOT_DOMAIN; slot < cost->slot_count;
         slot++)
        links_out += cost->pairs[TRAFFIC_TP][slot];
    policy_place_of(request->cluster, ranks_per_node(request), world_of(request),
                    request->policy_where, &place);
    policy_check_split(request->policy, placement->plan.degrees.tp, links_out, &place, &verdict);
    take_verdict(placement, &verdict);
}

/* Where nobody knows the NVLink, the sizes have been called unknown already. */
static void check_reach(const struct plan_request *request, struct placement *placement,
                        enum span_dimension dimension, unsigned size)
{
    struct policy_place place;
    struct policy_verdict verdict;
    uint64_t unknown;
    uint64_t out =
        objective_links_out(request->policy, &placement->outlook.cost, dimension, &unknown);
    policy_place_of(request->cluster, ranks_per_node(request), world_of(request),
                    request->policy_where, &place);
    if (request->policy->spans[dimension] == SPAN_NVLINK_DOMAIN && !place.nvlink_known)
        return;
    policy_check_reach(request->policy, dimension, size, out, unknown, &place, &verdict);
    take_verdict(placement, &verdict);
}

static void check_reaches(const struct plan_request *request, struct placement *placement)
{
    const struct degrees *degrees = &placement->plan.degrees;
    const unsigned sizes[SPAN_DIMENSION_COUNT] = {degrees->cp, degrees->ep, degrees->dp,
                                                  degrees->pp};
    for (unsigned i = 0; i < SPAN_DIMENSION_COUNT && placement->map; i++)
        check_reach(request, placement, (enum span_dimension)i, sizes[i]);
}

int placement_create(const struct plan_request *request, const struct mapping_wishes *wishes,
                     struct placement *ret, struct error_info *err)
{
    struct placement placement = {.outcome = PLACEMENT_DONE,
                                  .verdict = {.result = POLICY_ALLOWED, .code = POLICY_OK}};
    if (choose_plan(request, &placement, err) < 0 ||
        (placement.outcome == PLACEMENT_DONE && map_plan(request, wishes, &placement, err) < 0)) {
        placement_done(&placement);
        return -1;
    }
    if (placement.map)
        check_order(request, &placement);
    if (placement.map)
        check_map(request, &placement);
    if (placement.map && !placement.map->locality_only)
        check_reaches(request, &placement);
    *ret = placement;
    return 0;
}

void placement_done(struct placement *placement)
{
    rank_map_free(placement->map);
    plan_list_free(placement->list);
    *placement = (struct placement){.outcome = placement->outcome};
}

int placement_refusal(const struct placement *placement, struct error_info *err)
{
    if (placement->outcome == PLACEMENT_DENIED)
        return error_set(err, "%s", placement->verdict.text);
    const struct plan_list *list = placement->list;
    const char *remedy = list->remedy_count ? list->remedies[0].text : "use more or larger GPUs";
    if (!list->nearest)
        return error_set(err, "nothing fits: no split satisfies the constraints; %s", remedy);
    const double gib = 1024.0 * 1024.0 * 1024.0;
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&list->nearest->degrees, degrees);
    return error_set(err, "nothing fits: the nearest, %s, needs %.1f GiB per GPU and has %.1f; %s",
                     degrees, real_of(list->nearest->memory.total_bytes) / gib,
                     real_of(list->nearest->memory.capacity_bytes) / gib, remedy);
}
