/* SPDX-License-Identifier: MIT */
#include "tests/support/launch_fixture.h"
#include "tests/support/unit_test.h"
#include "workload/job_spec.h"
#include <stdio.h>

#define GPUS 64u
#define GLOBAL_BATCH 512u

static enum schedule schedule_of(const struct degrees *degrees, const struct job_spec *job)
{
    enum schedule usual = degrees->pp == 1   ? SCHEDULE_NONE
                          : degrees->vpp > 1 ? SCHEDULE_INTERLEAVED
                                             : SCHEDULE_1F1B;
    return (enum schedule)job_spec_number(job, JOB_SCHEDULE, usual);
}

static int plan_of(const struct job_spec *job, struct plan *ret, struct error_info *err)
{
    struct degrees degrees;
    enum sharding sharding = (enum sharding)job_spec_number(job, JOB_SHARDING, SHARDING_ZERO3);
    job_spec_degrees(job, &degrees);
    if (degrees_complete(&degrees, GPUS, err) < 0 ||
        degrees_set_shard(&degrees, sharding, (unsigned)job_spec_number(job, JOB_SHARD, 0), err) <
            0)
        return -1;
    *ret = (struct plan){
        .degrees = degrees,
        .sharding = sharding,
        .offload = (enum offload)job_spec_number(job, JOB_OFFLOAD, OFFLOAD_NONE),
        .schedule = schedule_of(&degrees, job),
        .recompute = (enum recompute)job_spec_number(job, JOB_RECOMPUTE, RECOMPUTE_NONE),
        .precision = (enum precision)job_spec_number(job, JOB_PRECISION, PRECISION_BF16),
        .order = (enum rank_order)job_spec_number(job, JOB_ORDER, ORDER_TP_CP_EP_DP_PP),
        .micro_batch = 1,
        .micro_batches = GLOBAL_BATCH / degrees.dp,
    };
    return 0;
}

static void set_training(const struct job_spec *job, struct launch_fixture *fixture)
{
    const struct job_value *capacity = &job->values[JOB_CAPACITY_FACTOR];
    struct training_spec *training = &fixture->training;
    training->lora_rank = (unsigned)job_spec_number(job, JOB_TRAINABLE, 0);
    if (job->values[JOB_TRAINABLE].given && training->lora_rank == 0)
        training->trainable = job->values[JOB_TRAINABLE].real;
    training->optimizer = (enum optimizer)job_spec_number(job, JOB_OPTIMIZER, OPTIMIZER_ADAM);
    training->mtp_layers = (unsigned)job_spec_number(job, JOB_MTP, 0);
    if (!capacity->given)
        return;
    snprintf(fixture->capacity_factor, sizeof(fixture->capacity_factor), "%s", capacity->text);
    fixture->launch.capacity_factor = fixture->capacity_factor;
    fixture->launch.experts_padded = !job->values[JOB_IMBALANCE].given;
}

void launch_fixture_init(struct launch_fixture *fixture, const char *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(&err);
    *fixture = (struct launch_fixture){
        .model = {.name = "toy", .layers = 80, .experts = 8},
        .training = {.sequence_length = 4096, .global_batch = GLOBAL_BATCH, .trainable = 1},
        .profile = {.name = "megatron-core", .sequence_parallel = true},
        .gpu = {.vendor = "nvidia", .architecture = "hopper"},
    };
    if (!job || job_spec_parse_option(job, keys, "test", &err) < 0 ||
        plan_of(job, &fixture->plan, &err) < 0)
        fail_msg("%s: %s", keys, err.text);
    fixture->launch = (struct launch_plan){
        .plan = &fixture->plan,
        .model = &fixture->model,
        .training = &fixture->training,
        .profile = &fixture->profile,
        .gpu = &fixture->gpu,
        .world = GPUS,
        .gpus_per_node = 8,
    };
    set_training(job, fixture);
}
