/* SPDX-License-Identifier: MIT */
#include "planner/scaling/node_scaling.h"

#include "planner/strategy_words.h"
#include <math.h>

#define SCALING_MAXIMUM_BYTES ((size_t)16 << 20)
#define GIB 1073741824.0

struct survey {
    const struct scaling_request *request;
    struct node_scaling *scaling;
    struct scaling_row *rows;
};

static const char *why_not(const struct survey *survey, const struct plan_list *list)
{
    struct arena *arena = survey->scaling->arena;
    if (list->policy.result == POLICY_DENIED)
        return arena_copy_text(arena, list->policy.text);
    if (list->nearest)
        return arena_format(arena, "does not fit: %.1f GiB of %.1f at least",
                            (double)list->nearest->memory.total_bytes / GIB,
                            (double)list->nearest->memory.capacity_bytes / GIB);
    return arena_copy_text(arena, list->remedy_count > 0 ? list->remedies[0].text
                                                         : "no split satisfies the constraints");
}

/* The row of one count. What is impossible with it is its answer, not an error. */
static int plan_count(const struct survey *survey, unsigned nodes, struct scaling_row *ret,
                      struct error_info *err)
{
    struct plan_request request = *survey->request->plan;
    struct error_info local = {.kind = ERROR_NONE};
    struct scaling_row row = {.nodes = nodes,
                              .gpus = (uint64_t)nodes * survey->request->gpus_per_node};
    request.world = row.gpus;
    request.top = 1;
    request.explain = NULL;
    request.brief = true;
    CLEANUP(plan_list) struct plan_list *list = plan_search(&request, &local);
    if (!list && local.kind != ERROR_INPUT) {
        if (err)
            *err = local;
        return -1;
    }
    if (!list) {
        row.why_not = arena_copy_text(survey->scaling->arena, local.text);
    } else if (list->plan_count == 0) {
        row.why_not = why_not(survey, list);
    } else {
        row.fits = true;
        row.plan = list->plans[0];
        row.plan.reasons = NULL;
        row.plan.reason_count = 0;
        row.trillion_gpu_hours = run_trillion_gpu_hours(&row.plan, row.gpus);
        run_figures_of(&survey->request->run, &row.plan, row.gpus, &row.run);
    }
    if (!row.fits && !row.why_not)
        return error_set_memory(err);
    *ret = row;
    return 0;
}

static int add_row(struct survey *survey, unsigned nodes, struct error_info *err)
{
    if (plan_count(survey, nodes, &survey->rows[survey->scaling->row_count], err) < 0)
        return -1;
    survey->scaling->row_count++;
    return 0;
}

static unsigned stride_over(unsigned first, unsigned last)
{
    return (last - first) / SCALING_SCAN_MAXIMUM + 1;
}

static int find_smallest(struct survey *survey, struct error_info *err)
{
    const struct scaling_request *request = survey->request;
    struct scaling_row row = {.fits = false};
    unsigned stride = stride_over(request->first, request->last);
    for (unsigned nodes = request->first; nodes <= request->last; nodes += stride) {
        if (plan_count(survey, nodes, &row, err) < 0)
            return -1;
        if (row.fits) {
            survey->scaling->smallest_that_fits = nodes;
            return 0;
        }
    }
    return 0;
}

static int fill_doubling(struct survey *survey, struct error_info *err)
{
    unsigned last = survey->request->last;
    if (find_smallest(survey, err) < 0)
        return -1;
    unsigned nodes = survey->scaling->smallest_that_fits;
    for (; nodes > 0 && nodes < last; nodes *= 2)
        if (add_row(survey, nodes, err) < 0)
            return -1;
    return add_row(survey, last, err);
}

static int fill_every(struct survey *survey, struct error_info *err)
{
    struct node_scaling *scaling = survey->scaling;
    for (unsigned nodes = survey->request->first; nodes <= survey->request->last; nodes++) {
        if (add_row(survey, nodes, err) < 0)
            return -1;
        if (scaling->smallest_that_fits == 0 && survey->rows[scaling->row_count - 1].fits)
            scaling->smallest_that_fits = nodes;
    }
    return 0;
}

