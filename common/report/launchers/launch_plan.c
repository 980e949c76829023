/* SPDX-License-Identifier: MIT */
#include "report/launchers/launch_plan.h"
#include <string.h>

/* A word more of a plan needs a trait here, and a rule or a limit in every launcher's table. */
_Static_assert(SHARDING_COUNT == 5 && SCHEDULE_COUNT == 6 && RECOMPUTE_COUNT == 3 &&
                   PRECISION_COUNT == 4 && OFFLOAD_COUNT == 3 && RANK_ORDER_COUNT == 2 &&
                   OPTIMIZER_COUNT == 5 && PLAN_TRAIT_COUNT <= 64,
               "launchers know these words of a plan");

static uint64_t when(bool holds, enum plan_trait trait) { return holds ? UINT64_C(1) << trait : 0; }

static struct pipeline_layout layout_of(const struct launch_plan *launch)
{
    const struct degrees *degrees = &launch->plan->degrees;
    struct pipeline_layout layout;
    if (!pipeline_layout_of(launch->model->layers, degrees->pp, degrees->vpp, &layout))
        layout = (struct pipeline_layout){
            .pp = degrees->pp, .vpp = degrees->vpp, .chunk_layers = launch->model->layers};
    return layout;
}

static uint64_t degree_traits(const struct launch_plan *launch)
{
    const struct degrees *degrees = &launch->plan->degrees;
    return when(degrees->tp > 1, TRAIT_TP) | when(degrees->cp > 1, TRAIT_CP) |
           when(degrees->ep > 1, TRAIT_EP) | when(degrees->pp > 1, TRAIT_PP) |
           when(degrees->vpp > 1, TRAIT_VPP) | when(degrees->dp > 1, TRAIT_DP) |
           when(launch->world > 1, TRAIT_WORLD) |
           when(launch->world > launch->gpus_per_node, TRAIT_NODES) |
           when(degrees->shard > 1 && degrees->replicate > 1, TRAIT_REPLICAS);
}

static uint64_t expert_traits(const struct launch_plan *launch)
{
    const struct degrees *degrees = &launch->plan->degrees;
    if (launch->model->experts == 0)
        return 0;
    uint64_t group = (uint64_t)degrees->ep * degrees->etp;
    uint64_t inner = (uint64_t)degrees->shard * degrees->cp * degrees->tp;
    return when(true, TRAIT_MOE) | when(degrees->ep > 1 && degrees->etp > 1, TRAIT_EXPERT_TP) |
           when(degrees->ep > 1 && degrees->etp != degrees->tp, TRAIT_ETP_NOT_TP) |
           when(degrees->ep > 1 && inner % group != 0, TRAIT_EXPERTS_APART);
}

static uint64_t pipeline_traits(const struct launch_plan *launch)
{
    struct pipeline_layout layout = layout_of(launch);
    enum schedule schedule = launch->plan->schedule;
    return when(schedule == SCHEDULE_GPIPE, TRAIT_GPIPE) |
           when(schedule == SCHEDULE_NAIVE || schedule == SCHEDULE_ZERO_BUBBLE,
                TRAIT_RARE_SCHEDULE) |
           when(!pipeline_layout_is_even(&layout), TRAIT_UNEVEN) |
           when(layout.first_short == 1, TRAIT_COUNTS_FIRST) |
           when(layout.last_short == 1, TRAIT_COUNTS_LAST) |
           when(layout.last_short > 1, TRAIT_SHORT_LAST);
}

bool gpu_is_blackwell(const struct gpu_model *gpu)
{
    return strncmp(gpu->architecture, "blackwell", strlen("blackwell")) == 0;
}

static uint64_t machine_traits(const struct launch_plan *launch)
{
    if (!launch->gpu)
        return 0;
    return when(gpu_is_blackwell(launch->gpu), TRAIT_BLACKWELL) |
           when(strcmp(launch->gpu->vendor, "amd") == 0, TRAIT_AMD);
}

static uint64_t training_traits(const struct launch_plan *launch)
{
    const struct training_spec *training = launch->training;
    bool capacity = launch->capacity_factor && launch->model->experts > 0;
    unsigned optimizer = (unsigned)training->optimizer;
    return when(training->lora_rank > 0, TRAIT_LORA) |
           when(training->lora_rank == 0 && training->trainable < 1.0, TRAIT_PART_TRAINED) |
           when(optimizer > 0, (enum plan_trait)(TRAIT_ADAM_8BIT + optimizer - 1)) |
           when(training->mtp_layers > 0, TRAIT_MTP) | when(capacity, TRAIT_CAPACITY) |
           when(capacity && launch->experts_padded, TRAIT_PADDED);
}

uint64_t launch_plan_traits(const struct launch_plan *launch)
{
    const struct plan *plan = launch->plan;
    const char *profile = launch->profile->name;
    bool zero_engine =
        strcmp(profile, "deepspeed") == 0 || strcmp(profile, "megatron-deepspeed") == 0;
    return degree_traits(launch) | expert_traits(launch) | pipeline_traits(launch) |
           machine_traits(launch) | training_traits(launch) |
           when(plan->degrees.tp > 1 && launch->profile->sequence_parallel,
                TRAIT_SEQUENCE_PARALLEL) |
           when(true, (enum plan_trait)(TRAIT_NONE + (unsigned)plan->sharding)) |
           when(true, (enum plan_trait)(TRAIT_RECOMPUTE_NONE + (unsigned)plan->recompute)) |
           when(true, (enum plan_trait)(TRAIT_FP32 + (unsigned)plan->precision)) |
           when(true, (enum plan_trait)(TRAIT_OFFLOAD_NONE + (unsigned)plan->offload)) |
           when(plan->memory.tiles > 1, TRAIT_TILED) |
           when(plan->order == ORDER_TP_CP_EP_PP_DP, TRAIT_PP_BEFORE_DP) |
           when(zero_engine, TRAIT_ZERO_ENGINE);
}

