/* SPDX-License-Identifier: MIT */
#include "validation/calibration/gemm_fit.h"

#include "base/memory.h"
#include "validation/calibration/factor_search.h"
#include <math.h>
#include <string.h>

struct step {
    struct run_case *run_case;
    const struct gpu_model *gpu;
    double measured; /* seconds */
    unsigned fold;   /* of its GPU's steps */
};

struct fit {
    const struct gemm_fit_request *request;
    struct arena *arena;
    struct step *steps;
    size_t count;
    const struct gpu_model *gpu; /* whose factor is being found */
    struct search_value factor;
    unsigned left_out; /* the fold that is not looked at; GEMM_FIT_FOLDS: none */
    struct gemm_fit *result;
};

/* --- the steps ------------------------------------------------------------------------- */

static int skip(struct fit *fit, const char *id, const char *reason, struct error_info *err)
{
    struct gemm_fit *result = fit->result;
    if (result->skipped++ == 0)
        result->reason = arena_format(fit->arena, "%s: %s", id, reason);
    return result->reason ? 0 : error_set_memory(err);
}

static int open_step(struct fit *fit, size_t row, struct error_info *err)
{
    const struct gemm_fit_request *request = fit->request;
    struct error_info inner = {.kind = ERROR_NONE};
    struct published_run run;
    const char *reason = NULL;
    if (!published_run_read(request->runs, row, request->publications, request->models, &run,
                            &reason))
        return skip(fit, run.id, reason, err);
    CLEANUP(run_case)
    struct run_case *run_case = run_case_create(&run, &request->catalogues, &inner);
    if (!run_case)
        return inner.kind == ERROR_MEMORY ? error_set_memory(err)
                                          : skip(fit, run.id, inner.text, err);
    const struct gpu_model *gpu = run_case_context(run_case)->gpu;
    double measured = run_case_measured_seconds(run_case);
    if (!gpu || measured <= 0 || run_case_predicted_seconds(run_case) <= 0)
        return skip(fit, run.id, "no step time, an impossible one, or an unknown GPU", err);
    fit->steps[fit->count++] =
        (struct step){.run_case = move_pointer(run_case), .gpu = gpu, .measured = measured};
    return 0;
}

static int open_steps(struct fit *fit, struct error_info *err)
{
    const struct csv_table *runs = fit->request->runs;
    fit->steps = memory_allocate_array(runs->rows + 1, sizeof(*fit->steps));
    if (!fit->steps)
        return error_set_memory(err);
    for (size_t row = 0; row < runs->rows; row++)
        if (open_step(fit, row, err) < 0)
            return -1;
    if (fit->count == 0)
        return error_set(err, "%s: no row can be used%s%s", runs->source,
                         fit->result->reason ? "; the first is " : "",
                         fit->result->reason ? fit->result->reason : "");
    return 0;
}

/* --- one GPU --------------------------------------------------------------------------- */

static double predicted_ratio(const struct fit *fit, const struct step *step)
{
    struct run_case *run_case = step->run_case;
    struct efficiency_architecture architecture = *run_case_catalogue_architecture(run_case);
    architecture.gemm_share *= fit->factor.value;
    run_case_use(run_case, &architecture, run_case_catalogue_framework(run_case),
                 run_case_context(run_case)->profile);
    double ratio = run_case_predicted_seconds(run_case) / step->measured;
    run_case_use_catalogue(run_case);
    return ratio;
}

/* Deals the GPU's steps out to the folds; how many there are. */
static uint64_t deal(struct fit *fit)
{
    uint64_t count = 0;
    for (size_t i = 0; i < fit->count; i++)
        if (fit->steps[i].gpu == fit->gpu)
            fit->steps[i].fold = (unsigned)(count++ % GEMM_FIT_FOLDS);
    return count;
}

static double cost_of(void *context)
{
    const struct fit *fit = context;
    double sum = 0, steps = 0, distance = log(fit->factor.value);
    for (size_t i = 0; i < fit->count; i++) {
        const struct step *step = &fit->steps[i];
        if (step->gpu != fit->gpu || step->fold == fit->left_out)
            continue;
        sum += fabs(log(predicted_ratio(fit, step)));
        steps++;
    }
    return (sum + GEMM_FIT_CAUTION * distance * distance) / fmax(steps, 1);
}

