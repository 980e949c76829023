/* SPDX-License-Identifier: MIT */
/*
 * text_buffer: growing text with a maximum. Failure is sticky: after the first failed
 * add every further add does nothing, and the writer asks once, at the end, with
 * text_buffer_failed(). The text is always NUL-terminated.
 */
#ifndef BASE_TEXT_BUFFER_H
#define BASE_TEXT_BUFFER_H

#include "base/cleanup.h"
#include <stdbool.h>
#include <stddef.h>

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

bool text_buffer_failed(const struct text_buffer *buffer);
const char *text_buffer_text(const struct text_buffer *buffer); /* never NULL */
/* Gives the heap text to the caller (memory_free) and empties the buffer; NULL if failed. */
char *text_buffer_take(struct text_buffer *buffer);

DEFINE_CLEANUP_DONE(text_buffer);

#endif
