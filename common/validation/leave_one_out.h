/* SPDX-License-Identifier: MIT */
/*
 * leave_one_out: what the model says of runs that its coefficients never saw.
 *
 * For each framework profile, each of its sets is left out in turn, the coefficients are found
 * from its other sets alone (coefficient_fit.h) and the set is predicted by those. Where a
 * profile has one set only, one model is left out at a time, or where that is one too, one
 * number of GPUs.
 */
#ifndef VALIDATION_LEAVE_ONE_OUT_H
#define VALIDATION_LEAVE_ONE_OUT_H

#include "validation/accuracy.h"
#include "validation/run_case.h"

/* rows[i] is cases[i]'s. Sets rows[i].left_out, 0 where nothing else is known of its framework;
 * the cases are costed by the catalogues afterwards. -1: memory. */
int leave_one_out(struct accuracy_row *rows, struct run_case *const *cases, size_t count,
                  struct error_info *err);

#endif
