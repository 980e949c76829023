/* SPDX-License-Identifier: MIT */
#include "tests/support/scan_fixture.h"

#define GIB ((uint64_t)1 << 30)

#define DEGREES(tp_, pp_, dp_)                                                                     \
    {                                                                                              \
        .tp = (tp_), .cp = 1, .ep = 1, .etp = (tp_), .pp = (pp_), .vpp = 1, .dp = (dp_),           \
        .shard = (dp_), .replicate = 1                                                             \
    }

static const struct model_spec model = {
    .name = "toy, \"small\"",
    .family = "llama",
    .layers = 4,
    .hidden = 64,
    .heads = 4,
    .kv_heads = 2,
    .head_dim = 16,
    .ffn = 256,
    .vocabulary = 100,
    .gated_mlp = true,
    .norms_per_layer = 2,
    .final_norm = true,
};
static const struct node_gpu gpus[] = {{.model = "h100-sxm", .memory_bytes = 80000000000}};
static const struct node_topology node = {
    .name = "dgx-h100", .gpus = gpus, .gpu_count = 8, .gpu_nic_bytes_per_second = 50e9};
static const struct node_topology *const kinds[] = {&node};
static const struct cluster_topology cluster = {
    .name = "two\nnodes", .kinds = kinds, .kind_count = 1, .node_count = 2};
static const struct training_spec training = {
    .sequence_length = 4096, .global_batch = 64, .trainable = 1};
static const struct plan_request request = {
    .model = &model, .cluster = &cluster, .policy = &policy_default};

static const struct scan_row rows[] = {
    {.id = "tp2-pp1-dp8",
     .keys = "tp=2,pp=1,dp=8,sharding=zero1,micro_batch=4",
     .launch_keys = "tp=2,pp=1,dp=8,sharding=zero1",
     .roles = 1u << SCAN_ANSWER | 1u << SCAN_WITH_TP,
     .plan = {.degrees = DEGREES(2, 1, 8),
              .sharding = SHARDING_ZERO1,
              .precision = PRECISION_BF16,
              .micro_batch = 4,
              .micro_batches = 2,
              .memory = {.total_bytes = 8 * GIB, .verdict = FIT_FITS},
              .time = {.step_seconds = 2}}},
    {.id = "tp1-pp1-dp16",
     .keys = "tp=1,pp=1,dp=16,sharding=zero3,micro_batch=2",
     .launch_keys = "tp=1,pp=1,dp=16,sharding=zero3",
     .roles = 1u << SCAN_CANDIDATE | 1u << SCAN_DATA_ONLY,
     .plan = {.degrees = DEGREES(1, 1, 16),
              .sharding = SHARDING_ZERO3,
              .precision = PRECISION_BF16,
              .micro_batch = 2,
              .micro_batches = 2,
              .memory = {.total_bytes = 9 * GIB, .verdict = FIT_TIGHT},
              .time = {.step_seconds = 2.5}}},
    {.id = "tp1-pp2-dp8",
     .keys = "tp=1,pp=2,dp=8,sharding=none,micro_batch=1,schedule=gpipe",
     .launch_keys = "tp=1,pp=2,dp=8,sharding=none",
     .roles = 1u << SCAN_WITH_PP,
     .plan = {.degrees = DEGREES(1, 2, 8),
              .precision = PRECISION_BF16,
              .schedule = SCHEDULE_GPIPE,
              .recompute = RECOMPUTE_FULL,
              .micro_batch = 1,
              .micro_batches = 8,
              .memory = {.total_bytes = 7 * GIB, .verdict = FIT_FITS},
              .time = {.step_seconds = 4}}},
};

static const char *const notes[] = {"sequence_length is not given: 4096"};
static const struct plan_list list = {
    .plans = &rows[0].plan, .plan_count = 1, .notes = notes, .note_count = 1};

const struct scan_grid scan_fixture_grid = {
    .list = &list,
    .rows = rows,
    .row_count = COUNT_OF(rows),
    .row_of = {[SCAN_ANSWER] = 0,
               [SCAN_CANDIDATE] = 1,
               [SCAN_DATA_ONLY] = 1,
               [SCAN_WITH_TP] = 0,
               [SCAN_WITH_PP] = 2,
               [SCAN_WITH_BOTH] = SCAN_NO_ROW},
    .absent = {[SCAN_WITH_BOTH] = "no such plan fits or is allowed"},
};

const struct plan_report scan_fixture_report = {
    .request = &request,
    .training = &training,
    .framework = "megatron-core",
    .world = 16,
    .gpus_per_node = 8,
    .list = &list,
};
