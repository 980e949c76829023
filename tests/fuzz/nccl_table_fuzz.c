/* SPDX-License-Identifier: MIT */
/* What nccl-tests printed. */
#include "tests/fuzz/fuzz_target.h"
#include "validation/calibration/nccl_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tests[] = {NULL, "all_reduce", "alltoall"};
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct nccl_table *table =
            nccl_table_parse((const char *)data, size, "out.txt", tests[i], &err);
        if (!table) {
            fuzz_require_error(&err);
            continue;
        }
        fuzz_require(table->count > 0 && table->count <= NCCL_TABLE_MAXIMUM_ROWS, "rows", "");
        for (size_t j = 0; j < table->count; j++) {
            const struct nccl_row *row = &table->rows[j];
            fuzz_require(row->bytes > 0 && row->seconds > 0, "a row without a measurement", "");
            fuzz_require((row->ranks == 0) == (row->nodes == 0), "ranks without nodes", "");
            fuzz_require(row->nodes == 0 || row->ranks % row->nodes == 0, "uneven nodes", "");
        }
        nccl_table_free(table);
    }
    return 0;
}