static uint64_t layout_number(const struct launch_plan *launch, enum plan_value value)
{
    struct pipeline_layout layout = layout_of(launch);
    switch (value) {
    case VALUE_CHUNK_LAYERS:
        return layout.chunk_layers;
    case VALUE_LAST_LAYERS:
        return pipeline_stage_layers(&layout, layout.pp - 1);
    case VALUE_FIRST_SHORT:
        return layout.first_short;
    default:
        return layout.last_short;
    }
}

static uint64_t zero_stage(enum sharding sharding)
{
    return sharding == SHARDING_HSDP ? SHARDING_ZERO3 : (unsigned)sharding;
}

uint64_t launch_plan_number(const struct launch_plan *launch, enum plan_value value)
{
    const struct plan *plan = launch->plan;
    const struct degrees *degrees = &plan->degrees;
    uint64_t node = launch->gpus_per_node > 0 ? launch->gpus_per_node : 1;
    const uint64_t numbers[PLAN_VALUE_COUNT] = {
        [VALUE_TP] = degrees->tp,
        [VALUE_CP] = degrees->cp,
        [VALUE_EP] = degrees->ep,
        [VALUE_ETP] = degrees->etp,
        [VALUE_PP] = degrees->pp,
        [VALUE_VPP] = degrees->vpp,
        [VALUE_DP] = degrees->dp,
        [VALUE_SHARD] = degrees->shard,
        [VALUE_REPLICATE] = degrees->replicate,
        [VALUE_MICRO_BATCH] = plan->micro_batch,
        [VALUE_MICRO_BATCHES] = plan->micro_batches,
        [VALUE_GLOBAL_BATCH] = launch->training->global_batch,
        [VALUE_LOCAL_BATCH] = (uint64_t)plan->micro_batch * plan->micro_batches,
        [VALUE_SEQUENCE_LENGTH] = launch->training->sequence_length,
        [VALUE_TILES] = plan->memory.tiles,
        [VALUE_LORA_RANK] = launch->training->lora_rank,
        [VALUE_MTP] = launch->training->mtp_layers,
        [VALUE_ZERO_STAGE] = zero_stage(plan->sharding),
        [VALUE_WORLD] = launch->world,
        [VALUE_NODES] = (launch->world + node - 1) / node,
        [VALUE_GPUS_PER_NODE] = launch->world < node ? launch->world : node,
    };
    bool of_layout = value >= VALUE_CHUNK_LAYERS && value <= VALUE_LAST_SHORT;
    return of_layout ? layout_number(launch, value) : numbers[value];
}

/* In the order of the enum, as the keys of a job spell them. */
static const char *const optimizer_names[OPTIMIZER_COUNT] = {"adam", "adam_8bit", "adam_bf16",
                                                             "muon", "sgd"};

const char *launch_plan_word(const struct launch_plan *launch, enum plan_value value)
{
    const struct plan *plan = launch->plan;
    switch (value) {
    case VALUE_SHARDING:
        return sharding_name(plan->sharding);
    case VALUE_SCHEDULE:
        return schedule_name(plan->schedule);
    case VALUE_RECOMPUTE:
        return recompute_name(plan->recompute);
    case VALUE_PRECISION:
        return precision_name(plan->precision);
    case VALUE_OFFLOAD:
        return offload_name(plan->offload);
    case VALUE_ORDER:
        return rank_order_name(plan->order);
    case VALUE_OPTIMIZER:
        return optimizer_names[launch->training->optimizer];
    case VALUE_CAPACITY:
        return launch->capacity_factor;
    default:
        return NULL;
    }
}

/* The names of the key table (job_spec.h); NULL: no key. */
static const char *const key_names[PLAN_VALUE_COUNT] = {
    [VALUE_TP] = "tp",
    [VALUE_CP] = "cp",
    [VALUE_EP] = "ep",
    [VALUE_ETP] = "etp",
    [VALUE_PP] = "pp",
    [VALUE_VPP] = "vpp",
    [VALUE_DP] = "dp",
    [VALUE_SHARD] = "shard",
    [VALUE_MICRO_BATCH] = "micro_batch",
    [VALUE_GLOBAL_BATCH] = "global_batch",
    [VALUE_SEQUENCE_LENGTH] = "sequence_length",
    [VALUE_SHARDING] = "sharding",
    [VALUE_SCHEDULE] = "schedule",
    [VALUE_RECOMPUTE] = "recompute",
    [VALUE_PRECISION] = "precision",
    [VALUE_OFFLOAD] = "offload",
    [VALUE_ORDER] = "order",
    [VALUE_OPTIMIZER] = "optimizer",
    [VALUE_CAPACITY] = "capacity_factor",
    [VALUE_MTP] = "mtp",
};

void launch_plan_write(const struct launch_plan *launch, enum plan_value value, bool with_key,
                       struct text_buffer *out)
{
    const char *word = launch_plan_word(launch, value);
    if (with_key && key_names[value])
        text_buffer_add(out, "%s=", key_names[value]);
    if (word)
        text_buffer_add_text(out, word);
    else
        text_buffer_add(out, "%llu", (unsigned long long)launch_plan_number(launch, value));
}
