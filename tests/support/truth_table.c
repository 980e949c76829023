/* SPDX-License-Identifier: MIT */
#include "tests/support/truth_table.h"

#include "base/parse_number.h"
#include "base/text_file.h"
#include <string.h>

#define TRUTH_MAXIMUM_BYTES ((size_t)8 << 20)
#define TRUTH_MAXIMUM_ROWS 4096u

/* Ends one field in place; quotes double inside quotes. Returns what follows, and in *ret_last
 * whether the field was the line's last. */
static char *end_field(char *text, const char **ret_field, bool *ret_last)
{
    char *out = text, *in = text;
    bool quoted = *in == '"';
    *ret_field = text;
    if (quoted)
        in++;
    for (; *in != '\0'; in++) {
        if (quoted && *in == '"' && in[1] == '"')
            in++;
        else if (quoted && *in == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*in == ',' || *in == '\n'))
            break;
        if (*in != '\r')
            *out++ = *in;
    }
    *ret_last = *in != ',';
    char *next = *in == '\0' ? in : in + 1;
    *out = '\0';
    return next;
}

static size_t read_line(char **text, const char **cells)
{
    size_t count = 0;
    bool last = false;
    while (!last && count < TRUTH_TABLE_MAXIMUM_COLUMNS)
        *text = end_field(*text, &cells[count++], &last);
    return count;
}

struct truth_table *truth_table_read(const char *path, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *read = text_file_read(path, TRUTH_MAXIMUM_BYTES, &bytes, err);
    CLEANUP(arena) struct arena *arena = read ? arena_create(4 * TRUTH_MAXIMUM_BYTES) : NULL;
    struct truth_table *table = arena ? arena_allocate(arena, sizeof(*table)) : NULL;
    char *text = table ? arena_copy_bytes(arena, read, bytes) : NULL;
    const char **names =
        text ? arena_allocate_array(arena, TRUTH_TABLE_MAXIMUM_COLUMNS, sizeof(*names)) : NULL;
    if (!names)
        return NULL;
    table->columns = read_line(&text, names);
    table->names = names;
    const char **cells = arena_allocate_array(
        arena, TRUTH_MAXIMUM_ROWS * TRUTH_TABLE_MAXIMUM_COLUMNS, sizeof(*cells));
    while (cells && *text != '\0' && table->rows < TRUTH_MAXIMUM_ROWS)
        if (read_line(&text, cells + table->rows * table->columns) == table->columns)
            table->rows++;
    if (!cells)
        return NULL;
    table->cells = cells;
    table->arena = move_pointer(arena);
    return table;
}

void truth_table_free(struct truth_table *table)
{
    if (table)
        arena_free(table->arena);
}

const char *truth_cell(const struct truth_table *table, size_t row, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], name) == 0)
            return table->cells[row * table->columns + i];
    return "";
}

double truth_number(const struct truth_table *table, size_t row, const char *name, double otherwise)
{
    double value = otherwise;
    const char *text = truth_cell(table, row, name);
    if (*text != '\0')
        parse_real(text, -1e18, 1e18, &value, NULL);
    return value;
}
