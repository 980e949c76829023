/* SPDX-License-Identifier: MIT */
#include "planner/search/refusal.h"

#include "planner/efficiency_catalogue.h"
#include <stddef.h>
#include <stdio.h>

#define OPTIONS_BYTES 256

struct refusal {
    const struct plan_context *context;
    const struct plan *plan;
    struct arena *arena;
};

typedef const char *(*refusal_fn)(const struct refusal *refusal);

static bool given(const struct refusal *refusal, enum job_key key)
{
    return refusal->context->request->job->values[key].given;
}

/* The largest smaller value of one degree that divides N and meets the constraint; 0: none. */
static unsigned nearest_below(const struct refusal *refusal, size_t degree, enum constraint_id id)
{
    struct plan plan = *refusal->plan;
    unsigned *value = (unsigned *)((char *)&plan.degrees + degree);
    for ((*value)--; *value > 0; (*value)--)
        if (refusal->context->world % *value == 0 && constraint_holds(refusal->context, &plan, id))
            return *value;
    return 0;
}

/* "; use tp=4", or nothing where no value would do. */
static const char *use(const struct refusal *refusal, const char *name, unsigned value)
{
    return value > 0 ? arena_format(refusal->arena, "; use %s=%u", name, value) : "";
}

static const char *heads_text(const struct refusal *refusal)
{
    const struct model_spec *model = refusal->context->model;
    unsigned tp = refusal->plan->degrees.tp, count = model->ffn;
    const char *what = "feed-forward columns";
    if (model->heads % tp != 0) {
        count = model->heads;
        what = "heads";
    } else if (model->attention != ATTENTION_LATENT && model->kv_heads % tp != 0) {
        count = model->kv_heads;
        what = "kv heads";
    }
    const char *remedy =
        use(refusal, "tp", nearest_below(refusal, offsetof(struct degrees, tp), CONSTRAINT_HEADS));
    return remedy ? arena_format(refusal->arena, "tp=%u does not divide the %u %s of %s%s", tp,
                                 count, what, model->name, remedy)
                  : NULL;
}

static const char *sequence_text(const struct refusal *refusal)
{
    const struct degrees *degrees = &refusal->plan->degrees;
    unsigned sequence = refusal->context->training.sequence_length;
    bool split = refusal->context->profile->sequence_parallel && degrees->tp > 1;
    uint64_t parts = degrees->cp > 1 ? 2ull * degrees->cp : 1;
    parts *= split ? degrees->tp : 1;
    uint64_t lower = sequence / parts * parts, upper = lower + parts;
    const char *lowest =
        lower > 0 ? arena_format(refusal->arena, "%llu or ", (unsigned long long)lower) : "";
    const char *what = degrees->cp > 1 ? (split ? "2 x cp x tp" : "2 x cp") : "tp";
    return lowest ? arena_format(refusal->arena,
                                 "sequence_length=%u is not a multiple of %s = %llu; use "
                                 "sequence_length=%s%llu",
                                 sequence, what, (unsigned long long)parts, lowest,
                                 (unsigned long long)upper)
                  : NULL;
}

static const char *layers_text(const struct refusal *refusal)
{
    const struct model_spec *model = refusal->context->model;
    const char *remedy =
        use(refusal, "pp", nearest_below(refusal, offsetof(struct degrees, pp), CONSTRAINT_LAYERS));
    return remedy ? arena_format(refusal->arena,
                                 "pp=%u: the %u layers of %s do not go over that many stages%s",
                                 refusal->plan->degrees.pp, model->layers, model->name, remedy)
                  : NULL;
}

static const char *experts_text(const struct refusal *refusal)
{
    const struct model_spec *model = refusal->context->model;
    const struct degrees *degrees = &refusal->plan->degrees;
    struct arena *arena = refusal->arena;
    if (model->experts == 0)
        return arena_format(arena, "ep=%u: %s has no experts; leave ep out", degrees->ep,
                            model->name);
    if (model->expert_ffn % degrees->etp != 0) {
        const char *remedy =
            use(refusal, "etp",
                nearest_below(refusal, offsetof(struct degrees, etp), CONSTRAINT_EXPERTS));
        return remedy
                   ? arena_format(arena, "etp=%u does not divide the width of %s's experts, %u%s",
                                  degrees->etp, model->name, model->expert_ffn, remedy)
                   : NULL;
    }
    const char *remedy = use(
        refusal, "ep", nearest_below(refusal, offsetof(struct degrees, ep), CONSTRAINT_EXPERTS));
    if (!remedy)
        return NULL;
    if (model->experts % degrees->ep != 0)
        return arena_format(arena, "ep=%u does not divide the %u experts of %s%s", degrees->ep,
                            model->experts, model->name, remedy);
    return arena_format(arena,
                        "ep=%u,etp=%u: their product does not divide the %llu ranks of a stage%s",
                        degrees->ep, degrees->etp,
                        (unsigned long long)degrees->tp * degrees->cp * degrees->dp, remedy);
}

