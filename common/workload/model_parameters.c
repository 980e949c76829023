/* SPDX-License-Identifier: MIT */
#include "workload/model_spec.h"

/* Sums and products that remember whether one of them left 64 bits. */
struct tally {
    bool overflow;
};

static uint64_t times(struct tally *tally, uint64_t left, uint64_t right)
{
    uint64_t product;
    tally->overflow |= __builtin_mul_overflow(left, right, &product);
    return product;
}

static uint64_t plus(struct tally *tally, uint64_t left, uint64_t right)
{
    uint64_t sum;
    tally->overflow |= __builtin_add_overflow(left, right, &sum);
    return sum;
}

static uint64_t norm_vectors(const struct model_spec *model)
{
    return model->norm == NORM_LAYER ? 2 : 1;
}

/* q, k and v as one matrix each, and the way back to hidden. */
static void count_grouped(const struct model_spec *model, struct tally *tally,
                          struct model_parameters *ret)
{
    uint64_t q = times(tally, model->heads, model->head_dim);
    uint64_t kv = times(tally, 2 * (uint64_t)model->kv_heads, model->head_dim);
    uint64_t wide = plus(tally, q, kv);
    ret->attention = times(tally, model->hidden, plus(tally, wide, q));
    if (model->qkv_bias)
        ret->attention = plus(tally, ret->attention, wide);
    if (model->attention_sinks)
        ret->attention = plus(tally, ret->attention, model->heads);
    if (model->qk_norm)
        ret->norms =
            plus(tally, ret->norms,
                 model->qk_norm_wide ? plus(tally, q, kv / 2) : 2 * (uint64_t)model->head_dim);
}

/* DeepSeek-V2 (arXiv 2405.04434), section 2.1: low-rank compression of q and of k with v;
 * one rope key for all heads; a norm on each compressed vector. */
static void count_latent(const struct model_spec *model, struct tally *tally,
                         struct model_parameters *ret)
{
    uint64_t qk_dim = (uint64_t)model->qk_nope_head_dim + model->qk_rope_head_dim;
    uint64_t q_wide = times(tally, model->heads, qk_dim);
    uint64_t kv_dim = (uint64_t)model->qk_nope_head_dim + model->v_head_dim;
    uint64_t kv_wide = times(tally, model->heads, kv_dim);
    uint64_t out_wide = times(tally, model->heads, model->v_head_dim);
    uint64_t kv_down = (uint64_t)model->kv_lora_rank + model->qk_rope_head_dim;
    uint64_t q_source = model->q_lora_rank > 0 ? model->q_lora_rank : model->hidden;
    uint64_t down = plus(tally, model->q_lora_rank, kv_down);
    uint64_t up =
        plus(tally, times(tally, q_source, q_wide), times(tally, model->kv_lora_rank, kv_wide));
    ret->attention_replicated = times(tally, model->hidden, down);
    ret->attention = plus(tally, ret->attention_replicated,
                          plus(tally, up, times(tally, out_wide, model->hidden)));
    ret->norms = plus(tally, ret->norms, (uint64_t)model->q_lora_rank + model->kv_lora_rank);
    if (model->qkv_bias) /* of the down projections; q has none without compression */
        ret->norms = plus(tally, ret->norms, down);
}

static uint64_t mlp_parameters(const struct model_spec *model, struct tally *tally, uint64_t width,
                               bool bias)
{
    uint64_t matrices = model->gated_mlp ? 3 : 2;
    uint64_t weights = times(tally, times(tally, matrices, model->hidden), width);
    if (!bias)
        return weights;
    return plus(tally, weights, plus(tally, times(tally, matrices - 1, width), model->hidden));
}

static void count_layers(const struct model_spec *model, struct tally *tally,
                         struct model_parameters *ret)
{
    ret->norms = times(tally, model->norms_per_layer * norm_vectors(model), model->hidden);
    if (model->attention_output_bias)
        ret->norms = plus(tally, ret->norms, model->hidden);
    if (model->attention == ATTENTION_LATENT)
        count_latent(model, tally, ret);
    else
        count_grouped(model, tally, ret);
    uint64_t common = plus(tally, ret->attention, ret->norms);
    ret->dense_mlp = mlp_parameters(model, tally, model->ffn, model->mlp_bias);
    ret->dense_layer = plus(tally, common, ret->dense_mlp);
    if (model->experts == 0)
        return;
    uint64_t expert = mlp_parameters(model, tally, model->expert_ffn, model->expert_bias);
    uint64_t shared = mlp_parameters(model, tally, model->expert_ffn, false);
    ret->experts = times(tally, model->experts, expert);
    ret->shared_experts = times(tally, model->shared_experts, shared);
    ret->router = times(tally, model->experts, model->hidden);
    if (model->router_bias)
        ret->router = plus(tally, ret->router, model->experts);
    if (model->shared_gate)
        ret->router = plus(tally, ret->router, model->hidden);
    ret->moe_layer = plus(tally, plus(tally, common, ret->router),
                          plus(tally, ret->experts, ret->shared_experts));
}

