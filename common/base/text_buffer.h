/* SPDX-License-Identifier: MIT */
/*
 * text_buffer: growing text with a maximum. Failure is sticky: after the first failed
 * add every further add does nothing, and the writer asks once, at the end, with
 * text_buffer_failed(). The text is always NUL-terminated.
 * Everything is formatted in the C locale, whatever locale the host program has set, so
 * "%g" always writes a '.'.
 */
#ifndef BASE_TEXT_BUFFER_H
#define BASE_TEXT_BUFFER_H

#include "base/cleanup.h"
#include "base/texts/packed_text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_buffer {
    char *text; /* NULL until the first add; use text_buffer_text() */
    size_t length;
    size_t capacity;
    size_t maximum_bytes;
    bool failed;
};

#define TEXT_BUFFER_REPORT_MAXIMUM ((size_t)512 << 20) /* 524,288 ranks as JSON fit */

void text_buffer_init(struct text_buffer *buffer, size_t maximum_bytes);
void text_buffer_done(struct text_buffer *buffer);

void text_buffer_add(struct text_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_buffer_add_text(struct text_buffer *buffer, const char *text);
void text_buffer_add_bytes(struct text_buffer *buffer, const char *text, size_t bytes);
void text_buffer_add_repeated(struct text_buffer *buffer, char character, size_t count);
/* The number rounded to that many significant digits (round_significant), in its shortest
 * form: "0.5", "1250000", "1.5e-9", "1e20"; not finite: "nan", "inf", "-inf". */
void text_buffer_add_real(struct text_buffer *buffer, double number, unsigned digits);

bool text_buffer_failed(const struct text_buffer *buffer);
const char *text_buffer_text(const struct text_buffer *buffer); /* never NULL */
/* Gives the heap text to the caller (memory_free) and empties the buffer; NULL if failed. */
char *text_buffer_take(struct text_buffer *buffer);

/* vsnprintf in the C locale, for the calling thread only; a packed format is unpacked. */
int text_format(char *out, size_t bytes, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Whether a list that begins and ends with a blank, " one two ", has the word, which has none. */
bool text_lists(const char *words, const char *word);

/* The bytes of the UTF-8 character at text and its code point; 0 where the bytes are no
 * UTF-8 (overlong forms and surrogates are none) and at the final NUL. */
size_t text_character(const char *text, uint32_t *ret_code);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define text_buffer_add(buffer, format, ...)                                                       \
    (text_buffer_add)(buffer, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP_DONE(text_buffer);

#endif