static const char *order_text(const struct refusal *refusal)
{
    struct error_info err = {.kind = ERROR_NONE};
    rank_order_check(refusal->plan->order, &refusal->plan->degrees, &err);
    return arena_copy_text(refusal->arena, err.text);
}

static const char *framework_text(const struct refusal *refusal)
{
    const struct framework_profile *profile = refusal->context->profile;
    enum sharding sharding = refusal->plan->sharding;
    const char *why = profile->pipeline_reason[sharding];
    char shardings[OPTIONS_BYTES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < SHARDING_COUNT; i++)
        if (i == SHARDING_NONE || profile->pipeline[i] == PROFILE_RECOMMENDED)
            used += (size_t)snprintf(shardings + used, sizeof(shardings) - used, "%s%s",
                                     used > 0 ? " or " : "", sharding_name((enum sharding)i));
    return arena_format(refusal->arena,
                        "%s does not take %s with pp=%u%s%s; use pp=1, or sharding=%s",
                        profile->name, sharding_name(sharding), refusal->plan->degrees.pp,
                        why ? ": " : "", why ? why : "", shardings);
}

static const char *shard_text(const struct refusal *refusal)
{
    const struct degrees *degrees = &refusal->plan->degrees;
    if (degrees->shard == 0)
        return arena_format(refusal->arena,
                            "sharding=hsdp shards inside each of several groups, but dp=%u is one "
                            "group; use sharding=zero3, or give shard",
                            degrees->dp);
    unsigned shard = nearest_below(refusal, offsetof(struct degrees, shard), CONSTRAINT_SHARD);
    const char *remedy = use(refusal, "shard", shard);
    return remedy ? arena_format(refusal->arena, "shard=%u does not divide dp=%u%s", degrees->shard,
                                 degrees->dp, remedy)
                  : NULL;
}

/* A pipeline that goes in chunks: of as many as given in the fewest stages, else of fewer chunks.
 */
static bool find_pipeline(const struct refusal *refusal, struct plan *ret)
{
    struct plan plan = *refusal->plan;
    struct degrees *degrees = &plan.degrees;
    uint64_t cells = refusal->context->world / ((uint64_t)degrees->tp * degrees->cp);
    for (; degrees->vpp > 1; degrees->vpp--)
        for (degrees->pp = 2; degrees->pp <= refusal->context->model->layers; degrees->pp++)
            if (cells % degrees->pp == 0 &&
                constraint_holds(refusal->context, &plan, CONSTRAINT_CHUNKS)) {
                *ret = plan;
                return true;
            }
    return false;
}

static const char *pipeline_text(const struct refusal *refusal)
{
    const struct model_spec *model = refusal->context->model;
    unsigned given_vpp = refusal->plan->degrees.vpp;
    struct plan other = *refusal->plan;
    bool found = find_pipeline(refusal, &other);
    unsigned vpp = other.degrees.vpp, pp = other.degrees.pp;
    if (found && vpp == given_vpp)
        return arena_format(refusal->arena,
                            "vpp=%u needs a pipeline, but pp=1; use vpp=1, or pp=%u", vpp, pp);
    const char *chunks =
        found ? arena_format(refusal->arena, ", or vpp=%u with pp=%u", vpp, pp) : "";
    return chunks ? arena_format(refusal->arena,
                                 "vpp=%u: the %u layers of %s go over no number of stages in that "
                                 "many chunks; use vpp=1%s",
                                 given_vpp, model->layers, model->name, chunks)
                  : NULL;
}

static const char *chunks_text(const struct refusal *refusal)
{
    const struct plan_context *context = refusal->context;
    const struct degrees *degrees = &refusal->plan->degrees;
    if (degrees->vpp == 0 && !context->framework->interleaves)
        return arena_format(refusal->arena,
                            "schedule=interleaved: %s does not interleave; use schedule=1f1b",
                            context->profile->name);
    if (degrees->vpp == 0)
        return arena_format(refusal->arena,
                            "schedule=interleaved: the %u layers of %s do not go over pp=%u in two "
                            "chunks or more; use schedule=1f1b",
                            context->model->layers, context->model->name, degrees->pp);
    if (degrees->pp == 1)
        return pipeline_text(refusal);
    struct plan plan = *refusal->plan;
    do
        plan.degrees.vpp--;
    while (plan.degrees.vpp > 1 && !constraint_holds(context, &plan, CONSTRAINT_CHUNKS));
    return arena_format(
        refusal->arena,
        "vpp=%u: the %u layers of %s do not go over pp=%u in that many chunks; use vpp=%u",
        degrees->vpp, context->model->layers, context->model->name, degrees->pp, plan.degrees.vpp);
}

