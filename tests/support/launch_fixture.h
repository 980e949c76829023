/* SPDX-License-Identifier: MIT */
/*
 * launch_fixture: a launch_plan of 64 GPUs on nodes of 8, from keys: a model of 80 layers
 * with 8 experts, 512 sequences of 4096 tokens, sequence parallelism with TP, a GPU of NVIDIA
 * before Blackwell. What the keys leave out: degrees as degrees_complete has it, zero3, bf16,
 * no recompute, no offload, micro batch 1, 1F1B where there is a pipeline, Adam, all trained.
 */
#ifndef TESTS_SUPPORT_LAUNCH_FIXTURE_H
#define TESTS_SUPPORT_LAUNCH_FIXTURE_H

#include "report/launchers/launch_plan.h"

struct launch_fixture {
    struct plan plan;
    struct model_spec model;
    struct training_spec training;
    struct framework_profile profile; /* its name: "megatron-core" */
    struct gpu_model gpu;
    char capacity_factor[16];
    struct launch_plan launch; /* points into the fixture, which is not to be copied */
};

/* keys: "pp=4,sharding=zero1". Fails the test where they cannot be. */
void launch_fixture_init(struct launch_fixture *fixture, const char *keys);

#endif
