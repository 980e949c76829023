/* SPDX-License-Identifier: MIT */
/*
 * mfu_reference: what share of a GPU's dense peak published runs reach, from
 * data/mfu_references.yaml (each row beside its source), and the range among them that a run
 * is held against. There is no one line between good and bad: FP8 runs reach a smaller share of
 * a larger peak, MoE runs a smaller one than dense, small models and long sequences too.
 * Immutable, pure.
 */
#ifndef PLANNER_MEASURED_MFU_REFERENCE_H
#define PLANNER_MEASURED_MFU_REFERENCE_H

#include "base/arena.h"
#include "base/error.h"
#include "topology/gpu_catalogue.h"
#include "workload/parallelism.h"

#define MFU_REFERENCE_MAXIMUM_ROWS 1024u

/* A row counts as near where the run's parameters and sequence lie within this factor of its
 * own. */
#define MFU_REFERENCE_NEAR 1.5

/* One publication's runs on one GPU in one precision; shares of the dense peak. */
struct mfu_reference {
    const char *gpu;    /* gpu_catalogue's name */
    unsigned precision; /* enum precision */
    unsigned moe;       /* 0 dense, 1 mixture of experts */
    double low, typical, high;
    uint64_t runs;
    double parameters_from, parameters_to; /* 10^9 */
    uint64_t sequence_from, sequence_to;
    uint64_t gpus_from, gpus_to;
    const char *recipe;
    const char *source;
};

struct mfu_reference_catalogue {
    const struct mfu_reference *rows;
    size_t count;
    struct arena *arena;
};

struct mfu_reference_catalogue *mfu_reference_catalogue_parse(const char *text, size_t bytes,
                                                              const char *source,
                                                              struct error_info *err);
struct mfu_reference_catalogue *mfu_reference_catalogue_builtin(struct error_info *err);
void mfu_reference_catalogue_free(struct mfu_reference_catalogue *catalogue);

struct mfu_query {
    const struct gpu_model *gpu; /* NULL: unknown, which has no reference */
    const struct gpu_catalogue *gpus;
    enum precision precision;
    bool moe;
    double parameters; /* of the model, all of them */
    unsigned sequence_length;
    bool any_size; /* models and sequences of all sizes, as if none were near */
};

/* The rows that a run is held against: the GPU's own and those of GPUs of its architecture with
 * the same peak (H200 and H100), of that precision and kind of model; of these the near ones,
 * and all where none is near. */
struct mfu_range {
    double low, typical, high; /* typical: the rows' mean, weighted with their runs */
    const struct mfu_reference *const *rows;
    size_t count; /* 0: no reference is known */
    bool near;    /* the rows are of models and sequences near to the run's */
};

/* The rows' array comes from the arena. -1: out of memory. */
int mfu_reference_range(const struct mfu_reference_catalogue *catalogue,
                        const struct mfu_query *query, struct arena *arena, struct mfu_range *ret,
                        struct error_info *err);

enum mfu_verdict {
    MFU_UNKNOWN, /* no reference, or no MFU */
    MFU_BELOW,
    MFU_WITHIN,
    MFU_ABOVE,
    MFU_IMPOSSIBLE, /* more than the hardware's peak */
    MFU_VERDICT_COUNT
};

/* mfu 0: unknown. */
enum mfu_verdict mfu_verdict_of(const struct mfu_range *range, double mfu);
const char *mfu_verdict_name(enum mfu_verdict verdict); /* "unknown", "below", … */

DEFINE_CLEANUP(mfu_reference_catalogue);

#endif