/* The multiples of `unit` around the batch: "504 or 576". */
static void batches_around(const struct refusal *refusal, uint64_t unit,
                           char ret[static OPTIONS_BYTES])
{
    const struct training_spec *training = &refusal->context->training;
    uint64_t lower = training->global_batch / unit * unit, upper = lower + unit;
    bool above = upper <= training->max_global_batch;
    int used = 0;
    ret[0] = '\0';
    if (lower > 0)
        used =
            snprintf(ret, OPTIONS_BYTES, "%llu%s", (unsigned long long)lower, above ? " or " : "");
    if (above)
        snprintf(ret + used, OPTIONS_BYTES - (size_t)used, "%llu", (unsigned long long)upper);
}

/* Sequences of a global batch that a plan takes at once: in whole turns when interleaved. */
static uint64_t sequences_at_once(const struct plan *plan)
{
    uint64_t turns = plan->schedule == SCHEDULE_INTERLEAVED ? plan->degrees.pp : 1;
    return plan->micro_batch * turns;
}

/* The most whole nodes below those at hand over which the batch goes; 0: none. */
static uint64_t nodes_below(const struct refusal *refusal)
{
    const struct plan_context *context = refusal->context;
    const struct degrees *degrees = &refusal->plan->degrees;
    uint64_t gpus = context->shape.gpus_per_node;
    uint64_t cell = (uint64_t)degrees->tp * degrees->cp * degrees->pp;
    for (uint64_t nodes = (context->world - 1) / gpus; nodes > 0; nodes--) {
        uint64_t world = nodes * gpus;
        if (world % cell == 0 &&
            context->training.global_batch % (world / cell * sequences_at_once(refusal->plan)) == 0)
            return nodes;
    }
    return 0;
}

/* ", or dp=8": what else than the batch may change. */
static const char *other_than_batch(const struct refusal *refusal)
{
    const struct plan_context *context = refusal->context;
    unsigned batch = context->training.global_batch, dp = refusal->plan->degrees.dp;
    unsigned rows = refusal->plan->micro_batch;
    if (given(refusal, JOB_MICRO_BATCH)) {
        for (unsigned less = rows - 1; less > 0; less--)
            if (batch % ((uint64_t)less * dp) == 0)
                return arena_format(refusal->arena, "micro_batch=%u", less);
    } else if (given(refusal, JOB_DP)) {
        for (unsigned less = dp - 1; less > 0; less--)
            if (context->world % less == 0 && batch % less == 0)
                return arena_format(refusal->arena, "dp=%u", less);
    } else {
        uint64_t nodes = nodes_below(refusal), gpus = context->shape.gpus_per_node;
        if (nodes > 0)
            return arena_format(refusal->arena, "%llu nodes (%llu GPUs)", (unsigned long long)nodes,
                                (unsigned long long)(nodes * gpus));
    }
    return "";
}

static const char *rows_text(const struct refusal *refusal)
{
    const struct plan *plan = refusal->plan;
    char batches[OPTIONS_BYTES];
    batches_around(refusal, sequences_at_once(plan) * plan->degrees.dp, batches);
    const char *other = other_than_batch(refusal);
    const char *batch = arena_format(refusal->arena, "global_batch=%s", batches);
    if (!other || !batch)
        return NULL;
    if (batches[0] == '\0')
        batch = other[0] ? "" : "a larger max_global_batch";
    return arena_format(
        refusal->arena,
        "global_batch=%u is not a multiple of micro_batch x dp = %u x %u; use %s%s%s",
        refusal->context->training.global_batch, plan->micro_batch, plan->degrees.dp, batch,
        batch[0] && other[0] ? ", or " : "", other);
}

static const char *interleaving_text(const struct refusal *refusal)
{
    const struct plan *plan = refusal->plan;
    char batches[OPTIONS_BYTES];
    batches_around(refusal, (uint64_t)plan->micro_batch * plan->degrees.dp * plan->degrees.pp,
                   batches);
    return arena_format(refusal->arena,
                        "interleaving over pp=%u needs a multiple of %u micro batches, but "
                        "global_batch=%u makes %u; use %s%s%svpp=1",
                        plan->degrees.pp, plan->degrees.pp, refusal->context->training.global_batch,
                        plan->micro_batches, batches[0] ? "global_batch=" : "", batches,
                        batches[0] ? ", or " : "");
}

