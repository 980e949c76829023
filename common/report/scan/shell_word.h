/* SPDX-License-Identifier: MIT */
/*
 * shell_word: text as one word of a bash script, whatever stands in it.
 *
 * Printable ASCII stands in single quotes, a quote in it as '\''. A text with any other byte is
 * written as $'…' with every such byte, quote and backslash in octal, so that a script is ASCII
 * and no locale reads it otherwise. NUL cannot occur.
 */
#ifndef REPORT_SCAN_SHELL_WORD_H
#define REPORT_SCAN_SHELL_WORD_H

#include "base/text_buffer.h"

/* A name in braces and the shell variable that stands for it: "{tp}" is "$VARIABLE". */
struct shell_placeholder {
    const char *name, *variable;
};

/* Placeholders of the table become "$VARIABLE", in double quotes, between the quoted rest. */
void shell_word_add(const char *text, const struct shell_placeholder *placeholders, size_t count,
                    struct text_buffer *out);

#endif
