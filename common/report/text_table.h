/* SPDX-License-Identifier: MIT */
/*
 * text_table: rows of cells as aligned columns of plain text.
 *
 *     static const struct text_column columns[] = {{.title = "rank", .align = ALIGN_RIGHT},
 *                                                  {.title = "node"}};
 *     CLEANUP(text_table) struct text_table *table = text_table_create(columns, 2);
 *     text_table_add(table, "0");
 *     text_table_add(table, "n001");
 *     text_table_write(table, style, out);
 *
 * Cells are copied and fill rows from left to right. Failure is sticky and reaches `out`
 * (text_buffer_failed); a NULL table is accepted everywhere and counts as failed.
 * A column whose cells are all empty is left out, with its title.
 */
#ifndef REPORT_TEXT_TABLE_H
#define REPORT_TEXT_TABLE_H

#include "base/cleanup.h"
#include "base/text_buffer.h"
#include "base/texts/packed_text.h"
#include "report/text_style.h"

#define TEXT_TABLE_MAXIMUM_COLUMNS 24u

enum text_align { ALIGN_LEFT, ALIGN_RIGHT };

struct text_column {
    const char *title; /* a table whose titles are all NULL has no head */
    enum text_align align;
    bool wrap; /* the last column may: long cells continue below themselves */
};

struct text_table;

/* columns stay the caller's and must outlive the table. NULL: out of memory. */
struct text_table *text_table_create(const struct text_column *columns, size_t count);
void text_table_free(struct text_table *table);
void text_table_add(struct text_table *table, const char *cell); /* NULL: empty */
void text_table_add_format(struct text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_table_add_unsigned(struct text_table *table, uint64_t number);
/* The tone of the row that the next cell falls in. */
void text_table_tone(struct text_table *table, enum text_tone tone);
/* What a cell needs could not be made: the table fails when it is written. */
void text_table_fail(struct text_table *table);
size_t text_table_rows(const struct text_table *table);

/* Head, then rows, each indented by two blanks and separated by two. */
void text_table_write(const struct text_table *table, const struct text_style *style,
                      struct text_buffer *out);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define text_table_add_format(table, format, ...)                                                  \
    (text_table_add_format)(table, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP(text_table);

#endif
