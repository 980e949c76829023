/* SPDX-License-Identifier: MIT */
#include "validation/leave_one_out.h"

#include "validation/coefficient_fit.h"
#include <string.h>

struct folds {
    struct accuracy_row *rows;
    struct run_case *const *cases;
    size_t count;
    struct fit_row *seen; /* owned */
    bool by_model;
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
    return folds->by_model ? strcmp(one->model_name, other->model_name) == 0
                           : strcmp(one->set, other->set) == 0;
}

/* Whether all rows of the framework are of one set. */
static bool has_one_set(const struct folds *folds, size_t row)
{
    for (size_t i = 0; i < folds->count; i++)
        if (same_framework(folds, row, i) &&
            strcmp(folds->rows[row].run->set, folds->rows[i].run->set) != 0)
            return false;
    return true;
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
        folds.by_model = has_one_set(&folds, i);
        if (!seen_before(&folds, i) && leave_out(&folds, i, err) < 0)
            return -1;
    }
    return 0;
}
