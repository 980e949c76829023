/* SPDX-License-Identifier: MIT */
#include "workload/training_spec.h"
#include "base/numbers/real.h"

/* The default batch: a multiple of N where there are that many sequences, so that every dp
 * divides it, and at least one sequence per rank. */
static uint64_t default_batch(uint64_t sequence_length, uint64_t world)
{
    uint64_t batch = TRAINING_DEFAULT_BATCH_TOKENS / sequence_length;
    if (world == 0)
        world = 1;
    return batch < world ? world : batch - batch % world;
}

#define ADAM_MOMENT_BYTES 8.0

static const double moment_bytes[OPTIMIZER_COUNT] = {[OPTIMIZER_ADAM] = ADAM_MOMENT_BYTES,
                                                     [OPTIMIZER_ADAM_8BIT] = 2,
                                                     [OPTIMIZER_ADAM_BF16] = 4,
                                                     [OPTIMIZER_MUON] = 4,
                                                     [OPTIMIZER_SGD] = 4};

static double load_from_job(const struct job_spec *job)
{
    const struct job_value *capacity = &job->values[JOB_CAPACITY_FACTOR];
    const struct job_value *imbalance = &job->values[JOB_IMBALANCE];
    if (capacity->given && imbalance->given)
        return imbalance->real < capacity->real ? imbalance->real : capacity->real;
    return capacity->given ? capacity->real : imbalance->given ? imbalance->real : 1;
}

double training_expert_load(const struct training_spec *training)
{
    return training->expert_load > 1 ? training->expert_load : 1;
}

int training_spec_from_job(const struct job_spec *job, uint64_t world, struct training_spec *ret,
                           struct error_info *err)
{
    const struct job_value *values = job->values;
    uint64_t sequence = job_spec_number(job, JOB_SEQUENCE_LENGTH, TRAINING_DEFAULT_SEQUENCE_LENGTH);
    uint64_t most = job_spec_number(job, JOB_MAX_GLOBAL_BATCH, JOB_SEQUENCES_MAXIMUM);
    uint64_t batch = job_spec_number(job, JOB_GLOBAL_BATCH, default_batch(sequence, world));
    unsigned rank = (unsigned)job_spec_number(job, JOB_TRAINABLE, 0);
    bool share = values[JOB_TRAINABLE].given && rank == 0;
    bool batch_given = values[JOB_GLOBAL_BATCH].given;
    if (batch > most && batch_given)
        return error_set(
            err, "%s: global_batch: %llu is more than max_global_batch=%llu (%s); use less",
            values[JOB_GLOBAL_BATCH].where, (unsigned long long)batch, (unsigned long long)most,
            values[JOB_MAX_GLOBAL_BATCH].given ? values[JOB_MAX_GLOBAL_BATCH].where
                                               : "the largest of all");
    *ret = (struct training_spec){
        .sequence_length = (unsigned)sequence,
        .global_batch = (unsigned)(batch < most ? batch : most),
        .max_global_batch = (unsigned)most,
        .sequence_length_is_default = !values[JOB_SEQUENCE_LENGTH].given,
        .global_batch_is_default = !batch_given,
        .trainable = share ? values[JOB_TRAINABLE].real : 1,
        .lora_rank = rank,
        .mtp_layers = (unsigned)job_spec_number(job, JOB_MTP, 0),
        .optimizer = (enum optimizer)job_spec_number(job, JOB_OPTIMIZER, OPTIMIZER_ADAM),
        .expert_load = load_from_job(job),
        .precision_given = values[JOB_PRECISION].given,
        .precision = (enum precision)job_spec_number(job, JOB_PRECISION, PRECISION_BF16),
    };
    return 0;
}

void training_spec_adapt(struct training_spec *training, const struct model_spec *model,
                         const struct model_parameters *counts)
{
    double total = real_of(counts->total);
    if (training->lora_rank > 0)
        training->trainable = real_of(model_adapters_total(model, training->lora_rank)) / total;
    training->moments_saved = ADAM_MOMENT_BYTES - moment_bytes[training->optimizer];
    if (training->optimizer == OPTIMIZER_MUON)
        training->moments_saved *= 1 - real_of(counts->embedding + counts->head) / total;
}
