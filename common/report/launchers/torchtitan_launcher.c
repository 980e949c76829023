/* SPDX-License-Identifier: MIT */
/*
 * torchtitan: arguments of torchtitan.train (0.3, which reads no file) and the same settings
 * as TOML (0.2 and before). Names and limits: torchtitan/config/configs.py and
 * distributed/{parallel_dims,pipeline_parallel,activation_checkpoint,fsdp}.py of 0.3.0;
 * config/job_config.py of 0.2.2.
 */
#include "report/launchers/launcher_rules.h"

#define PARALLELISM_RULES(prefix)                                                                  \
    NUMBER_RULE(prefix "parallelism.tensor_parallel_degree", TP, 0, 0, 0),                         \
        NUMBER_RULE(prefix "parallelism.pipeline_parallel_degree", PP, 0, 0, 0),                   \
        WORD_RULE(prefix "parallelism.pipeline_parallel_schedule", "1F1B", TRAIT(PP), 0,           \
                  TRAIT(VPP) | TRAIT(GPIPE)),                                                      \
        WORD_RULE(prefix "parallelism.pipeline_parallel_schedule", "GPipe",                        \
                  TRAIT(PP) | TRAIT(GPIPE), 0, 0),                                                 \
        WORD_RULE(prefix "parallelism.pipeline_parallel_schedule", "Interleaved1F1B", TRAIT(VPP),  \
                  0, 0),                                                                           \
        NUMBER_RULE(prefix "parallelism.pipeline_parallel_layers_per_stage", CHUNK_LAYERS,         \
                    TRAIT(PP), 0, 0),                                                              \
        NUMBER_RULE(prefix "parallelism.pipeline_parallel_first_stage_less_layers", FIRST_SHORT,   \
                    TRAIT(PP), 0, 0),                                                              \
        NUMBER_RULE(prefix "parallelism.pipeline_parallel_last_stage_less_layers", LAST_SHORT,     \
                    TRAIT(PP), 0, 0),                                                              \
        NUMBER_RULE(prefix "parallelism.pipeline_parallel_microbatch_size", MICRO_BATCH,           \
                    TRAIT(PP), 0, 0),                                                              \
        NUMBER_RULE(prefix "parallelism.context_parallel_degree", CP, 0, 0, 0),                    \
        NUMBER_RULE(prefix "parallelism.expert_parallel_degree", EP, TRAIT(MOE), 0, 0),            \
        NUMBER_RULE(prefix "parallelism.data_parallel_replicate_degree", REPLICATE, 0, 0, 0),      \
        NUMBER_RULE(prefix "parallelism.data_parallel_shard_degree", SHARD, 0, 0, 0),              \
        WORD_RULE(prefix "parallelism.fsdp_reshard_after_forward", "never", TRAIT(ZERO2), 0, 0),   \
        WORD_RULE(prefix "parallelism.fsdp_reshard_after_forward", "default", 0,                   \
                  TRAITS_FULLY_SHARDED, 0)

#define TRAINING_RULES(prefix)                                                                     \
    NUMBER_RULE(prefix "training.local_batch_size", LOCAL_BATCH, TRAIT(PP), 0, 0),                 \
        NUMBER_RULE(prefix "training.local_batch_size", MICRO_BATCH, 0, 0, TRAIT(PP)),             \
        NUMBER_RULE(prefix "training.global_batch_size", GLOBAL_BATCH, 0, 0, 0),                   \
        NUMBER_RULE(prefix "training.seq_len", SEQUENCE_LENGTH, 0, 0, 0),                          \
        WORD_RULE(prefix "training.mixed_precision_param", "bfloat16", 0,                          \
                  TRAIT(BF16) | TRAIT(FP8), 0),                                                    \
        WORD_RULE(prefix "training.mixed_precision_param", "float32", TRAIT(FP32), 0, 0)

