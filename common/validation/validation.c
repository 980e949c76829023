/* SPDX-License-Identifier: MIT */
#include "validation/validation.h"

#include "validation/leave_one_out.h"

struct replay {
    const struct validation_request *request;
    struct validation *result;
    struct accuracy_row *time, *peaks;
    struct run_case **cases; /* of `time` */
    struct validation_memory *memory;
    struct validation_skip *skipped;
};

static int skip(struct replay *replay, const char *id, const char *reason, struct error_info *err)
{
    struct validation *result = replay->result;
    const char *copy = arena_copy_text(result->arena, reason);
    if (!copy)
        return error_set_memory(err);
    replay->skipped[result->skipped_count++] = (struct validation_skip){id, copy};
    return 0;
}

/* 1: *ret_case is to be used; 0: skipped, with its reason; -1: out of memory. */
static int open_row(struct replay *replay, const struct csv_table *table, size_t row,
                    struct run_case **ret_case, const struct published_run **ret_run,
                    struct error_info *err)
{
    const struct validation_request *request = replay->request;
    struct published_run *run = arena_allocate(replay->result->arena, sizeof(*run));
    struct error_info inner = {.kind = ERROR_NONE};
    const char *reason;
    if (!run)
        return error_set_memory(err);
    if (!published_run_read(table, row, request->publications, request->models, run, &reason))
        return skip(replay, run->id, reason, err);
    struct run_case *run_case = run_case_create(run, &request->catalogues, &inner);
    if (!run_case && inner.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (!run_case)
        return skip(replay, run->id, inner.text, err);
    *ret_case = run_case;
    *ret_run = run;
    return 1;
}

static int replay_time(struct replay *replay, size_t row, struct error_info *err)
{
    struct validation *result = replay->result;
    struct run_case *opened = NULL;
    const struct published_run *run = NULL;
    int status = open_row(replay, replay->request->runs, row, &opened, &run, err);
    CLEANUP(run_case) struct run_case *run_case = opened;
    if (status <= 0 || !run)
        return status;
    double measured = run_case_measured_seconds(run_case);
    double predicted = run_case_predicted_seconds(run_case);
    if (measured <= 0)
        return skip(replay, run->id, "no step time is published, or an impossible one", err);
    if (predicted <= 0)
        return skip(replay, run->id, "no such pipeline layout, or an unknown GPU", err);
    replay->cases[result->time_count] = move_pointer(run_case);
    replay->time[result->time_count++] =
        (struct accuracy_row){.run = run, .measured = measured, .predicted = predicted};
    return 0;
}

static void count_verdict(struct validation *result, const struct published_run *run,
                          enum fit_verdict verdict)
{
    if (run->memory_fact == MEMORY_RAN_OUT && run->memory_fragmented)
        return;
    if (run->memory_fact == MEMORY_RAN_OUT) {
        result->ran_out++;
        result->false_fits += verdict == FIT_FITS;
    } else {
        result->ran++;
        result->false_ooms += verdict == FIT_OOM;
    }
}

static int replay_memory(struct replay *replay, size_t row, struct error_info *err)
{
    struct validation *result = replay->result;
    struct run_case *opened = NULL;
    const struct published_run *run = NULL;
    struct memory_estimate estimate;
    int status = open_row(replay, replay->request->memory, row, &opened, &run, err);
    CLEANUP(run_case) struct run_case *run_case = opened;
    if (status <= 0 || !run)
        return status;
    if (run->memory_fact == MEMORY_NO_FACT)
        return skip(replay, run->id, "neither a peak nor whether it fitted is published", err);
    run_case_predicted_memory(run_case, &estimate);
    if (estimate.total_bytes == 0)
        return skip(replay, run->id, "no such pipeline layout", err);
    count_verdict(result, run, estimate.verdict);
    double comparable = run_case_comparable_bytes(run_case, &estimate);
    replay->memory[result->memory_count++] =
        (struct validation_memory){run, estimate.verdict, comparable};
    if (run->memory_fact == MEMORY_PEAK)
        replay->peaks[result->peak_count++] = (struct accuracy_row){
            .run = run, .measured = run->memory_bytes, .predicted = comparable};
    return 0;
}

static int replay_rows(struct replay *replay, struct error_info *err)
{
    const struct csv_table *runs = replay->request->runs, *memory = replay->request->memory;
    for (size_t i = 0; runs && i < runs->rows; i++)
        if (replay_time(replay, i, err) < 0)
            return -1;
    for (size_t i = 0; memory && i < memory->rows; i++)
        if (replay_memory(replay, i, err) < 0)
            return -1;
    return 0;
}

static int reserve(struct replay *replay, struct error_info *err)
{
    struct arena *arena = replay->result->arena;
    size_t runs = replay->request->runs ? replay->request->runs->rows : 0;
    size_t memory = replay->request->memory ? replay->request->memory->rows : 0;
    replay->time = arena_allocate_array(arena, runs + 1, sizeof(*replay->time));
    replay->cases = arena_allocate_array(arena, runs + 1, sizeof(struct run_case *));
    replay->peaks = arena_allocate_array(arena, memory + 1, sizeof(*replay->peaks));
    replay->memory = arena_allocate_array(arena, memory + 1, sizeof(*replay->memory));
    replay->skipped = arena_allocate_array(arena, runs + memory + 1, sizeof(*replay->skipped));
    return replay->time && replay->cases && replay->peaks && replay->memory && replay->skipped
               ? 0
               : error_set_memory(err);
}

static int summarise(struct replay *replay, struct error_info *err)
{
    struct validation *result = replay->result;
    result->time = replay->time;
    result->peaks = replay->peaks;
    result->memory = replay->memory;
    result->skipped = replay->skipped;
    if (accuracy_of(result->time, result->time_count, result->arena, &result->time_accuracy, err) <
            0 ||
        accuracy_of(result->peaks, result->peak_count, result->arena, &result->memory_accuracy,
                    err) < 0)
        return -1;
    return choice_accuracy_of(result->time, result->time_count, result->arena, &result->choice,
                              err);
}

struct validation *validation_run(const struct validation_request *request, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct replay replay = {.request = request};
    replay.result = arena ? arena_allocate(arena, sizeof(*replay.result)) : NULL;
    if (!replay.result)
        return error_null(error_set_memory(err));
    replay.result->arena = arena;
    int status = reserve(&replay, err);
    if (status == 0)
        status = replay_rows(&replay, err);
    if (status == 0 && request->leave_one_out)
        status = leave_one_out(replay.time, replay.cases, replay.result->time_count, err);
    for (size_t i = 0; i < replay.result->time_count; i++)
        run_case_free(replay.cases[i]);
    if (status < 0 || summarise(&replay, err) < 0)
        return NULL;
    replay.result->arena = move_pointer(arena);
    return replay.result;
}

void validation_free(struct validation *validation)
{
    if (validation)
        arena_free(validation->arena);
}