static double per_gpu(const struct scaling_row *row)
{
    return row->plan.time.tokens_per_second / (double)row->gpus;
}

static void fill_efficiency(struct survey *survey)
{
    const struct scaling_row *base = NULL;
    for (size_t i = 0; i < survey->scaling->row_count; i++) {
        struct scaling_row *row = &survey->rows[i];
        if (!row->fits || row->plan.time.tokens_per_second <= 0)
            continue;
        base = base ? base : row;
        row->efficiency = per_gpu(row) / per_gpu(base);
    }
}

static bool row_dominates(const struct scaling_row *left, const struct scaling_row *right)
{
    const double ratings[] = {
        left->plan.time.tokens_per_second - right->plan.time.tokens_per_second,
        per_gpu(left) - per_gpu(right),
        (double)right->plan.memory.total_bytes - (double)left->plan.memory.total_bytes,
        (double)plan_complexity(&right->plan) - plan_complexity(&left->plan),
    };
    bool better = false;
    for (unsigned i = 0; i < COUNT_OF(ratings); i++) {
        if (ratings[i] < 0)
            return false;
        better |= ratings[i] > 0;
    }
    return better;
}

static void fill_pareto(struct survey *survey)
{
    for (size_t i = 0; i < survey->scaling->row_count; i++) {
        struct scaling_row *row = &survey->rows[i];
        row->pareto = row->fits;
        for (size_t j = 0; j < survey->scaling->row_count && row->pareto; j++)
            row->pareto = !survey->rows[j].fits || !row_dominates(&survey->rows[j], row);
    }
}

/* No count finishes sooner than one whose GPUs reach their peak. */
static unsigned fewest_nodes(const struct survey *survey, double tokens_per_second)
{
    for (size_t i = 0; i < survey->scaling->row_count; i++) {
        const struct scaling_row *row = &survey->rows[i];
        if (!row->fits || row->plan.time.mfu <= 0)
            continue;
        double ideal = per_gpu(row) / row->plan.time.mfu * survey->request->gpus_per_node;
        double nodes = ceil(tokens_per_second / ideal);
        return nodes < survey->request->last ? (unsigned)nodes : survey->request->last;
    }
    return survey->request->first;
}

static int find_in_time(struct survey *survey, struct error_info *err)
{
    const struct run_length *run = &survey->request->run;
    struct node_scaling *scaling = survey->scaling;
    double needed = run->tokens / (run->within_days * RUN_SECONDS_PER_DAY);
    unsigned nodes = fewest_nodes(survey, needed), last = survey->request->last;
    if (nodes < scaling->smallest_that_fits)
        nodes = scaling->smallest_that_fits;
    if (nodes < survey->request->first || scaling->smallest_that_fits == 0)
        nodes = survey->request->first;
    scaling->stride = stride_over(nodes, last);
    struct scaling_row *row = arena_allocate(scaling->arena, sizeof(*row));
    if (!row)
        return error_set_memory(err);
    for (; nodes <= last; nodes += scaling->stride) {
        if (plan_count(survey, nodes, row, err) < 0)
            return -1;
        if (row->fits && row->plan.time.tokens_per_second >= needed) {
            scaling->in_time = row;
            return 0;
        }
    }
    return 0;
}

/* The best row by what is preferred; the smaller one of equals. */
static const struct scaling_row *best_row(const struct survey *survey,
                                          enum scaling_preference prefer)
{
    const struct scaling_row *best = NULL;
    for (size_t i = 0; i < survey->scaling->row_count; i++) {
        const struct scaling_row *row = &survey->rows[i];
        if (!row->fits || row->plan.time.tokens_per_second <= 0)
            continue;
        bool better = !best || (prefer == PREFER_THROUGHPUT ? row->plan.time.tokens_per_second >
                                                                  best->plan.time.tokens_per_second
                                                            : per_gpu(row) > per_gpu(best));
        best = better ? row : best;
    }
    return best;
}

static const char *nodes_word(unsigned nodes) { return nodes == 1 ? "node" : "nodes"; }

