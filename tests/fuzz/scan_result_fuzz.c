/* SPDX-License-Identifier: MIT */
/* A table of measured steps: what is read has a best row and sane figures; what is refused is
 * one line. */
#include "planner/scan/scan_result.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/scan_fixture.h"

static void check_result(const struct scan_result *result, const char *text)
{
    const struct scan_measure *best = &result->measures[result->best];
    size_t measured = 0;
    for (size_t i = 0; i < result->grid->row_count; i++) {
        const struct scan_measure *measure = &result->measures[i];
        measured += measure->seconds > 0;
        fuzz_require(measure->seconds <= 0 || measure->line > 0, "a time of no line", text);
        fuzz_require(measure->seconds <= 0 || measure->seconds >= best->seconds,
                     "a row is faster than the best", text);
        fuzz_require(!(measure->failed && measure->seconds > 0), "failed, with a time", text);
    }
    fuzz_require(measured == result->measured && measured > 0, "the count of measured rows", text);
    fuzz_require(!(result->regret < 0), "a negative regret", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    CLEANUP(csv_table)
    struct csv_table *table = csv_table_parse((const char *)data, size, "m.csv", &err);
    CLEANUP(scan_result)
    struct scan_result *result = table ? scan_result_read(&scan_fixture_grid, table, &err) : NULL;
    if (result)
        check_result(result, text);
    else
        fuzz_require_error(&err);
    return 0;
}
