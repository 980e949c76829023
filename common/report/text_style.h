/* SPDX-License-Identifier: MIT */
/*
 * text_style: how text for people is dressed: ANSI colours on a terminal, plain elsewhere,
 * and the width that long cells are wrapped to. The core does not look at the terminal or
 * the environment: the CLI decides and passes the style down.
 */
#ifndef REPORT_TEXT_STYLE_H
#define REPORT_TEXT_STYLE_H

#include "base/text_buffer.h"
#include "base/texts/packed_text.h"
#include <stdbool.h>

#define TEXT_STYLE_DEFAULT_WIDTH 100u

struct text_style {
    bool colour;
    unsigned width; /* columns; 0: TEXT_STYLE_DEFAULT_WIDTH */
};

enum text_tone {
    TONE_PLAIN,
    TONE_TITLE, /* headings */
    TONE_FAINT, /* table heads, what matters less */
    TONE_CHOSEN,
    TONE_GOOD,
    TONE_WARNING,
    TONE_BAD,
    TEXT_TONE_COUNT
};

/* The escape sequences around text of that tone; "" without colour. */
const char *text_tone_begin(const struct text_style *style, enum text_tone tone);
const char *text_tone_end(const struct text_style *style, enum text_tone tone);

unsigned text_style_width(const struct text_style *style);

/* An empty line before it (unless the buffer is empty), the heading, a line end. */
void text_heading(const struct text_style *style, struct text_buffer *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Columns that the text takes: UTF-8 characters, bytes where it is no UTF-8. */
size_t text_columns(const char *text);

/* The text broken at blanks into lines of at most `width` columns, each but the first after
 * `indent` blanks; a word longer than a line stands alone on one. No line end at the end. */
void text_wrap(const char *text, size_t indent, size_t width, struct text_buffer *out);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define text_heading(style, out, format, ...)                                                      \
    (text_heading)(style, out, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

#endif
