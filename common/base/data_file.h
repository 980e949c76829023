/* SPDX-License-Identifier: MIT */
/*
 * data_file: the data files under common/…/data/, compiled into the program by the build.
 */
#ifndef BASE_DATA_FILE_H
#define BASE_DATA_FILE_H

#include <stddef.h>

struct data_file {
    const char *name; /* "gpus.yaml" */
    const char *text;
    size_t bytes;
};

/* NULL when no such file was compiled in. */
const struct data_file *data_file_find(const char *name);

#endif
