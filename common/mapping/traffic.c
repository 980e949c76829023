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

static double rank_bytes(const struct exchange_list *list, const struct plan_shape *shape)
{
    return exchange_rank_bytes(list, &shape->plan->degrees);
}

static double tp_bytes(const struct plan_shape *shape, bool moe)
{
    struct exchange_list list;
    tensor_exchanges(shape, moe, &list);
    return rank_bytes(&list, shape);
}

static double cp_bytes(const struct plan_shape *shape)
{
    struct exchange_list list;
    context_exchanges(shape, &list);
    return rank_bytes(&list, shape);
}

static double ep_bytes(const struct plan_shape *shape)
{
    struct exchange_list list;
    expert_exchanges(shape, &list);
    return rank_bytes(&list, shape);
}

static double pp_bytes(const struct plan_shape *shape)
{
    struct exchange_list list;
    pipeline_exchanges(shape, &list);
    return rank_bytes(&list, shape);
}

static double dp_bytes(const struct plan_shape *shape)
{
    struct rank_parameters mean;
    struct exchange_list dense, experts;
    rank_mean_parameters(shape, &mean);
    state_exchanges(shape, STATES_DENSE, mean.dense, &dense);
    state_exchanges(shape, STATES_EXPERT, mean.expert, &experts);
    return rank_bytes(&dense, shape) + rank_bytes(&experts, shape);
}

void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, const struct training_spec *training,
                     struct traffic *ret)
{
    struct model_parameters counts;
    struct training_spec adapted = *training;
    const struct plan_shape shape = {plan, model, &counts, profile, &adapted};
    *ret = (struct traffic){{0}};
    if (model_parameters_count(model, &counts, NULL) < 0)
        return;
    training_spec_adapt(&adapted, model, &counts);
    double moe = model_moe_layers(model, model->layers);
    double dense = model->layers - moe, batches = plan->micro_batches;
    double stage = batches / plan->degrees.pp; /* layers are spread over the stages */
    *ret = (struct traffic){
        .bytes_per_step = {
            [TRAFFIC_TP] = stage * (dense * tp_bytes(&shape, false) + moe * tp_bytes(&shape, true)),
            [TRAFFIC_CP] = stage * model->layers * cp_bytes(&shape),
            [TRAFFIC_EP] = stage * moe * ep_bytes(&shape),
            [TRAFFIC_PP] = batches * pp_bytes(&shape),
            [TRAFFIC_DP] = dp_bytes(&shape),
        }};
}
