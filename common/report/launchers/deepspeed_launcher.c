/* SPDX-License-Identifier: MIT */
/*
 * DeepSpeed: the JSON that deepspeed.initialize takes. Names and limits: deepspeed/runtime/
 * config.py, zero/config.py, zero/offload_config.py, tensor_parallel/config.py,
 * module_inject/auto_ep_config.py and auto_ep_folding.py. What the program
 * itself must pass (checkpointing) is said in notes.
 */
#include "report/launchers/launcher_rules.h"

static const struct launcher_rule arguments[] = {
    WORD_RULE("--deepspeed_config", "ds_config.json", 0, 0, 0),
};

static const struct launcher_rule config[] = {
    NUMBER_RULE("train_batch_size", GLOBAL_BATCH, 0, 0, TRAIT(TP)),
    NUMBER_RULE("train_micro_batch_size_per_gpu", MICRO_BATCH, 0, 0, 0),
    NUMBER_RULE("gradient_accumulation_steps", MICRO_BATCHES, 0, 0, 0),
    RULE("bf16.enabled", TRUE, TRAIT(BF16), 0, 0),
    RULE("fp16.enabled", TRUE, TRAIT(FP16), 0, 0),
    LITERAL_RULE("fp16.loss_scale", 0, TRAIT(FP16), 0, 0),
    NUMBER_RULE("zero_optimization.stage", ZERO_STAGE, 0, 0, 0),
    RULE("zero_optimization.overlap_comm", TRUE, 0, TRAITS_SHARDED, 0),
    WORD_RULE("zero_optimization.offload_optimizer.device", "cpu", TRAIT(OFFLOAD_CPU), 0, 0),
    WORD_RULE("zero_optimization.offload_optimizer.device", "nvme", TRAIT(OFFLOAD_NVME), 0, 0),
    WORD_RULE("zero_optimization.offload_optimizer.nvme_path", "/local_nvme", TRAIT(OFFLOAD_NVME),
              0, 0),
    WORD_RULE("zero_optimization.offload_param.device", "cpu", TRAIT(OFFLOAD_CPU) | TRAIT(ZERO3), 0,
              0),
    WORD_RULE("zero_optimization.offload_param.device", "nvme", TRAIT(OFFLOAD_NVME), 0, 0),
    WORD_RULE("zero_optimization.offload_param.nvme_path", "/local_nvme", TRAIT(OFFLOAD_NVME), 0,
              0),
    NUMBER_RULE("tensor_parallel.autotp_size", TP, TRAIT(TP), 0, 0),
    NUMBER_RULE("sequence_parallel_size", CP, TRAIT(CP), 0, 0),
    NUMBER_RULE("data_parallel_size", DP, TRAIT(CP), 0, 0),
    RULE("expert_parallel.enabled", TRUE, TRAIT(EP), 0, 0),
    NUMBER_RULE("expert_parallel.autoep_size", EP, TRAIT(EP), 0, 0),
};

static const struct launcher_limit limits[] = {
    LIMIT(PP, "its JSON holds no pipeline (stages are the program's PipelineModule)", "use pp=1",
          TRAIT(PP), 0, 0),
    LIMIT(SHARDING, "it no longer shares states over a part of the replicas (MiCS was removed)",
          "use sharding=zero3", TRAIT(HSDP), 0, 0),
    LIMIT(SHARD, "it shares states over all replicas", "leave shard= out", TRAIT(REPLICAS), 0, 0),
    LIMIT(CP, "Ulysses does not go with its tensor parallelism", "use tp=1", TRAIT(CP) | TRAIT(TP),
          0, 0),
    LIMIT(ETP, "it does not split experts by TP", "use etp=1", TRAIT(EXPERT_TP), 0, 0),
    LIMIT(PRECISION, "its configuration has no such precision", "use precision=bf16", TRAIT(FP8), 0,
          0),
    LIMIT(OFFLOAD, "only ZeRO offloads", "use sharding=zero1 or more", TRAIT(NONE), 0,
          TRAIT(OFFLOAD_NONE)),
    LIMIT(OFFLOAD, "NVMe needs ZeRO-3", "use sharding=zero3, or offload=cpu", TRAIT(OFFLOAD_NVME),
          0, TRAIT(ZERO3)),
    LIMIT(OFFLOAD, "expert with tensor parallelism does not offload", "use tp=1",
          TRAIT(EP) | TRAIT(TP), TRAIT(OFFLOAD_CPU) | TRAIT(OFFLOAD_NVME), 0),
};

static const struct launcher_note notes[] = {
    {"The global batch is %; train_batch_size is left out: its check would count TP ranks as "
     "replicas. Ranks of one TP group (% neighbours) must read the same samples.",
     {VALUE_GLOBAL_BATCH, VALUE_TP},
     TRAIT(TP),
     0,
     0},
    NOTE("Recompute is the program's: deepspeed.checkpointing.checkpoint around each layer, or the "
         "model's gradient_checkpointing_enable().",
         TRAIT(RECOMPUTE_FULL), 0, 0),
    NOTE("Recompute of the attention alone is the program's: deepspeed.checkpointing.checkpoint "
         "around it.",
         TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    {"Sequences of % tokens are the program's data.", {VALUE_SEQUENCE_LENGTH}, 0, 0, 0},
    {"The plan fits only with layers in % tiles each: deepspeed.zero.TiledLinear in the model.",
     {VALUE_TILES},
     TRAIT(TILED),
     0,
     0},
    NOTE("nvme_path is a placeholder: name a file system on the node's own NVMe.",
         TRAIT(OFFLOAD_NVME), 0, 0),
    NOTE("DeepSpeedCPUAdam uses the host's cores: OMP_NUM_THREADS is the node's cores / its GPUs.",
         0, TRAIT(OFFLOAD_CPU) | TRAIT(OFFLOAD_NVME), 0),
    PROGRAM_NOTES("the program must freeze the model and add them (PEFT)"),
    NOTE("Part of the parameters is frozen: the program's own matter.", TRAIT(PART_TRAINED), 0, 0),
};

const struct launcher deepspeed_launcher = {
    .name = "deepspeed",
    .title = "DeepSpeed",
    .checked = "0.19.8",
    .framework = "deepspeed",
    .also = "megatron-deepspeed",
    .implied = "pp=1",
    .numbering = "deepspeed.initialize: ranks of tensor or sequence parallelism are neighbours, "
                 "replicas are "
                 "apart",
    .argument_style = ARGUMENTS_SPACED,
    .config_style = CONFIG_JSON,
    .config_file = "ds_config.json",
    .usage = "torchrun ... train.py --deepspeed \"${parplan_arguments[@]}\"",
    TABLE(argument, arguments),
    .config = config,
    .config_count = COUNT_OF(config),
    TABLE(limit, limits),
    TABLE(note, notes),
};
