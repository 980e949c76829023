/* SPDX-License-Identifier: MIT */
#include "report/text_table.h"
#include "base/arena.h"
#include "base/memory.h"
#include <string.h>

#undef text_table_add_format /* the function itself: base/texts/packed_text.h */

#define TABLE_MAXIMUM_BYTES ((size_t)1 << 30)
#define FIRST_CELLS 64u
#define GAP 2u
#define MINIMUM_WRAP_COLUMNS 24u

struct cell {
    const char *text;
    enum text_tone tone;
};

struct text_table {
    const struct text_column *columns;
    size_t column_count;
    struct cell *cells;
    size_t cell_count;
    size_t capacity;
    enum text_tone tone;
    struct arena *arena;
    bool failed;
};

struct text_table *text_table_create(const struct text_column *columns, size_t count)
{
    if (count == 0 || count > TEXT_TABLE_MAXIMUM_COLUMNS)
        return NULL;
    CLEANUP(text_table) struct text_table *table = memory_allocate(sizeof(*table));
    if (!table)
        return NULL;
    table->columns = columns;
    table->column_count = count;
    table->arena = arena_create(TABLE_MAXIMUM_BYTES);
    return table->arena ? move_pointer(table) : NULL;
}

void text_table_free(struct text_table *table)
{
    if (!table)
        return;
    arena_free(table->arena);
    memory_free(table->cells);
    memory_free(table);
}

static bool make_room(struct text_table *table)
{
    if (table->cell_count < table->capacity)
        return true;
    size_t capacity = table->capacity ? table->capacity * 2 : FIRST_CELLS;
    struct cell *grown =
        memory_grow_array(table->cells, table->capacity, capacity, sizeof(*table->cells));
    if (!grown)
        return false;
    table->cells = grown;
    table->capacity = capacity;
    return true;
}

static void add_owned(struct text_table *table, const char *text)
{
    if (!text || !make_room(table)) {
        table->failed = true;
        return;
    }
    table->cells[table->cell_count++] = (struct cell){.text = text, .tone = table->tone};
    if (table->cell_count % table->column_count == 0)
        table->tone = TONE_PLAIN;
}

void text_table_add(struct text_table *table, const char *cell)
{
    if (!table || table->failed)
        return;
    add_owned(table, cell && cell[0] ? arena_copy_text(table->arena, cell) : "");
}

void text_table_add_format(struct text_table *table, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    text_format(text, sizeof(text), format, arguments);
    va_end(arguments);
    text_table_add(table, text);
}

void text_table_add_unsigned(struct text_table *table, uint64_t number)
{
    text_table_add_format(table, "%llu", (unsigned long long)number);
}

void text_table_tone(struct text_table *table, enum text_tone tone)
{
    if (table)
        table->tone = tone;
}

void text_table_fail(struct text_table *table)
{
    if (table)
        table->failed = true;
}

size_t text_table_rows(const struct text_table *table)
{
    return table ? (table->cell_count + table->column_count - 1) / table->column_count : 0;
}

struct layout {
    size_t widths[TEXT_TABLE_MAXIMUM_COLUMNS]; /* 0: the column is empty and left out */
    size_t last;                               /* the last column shown */
    bool has_head;
};

static void measure(const struct text_table *table, struct layout *layout)
{
    *layout = (struct layout){.has_head = false};
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t columns = text_columns(table->cells[i].text);
        size_t column = i % table->column_count;
        if (columns > layout->widths[column])
            layout->widths[column] = columns;
    }
    for (size_t column = 0; column < table->column_count; column++) {
        const char *title = table->columns[column].title;
        if (layout->widths[column] == 0)
            continue;
        layout->last = column;
        if (!title)
            continue;
        layout->has_head = true;
        if (text_columns(title) > layout->widths[column])
            layout->widths[column] = text_columns(title);
    }
}

/* Columns to the left of `column`, with the gaps. */
static size_t offset_of(const struct layout *layout, size_t column)
{
    size_t offset = GAP;
    for (size_t i = 0; i < column; i++)
        offset += layout->widths[i] > 0 ? layout->widths[i] + GAP : 0;
    return offset;
}

static void write_wrapped(const struct layout *layout, size_t column, const char *text,
                          const struct text_style *style, struct text_buffer *out)
{
    size_t offset = offset_of(layout, column);
    size_t total = text_style_width(style);
    size_t width = total > offset + MINIMUM_WRAP_COLUMNS ? total - offset : MINIMUM_WRAP_COLUMNS;
    text_wrap(text, offset, width, out);
}

static void write_cell(const struct text_table *table, const struct layout *layout, size_t column,
                       const char *text, const struct text_style *style, struct text_buffer *out)
{
    size_t width = layout->widths[column];
    size_t columns = text_columns(text);
    size_t padding = width > columns ? width - columns : 0;
    if (table->columns[column].wrap) {
        write_wrapped(layout, column, text, style, out);
        padding = 0;
    } else if (table->columns[column].align == ALIGN_RIGHT) {
        text_buffer_add_repeated(out, ' ', padding);
        text_buffer_add_text(out, text);
        padding = 0;
    } else {
        text_buffer_add_text(out, text);
    }
    if (column != layout->last)
        text_buffer_add_repeated(out, ' ', padding + GAP);
}

/* No blanks before the end of a line: what is added after the last text is taken back. */
static void trim_line(struct text_buffer *out)
{
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
}

static void write_row(const struct text_table *table, const struct layout *layout,
                      const struct cell *cells, size_t count, const struct text_style *style,
                      struct text_buffer *out)
{
    enum text_tone tone = count > 0 ? cells[0].tone : TONE_FAINT;
    text_buffer_add_repeated(out, ' ', GAP);
    text_buffer_add_text(out, text_tone_begin(style, tone));
    for (size_t column = 0; column < table->column_count; column++) {
        if (layout->widths[column] == 0)
            continue;
        const char *text = table->columns[column].title;
        if (count > 0)
            text = column < count ? cells[column].text : "";
        write_cell(table, layout, column, text ? text : "", style, out);
    }
    if (!text_buffer_failed(out))
        trim_line(out);
    text_buffer_add_text(out, text_tone_end(style, tone));
    text_buffer_add_text(out, "\n");
}

void text_table_write(const struct text_table *table, const struct text_style *style,
                      struct text_buffer *out)
{
    if (!table || table->failed) {
        out->failed = true;
        return;
    }
    struct layout layout;
    measure(table, &layout);
    if (layout.has_head)
        write_row(table, &layout, NULL, 0, style, out);
    for (size_t i = 0; i < table->cell_count; i += table->column_count) {
        size_t left = table->cell_count - i;
        size_t count = left < table->column_count ? left : table->column_count;
        write_row(table, &layout, table->cells + i, count, style, out);
    }
}
