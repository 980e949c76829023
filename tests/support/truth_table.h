/* SPDX-License-Identifier: MIT */
/*
 * truth_table: published runs and memory peaks (../shared/truth) as a table of texts: CSV
 * with quoted fields and a header line.
 */
#ifndef TESTS_SUPPORT_TRUTH_TABLE_H
#define TESTS_SUPPORT_TRUTH_TABLE_H

#include "base/arena.h"
#include "base/error.h"

#define TRUTH_TABLE_MAXIMUM_COLUMNS 64u

struct truth_table {
    const char *const *cells; /* rows * columns, without the header */
    const char *const *names;
    size_t rows, columns;
    struct arena *arena;
};

struct truth_table *truth_table_read(const char *path, struct error_info *err);
void truth_table_free(struct truth_table *table);
/* "" where the column or the cell is not there. */
const char *truth_cell(const struct truth_table *table, size_t row, const char *name);
/* Of a number; `otherwise` where the cell is empty or none. */
double truth_number(const struct truth_table *table, size_t row, const char *name,
                    double otherwise);

DEFINE_CLEANUP(truth_table);

#endif