static const char *reason_in_time(const struct survey *survey)
{
    const struct run_length *run = &survey->request->run;
    const struct node_scaling *scaling = survey->scaling;
    const struct scaling_row *row = scaling->in_time;
    const struct scaling_row *fastest = best_row(survey, PREFER_THROUGHPUT);
    struct arena *arena = scaling->arena;
    if (row)
        return arena_format(arena,
                            "the fewest that finish %.4g tokens within %.4g days: %.4g days%s",
                            run->tokens, run->within_days, row->run.days,
                            scaling->stride > 1 ? " (not every count was tried)" : "");
    if (!fastest)
        return "no step times, so that nothing says what finishes in time";
    return arena_format(arena,
                        "no count up to %u nodes finishes %.4g tokens within %.4g days; the "
                        "fastest here, %u %s, takes %.4g",
                        survey->request->last, run->tokens, run->within_days, fastest->nodes,
                        nodes_word(fastest->nodes), fastest->run.days);
}

/* What the other preference would take, where that is another count. */
static const char *reason_best(const struct survey *survey, const struct scaling_row *best)
{
    bool throughput = survey->request->prefer == PREFER_THROUGHPUT;
    const struct scaling_row *other =
        best_row(survey, throughput ? PREFER_GPU_HOURS : PREFER_THROUGHPUT);
    struct arena *arena = survey->scaling->arena;
    const char *what = throughput ? "the most tokens a second" : "the fewest GPU-hours a token";
    const char *share = throughput ? "fewest GPU-hours a token" : "most tokens a second";
    double more = throughput
                      ? (1 - other->trillion_gpu_hours / best->trillion_gpu_hours)
                      : other->plan.time.tokens_per_second / best->plan.time.tokens_per_second - 1;
    if (other == best)
        return arena_format(arena, "%s, and the %s too", what, share);
    return arena_format(arena, "%s; %u %s: the %s, %.1f %% %s", what, other->nodes,
                        nodes_word(other->nodes), share, more * PERCENT,
                        throughput ? "fewer" : "more");
}

static int recommend(struct survey *survey, struct error_info *err)
{
    struct node_scaling *scaling = survey->scaling;
    if (survey->request->run.within_days > 0) {
        if (find_in_time(survey, err) < 0)
            return -1;
        scaling->recommended = scaling->in_time;
        scaling->reason = reason_in_time(survey);
    } else {
        scaling->recommended = best_row(survey, survey->request->prefer);
        scaling->reason = scaling->recommended ? reason_best(survey, scaling->recommended)
                          : scaling->smallest_that_fits > 0
                              ? "no step times: the GPU is not in the catalogue"
                              : "nothing fits on any of these counts";
    }
    return scaling->reason ? 0 : error_set_memory(err);
}

static int fill(struct survey *survey, struct error_info *err)
{
    struct node_scaling *scaling = survey->scaling;
    const struct scaling_request *request = survey->request;
    if (!request->doubling && request->last - request->first >= SCALING_ROWS_MAXIMUM)
        return error_set(err, "%u..%u are more than %u node counts; give a smaller range",
                         request->first, request->last, SCALING_ROWS_MAXIMUM);
    survey->rows =
        arena_allocate_array(scaling->arena, SCALING_ROWS_MAXIMUM, sizeof(*survey->rows));
    if (!survey->rows)
        return error_set_memory(err);
    scaling->rows = survey->rows;
    scaling->stride = 1;
    int result = request->doubling ? fill_doubling(survey, err) : fill_every(survey, err);
    if (result < 0)
        return -1;
    fill_efficiency(survey);
    fill_pareto(survey);
    return recommend(survey, err);
}

struct node_scaling *node_scaling_create(const struct scaling_request *request,
                                         struct error_info *err)
{
    struct arena *arena = arena_create(SCALING_MAXIMUM_BYTES);
    struct node_scaling *scaling = arena ? arena_allocate(arena, sizeof(*scaling)) : NULL;
    if (!scaling) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    scaling->arena = arena;
    struct survey survey = {.request = request, .scaling = scaling};
    if (fill(&survey, err) == 0)
        return scaling;
    node_scaling_free(scaling);
    return NULL;
}

void node_scaling_free(struct node_scaling *scaling)
{
    if (scaling)
        arena_free(scaling->arena);
}
