/* SPDX-License-Identifier: MIT */
/* CSV: what parses has rows of as many cells as there are columns; written with every field in
 * quotes and parsed again it has the same cells. */
#include "base/tables/csv_table.h"
#include "base/text_buffer.h"
#include "tests/fuzz/fuzz_target.h"

#define WRITTEN_MAXIMUM ((size_t)64 << 20)

static void write_row(struct text_buffer *text, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_buffer_add_text(text, i > 0 ? ",\"" : "\"");
        for (const char *read = cells[i]; *read != '\0'; read++)
            text_buffer_add_bytes(text, *read == '"' ? "\"\"" : read, *read == '"' ? 2 : 1);
        text_buffer_add_text(text, "\"");
    }
    text_buffer_add_text(text, "\n");
}

static void require_same(const struct csv_table *left, const struct csv_table *right)
{
    fuzz_require(left->columns == right->columns, "another number of columns came back", "");
    fuzz_require(left->rows == right->rows, "another number of rows came back", "");
    for (size_t i = 0; i < left->columns; i++)
        fuzz_require(strcmp(left->names[i], right->names[i]) == 0, "another name came back",
                     right->names[i]);
    for (size_t i = 0; i < left->rows * left->columns; i++)
        fuzz_require(strcmp(left->cells[i], right->cells[i]) == 0, "another cell came back",
                     right->cells[i]);
}

static void require_shape(const struct csv_table *table)
{
    fuzz_require(table->columns > 0 && table->columns <= CSV_MAXIMUM_COLUMNS, "columns", "");
    fuzz_require(table->rows < CSV_MAXIMUM_ROWS, "rows", "");
    for (size_t row = 0; row < table->rows; row++)
        fuzz_require(table->lines[row] > (row > 0 ? table->lines[row - 1] : 1),
                     "lines do not go up", table->cells[row * table->columns]);
    for (size_t i = 0; i < table->columns && table->rows > 0; i++)
        if (*table->names[i] != '\0')
            fuzz_require(csv_cell(table, table->rows - 1, table->names[i]) ==
                             table->cells[(table->rows - 1) * table->columns + i],
                         "a cell is not found by its name", table->names[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(csv_table)
    struct csv_table *table = csv_table_parse((const char *)data, size, "t.csv", &err);
    if (!table) {
        fuzz_require_error(&err);
        return 0;
    }
    require_shape(table);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, WRITTEN_MAXIMUM);
    write_row(&text, table->names, table->columns);
    for (size_t row = 0; row < table->rows; row++)
        write_row(&text, table->cells + row * table->columns, table->columns);
    fuzz_require(!text_buffer_failed(&text), "writing failed", "");
    CLEANUP(csv_table)
    struct csv_table *back =
        csv_table_parse(text_buffer_text(&text), text.length, "back.csv", &err);
    fuzz_require(back, "what we wrote is refused", err.text);
    require_same(table, back);
    return 0;
}
