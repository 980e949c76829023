/* SPDX-License-Identifier: MIT */
#include "mapping/traffic.h"

#include "planner/sizes/communication_volume.h"

static const char *const names[TRAFFIC_DIMENSION_COUNT] = {
    [TRAFFIC_TP] = "tp", [TRAFFIC_CP] = "cp", [TRAFFIC_EP] = "ep",
    [TRAFFIC_PP] = "pp", [TRAFFIC_DP] = "dp",
};

const char *traffic_dimension_name(enum traffic_dimension dimension)
{
    return (unsigned)dimension < TRAFFIC_DIMENSION_COUNT ? names[dimension] : "unknown";
}

static bool same_pairs(const struct traffic_flow *left, const struct traffic_flow *right)
{
    return left->dimension == right->dimension && left->group == right->group &&
           left->pattern == right->pattern && left->is_message == right->is_message;
}

static void add_flow(struct traffic *traffic, struct traffic_flow flow)
{
    if (flow.pair_bytes <= 0)
        return;
    for (unsigned i = 0; i < traffic->flow_count; i++) {
        struct traffic_flow *known = &traffic->flows[i];
        if (!same_pairs(known, &flow))
            continue;
        double bytes = known->pair_bytes + flow.pair_bytes;
        known->exposed =
            (known->exposed * known->pair_bytes + flow.exposed * flow.pair_bytes) / bytes;
        known->pair_bytes = bytes;
        return;
    }
    if (traffic->flow_count < TRAFFIC_FLOWS_MAXIMUM)
        traffic->flows[traffic->flow_count++] = flow;
}

/* `times` of every exchange of the list. */
static void add_list(struct traffic *traffic, enum traffic_dimension dimension,
                     const struct exchange_list *list, const struct degrees *degrees, double times,
                     double exposed)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct exchange_list one = {.of = {list->of[i]}, .count = 1};
        const struct exchange *exchange = &list->of[i];
        struct traffic_flow flow = {
            .dimension = dimension,
            .group = exchange->group,
            .pattern = PAIRS_RING,
            .pair_bytes = times * exchange_rank_bytes(&one, degrees),
            .exposed = exposed,
        };
        if (exchange->collective == COLLECTIVE_ALL_TO_ALL) {
            flow.pattern = PAIRS_ALL;
            flow.pair_bytes *= 2.0 / (group_size(degrees, exchange->group) - 1);
        } else if (exchange->collective == COLLECTIVE_SEND) {
            flow.pattern = exchange->group == GROUP_PP ? PAIRS_CHAIN : PAIRS_RING;
            flow.is_message = true;
        }
        add_flow(traffic, flow);
    }
}

static void add_layers(struct traffic *traffic, const struct plan_shape *shape, bool moe,
                       double times)
{
    const struct degrees *degrees = &shape->plan->degrees;
    const struct framework_profile *profile = shape->profile;
    struct exchange_list list;
    if (times <= 0)
        return;
    tensor_exchanges(shape, moe, &list);
    add_list(traffic, TRAFFIC_TP, &list, degrees, times, 1 - profile->overlap_tp);
    context_exchanges(shape, &list);
    add_list(traffic, TRAFFIC_CP, &list, degrees, times, 1 - profile->overlap_cp);
    if (!moe)
        return;
    expert_exchanges(shape, &list);
    add_list(traffic, TRAFFIC_EP, &list, degrees, times, 1 - profile->overlap_ep);
}

static void add_states(struct traffic *traffic, const struct plan_shape *shape)
{
    const struct plan *plan = shape->plan;
    struct rank_parameters mean;
    struct exchange_list list;
    bool gathers = sharded_states_of(plan->sharding).parameters;
    double exposed = 1 - (gathers ? shape->profile->overlap_gather : shape->profile->overlap_dp);
    rank_mean_parameters(shape, &mean);
    state_exchanges(shape, STATES_DENSE, mean.dense, &list);
    add_list(traffic, TRAFFIC_DP, &list, &plan->degrees, 1, exposed);
    state_exchanges(shape, STATES_EXPERT, mean.expert, &list);
    add_list(traffic, TRAFFIC_DP, &list, &plan->degrees, 1, exposed);
}

void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, const struct training_spec *training,
                     struct traffic *ret)
{
    struct model_parameters counts;
    struct training_spec adapted = *training;
    const struct plan_shape shape = {plan, model, &counts, profile, &adapted};
    *ret = (struct traffic){.flow_count = 0};
    if (model_parameters_count(model, &counts, NULL) < 0)
        return;
    training_spec_adapt(&adapted, model, &counts);
    double moe = model_moe_layers(model, model->layers);
    double batches = plan->micro_batches;
    double stage = batches / plan->degrees.pp; /* layers are spread over the stages */
    struct exchange_list list;
    add_layers(ret, &shape, false, stage * (model->layers - moe));
    add_layers(ret, &shape, true, stage * moe);
    pipeline_exchanges(&shape, &list);
    add_list(ret, TRAFFIC_PP, &list, &plan->degrees, batches, 1 - profile->overlap_pp);
    add_states(ret, &shape);
}

void traffic_of_rule(const struct plan *plan, struct traffic *ret)
{
    bool gathers = sharded_states_of(plan->sharding).parameters;
    bool narrow = plan->degrees.shard > 1 && plan->degrees.shard < plan->degrees.dp;
    enum group_dimension states = narrow ? GROUP_STATE_SHARD : GROUP_DP;
    double experts = plan->degrees.ep > 1 ? plan->degrees.ep - 1 : 1;
    const struct traffic_flow flows[] = {
        {TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 10000, 1},
        {TRAFFIC_CP, GROUP_CP, PAIRS_RING, false, 1000, 1},
        {TRAFFIC_EP, GROUP_EP, PAIRS_ALL, false, 2 * 1000 / experts, 1},
        {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 10, 1},
        {TRAFFIC_DP, states, PAIRS_RING, false,
         narrow || (gathers && plan->degrees.pp == 1) ? 100 : 1, 1},
        {TRAFFIC_DP, GROUP_REPLICATE, PAIRS_RING, false, narrow ? 1 : 0, 1},
    };
    *ret = (struct traffic){.flow_count = 0};
    for (unsigned i = 0; i < COUNT_OF(flows); i++)
        if (group_size(&plan->degrees, flows[i].group) > 1)
            add_flow(ret, flows[i]);
}

double traffic_rank_bytes(const struct traffic *traffic, const struct degrees *degrees,
                          enum traffic_dimension dimension)
{
    double bytes = 0;
    for (unsigned i = 0; i < traffic->flow_count; i++) {
        const struct traffic_flow *flow = &traffic->flows[i];
        if (flow->dimension != dimension)
            continue;
        double share =
            flow->pattern == PAIRS_ALL ? (group_size(degrees, flow->group) - 1) / 2.0 : 1;
        bytes += flow->pair_bytes * share;
    }
    return bytes;
}
