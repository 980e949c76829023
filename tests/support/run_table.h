/* SPDX-License-Identifier: MIT */
/*
 * run_table: small tables of training runs for tests, and everything that replays them.
 *
 * A row is written as what differs from a usual one (run_table.c: a Llama of 6.7B on 64 A100,
 * tp 2, pp 2, ZeRO-1): "tp=4;step_time_s=;note=fragmentation, again".
 */
#ifndef TESTS_SUPPORT_RUN_TABLE_H
#define TESTS_SUPPORT_RUN_TABLE_H

#include "base/tables/csv_table.h"
#include "validation/validation.h"

struct run_bench {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct framework_catalogue *frameworks;
    struct model_catalogue *models;
    struct efficiency_catalogue *efficiencies;
    struct publication_catalogue *publications;
    struct run_catalogues catalogues;  /* of the above */
    struct validation_request request; /* of the above, without tables */
};

/* ret belongs to the caller, also after a failure (run_bench_done either way). */
int run_bench_init(struct run_bench *ret, struct error_info *err);
void run_bench_done(struct run_bench *bench);

/* source of messages: "runs.csv"; the first row is line 2. */
struct csv_table *run_table_create(const char *const *rows, size_t count, struct error_info *err);

/* One row on its way: table, run, case. */
struct run_bench_row {
    struct csv_table *table;
    struct published_run run;
    const char *reason; /* why it is skipped, or NULL */
    struct run_case *run_case;
};

/* Reads the row; with a run that is not skipped its case too. -1: err says why. */
int run_bench_row_init(struct run_bench_row *ret, const struct run_bench *bench, const char *row,
                       struct error_info *err);
void run_bench_row_done(struct run_bench_row *row);

DEFINE_CLEANUP_DONE(run_bench);
DEFINE_CLEANUP_DONE(run_bench_row);

#endif
