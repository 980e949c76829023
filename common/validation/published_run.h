/* SPDX-License-Identifier: MIT */
/*
 * published_run: one row of a table of training runs, as a plan of ours with what was measured.
 *
 * Columns (csv_table.h; those that are absent count as empty):
 *   id, set, model, params_b, layers, hidden, ffn, gated, heads, kv_heads, vocab, seq, experts,
 *   topk, gpu, gpu_mem_gb, gpus_per_node, n_gpus, interconnect, gbs, mbs, tp, pp, vpp, cp, ep, dp,
 *   zero_fsdp, sp, recompute, precision, note, status
 *   step_time_s, tokens_s_gpu, tflops_gpu with flops_kind (the first that is present counts)
 *   measured (peak, fit/OOM, …), value, unit (GB, GiB)             memory tables
 *   framework, cluster                 optional, ours: a profile's name, a node preset's
 *
 * Rows that say too little, or are outside of what is modelled, are skipped with a reason: no
 * figure is guessed but those that publication_catalogue.h and the defaults below name: the
 * vocabulary of the family where it is not published (GPT 51,200, Llama 32,000), heads of a width
 * next to 128, the published global batch divided by the DP width for a missing micro batch.
 */
#ifndef VALIDATION_PUBLISHED_RUN_H
#define VALIDATION_PUBLISHED_RUN_H

#include "base/tables/csv_table.h"
#include "planner/plan.h"
#include "validation/publication_catalogue.h"
#include "workload/model_spec.h"

#define PUBLISHED_RUN_MAXIMUM_GPUS 131072u /* more than any run published with its plan */

enum flops_kind { FLOPS_MODEL, FLOPS_HARDWARE, FLOPS_EIGHT_PER_PARAMETER };
enum memory_fact { MEMORY_NO_FACT, MEMORY_PEAK, MEMORY_FITTED, MEMORY_RAN_OUT };

struct published_run {
    const char *id, *set, *model_name, *gpu_name;
    struct model_spec model; /* texts are the table's or the catalogue's */
    const struct publication *publication;
    const char *framework;           /* profile */
    const char *preset;              /* node */
    double nvlink_bytes_per_second;  /* 0: the preset's */
    double network_bytes_per_second; /* of a GPU */
    const char *nic_name;            /* stands for the kind of network */
    bool is_ethernet;
    unsigned gpus_per_node; /* 0: the preset's */
    unsigned gpus;
    unsigned sequence_length, global_batch;
    bool sequence_parallel_given, sequence_parallel;
    struct plan plan; /* degrees, sharding, batch, recompute, precision, schedule */

    double step_seconds;      /* 0: not published, as the next two */
    double tokens_per_second; /* of a GPU */
    double flops_per_second;  /* of a GPU */
    enum flops_kind flops_kind;
    double parameters; /* as published, 0: not */

    enum memory_fact memory_fact;
    double memory_bytes;    /* of MEMORY_PEAK */
    bool memory_fragmented; /* ran out by fragmentation, as the row says */
    bool memory_allocated;  /* what the allocator gave out: no context, no libraries */
};

enum published_table { PUBLISHED_RUNS, PUBLISHED_MEMORY };

/* Refuses a table that cannot have one row of use: no column for the id or the set, the model (or
 * its layers), the GPU (or the cluster), n_gpus, and one of the measures. Names all of them. */
int published_runs_check(const struct csv_table *table, enum published_table kind,
                         struct error_info *err);

struct model_catalogue;

/* false: skipped, *ret_reason (static text) says why. Borrows from all three. */
bool published_run_read(const struct csv_table *table, size_t row,
                        const struct publication_catalogue *publications,
                        const struct model_catalogue *models, struct published_run *ret,
                        const char **ret_reason);

#endif
