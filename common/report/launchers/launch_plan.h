/* SPDX-License-Identifier: MIT */
/*
 * launch_plan: a plan as launchers ask about it: yes-or-no traits as one mask, and values
 * by name. The tables of launchers are written in these words (launcher.h).
 */
#ifndef REPORT_LAUNCHERS_LAUNCH_PLAN_H
#define REPORT_LAUNCHERS_LAUNCH_PLAN_H

#include "base/text_buffer.h"
#include "planner/pipeline_schedule.h"
#include "planner/plan.h"
#include "topology/gpu_catalogue.h"
#include "workload/framework_profile.h"
#include "workload/model_spec.h"
#include "workload/training_spec.h"

/* Everything belongs to the caller. */
struct launch_plan {
    const struct plan *plan;
    const struct model_spec *model;
    const struct training_spec *training;
    const struct framework_profile *profile; /* that the plan was made with */
    const struct gpu_model *gpu;             /* NULL: not in the catalogue */
    uint64_t world;                          /* GPUs that take part */
    unsigned gpus_per_node;
    const char *capacity_factor; /* of the job, as given; NULL: none */
    bool experts_padded;         /* to capacity_factor (training_spec.h) */
};

enum plan_trait {
    TRAIT_TP, /* that degree is larger than 1 */
    TRAIT_CP,
    TRAIT_EP,
    TRAIT_PP,
    TRAIT_VPP,
    TRAIT_DP,
    TRAIT_WORLD,    /* more than one GPU */
    TRAIT_NODES,    /* more than one node */
    TRAIT_REPLICAS, /* states are shared, but not over all of dp */
    TRAIT_MOE,
    TRAIT_EXPERT_TP,     /* ep and etp larger than 1 */
    TRAIT_EXPERTS_APART, /* ep * etp reaches over replicas: it does not divide shard * cp * tp */
    TRAIT_ETP_NOT_TP,
    TRAIT_SEQUENCE_PARALLEL, /* with TP, as the framework's profile has it */
    TRAIT_NONE,              /* sharding; in the order of its enum, as the next groups */
    TRAIT_ZERO1,
    TRAIT_ZERO2,
    TRAIT_ZERO3,
    TRAIT_HSDP,
    TRAIT_RECOMPUTE_NONE,
    TRAIT_RECOMPUTE_SELECTIVE,
    TRAIT_RECOMPUTE_FULL,
    TRAIT_FP32,
    TRAIT_FP16,
    TRAIT_BF16,
    TRAIT_FP8,
    TRAIT_OFFLOAD_NONE,
    TRAIT_OFFLOAD_CPU,
    TRAIT_OFFLOAD_NVME,
    TRAIT_TILED, /* fits only with layers cut into tiles (memory_model.h) */
    TRAIT_GPIPE,
    TRAIT_RARE_SCHEDULE, /* naive or zero-bubble */
    TRAIT_PP_BEFORE_DP,  /* order tp-cp-ep-pp-dp */
    TRAIT_UNEVEN,        /* the stages' layers differ */
    TRAIT_COUNTS_FIRST,  /* the embedding counts as a layer */
    TRAIT_COUNTS_LAST,   /* the loss counts as a layer */
    TRAIT_SHORT_LAST,    /* the last stage is several layers short */
    TRAIT_PART_TRAINED,  /* trainable below 1, and no LoRA */
    TRAIT_LORA,          /* adapters alone are trained */
    TRAIT_ADAM_8BIT,     /* the optimizer, where it is not Adam in fp32 */
    TRAIT_ADAM_BF16,
    TRAIT_MUON,
    TRAIT_SGD,
    TRAIT_MTP,             /* multi-token prediction layers are trained */
    TRAIT_CAPACITY,        /* experts take capacity_factor of an even load at most */
    TRAIT_PADDED,          /* and are padded to it */
    TRAIT_BLACKWELL,       /* the GPU is of that architecture */
    TRAIT_AMD,             /* the GPU's vendor */
    TRAIT_ZERO_ENGINE,     /* planned for DeepSpeed */
    TRAIT_FAMILY_MEGATRON, /* of the launcher, not of the plan: launcher.h sets them */
    TRAIT_FAMILY_BRIDGE,
    TRAIT_FAMILY_ACCELERATE,
    PLAN_TRAIT_COUNT
};

#define TRAIT(name) (UINT64_C(1) << TRAIT_##name)
#define TRAITS_SHARDED (TRAIT(ZERO1) | TRAIT(ZERO2) | TRAIT(ZERO3) | TRAIT(HSDP))
#define TRAITS_OPTIMIZERS (TRAIT(ADAM_8BIT) | TRAIT(ADAM_BF16) | TRAIT(MUON) | TRAIT(SGD))
#define TRAITS_FULLY_SHARDED (TRAIT(ZERO3) | TRAIT(HSDP))

/* Blackwell and what the catalogue names after it ("blackwell-ultra"). */
bool gpu_is_blackwell(const struct gpu_model *gpu);

uint64_t launch_plan_traits(const struct launch_plan *launch);

enum plan_value {
    VALUE_NONE,
    VALUE_TP,
    VALUE_CP,
    VALUE_EP,
    VALUE_ETP,
    VALUE_PP,
    VALUE_VPP,
    VALUE_DP,
    VALUE_SHARD,
    VALUE_REPLICATE,
    VALUE_MICRO_BATCH,
    VALUE_MICRO_BATCHES, /* per step and pipeline: steps of gradient accumulation */
    VALUE_GLOBAL_BATCH,
    VALUE_LOCAL_BATCH, /* sequences of one dp rank and step */
    VALUE_SEQUENCE_LENGTH,
    VALUE_CHUNK_LAYERS, /* of a full virtual stage */
    VALUE_LAST_LAYERS,  /* of the last stage */
    VALUE_FIRST_SHORT,  /* layers that the first chunk lacks */
    VALUE_LAST_SHORT,
    VALUE_ZERO_STAGE, /* 0 to 3 */
    VALUE_TILES,
    VALUE_WORLD,
    VALUE_NODES,
    VALUE_GPUS_PER_NODE,
    VALUE_LORA_RANK,
    VALUE_MTP,
    VALUE_SHARDING, /* from here on words */
    VALUE_SCHEDULE,
    VALUE_RECOMPUTE,
    VALUE_PRECISION,
    VALUE_OFFLOAD,
    VALUE_ORDER,
    VALUE_OPTIMIZER,
    VALUE_CAPACITY,
    PLAN_VALUE_COUNT
};

/* NULL for numbers, and for a capacity_factor that is not given. */
const char *launch_plan_word(const struct launch_plan *launch, enum plan_value value);
/* 0 for words. */
uint64_t launch_plan_number(const struct launch_plan *launch, enum plan_value value);
/* "pp=4", "sharding=zero1"; values without a key: only the number. */
void launch_plan_write(const struct launch_plan *launch, enum plan_value value, bool with_key,
                       struct text_buffer *out);

#endif
