/* SPDX-License-Identifier: MIT */
#include "mapping/objective.h"

#define SAME_SHARE 1e-9

/* What a model's plan sends, and how long that takes on this cluster. */
struct figures {
    struct traffic traffic;
    struct link_seconds seconds;
};

struct choice {
    const struct plan_request *request;
    struct node_mapping_request mapping;
    struct figures figures;
    bool known; /* the figures */
    enum job_objective asked;
};

static int find_figures(struct choice *choice, const struct plan *plan, struct error_info *err)
{
    const struct plan_request *request = choice->request;
    if (!request->model)
        return 0;
    CLEANUP_DONE(plan_context) struct plan_context context = {.request = NULL};
    if (plan_context_init(&context, request, err) < 0)
        return -1;
    traffic_of_plan(plan, request->model, context.profile, &context.training,
                    &choice->figures.traffic);
    link_seconds_of(&context, &choice->figures.seconds);
    choice->known = true;
    return 0;
}

static struct rank_map *map_by(const struct choice *choice, enum job_objective objective,
                               struct error_info *err)
{
    struct node_mapping_request mapping = choice->mapping;
    if (objective == OBJECTIVE_COST) {
        mapping.traffic = &choice->figures.traffic;
        mapping.seconds = &choice->figures.seconds;
    }
    return rank_map_create(&mapping, err);
}

static void measure(const struct choice *choice, const struct rank_map *map,
                    struct objective_result *ret)
{
    ret->traffic = choice->figures.traffic;
    ret->seconds = choice->figures.seconds;
    mapping_cost_compute(map, choice->known ? &choice->figures.traffic : NULL,
                         choice->known ? &choice->figures.seconds : NULL, &ret->cost);
}

/* Golden's map, with the seconds that the cost's map and its bound say. */
static struct objective_result golden_result(const struct choice *choice,
                                             const struct rank_map *golden,
                                             const struct rank_map *cheapest)
{
    struct objective_result result = {.objective = OBJECTIVE_GOLDEN, .quality = golden->quality};
    measure(choice, golden, &result);
    result.golden_seconds = result.cost.exposed_seconds;
    if (!cheapest)
        return result;
    const struct mapping_quality *best = &cheapest->quality;
    result.quality.cost = result.cost.exposed_seconds;
    result.quality.lower_bound = best->lower_bound;
    result.quality.optimal = result.quality.cost <= best->lower_bound * (1 + SAME_SHARE);
    if (result.quality.optimal) /* summed in another order, so not the same bits */
        result.quality.lower_bound = result.quality.cost;
    result.quality.exchanges += best->exchanges;
    return result;
}

static struct objective_result cost_result(const struct choice *choice,
                                           const struct rank_map *cheapest, double golden_seconds)
{
    struct objective_result result = {.objective = OBJECTIVE_COST,
                                      .quality = cheapest->quality,
                                      .golden_seconds = golden_seconds};
    measure(choice, cheapest, &result);
    return result;
}

/* With a model: both maps, and the one that was asked for. */
static struct rank_map *choose(const struct choice *choice, struct objective_result *ret,
                               struct error_info *err)
{
    CLEANUP(rank_map) struct rank_map *golden = map_by(choice, OBJECTIVE_GOLDEN, err);
    CLEANUP(rank_map)
    struct rank_map *cheapest = golden ? map_by(choice, OBJECTIVE_COST, err) : NULL;
    if (!golden || !cheapest)
        return NULL;
    struct objective_result by_rule = golden_result(choice, golden, cheapest);
    double saved = by_rule.golden_seconds - cheapest->quality.cost;
    bool wins =
        choice->asked == OBJECTIVE_COST ||
        (choice->asked == OBJECTIVE_AUTO && saved > OBJECTIVE_MARGIN * by_rule.golden_seconds);
    *ret = wins ? cost_result(choice, cheapest, by_rule.golden_seconds) : by_rule;
    return wins ? move_pointer(cheapest) : move_pointer(golden);
}

static struct choice choice_of(const struct plan_request *request, const struct plan *plan,
                               uint64_t world, const struct mapping_wishes *wishes)
{
    static const struct mapping_wishes none = {.identity = false};
    const struct mapping_wishes *asked = wishes ? wishes : &none;
    unsigned ranks = request->gpus_per_node;
    return (struct choice){
        .request = request,
        .mapping = {.cluster = request->cluster,
                    .degrees = plan->degrees,
                    .order = plan->order,
                    .sharding = plan->sharding,
                    .gpus_per_node = ranks ? ranks : cluster_gpus_per_node(request->cluster),
                    .world = world,
                    .identity = asked->identity,
                    .node_order = asked->node_order,
                    .exact = asked->exact,
                    .budget = asked->budget,
                    .pins = asked->pins,
                    .pin_count = asked->pin_count},
        .asked = (enum job_objective)job_spec_number(request->job, JOB_OBJECTIVE, OBJECTIVE_AUTO),
    };
}

static int check_objective(const struct plan_request *request, struct error_info *err)
{
    const struct job_value *objective = &request->job->values[JOB_OBJECTIVE];
    if (request->model || !objective->given || objective->number != OBJECTIVE_COST)
        return 0;
    return error_set(err,
                     "%s: objective=cost counts bytes, and no model says how many there are; name "
                     "one, or use objective=golden",
                     objective->where);
}

