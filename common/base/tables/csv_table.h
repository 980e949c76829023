/* SPDX-License-Identifier: MIT */
/*
 * csv_table: a table of texts from CSV (RFC 4180): a line of column names, then rows. Fields
 * may stand in double quotes, with commas, line breaks and doubled quotes within. Lines that
 * are empty or start with '#' are skipped. Immutable; everything belongs to its arena.
 */
#ifndef BASE_TABLES_CSV_TABLE_H
#define BASE_TABLES_CSV_TABLE_H

#include "base/arena.h"
#include "base/error.h"

#define CSV_MAXIMUM_BYTES ((size_t)32 << 20)
#define CSV_MAXIMUM_COLUMNS 128u
#define CSV_MAXIMUM_ROWS 65536u

struct csv_table {
    const char *source;       /* for messages */
    const char *const *names; /* columns */
    const char *const *cells; /* rows * columns */
    const unsigned *lines;    /* where each row starts, from 1 */
    size_t rows, columns;
    struct arena *arena;
};

/* Refuses: no header, a column named twice, a row of another number of fields, a quote that
 * does not end or is followed by text, a NUL byte. Errors: "<source>:<line>: <what>". */
struct csv_table *csv_table_parse(const char *text, size_t bytes, const char *source,
                                  struct error_info *err);
struct csv_table *csv_table_load(const char *path, struct error_info *err);
void csv_table_free(struct csv_table *table);

#define CSV_NO_COLUMN SIZE_MAX
size_t csv_column(const struct csv_table *table, const char *name);
/* "" where there is no such column. */
const char *csv_cell(const struct csv_table *table, size_t row, const char *name);
/* An empty cell, or no such column, leaves *ret as it is. Errors name line and column. */
int csv_real(const struct csv_table *table, size_t row, const char *name, double minimum,
             double maximum, double *ret, struct error_info *err);

DEFINE_CLEANUP(csv_table);

#endif
