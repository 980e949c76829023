/* SPDX-License-Identifier: MIT */
/* Tables of published runs through the planner's models: a row is skipped with a reason, or it
 * has a finite time, a finite measurement and a memory estimate that adds up. */
#include "planner/memory_model.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/run_table.h"

#include <math.h>

#define ROWS_MAXIMUM 8u /* more say nothing new */

static const struct run_bench *bench(void)
{
    static struct run_bench opened; /* of the process */
    struct error_info err = {.kind = ERROR_NONE};
    if (!opened.gpus)
        fuzz_require(run_bench_init(&opened, &err) == 0, "no catalogues", err.text);
    return &opened;
}

static void require_number(double number, const char *what, const char *id)
{
    fuzz_require(isfinite(number) && number >= 0, what, id);
}

static void require_memory(struct run_case *run_case, const char *id)
{
    struct memory_estimate memory;
    uint64_t sum = 0;
    run_case_predicted_memory(run_case, &memory);
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++) {
        fuzz_require(memory.parts[part] <= MEMORY_PART_MAXIMUM_BYTES, "memory overflows", id);
        sum += memory.parts[part];
    }
    fuzz_require(sum == memory.total_bytes, "memory does not add up", id);
    require_number(run_case_comparable_bytes(run_case, &memory), "no comparable memory", id);
}

static void require_time(struct run_case *run_case, const char *id)
{
    struct time_estimate time;
    run_case_predicted_time(run_case, &time);
    require_number(time.step_seconds, "no step time", id);
    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        require_number(time.parts[part], "no part of a step time", id);
    require_number(run_case_measured_seconds(run_case), "no measured time", id);
}

static void replay(const struct csv_table *table, size_t row)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct published_run run;
    const char *reason = NULL;
    if (!published_run_read(table, row, bench()->publications, bench()->models, &run, &reason)) {
        fuzz_require(reason && *reason != '\0', "skipped without a reason", run.id);
        return;
    }
    CLEANUP(run_case)
    struct run_case *run_case = run_case_create(&run, &bench()->catalogues, &err);
    if (!run_case) {
        fuzz_require_error(&err);
        return;
    }
    require_time(run_case, run.id);
    require_memory(run_case, run.id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(csv_table)
    struct csv_table *table = csv_table_parse((const char *)data, size, "runs.csv", NULL);
    for (size_t row = 0; table && row < table->rows && row < ROWS_MAXIMUM; row++)
        replay(table, row);
    return 0;
}
