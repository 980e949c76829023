/* SPDX-License-Identifier: MIT */
/*
 * plan_lock: `parplan plan --lock FILE`: the first plan of a job writes what its checkpoints need
 * (report/files/lock_file.h), later ones keep to it, however many nodes there are then. The file
 * is a job file, so that --job and `srun --parplan=FILE` read it too.
 */
#ifndef CLI_INPUTS_PLAN_LOCK_H
#define CLI_INPUTS_PLAN_LOCK_H

#include "report/plan_report.h"

#define PLAN_LOCK_MAXIMUM_BYTES ((size_t)64 << 10)

struct plan_lock {
    const char *path; /* NULL: no lock */
    bool kept;        /* the file was there */
    char keeps[DEGREES_TEXT_BYTES];
};

/* Where the file is there, its keys go into the job; one that contradicts a given key is refused,
 * naming both places, but for global_batch and sequence_length: what is given counts. */
int plan_lock_open(const char *path, struct job_spec *job, struct plan_lock *ret,
                   struct error_info *err);

/* Refuses nodes whose GPUs no data parallelism makes whole, naming the nearest that do and over
 * which the batch (whole turns of an interleaved pipeline) and experts go too. */
int plan_lock_check(const struct plan_lock *lock, const struct job_spec *job, uint64_t world,
                    unsigned gpus_per_node, struct error_info *err);

/* For a search that failed under a lock: says first what is kept. Always -1. */
int plan_lock_explain(const struct plan_lock *lock, struct error_info *err);

/* After the search that recommends a plan: writes a file that was not there, whole or not at all.
 * Where another run has written it meanwhile, that one stays, and this fails. */
int plan_lock_write(const struct plan_lock *lock, const struct plan_report *report,
                    struct error_info *err);

/* After the search under a file that was there: says in one line where nothing fits. */
int plan_lock_close(const struct plan_lock *lock, const struct plan_report *report,
                    struct error_info *err);

#endif
