/* SPDX-License-Identifier: MIT */
/*
 * training_spec: the batch, the sequence, the precision and the optimizer of a run: a
 * job_spec with its defaults filled in, and each default said aloud.
 */
#ifndef WORKLOAD_TRAINING_SPEC_H
#define WORKLOAD_TRAINING_SPEC_H

#include "workload/job_spec.h"
#include "workload/model_spec.h"

#define TRAINING_DEFAULT_SEQUENCE_LENGTH 4096u
/* Default global batch: this many tokens per step (4 Mi tokens, as pre-training runs of
 * 7B to 70B models use), at least one sequence per rank and else a multiple of the ranks, so
 * that every dp divides it; never more than max_global_batch. */
#define TRAINING_DEFAULT_BATCH_TOKENS 4194304u

/* Bytes a parameter of the moments (job key `optimizer`): adam 8, two in fp32; adam_8bit 2
 * (Dettmers 2022, arXiv 2110.02861); adam_bf16 4 (Megatron-LM, --exp-avg-dtype and
 * --exp-avg-sq-dtype bf16); muon 4, one in fp32, but Adam's 8 for embedding and head (Liu 2025,
 * arXiv 2502.16982); sgd 4, its momentum. */
enum optimizer {
    OPTIMIZER_ADAM,
    OPTIMIZER_ADAM_8BIT,
    OPTIMIZER_ADAM_BF16,
    OPTIMIZER_MUON,
    OPTIMIZER_SGD,
    OPTIMIZER_COUNT
};

struct training_spec {
    unsigned sequence_length;
    unsigned global_batch;     /* sequences */
    unsigned max_global_batch; /* JOB_SEQUENCES_MAXIMUM when not given */
    bool sequence_length_is_default;
    bool global_batch_is_default;
    double trainable;    /* share of the parameters; 1 when not given, 0: frozen */
    unsigned lora_rank;  /* of adapters on all linear layers, which alone are trained; 0: none */
    unsigned mtp_layers; /* multi-token prediction layers that are trained */
    enum optimizer optimizer;
    double moments_saved; /* bytes a parameter, against Adam's */
    /* Tokens of the fullest rank's experts, of an even load: `imbalance`, at most
     * `capacity_factor`, to which experts are padded where it alone is given; 0 counts as 1. */
    double expert_load;
    bool precision_given;
    enum precision precision; /* bf16 when not given: the GPU decides then */
};

/* Refuses a global_batch over max_global_batch. With LoRA `trainable` stays 1 until the model is
 * known. */
int training_spec_from_job(const struct job_spec *job, uint64_t world, struct training_spec *ret,
                           struct error_info *err);

double training_expert_load(const struct training_spec *training); /* 1 or more */

/* Adapters as a share of the model's parameters, where they are what is trained; what the
 * optimizer saves over this model. */
void training_spec_adapt(struct training_spec *training, const struct model_spec *model,
                         const struct model_parameters *counts);

#endif
