/* SPDX-License-Identifier: MIT */
/*
 * yaml_writer: a json_value tree as YAML that yaml_document_parse reads back the same.
 */
#ifndef BASE_YAML_WRITER_H
#define BASE_YAML_WRITER_H

#include "base/json_document.h"

int yaml_value_write(const struct json_value *value, struct text_buffer *out,
                     struct error_info *err);

#endif
