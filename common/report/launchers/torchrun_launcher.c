/* SPDX-License-Identifier: MIT */
/*
 * torchrun with a program of one's own: DistributedDataParallel, or FSDP2 (fully_shard).
 * The arguments are torchrun's (torch/distributed/run.py); the configuration is what such a
 * program needs, named as the PyTorch calls name it (init_device_mesh, fully_shard,
 * MixedPrecisionPolicy, CPUOffloadPolicy, ZeroRedundancyOptimizer).
 */
#include "report/launchers/launcher_rules.h"

static const struct launcher_rule arguments[] = {
    NUMBER_RULE("--nnodes", NODES, 0, 0, 0),
    NUMBER_RULE("--nproc-per-node", GPUS_PER_NODE, 0, 0, 0),
};

#define COMMON_CONFIG                                                                              \
    NUMBER_RULE("micro_batch_size", MICRO_BATCH, 0, 0, 0),                                         \
        NUMBER_RULE("gradient_accumulation_steps", MICRO_BATCHES, 0, 0, 0),                        \
        NUMBER_RULE("global_batch_size", GLOBAL_BATCH, 0, 0, 0),                                   \
        NUMBER_RULE("sequence_length", SEQUENCE_LENGTH, 0, 0, 0),                                  \
        WORD_RULE("activation_checkpointing", "none", TRAIT(RECOMPUTE_NONE), 0, 0),                \
        WORD_RULE("activation_checkpointing", "attention", TRAIT(RECOMPUTE_SELECTIVE), 0, 0),      \
        WORD_RULE("activation_checkpointing", "layer", TRAIT(RECOMPUTE_FULL), 0, 0)

static const struct launcher_rule ddp_config[] = {
    COMMON_CONFIG,
    WORD_RULE("autocast_dtype", "bfloat16", TRAIT(BF16), 0, 0),
    WORD_RULE("autocast_dtype", "float16", TRAIT(FP16), 0, 0),
    RULE("autocast_dtype", NULL, TRAIT(FP32), 0, 0),
    RULE("grad_scaler", TRUE, TRAIT(FP16), 0, 0),
    RULE("zero_redundancy_optimizer", TRUE, TRAIT(ZERO1), 0, 0),
};

static const struct launcher_rule fsdp_config[] = {
    COMMON_CONFIG,
    NUMBER_RULE("device_mesh.dp_replicate", REPLICATE, 0, 0, 0),
    NUMBER_RULE("device_mesh.dp_shard", SHARD, 0, 0, 0),
    NUMBER_RULE("device_mesh.cp", CP, 0, 0, 0),
    NUMBER_RULE("device_mesh.tp", TP, 0, 0, 0),
    RULE("sequence_parallel", TRUE, TRAIT(SEQUENCE_PARALLEL), 0, 0),
    RULE("reshard_after_forward", FALSE, TRAIT(ZERO2), 0, 0),
    RULE("reshard_after_forward", TRUE, 0, TRAITS_FULLY_SHARDED, 0),
    WORD_RULE("mp_policy.param_dtype", "bfloat16", TRAIT(BF16), 0, 0),
    WORD_RULE("mp_policy.param_dtype", "float16", TRAIT(FP16), 0, 0),
    WORD_RULE("mp_policy.param_dtype", "float32", TRAIT(FP32), 0, 0),
    WORD_RULE("mp_policy.reduce_dtype", "float32", 0, 0, 0),
    RULE("grad_scaler", TRUE, TRAIT(FP16), 0, 0),
    WORD_RULE("offload_policy", "CPUOffloadPolicy", TRAIT(OFFLOAD_CPU), 0, 0),
};

#define FP8_LIMIT                                                                                  \
    LIMIT(PRECISION, "PyTorch itself has no FP8 training",                                         \
          "use precision=bf16, and torchao in the program", TRAIT(FP8), 0, 0)
