/* SPDX-License-Identifier: MIT */
/*
 * Megatron-Bridge: overrides of a recipe's ConfigContainer (Hydra's key=value). Names:
 * megatron/bridge/training/config.py and the Megatron Core dataclasses beneath it. A recipe may
 * have set anything: what the plan does not use is set back.
 */
#include "report/launchers/launcher_rules.h"

#define FSDP (TRAIT(ZERO2) | TRAITS_FULLY_SHARDED)

static const struct launcher_rule arguments[] = {
    NUMBER_RULE("model.tensor_model_parallel_size", TP, 0, 0, 0),
    NUMBER_RULE("model.pipeline_model_parallel_size", PP, 0, 0, 0),
    NUMBER_RULE("model.virtual_pipeline_model_parallel_size", VPP, TRAIT(VPP), 0, 0),
    RULE("model.virtual_pipeline_model_parallel_size", NULL, 0, 0, TRAIT(VPP)),
    RULE("model.pipeline_model_parallel_layout", NULL, 0, 0, 0),
    RULE("model.account_for_embedding_in_pipeline_split", TRUE, TRAIT(COUNTS_FIRST), 0, 0),
    RULE("model.account_for_embedding_in_pipeline_split", FALSE, 0, 0, TRAIT(COUNTS_FIRST)),
    RULE("model.account_for_loss_in_pipeline_split", TRUE, TRAIT(COUNTS_LAST), 0, 0),
    RULE("model.account_for_loss_in_pipeline_split", FALSE, 0, 0, TRAIT(COUNTS_LAST)),
    NUMBER_RULE("model.num_layers_in_last_pipeline_stage", LAST_LAYERS, TRAIT(SHORT_LAST), 0, 0),
    NUMBER_RULE("model.context_parallel_size", CP, 0, 0, 0),
    NUMBER_RULE("model.expert_model_parallel_size", EP, TRAIT(MOE), 0, 0),
    NUMBER_RULE("model.expert_tensor_parallel_size", ETP, TRAIT(MOE), 0, 0),
    WORD_RULE("model.moe_token_dispatcher_type", "alltoall", 0, TRAIT(EP) | TRAIT(CAPACITY), 0),
    VALUE_RULE("model.moe_expert_capacity_factor", CAPACITY, TRAIT(CAPACITY), 0, 0),
    RULE("model.moe_pad_expert_input_to_capacity", TRUE, TRAIT(PADDED), 0, 0),
    NUMBER_RULE("model.mtp_num_layers", MTP, TRAIT(MTP), 0, 0),
    RULE("model.sequence_parallel", TRUE, TRAIT(SEQUENCE_PARALLEL), 0, 0),
    RULE("model.sequence_parallel", FALSE, 0, 0, TRAIT(SEQUENCE_PARALLEL)),
    NUMBER_RULE("model.seq_length", SEQUENCE_LENGTH, 0, 0, 0),
    NUMBER_RULE("dataset.seq_length", SEQUENCE_LENGTH, 0, 0, 0),
    NUMBER_RULE("train.micro_batch_size", MICRO_BATCH, 0, 0, 0),
    NUMBER_RULE("train.global_batch_size", GLOBAL_BATCH, 0, 0, 0),
    WORD_RULE("mixed_precision", "bf16_mixed", TRAIT(BF16), 0, 0),
    WORD_RULE("mixed_precision", "fp16_mixed", TRAIT(FP16), 0, 0),
    WORD_RULE("mixed_precision", "bf16_with_fp8_current_scaling_mixed", TRAIT(FP8), 0, 0),
    RULE("model.recompute_granularity", NULL, TRAIT(RECOMPUTE_NONE), 0, 0),
    WORD_RULE("model.recompute_granularity", "selective", TRAIT(RECOMPUTE_SELECTIVE), 0, 0),
    WORD_RULE("model.recompute_granularity", "full", TRAIT(RECOMPUTE_FULL), 0, 0),
    WORD_RULE("model.recompute_method", "uniform", TRAIT(RECOMPUTE_FULL), 0, 0),
    LITERAL_RULE("model.recompute_num_layers", 1, TRAIT(RECOMPUTE_FULL), 0, 0),
    RULE("ddp.use_distributed_optimizer", TRUE, 0, TRAITS_SHARDED, 0),
    RULE("optimizer.use_distributed_optimizer", TRUE, 0, TRAITS_SHARDED, 0),
    RULE("ddp.use_distributed_optimizer", FALSE, TRAIT(NONE), 0, 0),
    RULE("optimizer.use_distributed_optimizer", FALSE, TRAIT(NONE), 0, 0),
    RULE("ddp.use_megatron_fsdp", TRUE, 0, FSDP, 0),
    RULE("dist.use_megatron_fsdp", TRUE, 0, FSDP, 0),
    WORD_RULE("ddp.data_parallel_sharding_strategy", "optim_grads", TRAIT(ZERO2), 0, 0),
    WORD_RULE("ddp.data_parallel_sharding_strategy", "optim_grads_params", 0, TRAITS_FULLY_SHARDED,
              0),
    NUMBER_RULE("ddp.num_distributed_optimizer_instances", REPLICATE, TRAIT(REPLICAS), 0, 0),
    RULE("model.gradient_accumulation_fusion", FALSE, 0, FSDP, 0),
    WORD_RULE("checkpoint.ckpt_format", "fsdp_dtensor", 0, FSDP, 0),
    RULE("ddp.overlap_grad_reduce", TRUE, TRAIT(DP), 0, 0),
    RULE("ddp.overlap_param_gather", TRUE, TRAIT(DP), TRAITS_SHARDED, 0),
    RULE("ddp.overlap_param_gather", FALSE, TRAIT(NONE), 0, 0),
    RULE("optimizer.optimizer_cpu_offload", TRUE, TRAIT(OFFLOAD_CPU), 0, 0),
    RULE("optimizer.use_precision_aware_optimizer", TRUE, TRAIT(OFFLOAD_CPU), 0, 0),
    VALUE_RULE("optimizer.optimizer", OPTIMIZER, TRAIT(SGD), 0, 0),
    RULE("dist.use_tp_pp_dp_mapping", TRUE, TRAIT(PP_BEFORE_DP), 0, 0),
};

