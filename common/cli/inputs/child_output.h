/* SPDX-License-Identifier: MIT */
/*
 * child_output: what another program writes to its stdout, with limits on time and size.
 * The program is found in PATH, gets no stdin, runs in a process group of its own and is
 * killed with that group when a limit is passed.
 */
#ifndef CLI_INPUTS_CHILD_OUTPUT_H
#define CLI_INPUTS_CHILD_OUTPUT_H

#include "base/error.h"
#include <stddef.h>

/* arguments: NULL-terminated, arguments[0] is the program. The text is memory_free's. A
 * program that is not there, exits non-zero (the first line of its stderr is quoted), or
 * passes a limit is an ERROR_SYSTEM. */
char *child_output_read(const char *const *arguments, size_t maximum_bytes,
                        unsigned timeout_seconds, size_t *ret_bytes, struct error_info *err);

#endif
