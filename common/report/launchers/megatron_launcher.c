/* SPDX-License-Identifier: MIT */
/*
 * Megatron-LM's pretrain scripts: arguments. Names and what excludes what:
 * megatron/training/arguments.py and the dataclasses that it makes arguments of
 * (megatron/core/transformer/transformer_config.py, model_parallel_config.py,
 * megatron/training/config/, megatron/core/optimizer/).
 */
#include "report/launchers/launcher_rules.h"

#define FSDP (TRAIT(ZERO2) | TRAITS_FULLY_SHARDED)
/* core/optimizer/optimizer_config.py: only with the distributed optimizer. */
#define BF16_MOMENTS (TRAIT(ADAM_BF16) | TRAIT(ZERO1))

static const struct launcher_rule arguments[] = {
    NUMBER_RULE("--tensor-model-parallel-size", TP, 0, 0, 0),
    NUMBER_RULE("--pipeline-model-parallel-size", PP, 0, 0, 0),
    NUMBER_RULE("--num-layers-per-virtual-pipeline-stage", CHUNK_LAYERS, TRAIT(VPP), 0, 0),
    RULE("--account-for-embedding-in-pipeline-split", SWITCH, TRAIT(COUNTS_FIRST), 0, 0),
    RULE("--account-for-loss-in-pipeline-split", SWITCH, TRAIT(COUNTS_LAST), 0, 0),
    NUMBER_RULE("--decoder-last-pipeline-num-layers", LAST_LAYERS, TRAIT(SHORT_LAST), 0, 0),
    NUMBER_RULE("--context-parallel-size", CP, 0, 0, 0),
    NUMBER_RULE("--expert-model-parallel-size", EP, TRAIT(MOE), 0, 0),
    NUMBER_RULE("--expert-tensor-parallel-size", ETP, TRAIT(MOE), 0, 0),
    WORD_RULE("--moe-token-dispatcher-type", "alltoall", 0, TRAIT(EP) | TRAIT(CAPACITY), 0),
    VALUE_RULE("--moe-expert-capacity-factor", CAPACITY, TRAIT(CAPACITY), 0, 0),
    RULE("--moe-pad-expert-input-to-capacity", SWITCH, TRAIT(PADDED), 0, 0),
    NUMBER_RULE("--mtp-num-layers", MTP, TRAIT(MTP), 0, 0),
    RULE("--sequence-parallel", SWITCH, TRAIT(SEQUENCE_PARALLEL), 0, 0),
    NUMBER_RULE("--micro-batch-size", MICRO_BATCH, 0, 0, 0),
    NUMBER_RULE("--global-batch-size", GLOBAL_BATCH, 0, 0, 0),
    NUMBER_RULE("--seq-length", SEQUENCE_LENGTH, 0, 0, 0),
    RULE("--bf16", SWITCH, 0, TRAIT(BF16) | TRAIT(FP8), 0),
    RULE("--fp16", SWITCH, TRAIT(FP16), 0, 0),
    WORD_RULE("--fp8-format", "hybrid", TRAIT(FP8), 0, 0),
    WORD_RULE("--recompute-granularity", "selective", TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    WORD_RULE("--recompute-granularity", "full", TRAIT(RECOMPUTE_FULL), 0, 0),
    WORD_RULE("--recompute-method", "uniform", TRAIT(RECOMPUTE_FULL), 0, 0),
    LITERAL_RULE("--recompute-num-layers", 1, TRAIT(RECOMPUTE_FULL), 0, 0),
    RULE("--use-distributed-optimizer", SWITCH, TRAIT(ZERO1), 0, 0),
    RULE("--use-megatron-fsdp", SWITCH, 0, FSDP, 0),
    WORD_RULE("--data-parallel-sharding-strategy", "optim_grads", TRAIT(ZERO2), 0, 0),
    WORD_RULE("--data-parallel-sharding-strategy", "optim_grads_params", 0, TRAITS_FULLY_SHARDED,
              0),
    NUMBER_RULE("--num-distributed-optimizer-instances", REPLICATE, TRAIT(REPLICAS), 0, 0),
    RULE("--no-gradient-accumulation-fusion", SWITCH, 0, FSDP, 0),
    WORD_RULE("--ckpt-format", "fsdp_dtensor", 0, FSDP, 0),
    RULE("--overlap-grad-reduce", SWITCH, TRAIT(DP), 0, 0),
    RULE("--overlap-param-gather", SWITCH, TRAIT(DP), TRAITS_SHARDED, 0),
    RULE("--optimizer-cpu-offload", SWITCH, TRAIT(OFFLOAD_CPU), 0, 0),
    RULE("--use-precision-aware-optimizer", SWITCH, TRAIT(OFFLOAD_CPU), 0, 0),
    RULE("--use-precision-aware-optimizer", SWITCH, BF16_MOMENTS, 0, TRAIT(OFFLOAD_CPU)),
    WORD_RULE("--exp-avg-dtype", "bf16", BF16_MOMENTS, 0, TRAIT(OFFLOAD_CPU)),
    WORD_RULE("--exp-avg-sq-dtype", "bf16", BF16_MOMENTS, 0, TRAIT(OFFLOAD_CPU)),
    VALUE_RULE("--optimizer", OPTIMIZER, 0, TRAIT(SGD) | TRAIT(MUON), 0),
    RULE("--use-tp-pp-dp-mapping", SWITCH, TRAIT(PP_BEFORE_DP), 0, 0),
};

static const struct launcher_limit limits[] = {
    LIMIT(SCHEDULE, "its pipeline runs 1F1B and interleaved 1F1B only", "use schedule=1f1b", 0,
          TRAIT(GPIPE) | TRAIT(RARE_SCHEDULE), 0),
    LIMIT(OFFLOAD, "it offloads to the host only", "use offload=cpu", TRAIT(OFFLOAD_NVME), 0, 0),
    LIMIT(OFFLOAD, "Megatron-FSDP does not offload the optimizer", "use sharding=zero1",
          TRAIT(OFFLOAD_CPU), FSDP, 0),
    LIMIT(ORDER, "Megatron-FSDP knows the default order only", "use order=tp-cp-ep-dp-pp",
          TRAIT(PP_BEFORE_DP), FSDP, 0),
    LIMIT(OPTIMIZER, "its distributed optimizer keeps no SGD",
          "use optimizer=adam, or sharding=none", TRAIT(SGD), TRAITS_SHARDED, 0),
    LIMIT(OPTIMIZER, "Megatron-FSDP does not know Muon", "use sharding=zero1", TRAIT(MUON), FSDP,
          0),
    LIMIT(OPTIMIZER, "it offloads Adam only", "use offload=none, or optimizer=adam",
          TRAIT(OFFLOAD_CPU), TRAIT(SGD) | TRAIT(MUON), 0),
};

static const struct launcher_note notes[] = {
    {"dp=% is no argument: it follows from the number of ranks, the micro batches per step (%) "
     "from "
     "the global batch.",
     {VALUE_DP, VALUE_MICRO_BATCHES},
     0,
     0,
     0},
    NOTE("The model's own arguments (--num-layers, --hidden-size, --max-position-embeddings and "
         "so on) are yours.",
         0, 0, 0),
    NOTE("The gradients stay on the GPU: the plan counted them on the host.", TRAIT(OFFLOAD_CPU), 0,
         0),
    LORA_NOTE("pretrain_gpt.py has no adapters, so the script must freeze the model and add them "
              "(Megatron-Bridge has them)"),
    OPTIMIZER_NOTE(TRAIT(ADAM_8BIT), 0, 0),
    OPTIMIZER_NOTE(TRAIT(ADAM_BF16), 0, TRAIT(ZERO1)),
    OPTIMIZER_NOTE(BF16_MOMENTS | TRAIT(OFFLOAD_CPU), 0, 0),
    NOTE("Muon comes from the package emerging_optimizers.", TRAIT(MUON), 0, 0),
    NOTE("Part of the parameters is frozen: the script's own matter.", TRAIT(PART_TRAINED), 0, 0),
};

const struct launcher megatron_launcher = {
    .name = "megatron-lm",
    .title = "Megatron-LM",
    .checked = "core 0.19.2",
    .framework = "megatron-core",
    .family = TRAIT(FAMILY_MEGATRON),
    .numbering =
        "megatron.core.parallel_state: tp, cp, dp, pp and etp, ep, edp, pp, the first the fastest; "
        "--use-tp-pp-dp-mapping: pp before dp",
    .argument_style = ARGUMENTS_SPACED,
    .usage = "torchrun ... pretrain_gpt.py \"${parplan_arguments[@]}\" ...",
    TABLE(argument, arguments),
    TABLE(limit, limits),
    TABLE(note, notes),
};
