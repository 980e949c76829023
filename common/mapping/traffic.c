/* SPDX-License-Identifier: MIT */
#include "mapping/traffic.h"

static const char *const names[TRAFFIC_DIMENSION_COUNT] = {
    [TRAFFIC_TP] = "tp", [TRAFFIC_CP] = "cp", [TRAFFIC_EP] = "ep",
    [TRAFFIC_PP] = "pp", [TRAFFIC_DP] = "dp",
};

const char *traffic_dimension_name(enum traffic_dimension dimension)
{
    return (unsigned)dimension < TRAFFIC_DIMENSION_COUNT ? names[dimension] : "unknown";
}

/* What the formulas share: of one micro-batch unless said. */
struct volume {
    const struct plan *plan;
    const struct model_spec *model;
    const struct framework_profile *profile;
    double element_bytes; /* of an activation on the wire */
    double tokens;
    double layers, moe_layers; /* of one stage */
    double passes;             /* forward (and again under full recomputation) */
};

/* (n - 1) / n: the share of a ring collective that leaves a rank. */
static double ring_share(unsigned size) { return size > 1 ? (size - 1.0) / size : 0.0; }

static double tp_bytes(const struct volume *v)
{
    const struct degrees *d = &v->plan->degrees;
    double message = v->element_bytes * v->tokens * v->model->hidden / d->cp;
    return v->layers * 2.0 * (v->passes + 1.0) * 2.0 * ring_share(d->tp) * message;
}

/* Ring attention hands K and V on; backward moves them and their gradients. */
static double cp_bytes(const struct volume *v)
{
    const struct degrees *d = &v->plan->degrees;
    const struct model_spec *m = v->model;
    double width = 2.0 * m->kv_heads * m->head_dim;
    if (m->attention == ATTENTION_LATENT)
        width = (double)m->heads * (m->qk_nope_head_dim + m->qk_rope_head_dim + m->v_head_dim);
    double message = v->element_bytes * v->tokens * width / d->tp;
    return v->layers * (v->passes + 2.0) * ring_share(d->cp) * message;
}

/* Dispatch and combine, forward and backward. */
static double ep_bytes(const struct volume *v)
{
    const struct degrees *d = &v->plan->degrees;
    double routed = v->tokens * v->model->experts_per_token / ((double)d->tp * d->cp);
    double message = v->element_bytes * routed * v->model->hidden;
    return v->moe_layers * 2.0 * (v->passes + 1.0) * ring_share(d->ep) * message;
}

/* Both directions of the boundary: activations forward, their gradients back. */
static double pp_bytes(const struct volume *v)
{
    const struct degrees *d = &v->plan->degrees;
    if (d->pp < 2)
        return 0.0;
    double split = v->profile->sequence_parallel ? (double)d->cp * d->tp : d->cp;
    return 2.0 * d->vpp * v->element_bytes * v->tokens * v->model->hidden / split;
}

/* Gradients and parameters of one rank, per step; size: ranks that hold the same ones. */
static double replica_bytes(const struct volume *v, double parameters, unsigned size)
{
    const struct degrees *d = &v->plan->degrees;
    double gradients = v->profile->gradient_bytes * parameters;
    double weights = v->profile->parameter_bytes * parameters;
    unsigned shard = d->shard < size ? d->shard : size, replicate = shard ? size / shard : size;
    switch (v->plan->sharding) {
    case SHARDING_NONE:
        return 2.0 * ring_share(size) * gradients;
    case SHARDING_ZERO1:
    case SHARDING_ZERO2:
        return ring_share(size) * (gradients + weights);
    default: /* gathered twice and reduced for every micro-batch, then over the replicas */
        return v->plan->micro_batches * ring_share(shard) * (2.0 * weights + gradients) +
               2.0 * ring_share(replicate) * gradients / (shard ? shard : 1);
    }
}

static double dp_bytes(const struct volume *v)
{
    const struct degrees *d = &v->plan->degrees;
    struct model_parameters count;
    if (model_parameters_count(v->model, &count, NULL) < 0)
        return 0.0;
    double experts = v->moe_layers * d->pp * (double)count.experts;
    double dense = (double)count.total - experts;
    double experts_here = experts / ((double)d->etp * d->ep * d->pp);
    return replica_bytes(v, dense / ((double)d->tp * d->pp), d->dp) +
           replica_bytes(v, experts_here, degrees_edp(d));
}

void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, unsigned sequence_length,
                     struct traffic *ret)
{
    unsigned moe_layers = model->experts > 0 && model->dense_layers < model->layers
                              ? model->layers - model->dense_layers
                              : 0;
    const struct volume volume = {
        .plan = plan,
        .model = model,
        .profile = profile,
        .element_bytes = plan->precision == PRECISION_FP32 ? 4.0 : 2.0,
        .tokens = (double)sequence_length * plan->micro_batch,
        .layers = (double)model->layers / plan->degrees.pp,
        .moe_layers = (double)moe_layers / plan->degrees.pp,
        .passes = plan->recompute == RECOMPUTE_FULL ? 2.0 : 1.0,
    };
    double batches = plan->micro_batches;
    *ret = (struct traffic){.bytes_per_step = {
                                [TRAFFIC_TP] = batches * tp_bytes(&volume),
                                [TRAFFIC_CP] = batches * cp_bytes(&volume),
                                [TRAFFIC_EP] = batches * ep_bytes(&volume),
                                [TRAFFIC_PP] = batches * pp_bytes(&volume),
                                [TRAFFIC_DP] = dp_bytes(&volume),
                            }};
}
