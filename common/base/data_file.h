/* SPDX-License-Identifier: MIT */
/*
 * data_file: the data files under common/…/data/, compiled into the program by the build
 * (embed_data.sh), packed with gzip as one text: every srun maps them, few read them. YAML stands
 * there as the events of its parser, as libyaml is what costs most in reading a file.
 * The first call unpacks all (47 KB in the plugin) and keeps them until the process ends. Not
 * thread safe before it has returned.
 */
#ifndef BASE_DATA_FILE_H
#define BASE_DATA_FILE_H

#include "base/error.h"
#include "base/yaml_document.h"
#include <stddef.h>

#define DATA_FILE_MAXIMUM_BYTES ((size_t)8 << 20) /* of one that the user gives instead */

/* Unpacks what gzip packed into exactly that many bytes; what follows it is not looked at.
 * -1: it is broken, has another size, or zlib had no memory. */
int data_file_unpack(const unsigned char *packed, size_t packed_bytes, char *text, size_t bytes);

/* Its text with a final NUL, there until the process ends, or NULL: no such file was compiled in.
 * Not for YAML. */
const char *data_file_text(const char *name, size_t *ret_bytes, struct error_info *err);

/* A YAML file's document. The plugin's knows no lines, and "x" for each `source` and `title`. */
struct yaml_document *data_file_open(const char *name, struct error_info *err);

#endif
