/* SPDX-License-Identifier: MIT */
/*
 * accuracy: how far predictions lie from published figures. An error is predicted / measured - 1.
 *
 * Per set and over all: n, MAPE (mean of |error|), median and largest of |error|, bias (mean
 * error). Choice groups: rows of one set, model, GPU, number of GPUs, global batch, sequence and
 * precision, at least four of them: regret = measured time of the row that the model would pick
 * (top 1) over the best measured - 1, and whether the best measured is among its five fastest.
 */
#ifndef VALIDATION_ACCURACY_H
#define VALIDATION_ACCURACY_H

#include "validation/published_run.h"

#define CHOICE_GROUP_MINIMUM 4u
#define CHOICE_TOP 5u

struct accuracy_row {
    const struct published_run *run;
    double measured, predicted;
    double left_out; /* predicted by coefficients that never saw the row's set; 0: not asked */
};

struct accuracy {
    const char *set; /* NULL: all */
    size_t n;
    double mape, median, max, bias; /* NAN: no rows */
    double leave_one_out;           /* MAPE of `left_out`; NAN: not asked */
};

struct choice_group {
    const struct accuracy_row *chosen, *best; /* fastest predicted, fastest measured */
    size_t n;
    double regret;
    size_t best_rank; /* of the fastest measured among the predicted, from 1 */
};

struct choice_accuracy {
    size_t groups;
    const struct choice_group *each;          /* groups of them */
    double top1_regret_mean, top1_regret_max; /* of the measured best */
    double best_in_top5;                      /* share of the groups */
};

struct accuracy_list {
    struct accuracy *sets; /* in the order of their first rows */
    size_t count;
    struct accuracy overall;
};

/* Everything from the arena. -1: out of memory. */
int accuracy_of(const struct accuracy_row *rows, size_t count, struct arena *arena,
                struct accuracy_list *ret, struct error_info *err);
int choice_accuracy_of(const struct accuracy_row *rows, size_t count, struct arena *arena,
                       struct choice_accuracy *ret, struct error_info *err);

#endif
