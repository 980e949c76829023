/* SPDX-License-Identifier: MIT */
#include "base/tables/csv_table.h"

#include "base/parse_number.h"
#include "base/text_file.h"
#include <string.h>

struct scan {
    char *next; /* what is left of the text; fields are ended in place */
    const char *source;
    unsigned line; /* of `next` */
    struct error_info *err;
};

enum field_end { FIELD_FAILED = -1, FIELD_MORE, FIELD_LAST };

static int fail(const struct scan *scan, const char *what)
{
    return error_set(scan->err, "%s:%u: %s", scan->source, scan->line, what);
}

static bool ends_field(const char *at)
{
    return *at == ',' || *at == '\n' || *at == '\0' || (*at == '\r' && at[1] == '\n');
}

/* Goes behind what ends a field: a comma, or the end of the line. */
static enum field_end leave_field(struct scan *scan, char *at)
{
    if (*at == ',') {
        scan->next = at + 1;
        return FIELD_MORE;
    }
    at += *at == '\r';
    scan->line += *at == '\n';
    scan->next = *at == '\n' ? at + 1 : at;
    return FIELD_LAST;
}

static enum field_end read_quoted(struct scan *scan, const char **ret_field)
{
    char *out = scan->next, *in = scan->next + 1;
    unsigned line = scan->line;
    *ret_field = out;
    for (; *in != '"' || in[1] == '"'; in++) {
        if (*in == '\0')
            return error_set(scan->err, "%s:%u: a quoted field does not end; close it with \"",
                             scan->source, line);
        in += *in == '"';
        scan->line += *in == '\n';
        *out++ = *in;
    }
    in++;
    if (!ends_field(in))
        return fail(scan, "text behind a closing quote; double the quotes inside a field");
    enum field_end end = leave_field(scan, in);
    *out = '\0';
    return end;
}

static enum field_end read_field(struct scan *scan, const char **ret_field)
{
    if (*scan->next == '"')
        return read_quoted(scan, ret_field);
    char *at = scan->next;
    *ret_field = at;
    while (!ends_field(at))
        at++;
    enum field_end end = leave_field(scan, at);
    *at = '\0';
    return end;
}

/* One line's fields into at most `room` cells. Returns how many there are, room + 1 for more, or
 * -1. */
static int read_row(struct scan *scan, const char **cells, size_t room)
{
    size_t count = 0;
    enum field_end end = FIELD_MORE;
    while (end == FIELD_MORE && count < room) {
        end = read_field(scan, &cells[count]);
        if (end == FIELD_FAILED)
            return -1;
        count++;
    }
    return (int)(end == FIELD_LAST ? count : room + 1);
}

static void skip_lines(struct scan *scan)
{
    while (*scan->next == '#' || *scan->next == '\n' ||
           (*scan->next == '\r' && scan->next[1] == '\n')) {
        char *end = strchr(scan->next, '\n');
        scan->line += end != NULL;
        scan->next = end ? end + 1 : scan->next + strlen(scan->next);
    }
}

static int read_names(struct scan *scan, struct csv_table *table, const char **names)
{
    skip_lines(scan);
    if (*scan->next == '\0')
        return fail(scan, "nothing in it; the first line must name the columns");
    unsigned line = scan->line;
    int count = read_row(scan, names, CSV_MAXIMUM_COLUMNS);
    if (count < 0)
        return -1;
    if (count > (int)CSV_MAXIMUM_COLUMNS)
        return error_set(scan->err, "%s:%u: more than %u columns", scan->source, line,
                         CSV_MAXIMUM_COLUMNS);
    for (int i = 1; i < count; i++)
        for (int j = 0; j < i; j++)
            if (*names[i] != '\0' && strcmp(names[i], names[j]) == 0)
                return error_set(scan->err, "%s:%u: two columns are called %.60s", scan->source,
                                 line, names[i]);
    table->names = names;
    table->columns = (size_t)count;
    return 0;
}

static int read_rows(struct scan *scan, struct csv_table *table, const char **cells,
                     unsigned *lines)
{
    for (skip_lines(scan); *scan->next != '\0'; skip_lines(scan)) {
        unsigned line = scan->line;
        int count = read_row(scan, cells + table->rows * table->columns, table->columns);
        if (count < 0)
            return -1;
        if ((size_t)count != table->columns)
            return error_set(scan->err,
                             "%s:%u: %s fields than the header's %zu; put a field that has commas "
                             "in quotes",
                             scan->source, line, (size_t)count > table->columns ? "more" : "fewer",
                             table->columns);
        lines[table->rows++] = line;
    }
    table->cells = cells;
    table->lines = lines;
    return 0;
}

static size_t count_lines(const char *text)
{
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

static int read_table(struct csv_table *table, struct scan *scan, size_t rows)
{
    const char **names = arena_allocate_array(table->arena, CSV_MAXIMUM_COLUMNS, sizeof(*names));
    if (!names)
        return error_set_memory(scan->err);
    if (read_names(scan, table, names) < 0)
        return -1;
    const char **cells = arena_allocate_array(table->arena, rows * table->columns, sizeof(*cells));
    unsigned *lines = arena_allocate_array(table->arena, rows, sizeof(*lines));
    if (!cells || !lines)
        return error_set_memory(scan->err);
    return read_rows(scan, table, cells, lines);
}

struct csv_table *csv_table_parse(const char *text, size_t bytes, const char *source,
                                  struct error_info *err)
{
    if (bytes > CSV_MAXIMUM_BYTES || memchr(text, '\0', bytes)) {
        error_set(err, "%s: %s", source,
                  bytes > CSV_MAXIMUM_BYTES ? "larger than 32 MiB" : "holds a NUL byte: no CSV");
        return NULL;
    }
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct csv_table *table = arena ? arena_allocate(arena, sizeof(*table)) : NULL;
    char *copy = table ? arena_copy_bytes(arena, text, bytes) : NULL;
    if (!copy)
        return error_null(error_set_memory(err));
    table->arena = arena;
    table->source = arena_copy_text(arena, source);
    size_t rows = count_lines(copy);
    struct scan scan = {.next = copy, .source = source, .line = 1, .err = err};
    if (!table->source)
        return error_null(error_set_memory(err));
    if (rows > CSV_MAXIMUM_ROWS)
        return error_null(error_set(err, "%s: more than %u lines", source, CSV_MAXIMUM_ROWS));
    if (read_table(table, &scan, rows) < 0)
        return NULL;
    table->arena = move_pointer(arena);
    return table;
}

struct csv_table *csv_table_load(const char *path, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, CSV_MAXIMUM_BYTES, &bytes, err);
    return text ? csv_table_parse(text, bytes, path, err) : NULL;
}

void csv_table_free(struct csv_table *table)
{
    if (table)
        arena_free(table->arena);
}

size_t csv_column(const struct csv_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], name) == 0)
            return i;
    return CSV_NO_COLUMN;
}

const char *csv_cell(const struct csv_table *table, size_t row, const char *name)
{
    size_t column = csv_column(table, name);
    return column == CSV_NO_COLUMN ? "" : table->cells[row * table->columns + column];
}

int csv_real(const struct csv_table *table, size_t row, const char *name, double minimum,
             double maximum, double *ret, struct error_info *err)
{
    const char *text = csv_cell(table, row, name);
    struct error_info inner = {.kind = ERROR_NONE};
    if (*text == '\0' || parse_real(text, minimum, maximum, ret, &inner) == 0)
        return 0;
    return error_set(err, "%s:%u: %s: %s", table->source, table->lines[row], name, inner.text);
}
