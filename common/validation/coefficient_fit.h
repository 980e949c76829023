/* SPDX-License-Identifier: MIT */
/*
 * coefficient_fit: coefficients of one framework and of the GPU kinds it ran on, found from
 * measured steps. None belongs to a model or a set.
 *
 * Starts from neutral values (coefficient_fit.c has them, with the limits), never from the
 * catalogues' own, and goes down along one coefficient at a time by factors. Cost: mean of
 * |ln(predicted / measured)| over each set, at most ln 1.65 a row, sets weighted by the root of
 * their rows; and a little for the distance from neutral, so that what no run shows stays put.
 */
#ifndef VALIDATION_COEFFICIENT_FIT_H
#define VALIDATION_COEFFICIENT_FIT_H

#include "planner/efficiency_catalogue.h"
#include "validation/run_case.h"

#define FIT_MAXIMUM_ARCHITECTURES 8u

struct coefficients {
    const struct efficiency_architecture *kinds[FIT_MAXIMUM_ARCHITECTURES];  /* the catalogue's */
    struct efficiency_architecture architectures[FIT_MAXIMUM_ARCHITECTURES]; /* found */
    size_t architecture_count;
    struct efficiency_framework framework;
    struct framework_profile profile; /* its overlaps */
};

struct fit_row {
    struct run_case *run_case;
    double measured; /* seconds of a step */
};

/* All rows of one framework profile. The cases are left costed by *ret, which stays in place as
 * long as they are. At most FIT_MAXIMUM_ARCHITECTURES kinds are moved, more stay as they are.
 * -1: no rows, or memory. */
int coefficients_fit(const struct fit_row *rows, size_t count, struct coefficients *ret,
                     struct error_info *err);
/* From now on the case is costed by them; run_case_use_catalogue() ends that. */
void coefficients_use(const struct coefficients *coefficients, struct run_case *run_case);

#endif