#define NO_PIPELINE                                                                                \
    LIMIT(PP, "it has no pipeline", "use pp=1", TRAIT(PP), 0, 0),                                  \
        LIMIT(EP, "it has no expert parallelism", "use ep=1", TRAIT(EP), 0, 0)

static const struct launcher_limit ddp_limits[] = {
    NO_PIPELINE,
    LIMIT(TP, "DistributedDataParallel replicates the whole model", "use tp=1", TRAIT(TP), 0, 0),
    LIMIT(CP, "DistributedDataParallel does not split sequences", "use cp=1", TRAIT(CP), 0, 0),
    LIMIT(SHARDING, "DistributedDataParallel replicates parameters and gradients",
          "use sharding=none or zero1", 0, TRAIT(ZERO2) | TRAITS_FULLY_SHARDED, 0),
    LIMIT(SHARD, "ZeroRedundancyOptimizer shares over all replicas", "leave shard= out",
          TRAIT(REPLICAS), 0, 0),
    FP8_LIMIT,
    LIMIT(OFFLOAD, "it does not offload", "use offload=none", 0, 0, TRAIT(OFFLOAD_NONE)),
};

static const struct launcher_limit fsdp_limits[] = {
    NO_PIPELINE,
    LIMIT(SHARDING, "fully_shard shares the gradients too", "use sharding=zero2 or zero3",
          TRAIT(ZERO1), 0, 0),
    LIMIT(SHARDING, "nothing is shared", "use sharding=zero3", TRAIT(NONE) | TRAIT(DP), 0, 0),
    FP8_LIMIT,
    LIMIT(OFFLOAD, "it offloads to the host only", "use offload=cpu", TRAIT(OFFLOAD_NVME), 0, 0),
};

static const struct launcher_note notes[] = {
    {"The plan fits only with layers in % tiles each, gathered one after the other: the program's "
     "own "
     "matter.",
     {VALUE_TILES},
     TRAIT(TILED),
     0,
     0},
    NOTE("PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT complete the command: srun --parplan "
         "with one task per node sets them, or parplan env --tasks-per-node 1.",
         TRAIT(NODES), 0, 0),
    NOTE("parplan_settings.json is for your program to read: the names are those of the PyTorch "
         "calls.",
         0, 0, 0),
    PROGRAM_NOTES("the program must freeze the model and add them"),
    NOTE("Part of the parameters is frozen: the program's own matter.", TRAIT(PART_TRAINED), 0, 0),
};

const struct launcher torchrun_ddp_launcher = {
    .name = "torchrun-ddp",
    .title = "torchrun with DistributedDataParallel",
    .checked = "PyTorch 2.15",
    .framework = "fsdp2",
    .implied = "tp=1,cp=1,ep=1,pp=1",
    .numbering = "RANK is the replica",
    .argument_style = ARGUMENTS_SPACED,
    .config_style = CONFIG_JSON,
    .config_file = "parplan_settings.json",
    .usage = "torchrun \"${parplan_arguments[@]}\" train.py",
    TABLE(argument, arguments),
    .config = ddp_config,
    .config_count = COUNT_OF(ddp_config),
    TABLE(limit, ddp_limits),
    TABLE(note, notes),
};

const struct launcher torchrun_fsdp_launcher = {
    .name = "torchrun-fsdp",
    .title = "torchrun with FSDP2",
    .checked = "PyTorch 2.15",
    .framework = "fsdp2",
    .implied = "ep=1,pp=1",
    .numbering = "init_device_mesh: dp_replicate, dp_shard, cp, tp, the last the fastest",
    .argument_style = ARGUMENTS_SPACED,
    .config_style = CONFIG_JSON,
    .config_file = "parplan_settings.json",
    .usage = "torchrun \"${parplan_arguments[@]}\" train.py",
    TABLE(argument, arguments),
    .config = fsdp_config,
    .config_count = COUNT_OF(fsdp_config),
    TABLE(limit, fsdp_limits),
    TABLE(note, notes),
};
