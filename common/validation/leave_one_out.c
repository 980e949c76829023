/* SPDX-License-Identifier: MIT */
#include "validation/leave_one_out.h"

#include "validation/coefficient_fit.h"
#include <string.h>

enum fold_kind { FOLD_SET, FOLD_MODEL, FOLD_GPUS };

struct folds {
    struct accuracy_row *rows;
    struct run_case *const *cases;
    size_t count;
    struct fit_row *seen; /* owned */
    enum fold_kind kind;
};

static bool same_framework(const struct folds *folds, size_t left, size_t right)
{
    return strcmp(folds->rows[left].run->framework, folds->rows[right].run->framework) == 0;
}

static bool same_fold(const struct folds *folds, size_t left, size_t right)
{
    const struct published_run *one = folds->rows[left].run, *other = folds->rows[right].run;
    if (!same_framework(folds, left, right))
        return false;
    switch (folds->kind) {
    case FOLD_SET:
        return strcmp(one->set, other->set) == 0;
    case FOLD_MODEL:
        return strcmp(one->model_name, other->model_name) == 0;
    default:
        return one->gpus == other->gpus;
    }
}

/* The coarsest that leaves something of the row's framework to learn from. */
static enum fold_kind kind_for(struct folds *folds, size_t row)
{
    for (folds->kind = FOLD_SET; folds->kind < FOLD_GPUS; folds->kind++)
        for (size_t i = 0; i < folds->count; i++)
            if (same_framework(folds, row, i) && !same_fold(folds, row, i))
                return folds->kind;
    return FOLD_GPUS;
}

static bool seen_before(const struct folds *folds, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same_fold(folds, row, i))
            return true;
    return false;
}

static int leave_out(struct folds *folds, size_t first, struct error_info *err)
{
    struct coefficients coefficients;
    size_t seen = 0;
    for (size_t i = 0; i < folds->count; i++)
        if (same_framework(folds, first, i) && !same_fold(folds, first, i))
            folds->seen[seen++] = (struct fit_row){folds->cases[i], folds->rows[i].measured};
    if (seen == 0)
        return 0;
    if (coefficients_fit(folds->seen, seen, &coefficients, err) < 0)
        return -1;
    for (size_t i = first; i < folds->count; i++) {
        if (!same_fold(folds, first, i))
            continue;
        coefficients_use(&coefficients, folds->cases[i]);
        folds->rows[i].left_out = run_case_predicted_seconds(folds->cases[i]);
    }
    for (size_t i = 0; i < folds->count; i++)
        run_case_use_catalogue(folds->cases[i]);
    return 0;
}

int leave_one_out(struct accuracy_row *rows, struct run_case *const *cases, size_t count,
                  struct error_info *err)
{
    CLEANUP_MEMORY struct fit_row *seen = memory_allocate_array(count + 1, sizeof(*seen));
    struct folds folds = {.rows = rows, .cases = cases, .count = count, .seen = seen};
    if (!seen)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        folds.kind = kind_for(&folds, i);
        if (!seen_before(&folds, i) && leave_out(&folds, i, err) < 0)
            return -1;
    }
    return 0;
}
