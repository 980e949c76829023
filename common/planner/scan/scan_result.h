/* SPDX-License-Identifier: MIT */
/*
 * scan_result: what a scan measured, beside what was predicted.
 *
 * Columns (csv_table.h; others are ignored):
 *   row           a row's id; or, where it is empty or absent,
 *   degrees       keys that one row alone has, as tp=8,pp=4
 *   step_time_s   seconds of a step; empty: the row was not measured
 *   keys          optional: the row's keys when it ran; refused where the grid has others
 *   exit_status   optional: not 0 and without a step time: the row failed
 *
 * Refused: a row that the grid does not have or that two lines name, a time that is not
 * SCAN_STEP_MINIMUM_SECONDS or more, a table where no row has one.
 */
#ifndef PLANNER_SCAN_SCAN_RESULT_H
#define PLANNER_SCAN_SCAN_RESULT_H

#include "base/tables/csv_table.h"
#include "planner/scan/scan_grid.h"

#define SCAN_STEP_MINIMUM_SECONDS 1e-6
#define SCAN_STEP_MAXIMUM_SECONDS 1e6

struct scan_measure {
    double seconds; /* 0: not measured */
    bool failed;
    unsigned line; /* of the table; 0: not in it */
};

struct scan_result {
    const struct scan_grid *grid;        /* borrowed */
    const struct scan_measure *measures; /* by row of the grid */
    size_t measured;                     /* rows with a time */
    size_t best;                         /* the fastest of them; of equal ones the first */
    double regret;                       /* the answer's time / the best's - 1; NAN: it has none */
    double mape;                         /* mean |predicted / measured - 1|; NAN: no predictions */
    struct arena *arena;
};

/* grid: with rows; outlives the result. */
struct scan_result *scan_result_read(const struct scan_grid *grid, const struct csv_table *table,
                                     struct error_info *err);
void scan_result_free(struct scan_result *result);

/* predicted / measured - 1 of a row; NAN: one of them is unknown. */
double scan_result_error(const struct scan_result *result, size_t row);
/* How many rows are predicted to be faster than it, plus 1; 0: nothing is predicted. */
size_t scan_predicted_place(const struct scan_grid *grid, size_t row);

/* What a class buys over DP alone: (DP alone's time) / (its time) - 1; NAN: unknown. */
double scan_predicted_gain(const struct scan_grid *grid, enum scan_role role);
double scan_measured_gain(const struct scan_result *result, enum scan_role role);

DEFINE_CLEANUP(scan_result);

#endif
