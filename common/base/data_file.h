/* SPDX-License-Identifier: MIT */
/*
 * data_file: the data files under common/…/data/, compiled into the program by the build
 * (embed_data.sh), packed with gzip as one text: every srun maps them, few read them all.
 * Reading one unpacks all (54 KB in the plugin).
 */
#ifndef BASE_DATA_FILE_H
#define BASE_DATA_FILE_H

#include "base/error.h"
#include <stddef.h>

#define DATA_FILE_MAXIMUM_BYTES ((size_t)8 << 20) /* of one that the user gives instead */

/* Unpacks what gzip packed into exactly that many bytes; what follows it is not looked at.
 * -1: it is broken, has another size, or zlib had no memory. */
int data_file_unpack(const unsigned char *packed, size_t packed_bytes, char *text, size_t bytes);

/* Its text with a final NUL (memory_free), or NULL: no such file was compiled in. */
char *data_file_read(const char *name, size_t *ret_bytes, struct error_info *err);

#endif
