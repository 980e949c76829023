/* SPDX-License-Identifier: MIT */
#include "planner/scan/scan_result.h"

#include <math.h>
#include <string.h>

#define SCAN_RESULT_MAXIMUM_BYTES ((size_t)4 << 20)
#define WHERE_BYTES 256

/* --- which row a line is of ----------------------------------------------------------- */

struct plan_value {
    enum job_key key;
    uint64_t value;
};

/* The given keys that the plan has otherwise; NULL: none. */
static const struct job_value *first_difference(const struct job_spec *keys,
                                                const struct plan *plan, enum job_key *ret_key)
{
    const struct degrees *degrees = &plan->degrees;
    const struct plan_value values[] = {
        {JOB_TP, degrees->tp},
        {JOB_CP, degrees->cp},
        {JOB_EP, degrees->ep},
        {JOB_ETP, degrees->etp},
        {JOB_PP, degrees->pp},
        {JOB_VPP, degrees->vpp},
        {JOB_DP, degrees->dp},
        {JOB_SHARD, degrees->shard},
        {JOB_SHARDING, plan->sharding},
        {JOB_MICRO_BATCH, plan->micro_batch},
        {JOB_RECOMPUTE, plan->recompute},
        {JOB_PRECISION, plan->precision},
        {JOB_SCHEDULE, plan->schedule},
        {JOB_OFFLOAD, plan->offload},
        {JOB_ORDER, plan->order},
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        const struct job_value *given = &keys->values[values[i].key];
        if (!given->given || given->number == values[i].value)
            continue;
        *ret_key = values[i].key;
        return given;
    }
    return NULL;
}

struct line {
    const struct scan_grid *grid;
    const struct csv_table *table;
    size_t row; /* of the table */
    char where[WHERE_BYTES];
    struct error_info *err;
};

static const char *cell(const struct line *line, const char *name)
{
    return csv_cell(line->table, line->row, name);
}

static struct job_spec *parse_keys(const struct line *line, const char *text)
{
    CLEANUP(job_spec) struct job_spec *keys = job_spec_create(line->err);
    if (!keys || job_spec_parse_option(keys, text, line->where, line->err) < 0)
        return NULL;
    return move_pointer(keys);
}

static int find_by_id(const struct line *line, size_t *ret)
{
    const char *id = cell(line, "row");
    for (size_t i = 0; i < line->grid->row_count; i++) {
        if (strcmp(line->grid->rows[i].id, id) != 0)
            continue;
        *ret = i;
        return 0;
    }
    return error_set(
        line->err,
        "%s: this job's scan has no row %.80s (its rows: %s, …); give the options that "
        "the scan was made with",
        line->where, id, line->grid->rows[0].id);
}

static int find_by_degrees(const struct line *line, size_t *ret)
{
    const char *text = cell(line, "degrees");
    enum job_key key;
    size_t found = SCAN_NO_ROW;
    if (*text == '\0')
        return error_set(line->err, "%s: neither row nor degrees; fill one of them", line->where);
    CLEANUP(job_spec) struct job_spec *keys = parse_keys(line, text);
    if (!keys)
        return -1;
    for (size_t i = 0; i < line->grid->row_count; i++) {
        if (first_difference(keys, &line->grid->rows[i].plan, &key))
            continue;
        if (found != SCAN_NO_ROW)
            return error_set(line->err, "%s: degrees %.80s are those of rows %s and %s; give more",
                             line->where, text, line->grid->rows[found].id, line->grid->rows[i].id);
        found = i;
    }
    if (found == SCAN_NO_ROW)
        return error_set(line->err,
                         "%s: no row of this job's scan has the degrees %.80s; give the options "
                         "that the scan was made with",
                         line->where, text);
    *ret = found;
    return 0;
}

/* A scan that was made by other figures has the same rows with other micro batches. */
static int check_keys(const struct line *line, const struct scan_row *row)
{
    const char *text = cell(line, "keys");
    enum job_key key;
    if (*text == '\0')
        return 0;
    CLEANUP(job_spec) struct job_spec *keys = parse_keys(line, text);
    if (!keys)
        return -1;
    const struct job_value *other = first_difference(keys, &row->plan, &key);
    if (!other)
        return 0;
    return error_set(line->err,
                     "%s: row %s ran with %s=%s, which this job's scan plans otherwise (%s); give "
                     "the options that the scan was made with",
                     line->where, row->id, job_key_info(key)->name, other->text, row->keys);
}

/* --- reading ------------------------------------------------------------------------- */