static void search(struct fit *fit, unsigned left_out)
{
    fit->left_out = left_out;
    fit->factor = (struct search_value){1, GEMM_FIT_MINIMUM_FACTOR, GEMM_FIT_MAXIMUM_FACTOR};
    factor_search(&fit->factor, 1, cost_of, fit);
}

/* Sum of |predicted / measured - 1| over one fold, or over all. */
static double errors_of(const struct fit *fit, unsigned fold)
{
    double sum = 0;
    for (size_t i = 0; i < fit->count; i++) {
        const struct step *step = &fit->steps[i];
        if (step->gpu == fit->gpu && (fold == GEMM_FIT_FOLDS || step->fold == fold))
            sum += fabs(predicted_ratio(fit, step) - 1);
    }
    return sum;
}

static double held_out_errors(struct fit *fit)
{
    double sum = 0;
    for (unsigned fold = 0; fold < GEMM_FIT_FOLDS; fold++) {
        search(fit, fold);
        sum += errors_of(fit, fold);
    }
    return sum;
}

static int describe(const struct fit *fit, bool helps, struct gpu_figures *ret,
                    struct error_info *err)
{
    ret->name = arena_copy_text(fit->arena, fit->gpu->name);
    ret->source =
        arena_format(fit->arena, "measured steps: %s%s", fit->request->runs->source,
                     helps ? ""
                           : "; no factor predicts steps that were left out clearly better than "
                             "the built-in rate, so it stays");
    return ret->name && ret->source ? 0 : error_set_memory(err);
}

static int find_factor(struct fit *fit, struct gpu_figures *ret, struct error_info *err)
{
    uint64_t count = deal(fit);
    fit->factor.value = 1;
    double before = errors_of(fit, GEMM_FIT_FOLDS);
    double held_out = count > 1 ? held_out_errors(fit) : 0;
    search(fit, GEMM_FIT_FOLDS);
    if (count == 1)
        held_out = errors_of(fit, GEMM_FIT_FOLDS);
    bool helps = held_out < GEMM_FIT_WORTH * before;
    *ret = (struct gpu_figures){
        .gemm_factor = helps ? fit->factor.value : 1,
        .n = count,
        .residual = (helps ? held_out : before) / (double)count,
        .residual_before = before / (double)count,
    };
    return describe(fit, helps, ret, err);
}

static bool is_first(const struct fit *fit, size_t step)
{
    for (size_t i = 0; i < step; i++)
        if (fit->steps[i].gpu == fit->steps[step].gpu)
            return false;
    return true;
}

static int find_all(struct fit *fit, struct error_info *err)
{
    struct gpu_figures *gpus =
        arena_allocate_array(fit->arena, CALIBRATION_MAXIMUM_ROWS, sizeof(*gpus));
    if (!gpus)
        return error_set_memory(err);
    for (size_t i = 0; i < fit->count; i++) {
        if (!is_first(fit, i))
            continue;
        if (fit->result->count == CALIBRATION_MAXIMUM_ROWS)
            return error_set(err, "%s: more than %u kinds of GPU", fit->request->runs->source,
                             CALIBRATION_MAXIMUM_ROWS);
        fit->gpu = fit->steps[i].gpu;
        if (find_factor(fit, &gpus[fit->result->count], err) < 0)
            return -1;
        fit->result->count++;
    }
    fit->result->gpus = gpus;
    return 0;
}

int gemm_fit(const struct gemm_fit_request *request, struct arena *arena, struct gemm_fit *ret,
             struct error_info *err)
{
    struct gemm_fit result = {.count = 0};
    struct fit fit = {.request = request, .arena = arena, .result = &result};
    int status = open_steps(&fit, err);
    if (status == 0)
        status = find_all(&fit, err);
    for (size_t i = 0; i < fit.count; i++)
        run_case_free(fit.steps[i].run_case);
    memory_free(fit.steps);
    if (status == 0)
        *ret = result;
    return status;
}