static const char *spans_text(const struct refusal *refusal)
{
    struct policy_verdict verdict;
    const struct plan_context *context = refusal->context;
    policy_check_spans(&context->policy, &refusal->plan->degrees, refusal->plan->order,
                       &context->place, &verdict);
    return arena_copy_text(refusal->arena, verdict.text);
}

#define KEY(key) (1u << (key))

/* The keys that decide a constraint. */
static const struct {
    unsigned keys;
    refusal_fn text;
} sentences[CONSTRAINT_COUNT] = {
    [CONSTRAINT_HEADS] = {KEY(JOB_TP), heads_text},
    [CONSTRAINT_SEQUENCE] = {KEY(JOB_SEQUENCE_LENGTH) | KEY(JOB_CP) | KEY(JOB_TP), sequence_text},
    [CONSTRAINT_LAYERS] = {KEY(JOB_PP), layers_text},
    [CONSTRAINT_EXPERTS] = {KEY(JOB_EP) | KEY(JOB_ETP), experts_text},
    [CONSTRAINT_ORDER] = {KEY(JOB_ORDER), order_text},
    [CONSTRAINT_FRAMEWORK] = {KEY(JOB_SHARDING), framework_text},
    [CONSTRAINT_SHARD] = {KEY(JOB_SHARD) | KEY(JOB_SHARDING), shard_text},
    [CONSTRAINT_CHUNKS] = {KEY(JOB_VPP) | KEY(JOB_SCHEDULE), chunks_text},
    [CONSTRAINT_ROWS] = {KEY(JOB_GLOBAL_BATCH) | KEY(JOB_MAX_GLOBAL_BATCH) | KEY(JOB_MICRO_BATCH) |
                             KEY(JOB_DP),
                         rows_text},
    [CONSTRAINT_INTERLEAVING] = {KEY(JOB_GLOBAL_BATCH) | KEY(JOB_VPP) | KEY(JOB_SCHEDULE),
                                 interleaving_text},
    [CONSTRAINT_SPANS] = {KEY(JOB_CP) | KEY(JOB_EP) | KEY(JOB_DP) | KEY(JOB_PP), spans_text},
};

const char *refusal_text(const struct plan_context *context, const struct plan *plan,
                         enum constraint_id constraint, struct arena *arena)
{
    const struct refusal refusal = {.context = context, .plan = plan, .arena = arena};
    /* The text is the arena's, not the struct's. */
    // cppcheck-suppress returnDanglingLifetime
    return sentences[constraint].text(&refusal);
}

static bool decided_by_user(const struct job_spec *job, unsigned constraint)
{
    for (unsigned key = 0; key < JOB_KEY_COUNT; key++)
        if ((sentences[constraint].keys & KEY(key)) != 0 && job->values[key].given)
            return true;
    return false;
}

static unsigned most_telling(const struct job_spec *job, const struct candidate_pool *pool)
{
    unsigned best = CONSTRAINT_COUNT;
    for (unsigned i = 0; i < CONSTRAINT_COUNT; i++) {
        if (pool->refused[i].count == 0)
            continue;
        bool ours = decided_by_user(job, i);
        bool theirs = best < CONSTRAINT_COUNT && decided_by_user(job, best);
        if (best == CONSTRAINT_COUNT || (ours && !theirs) ||
            (ours == theirs && pool->refused[i].count > pool->refused[best].count))
            best = i;
    }
    return best;
}

int refusal_remedies(const struct plan_context *context, const struct candidate_pool *pool,
                     struct arena *arena, const struct plan_remedy **ret_remedies,
                     size_t *ret_count, struct error_info *err)
{
    unsigned telling = most_telling(context->request->job, pool);
    if (telling == CONSTRAINT_COUNT)
        return 0;
    enum constraint_id constraint = (enum constraint_id)telling;
    struct plan_remedy *remedy = arena_allocate_array(arena, 1, sizeof(*remedy));
    const char *text =
        remedy ? refusal_text(context, &pool->refused[telling].first, constraint, arena) : NULL;
    if (!text)
        return error_set_memory(err);
    *remedy = (struct plan_remedy){rejection_name(constraint_rejection(constraint)), text};
    *ret_remedies = remedy;
    *ret_count = 1;
    return 0;
}