static const struct launcher_limit limits[] = {
    LIMIT(SCHEDULE, "its pipeline runs 1F1B and interleaved 1F1B only", "use schedule=1f1b", 0,
          TRAIT(GPIPE) | TRAIT(RARE_SCHEDULE), 0),
    LIMIT(PRECISION, "it has no recipe of that precision", "use precision=bf16", TRAIT(FP32), 0, 0),
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
    {"dp=% is no override: it follows from the number of ranks, the micro batches per step (%) "
     "from "
     "the global batch.",
     {VALUE_DP, VALUE_MICRO_BATCHES},
     0,
     0,
     0},
    NOTE("NeMo 2 takes the model. keys below trainer.strategy. and the batch below data.", 0, 0, 0),
    NOTE("The gradients stay on the GPU: the plan counted them on the host.", TRAIT(OFFLOAD_CPU), 0,
         0),
    LORA_NOTE("give the recipe its peft=, a LoRA of that dim on all linear layers"),
    OPTIMIZER_NOTE(0, TRAITS_OPTIMIZERS, TRAIT(SGD)),
    NOTE("Part of the parameters is frozen: give the recipe its peft= as well.",
         TRAIT(PART_TRAINED), 0, 0),
};

const struct launcher bridge_launcher = {
    .name = "megatron-bridge",
    .title = "Megatron-Bridge (NeMo)",
    .checked = "0.6.2",
    .framework = "nemo",
    .family = TRAIT(FAMILY_MEGATRON) | TRAIT(FAMILY_BRIDGE),
    .numbering =
        "megatron.core.parallel_state: tp, cp, dp, pp and etp, ep, edp, pp, the first the fastest; "
        "dist.use_tp_pp_dp_mapping: pp before dp",
    .argument_style = ARGUMENTS_OVERRIDES,
    .usage = "torchrun ... your_recipe.py \"${parplan_arguments[@]}\"",
    TABLE(argument, arguments),
    TABLE(limit, limits),
    TABLE(note, notes),
};
