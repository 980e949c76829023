/* SPDX-License-Identifier: MIT */
/*
 * yaml_writer: a json_value tree as YAML that yaml_document_parse reads back the same.
 * Files of ours that are laid out by hand take single scalars from here.
 */
#ifndef BASE_YAML_WRITER_H
#define BASE_YAML_WRITER_H

#include "base/json_document.h"

int yaml_value_write(const struct json_value *value, struct text_buffer *out,
                     struct error_info *err);

/* A text as one scalar that is safe anywhere, also in flow mappings: plain where every reader
 * takes it for text, else in double quotes with escapes. Bytes that are no UTF-8 become '?'. */
void yaml_text_write(const char *text, struct text_buffer *out);

#endif