static const enum traffic_dimension span_traffic[SPAN_DIMENSION_COUNT] = {TRAFFIC_CP, TRAFFIC_EP,
                                                                          TRAFFIC_DP, TRAFFIC_PP};

uint64_t objective_links_out(const struct policy *policy, const struct mapping_cost *cost,
                             enum span_dimension dimension, uint64_t *ret_unknown)
{
    static const unsigned firsts[POLICY_SPAN_COUNT] = {
        [SPAN_OFF] = COST_SLOT_MAXIMUM,
        [SPAN_LEAF] = COST_SLOT_TIERS + 1,
        [SPAN_NVLINK_DOMAIN] = COST_SLOT_TIERS,
        [SPAN_NODE] = COST_SLOT_DOMAIN,
    };
    const uint64_t *links = cost->pairs[span_traffic[dimension]];
    unsigned limit = policy->spans[dimension], last = cost->slot_count - 1;
    uint64_t out = limit > SPAN_LEAF ? links[last] : 0;
    for (unsigned slot = firsts[limit]; slot < last; slot++)
        out += links[slot];
    *ret_unknown = limit == SPAN_LEAF ? links[last] : 0;
    return out;
}

/* Links out of all dimensions; *ret_limited: bit of each limited dimension's traffic. */
static uint64_t all_links_out(const struct policy *policy, const struct mapping_cost *cost,
                              unsigned *ret_limited)
{
    uint64_t out = 0, unknown;
    *ret_limited = 1u << TRAFFIC_TP;
    for (unsigned i = 0; i < SPAN_DIMENSION_COUNT; i++) {
        out += objective_links_out(policy, cost, (enum span_dimension)i, &unknown);
        if (policy->spans[i] != SPAN_OFF)
            *ret_limited |= 1u << span_traffic[i];
    }
    return out;
}

/* The map that keeps the limited groups nearest, where the given one breaks spans and that one does
 * not. Takes the map. */
static struct rank_map *keep_spans(struct choice *choice, struct rank_map *map,
                                   struct objective_result *ret, struct error_info *err)
{
    CLEANUP(rank_map) struct rank_map *given = map;
    const struct policy *policy = choice->request->policy;
    if (!given || !policy || choice->mapping.identity ||
        all_links_out(policy, &ret->cost, &choice->mapping.near_dimensions) == 0)
        return move_pointer(given);
    CLEANUP(rank_map) struct rank_map *near = map_by(choice, OBJECTIVE_GOLDEN, err);
    if (!near)
        return NULL;
    struct objective_result result = golden_result(choice, near, NULL);
    if (all_links_out(policy, &result.cost, &choice->mapping.near_dimensions) > 0)
        return move_pointer(given);
    if (choice->known) {
        result.quality = ret->quality;
        result.quality.cost = result.golden_seconds;
        result.quality.optimal = result.quality.cost <= ret->quality.lower_bound;
        if (result.quality.optimal) /* by its last bits at most */
            result.quality.lower_bound = result.quality.cost;
    }
    *ret = result;
    return move_pointer(near);
}

struct rank_map *objective_map(const struct plan_request *request, const struct plan *plan,
                               uint64_t world, bool locality, const struct mapping_wishes *wishes,
                               struct objective_result *ret, struct error_info *err)
{
    struct choice choice = choice_of(request, plan, world, wishes);
    choice.mapping.locality_only = locality;
    if (check_objective(request, err) < 0 || find_figures(&choice, plan, err) < 0)
        return NULL;
    if (choice.known && !choice.mapping.identity)
        return keep_spans(&choice, choose(&choice, ret, err), ret, err);
    struct rank_map *map = map_by(&choice, OBJECTIVE_GOLDEN, err);
    if (map)
        *ret = golden_result(&choice, map, NULL);
    return keep_spans(&choice, map, ret, err);
}

static double order_cost(const struct plan_request *request, const struct plan *plan,
                         uint64_t world, struct error_info *err)
{
    struct objective_result result;
    CLEANUP(rank_map)
    struct rank_map *map = objective_map(request, plan, world, false, NULL, &result, err);
    return map ? result.quality.cost : -1;
}

int objective_choose_order(const struct plan_request *request, struct plan *plan, uint64_t world,
                           struct error_info *err)
{
    const struct job_value *framework = &request->job->values[JOB_FRAMEWORK];
    const struct framework_profile *profile = framework_catalogue_find(
        request->frameworks, framework->given ? framework->text : NULL, err);
    struct plan other = *plan;
    other.order = ORDER_TP_CP_EP_PP_DP;
    if (!profile)
        return -1;
    if (!profile->pipeline_before_data || rank_order_check(other.order, &other.degrees, NULL) < 0)
        return 0;
    double own = order_cost(request, plan, world, err);
    double changed = own < 0 ? -1 : order_cost(request, &other, world, err);
    if (changed < 0)
        return -1;
    if (changed < own * (1 - SAME_SHARE))
        plan->order = other.order;
    return 0;
}
