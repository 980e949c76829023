/* SPDX-License-Identifier: MIT */
/*
 * error: one line of text for people, and the kind that decides an exit code.
 *
 * Every function that can fail returns 0 or -1 (or a pointer or NULL) and takes
 * `struct error_info *err` last. On success err is not touched. err may be NULL.
 * A message says where, what, have/need and the remedy, in one line, without a
 * trailing newline: "job.yaml:12: tp: 12 is not a power of two; use tp=8".
 * Control characters in the arguments are written as '?', so that a message made
 * from hostile input stays one line.
 * Thread safety: no shared state.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/texts/packed_text.h"

#define ERROR_TEXT_BYTES 1024

enum error_kind {
    ERROR_NONE,
    ERROR_INPUT,  /* the user's input or a file of theirs is wrong: exit 2 */
    ERROR_SYSTEM, /* I/O, a child process, a device: exit 1 */
    ERROR_MEMORY, /* out of memory: exit 1 */
    ERROR_KIND_COUNT
};

struct error_info {
    enum error_kind kind;
    char text[ERROR_TEXT_BYTES];
};

/* Set kind ERROR_INPUT (or the named kind) and the text. Always return -1, so that
 * `return error_set(err, "…")` is one line. Longer texts are cut at the limit. */
int error_set(struct error_info *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int error_set_system(struct error_info *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int error_set_memory(struct error_info *err);

/* Put "<formatted>: " before the text that err already has. Always returns -1. */
int error_prefix(struct error_info *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Overwrites with '?' what could break a line or a terminal: control characters, bytes that
 * are no UTF-8, line separators and marks that change the writing direction. */
void error_clean_text(char *text);

/* The text of an errno value, thread safe, in the C locale ("No such file or directory"). */
const char *error_errno_text(int errno_value);

/* The same functions that return NULL, for constructors: `return error_null(error_set(err, …))`. */
static inline void *error_null(int ignored)
{
    (void)ignored;
    return 0;
}

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define error_set(err, format, ...) (error_set)(err, PACKED_TEXT(format), ##__VA_ARGS__)
#define error_set_system(err, format, ...)                                                         \
    (error_set_system)(err, PACKED_TEXT(format), ##__VA_ARGS__)
#define error_prefix(err, format, ...) (error_prefix)(err, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

#endif
