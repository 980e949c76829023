/* SPDX-License-Identifier: MIT */
#include "planner/sizes/communication_volume.h"

#define PER_LAYER 2.0 /* attention and MLP; dispatch and combine; forward and back */
#define BACKWARD_RING 2.0
#define PARAMETER_GATHERS 2.0 /* forward and backward */

static void add(const struct plan_shape *shape, struct exchange exchange, struct exchange_list *ret)
{
    if (group_size(&shape->plan->degrees, exchange.group) > 1 && exchange.count > 0 &&
        exchange.bytes > 0)
        ret->of[ret->count++] = exchange;
}

/* The hidden states of a rank's tokens, unsplit. */
static double hidden_bytes(const struct plan_shape *shape)
{
    return plan_element_bytes(shape->plan) * plan_rank_tokens(shape->training, shape->plan) *
           shape->model->hidden;
}

static double routed_bytes(const struct plan_shape *shape)
{
    return hidden_bytes(shape) * shape->model->experts_per_token *
           training_expert_load(shape->training) /
           plan_sequence_divisor(shape->profile, shape->plan);
}

void tensor_exchanges(const struct plan_shape *shape, bool moe, struct exchange_list *ret)
{
    const struct plan *plan = shape->plan;
    double runs = plan_forward_passes(plan) + 1;
    double blocks = !moe || shape->model->shared_experts > 0 ? PER_LAYER : 1;
    bool split = plan_sequence_divisor(shape->profile, plan) > 1;
    *ret = (struct exchange_list){.count = 0};
    add(shape,
        (struct exchange){GROUP_TP, split ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE,
                          hidden_bytes(shape), blocks * runs * (split ? 2 : 1)},
        ret);
    if (moe)
        add(shape,
            (struct exchange){GROUP_ETP, COLLECTIVE_ALL_GATHER,
                              routed_bytes(shape) * plan->degrees.etp, PER_LAYER * runs},
            ret);
}

void context_exchanges(const struct plan_shape *shape, struct exchange_list *ret)
{
    const struct model_spec *model = shape->model;
    const struct plan *plan = shape->plan;
    double width = 2.0 * model->kv_heads * model->head_dim;
    if (model->attention == ATTENTION_LATENT)
        width = (double)model->heads *
                (model->qk_nope_head_dim + model->qk_rope_head_dim + model->v_head_dim);
    double bytes = plan_element_bytes(plan) * plan_rank_tokens(shape->training, plan) * width /
                   plan->degrees.tp;
    *ret = (struct exchange_list){.count = 0};
    add(shape,
        (struct exchange){GROUP_CP, COLLECTIVE_SEND, bytes,
                          (plan_forward_passes(plan) + BACKWARD_RING) * (plan->degrees.cp - 1)},
        ret);
}

void expert_exchanges(const struct plan_shape *shape, struct exchange_list *ret)
{
    *ret = (struct exchange_list){.count = 0};
    add(shape,
        (struct exchange){GROUP_EP, COLLECTIVE_ALL_TO_ALL, routed_bytes(shape),
                          PER_LAYER * (plan_forward_passes(shape->plan) + 1)},
        ret);
}

void pipeline_exchanges(const struct plan_shape *shape, struct exchange_list *ret)
{
    const struct plan *plan = shape->plan;
    *ret = (struct exchange_list){.count = 0};
    add(shape,
        (struct exchange){GROUP_PP, COLLECTIVE_SEND,
                          hidden_bytes(shape) / plan_sequence_divisor(shape->profile, plan),
                          PER_LAYER * plan->degrees.vpp},
        ret);
}

struct state_groups {
    enum group_dimension all, shard, replicas;
};

static const struct state_groups groups_of[] = {
    [STATES_DENSE] = {GROUP_STATES, GROUP_STATE_SHARD, GROUP_REPLICATE},
    [STATES_EXPERT] = {GROUP_EDP, GROUP_EXPERT_SHARD, GROUP_EXPERT_REPLICATE},
};

void state_exchanges(const struct plan_shape *shape, enum state_kind kind, double parameters,
                     struct exchange_list *ret)
{
    const struct plan *plan = shape->plan;
    const struct state_groups *groups = &groups_of[kind];
    struct sharded_states sharded = sharded_states_of(plan->sharding);
    double trained = parameters * shape->training->trainable;
    double gradients =
        trained * state_bytes_of(shape->profile, shape->training, plan->precision).gradient;
    double gathered = gathered_parameter_bytes(plan->precision);
    double batches = plan->micro_batches;
    *ret = (struct exchange_list){.count = 0};
    if (!sharded.optimizer) {
        add(shape, (struct exchange){groups->all, COLLECTIVE_ALL_REDUCE, gradients, 1}, ret);
        return;
    }
    double gathers = plan->degrees.pp > 1 ? 1 : PARAMETER_GATHERS * batches;
    add(shape,
        (struct exchange){groups->shard, COLLECTIVE_ALL_GATHER, gradients,
                          sharded.gradients ? batches : 1},
        ret);
    add(shape,
        (struct exchange){groups->shard, COLLECTIVE_ALL_GATHER,
                          gathered * (sharded.parameters ? parameters : trained),
                          sharded.parameters ? gathers : 1},
        ret);
    add(shape,
        (struct exchange){groups->replicas, COLLECTIVE_ALL_REDUCE,
                          gradients / group_size(&plan->degrees, groups->shard), 1},
        ret);
}

static double ring_share(enum collective collective, double size)
{
    switch (collective) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (size - 1) / size;
    case COLLECTIVE_SEND:
        return 1;
    default:
        return (size - 1) / size;
    }
}

double exchange_rank_bytes(const struct exchange_list *list, const struct degrees *degrees)
{
    double bytes = 0;
    for (unsigned i = 0; i < list->count; i++) {
        const struct exchange *exchange = &list->of[i];
        bytes += exchange->count * exchange->bytes *
                 ring_share(exchange->collective, group_size(degrees, exchange->group));
    }
    return bytes;
}