static int read_line(struct line *line, struct scan_measure *measures)
{
    size_t at = 0;
    const char *status = cell(line, "exit_status");
    bool by_id = *cell(line, "row") != '\0';
    snprintf(line->where, sizeof(line->where), "%.200s:%u", line->table->source,
             line->table->lines[line->row]);
    if ((by_id ? find_by_id(line, &at) : find_by_degrees(line, &at)) < 0 ||
        check_keys(line, &line->grid->rows[at]) < 0)
        return -1;
    struct scan_measure *measure = &measures[at];
    if (measure->line > 0)
        return error_set(line->err, "%s: row %s stands in line %u already; keep one", line->where,
                         line->grid->rows[at].id, measure->line);
    measure->line = line->table->lines[line->row];
    if (csv_real(line->table, line->row, "step_time_s", SCAN_STEP_MINIMUM_SECONDS,
                 SCAN_STEP_MAXIMUM_SECONDS, &measure->seconds, line->err) < 0)
        return -1;
    measure->failed = measure->seconds <= 0 && *status != '\0' && strcmp(status, "0") != 0;
    return 0;
}

static int check_columns(const struct csv_table *table, struct error_info *err)
{
    if (csv_column(table, "row") == CSV_NO_COLUMN && csv_column(table, "degrees") == CSV_NO_COLUMN)
        return error_set(err,
                         "%s: no column is called row or degrees; one of them says which plan "
                         "a line is of",
                         table->source);
    if (csv_column(table, "step_time_s") == CSV_NO_COLUMN)
        return error_set(err, "%s: no column is called step_time_s: the seconds of a step",
                         table->source);
    return 0;
}

static void sum_up(struct scan_result *result)
{
    const struct scan_grid *grid = result->grid;
    double sum = 0;
    size_t compared = 0, answer = grid->row_of[SCAN_ANSWER];
    result->best = SCAN_NO_ROW;
    for (size_t i = 0; i < grid->row_count; i++) {
        double seconds = result->measures[i].seconds, error = scan_result_error(result, i);
        if (seconds <= 0)
            continue;
        result->measured++;
        if (result->best == SCAN_NO_ROW || seconds < result->measures[result->best].seconds)
            result->best = i;
        if (isnan(error))
            continue;
        sum += fabs(error);
        compared++;
    }
    result->mape = compared > 0 ? sum / (double)compared : NAN;
    result->regret = NAN;
    if (answer != SCAN_NO_ROW && result->measures[answer].seconds > 0)
        result->regret =
            result->measures[answer].seconds / result->measures[result->best].seconds - 1;
}

static int read_table(struct scan_result *result, const struct csv_table *table,
                      struct error_info *err)
{
    struct line line = {.grid = result->grid, .table = table, .err = err};
    struct scan_measure *measures =
        arena_allocate_array(result->arena, result->grid->row_count, sizeof(*measures));
    if (!measures)
        return error_set_memory(err);
    if (check_columns(table, err) < 0)
        return -1;
    for (; line.row < table->rows; line.row++)
        if (read_line(&line, measures) < 0)
            return -1;
    result->measures = measures;
    sum_up(result);
    if (result->measured == 0)
        return error_set(err, "%s: no row has a step time; fill step_time_s of the rows that ran",
                         table->source);
    return 0;
}

struct scan_result *scan_result_read(const struct scan_grid *grid, const struct csv_table *table,
                                     struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(SCAN_RESULT_MAXIMUM_BYTES);
    struct scan_result *result = arena ? arena_allocate(arena, sizeof(*result)) : NULL;
    if (!result)
        return error_null(error_set_memory(err));
    result->grid = grid;
    result->arena = arena;
    if (read_table(result, table, err) < 0)
        return NULL;
    result->arena = move_pointer(arena);
    return result;
}

void scan_result_free(struct scan_result *result)
{
    if (result)
        arena_free(result->arena);
}

/* --- figures ------------------------------------------------------------------------- */

static double ratio(double above, double below)
{
    return above > 0 && below > 0 ? above / below - 1 : NAN;
}

static double predicted(const struct scan_grid *grid, size_t row)
{
    return row == SCAN_NO_ROW ? 0 : grid->rows[row].plan.time.step_seconds;
}

static double measured(const struct scan_result *result, size_t row)
{
    return row == SCAN_NO_ROW ? 0 : result->measures[row].seconds;
}

double scan_result_error(const struct scan_result *result, size_t row)
{
    return ratio(predicted(result->grid, row), measured(result, row));
}

size_t scan_predicted_place(const struct scan_grid *grid, size_t row)
{
    size_t place = 1;
    if (predicted(grid, row) <= 0)
        return 0;
    for (size_t i = 0; i < grid->row_count; i++)
        place += predicted(grid, i) < predicted(grid, row);
    return place;
}

double scan_predicted_gain(const struct scan_grid *grid, enum scan_role role)
{
    return ratio(predicted(grid, grid->row_of[SCAN_DATA_ONLY]),
                 predicted(grid, grid->row_of[role]));
}

double scan_measured_gain(const struct scan_result *result, enum scan_role role)
{
    const size_t *row_of = result->grid->row_of;
    return ratio(measured(result, row_of[SCAN_DATA_ONLY]), measured(result, row_of[role]));
}
