/* SPDX-License-Identifier: MIT */
/*
 * factor_search: a few positive values that make a cost small: each in turn is multiplied by a
 * factor as long as that gains, in rounds of ever smaller factors. Finds the valley that the
 * starting values lie in; the costs here (mean |ln(predicted / measured)| of monotone models)
 * have one. Pure.
 */
#ifndef VALIDATION_CALIBRATION_FACTOR_SEARCH_H
#define VALIDATION_CALIBRATION_FACTOR_SEARCH_H

#include <stddef.h>

struct search_value {
    double value;
    double least, most; /* above 0 */
};

/* Sees the values that were handed to factor_search. */
typedef double (*search_cost_fn)(void *context);

/* Leaves the best values in place, and returns their cost. */
double factor_search(struct search_value *values, size_t count, search_cost_fn cost, void *context);

#endif
