/* SPDX-License-Identifier: MIT */
/*
 * file_text: the pieces of the YAML files that we write for ourselves and people to edit: sizes
 * and rates in the largest unit that keeps every bit, and one flow mapping per line,
 *     - {model: h100-sxm, memory: 80GiB}
 * Unknown values are left out. A failure (memory, the buffer's maximum) is the buffer's.
 */
#ifndef REPORT_FILES_FILE_TEXT_H
#define REPORT_FILES_FILE_TEXT_H

#include "base/text_buffer.h"

#define FILE_INDENT 2u

/* "80GiB", "30720GB", "17B": parse_bytes gives the same number. */
void file_add_bytes(struct text_buffer *out, uint64_t bytes);

enum rate_unit { RATE_IN_BYTES, RATE_IN_BITS };
/* "450GB/s", "400Gb/s": rate_parse gives the same number. For rates that it reads. */
void file_add_rate(struct text_buffer *out, double bytes_per_second, enum rate_unit unit);

/* A text as one YAML scalar on one line; control characters become '?'. */
void file_add_text(struct text_buffer *out, const char *text);

/* "key: value\n" at that depth of indentation, or nothing where the value is unknown. */
void file_line_text(struct text_buffer *out, unsigned indent, const char *key, const char *text);
void file_line_unsigned(struct text_buffer *out, unsigned indent, const char *key, uint64_t number);
void file_line_bytes(struct text_buffer *out, unsigned indent, const char *key, uint64_t bytes);
void file_line_rate(struct text_buffer *out, unsigned indent, const char *key, double rate);
void file_line_true(struct text_buffer *out, unsigned indent, const char *key, bool truth);

/* One flow mapping. */
struct flow_mapping {
    struct text_buffer *out;
    bool begun;
};

struct flow_mapping flow_begin(struct text_buffer *out);
void flow_key(struct flow_mapping *flow, const char *key); /* the value is the caller's to add */
void flow_text(struct flow_mapping *flow, const char *key, const char *text); /* NULL: unknown */
void flow_index(struct flow_mapping *flow, const char *key, int index);       /* < 0: unknown */
void flow_bytes(struct flow_mapping *flow, const char *key, uint64_t bytes);
void flow_rate(struct flow_mapping *flow, const char *key, double rate, enum rate_unit unit);
void flow_true(struct flow_mapping *flow, const char *key, bool truth); /* false is left out */
void flow_end(struct flow_mapping *flow);

#endif
