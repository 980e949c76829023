/* SPDX-License-Identifier: MIT */
/*
 * reference_bench: the built-in GPUs with a catalogue of MFU references from a text, and an arena.
 */
#ifndef TESTS_SUPPORT_REFERENCE_BENCH_H
#define TESTS_SUPPORT_REFERENCE_BENCH_H

#include "planner/measured/mfu_reference.h"

struct reference_bench {
    struct gpu_catalogue *gpus;
    struct mfu_reference_catalogue *references;
    struct arena *arena;
};

/* ret belongs to the caller, also after a failure (reference_bench_done either way). */
int reference_bench_init(struct reference_bench *ret, const char *text, struct error_info *err);
void reference_bench_done(struct reference_bench *bench);

#endif
