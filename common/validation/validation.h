/* SPDX-License-Identifier: MIT */
/*
 * validation: tables of published runs replayed through the planner's models: what it predicts
 * beside what was measured. Immutable; owns everything but the tables.
 */
#ifndef VALIDATION_VALIDATION_H
#define VALIDATION_VALIDATION_H

#include "validation/accuracy.h"
#include "validation/run_case.h"

struct validation_skip {
    const char *id, *reason;
};

/* A memory row: a peak compared, or a fact about what fitted. */
struct validation_memory {
    const struct published_run *run;
    enum fit_verdict verdict;
    double predicted_bytes;
};

struct validation {
    const struct accuracy_row *time; /* seconds */
    size_t time_count;
    struct accuracy_list time_accuracy;
    struct choice_accuracy choice;

    const struct accuracy_row *peaks; /* bytes */
    size_t peak_count;
    struct accuracy_list memory_accuracy;
    const struct validation_memory *memory; /* every row that says whether it fitted */
    size_t memory_count;
    /* Ran out (fragmentation aside) but called "fits"; ran but called "oom". */
    size_t ran_out, false_fits, ran, false_ooms;

    const struct validation_skip *skipped;
    size_t skipped_count;
    struct arena *arena;
};

struct validation_request {
    const struct csv_table *runs;   /* or NULL */
    const struct csv_table *memory; /* or NULL */
    const struct publication_catalogue *publications;
    const struct model_catalogue *models;
    struct run_catalogues catalogues;
    bool leave_one_out; /* leave_one_out.h; seconds, not milliseconds */
};

struct validation *validation_run(const struct validation_request *request, struct error_info *err);
void validation_free(struct validation *validation);

DEFINE_CLEANUP(validation);

#endif