static void count_ends(const struct model_spec *model, struct tally *tally,
                       struct model_parameters *ret)
{
    uint64_t norm = norm_vectors(model) * model->hidden;
    uint64_t rows = (uint64_t)model->vocabulary + model->learned_positions;
    ret->embedding = times(tally, rows, model->hidden);
    if (model->embedding_norm)
        ret->embedding = plus(tally, ret->embedding, norm);
    if (!model->tied_embeddings)
        ret->head = times(tally, model->vocabulary, model->hidden);
    if (model->lm_head_bias)
        ret->head = plus(tally, ret->head, model->vocabulary);
    ret->final_norm = model->final_norm ? norm : 0;
}

/* model_spec.h says what an MTP layer is. */
static void count_mtp(const struct model_spec *model, struct tally *tally,
                      struct model_parameters *ret)
{
    uint64_t norms = 3 * norm_vectors(model) * model->hidden;
    uint64_t joined = times(tally, 2 * (uint64_t)model->hidden, model->hidden);
    bool moe = model_layer_is_moe(model, model->layers - 1);
    uint64_t each =
        plus(tally, plus(tally, joined, norms), moe ? ret->moe_layer : ret->dense_layer);
    uint64_t table = times(tally, model->vocabulary, model->hidden);
    ret->mtp = times(tally, model->mtp_layers, each);
    ret->mtp_copies = times(tally, model->mtp_layers, plus(tally, table, table));
}

int model_parameters_count(const struct model_spec *model, struct model_parameters *ret,
                           struct error_info *err)
{
    struct tally tally = {0};
    struct model_parameters count = {0};
    count_ends(model, &tally, &count);
    count_layers(model, &tally, &count);
    count_mtp(model, &tally, &count);
    uint64_t moe = model_moe_layers(model, model->layers);
    uint64_t dense = model->layers - moe;
    uint64_t layers =
        plus(&tally, times(&tally, dense, count.dense_layer), times(&tally, moe, count.moe_layer));
    uint64_t ends = plus(&tally, plus(&tally, count.embedding, count.head), count.final_norm);
    count.total = plus(&tally, ends, layers);
    count.active = count.total;
    if (model->experts > 0) {
        uint64_t one = count.experts / model->experts;
        uint64_t unused = times(&tally, model->experts - model->experts_per_token, one);
        count.active -= times(&tally, moe, unused);
    }
    if (tally.overflow || count.total > INT64_MAX) /* base/numbers/real.h */
        return error_set(err, "%s has more parameters than can be counted",
                         model->name ? model->name : "the model");
    *ret = count;
    return 0;
}

/* --- adapters ------------------------------------------------------------------------- */

static void adapt_latent(const struct model_spec *model, struct adapter_parameters *ret)
{
    uint64_t query = (uint64_t)model->qk_nope_head_dim + model->qk_rope_head_dim;
    uint64_t key = (uint64_t)model->qk_nope_head_dim + model->v_head_dim;
    uint64_t kv_down = (uint64_t)model->kv_lora_rank + model->qk_rope_head_dim;
    ret->split = model->heads * (query + key + model->v_head_dim);
    ret->whole = 3 * (uint64_t)model->hidden + kv_down + model->kv_lora_rank;
    if (model->q_lora_rank > 0)
        ret->whole += 2 * (uint64_t)model->q_lora_rank;
}

void model_adapters_count(const struct model_spec *model, unsigned rank, bool moe,
                          struct adapter_parameters *ret)
{
    uint64_t heads = (uint64_t)model->heads + model->kv_heads, hidden = model->hidden;
    uint64_t matrices = model->gated_mlp ? 3 : 2;
    struct adapter_parameters sum = {.split = 2 * heads * model->head_dim, .whole = 4 * hidden};
    if (model->attention == ATTENTION_LATENT)
        adapt_latent(model, &sum);
    uint64_t shared = (uint64_t)model->shared_experts * model->expert_ffn;
    uint64_t width = moe ? shared : model->ffn;
    if (width > 0) {
        sum.split += matrices * width;
        sum.whole += matrices * hidden;
    }
    if (moe)
        sum.expert = model->experts * matrices * (hidden + model->expert_ffn);
    *ret = (struct adapter_parameters){rank * sum.split, rank * sum.whole, rank * sum.expert};
}

uint64_t model_adapters_total(const struct model_spec *model, unsigned rank)
{
    uint64_t moe_layers = model_moe_layers(model, model->layers);
    struct adapter_parameters moe, dense;
    model_adapters_count(model, rank, true, &moe);
    model_adapters_count(model, rank, false, &dense);
    return moe_layers * (moe.split + moe.whole + moe.expert) +
           (model->layers - moe_layers) * (dense.split + dense.whole);
}
