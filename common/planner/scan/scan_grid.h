/* SPDX-License-Identifier: MIT */
/*
 * scan_grid: a scan experiment: a few plans of one job on the same GPUs with the same global
 * batch, to be run one after the other for some steps each. Pure, as plan_search is.
 *
 * Rows: the planner's answer, its next best plans, and what shows which part of a plan pays:
 * the best plan of each class without TP and PP, with TP alone, with PP alone, with both (best
 * as plan_compare orders). One row for each split (tp, cp, ep, etp, pp): a plan that is already
 * there gets another role. CP and EP are in any class. Keys that are given hold for every row.
 */
#ifndef PLANNER_SCAN_SCAN_GRID_H
#define PLANNER_SCAN_SCAN_GRID_H

#include "planner/plan_search.h"

#define SCAN_DEFAULT_CANDIDATES 4u /* the answer and the three next best */
#define SCAN_MAXIMUM_CANDIDATES 24u
#define SCAN_NO_ROW SIZE_MAX

enum scan_role {
    SCAN_ANSWER,
    SCAN_CANDIDATE,
    SCAN_DATA_ONLY, /* tp = pp = 1 */
    SCAN_WITH_TP,   /* tp > 1, pp = 1 */
    SCAN_WITH_PP,   /* tp = 1, pp > 1 */
    SCAN_WITH_BOTH, /* tp > 1, pp > 1 */
    SCAN_ROLE_COUNT
};
#define SCAN_FIRST_CLASS SCAN_DATA_ONLY /* it and those behind it are classes */

struct scan_row {
    const char *id;          /* "tp8-pp4-dp2": from the degrees, of one row only */
    const char *keys;        /* what makes this plan of the job: "tp=8,…,sharding=zero1,…" */
    const char *launch_keys; /* of them what concerns ranks: the value of srun's --parplan */
    unsigned roles;          /* bit 1 << enum scan_role */
    struct plan plan;        /* without reasons */
};

struct scan_grid {
    const struct plan_list *list; /* the search; no plans in it: no rows, it says why */
    const struct scan_row *rows;  /* the answer first, then as predicted, then classes */
    size_t row_count;
    size_t row_of[SCAN_ROLE_COUNT];      /* the first with that role, or SCAN_NO_ROW */
    const char *absent[SCAN_ROLE_COUNT]; /* why a class has no row; NULL: it has one */
    struct arena *arena;
};

/* candidates: rows wanted for the planner's own choice, 1 to SCAN_MAXIMUM_CANDIDATES; the
 * request's `top` is not looked at. NULL with err as plan_search. */
struct scan_grid *scan_grid_create(const struct plan_request *request, unsigned candidates,
                                   struct error_info *err);
void scan_grid_free(struct scan_grid *grid);

/* What of a plan concerns ranks, as the value of srun's --parplan. NULL: out of memory. */
char *scan_launch_keys(struct arena *arena, const struct plan *plan);

const char *scan_role_name(enum scan_role role);    /* "answer", …, "dp-only", "with-tp" */
const char *scan_role_purpose(enum scan_role role); /* the same for people */

DEFINE_CLEANUP(scan_grid);

#endif
