/* SPDX-License-Identifier: MIT */
/*
 * output: the right edge of the program: documents into the output buffer, the buffer to
 * stdout, the one line of an error to stderr.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/json_document.h"
#include "cli/command_options.h"

/* The document as JSON or YAML; takes ownership. document NULL: err stands already. */
int output_document(struct json_value *document, enum output_format format, struct command_io *io,
                    struct error_info *err);
/* JSON text that was written without a tree, as it is or as YAML. */
int output_json_text(struct text_buffer *json, enum output_format format, struct command_io *io,
                     struct error_info *err);

/* Colour and width as the terminal behind fd has them (NO_COLOR and TERM=dumb: no colour). */
void output_style_of(int fd, struct text_style *ret);

/* All bytes to fd. 0, or -1 with err; a closed pipe is a failure without a text. */
int output_write(int fd, const char *text, size_t bytes, struct error_info *err);

/* "parplan: <text>" on stderr. */
void output_error(const struct error_info *err);

#endif
