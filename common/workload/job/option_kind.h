/* SPDX-License-Identifier: MIT */
/*
 * option_kind: what --parplan's value is: "off", a job file's path, or keys.
 */
#ifndef WORKLOAD_JOB_OPTION_KIND_H
#define WORKLOAD_JOB_OPTION_KIND_H

#include <stdbool.h>

/* A '/' before any '=' ("model=a/b" is a key), or a file's ending. */
bool option_names_file(const char *option);

#endif