static const struct launcher_rule arguments[] = {
    PARALLELISM_RULES("--"),
    TRAINING_RULES("--"),
    RULE("--parallelism.enable_sequence_parallel", SWITCH, TRAIT(SEQUENCE_PARALLEL), 0, 0),
    RULE("--training.enable_cpu_offload", SWITCH, TRAIT(OFFLOAD_CPU), 0, 0),
    RULE("--training.disable_cuda_graphs", SWITCH, 0, TRAIT(PP) | TRAIT(EP), 0),
    RULE("activation-checkpoint:none", SWITCH, TRAIT(RECOMPUTE_NONE), 0, 0),
    RULE("activation-checkpoint:selective", SWITCH, TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    RULE("activation-checkpoint:full", SWITCH, TRAIT(RECOMPUTE_FULL), 0, 0),
};

static const struct launcher_rule toml_arguments[] = {
    WORD_RULE("--job.config_file", "parplan.toml", 0, 0, 0),
};

static const struct launcher_rule toml[] = {
    PARALLELISM_RULES(""),
    NUMBER_RULE("parallelism.expert_tensor_parallel_degree", ETP, TRAIT(EXPERT_TP), 0, 0),
    TRAINING_RULES(""),
    RULE("training.enable_cpu_offload", TRUE, TRAIT(OFFLOAD_CPU), 0, 0),
    LIST_RULE("model.converters", "quantize.linear.float8", TRAIT(FP8), 0, 0),
    WORD_RULE("activation_checkpoint.mode", "none", TRAIT(RECOMPUTE_NONE), 0, 0),
    WORD_RULE("activation_checkpoint.mode", "selective", TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    WORD_RULE("activation_checkpoint.selective_ac_option", "op", TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    WORD_RULE("activation_checkpoint.mode", "full", TRAIT(RECOMPUTE_FULL), 0, 0),
};

#define COMMON_LIMITS                                                                              \
    LIMIT(SCHEDULE, "of the schedules that are planned it runs gpipe, 1f1b and interleaved",       \
          "use schedule=1f1b", TRAIT(RARE_SCHEDULE), 0, 0),                                        \
        LIMIT(ORDER, "its mesh numbers tp, cp, dp, pp", "use order=tp-cp-ep-dp-pp",                \
              TRAIT(PP_BEFORE_DP), 0, 0),                                                          \
        LIMIT(SHARDING, "FSDP2 shares the gradients too", "use sharding=zero2 or zero3",           \
              TRAIT(ZERO1), 0, 0),                                                                 \
        LIMIT(PRECISION, "it trains in bfloat16 and float32", "use precision=bf16", TRAIT(FP16),   \
              0, 0),                                                                               \
        LIMIT(OFFLOAD, "it offloads to the host only", "use offload=cpu", TRAIT(OFFLOAD_NVME), 0,  \
              0),                                                                                  \
        LIMIT(OFFLOAD, "only FSDP offloads", "use sharding=zero3", TRAIT(OFFLOAD_CPU), 0,          \
              TRAITS_FULLY_SHARDED),                                                               \
        LIMIT(OFFLOAD, "it does not cut layers into tiles, without which they do not fit",         \
              "use a larger tp or more GPUs", TRAIT(TILED), 0, 0),                                 \
        LIMIT(EP, "ep stays inside shard * cp * tp", "use a smaller ep, or a larger shard",        \
              TRAIT(EXPERTS_APART), 0, 0)

static const struct launcher_limit limits[] = {
    COMMON_LIMITS,
    LIMIT(ETP, "it does not split experts by TP", "use etp=1", TRAIT(EXPERT_TP), 0, 0),
    LIMIT(PRECISION, "FP8 is a converter of a configuration function, no argument",
          "use precision=bf16, and such a function", TRAIT(FP8), 0, 0),
};

static const struct launcher_limit toml_limits[] = {
    COMMON_LIMITS,
    LIMIT(ETP, "it takes etp=1 or etp=tp", "use etp=1", TRAIT(EXPERT_TP) | TRAIT(ETP_NOT_TP), 0, 0),
    LIMIT(SHARDING, "its DDP goes with no other degree", "use sharding=zero3",
          TRAIT(NONE) | TRAIT(DP), TRAIT(TP) | TRAIT(CP) | TRAIT(PP), 0),
};

static const struct launcher_note notes[] = {
    {"Micro batches per step and pipeline: %.", {VALUE_MICRO_BATCHES}, TRAIT(PP), 0, 0},
    {"Steps of gradient accumulation, from the batch sizes: %.",
     {VALUE_MICRO_BATCHES},
     0,
     0,
     TRAIT(PP)},
    NOTE("Under a pipeline parameters stay gathered after forward, as the plan counted.", TRAIT(PP),
         TRAITS_FULLY_SHARDED, 0),
    PROGRAM_NOTES("a LoRA converter of the configuration must freeze the model and add them"),
    NOTE("Part of the parameters is frozen: a LoRA converter of the configuration function.",
         TRAIT(PART_TRAINED), 0, 0),
};

const struct launcher torchtitan_launcher = {
    .name = "torchtitan",
    .title = "torchtitan",
    .checked = "0.3.0",
    .framework = "torchtitan",
    .numbering = "its mesh: pp, dp_replicate, dp_shard, cp, tp, the last the fastest",
    .argument_style = ARGUMENTS_SPACED,
    .usage = "torchrun ... -m torchtitan.train --module MODULE --config CONFIG "
             "\"${parplan_arguments[@]}\"",
    TABLE(argument, arguments),
    TABLE(limit, limits),
    TABLE(note, notes),
};

const struct launcher torchtitan_toml_launcher = {
    .name = "torchtitan-toml",
    .title = "torchtitan with a configuration file",
    .checked = "0.2.2",
    .framework = "torchtitan",
    .numbering = "its mesh: pp, dp_replicate, dp_shard, cp, tp, the last the fastest",
    .argument_style = ARGUMENTS_SPACED,
    .config_style = CONFIG_TOML,
    .config_file = "parplan.toml",
    .usage = "torchrun ... -m torchtitan.train \"${parplan_arguments[@]}\"",
    TABLE(argument, toml_arguments),
    .config = toml,
    .config_count = COUNT_OF(toml),
    TABLE(limit, toml_limits),
    TABLE(note, notes),
};
