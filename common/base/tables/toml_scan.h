/* SPDX-License-Identifier: MIT */
/*
 * toml_scan: the scalar values of a TOML text, each with its dotted path and line; no tree. For
 * looking up a few settings in a program's configuration, not for checking it: what is no TOML may
 * pass, and what stands behind a value on its line is not looked at.
 *
 * Understood (toml.io, v1.0): tables, bare, quoted and dotted keys, strings on one line, comments;
 * numbers, booleans and dates, which come as they are written, as do escapes in strings. Skipped to
 * their end: strings of three quotation marks, arrays, inline tables. A key that comes twice is
 * visited twice, so are those of an array of tables.
 *
 * Refused, as "<source>:<line>: <what>": text over TOML_MAXIMUM_BYTES or with NUL bytes, a path and
 * value over TOML_PAIR_BYTES, a string or bracket that does not end, a key or its '=' missing.
 */
#ifndef BASE_TABLES_TOML_SCAN_H
#define BASE_TABLES_TOML_SCAN_H

#include "base/error.h"
#include <stddef.h>

#define TOML_MAXIMUM_BYTES ((size_t)1 << 20)
#define TOML_PAIR_BYTES 2048u /* with a NUL each */

struct toml_value {
    const char *path; /* "parallelism.tensor_parallel_degree" */
    const char *text; /* a string without its quotes */
    unsigned line;    /* 1-based, of the key */
};

/* Below 0 ends the scan, which then returns that. The value is gone after the call. */
typedef int (*toml_visit_fn)(void *context, const struct toml_value *value, struct error_info *err);

/* text[bytes] is NUL, as text_file_read gives it. */
int toml_scan(const char *text, size_t bytes, const char *source, toml_visit_fn visit,
              void *context, struct error_info *err);

#endif
