/* SPDX-License-Identifier: MIT */
/*
 * yaml_rows: a YAML list of mappings as an array of structs, by one table of fields
 * (yaml_fields.h). Rows and their texts belong to the arena, so the document may go.
 */
#ifndef BASE_TABLES_YAML_ROWS_H
#define BASE_TABLES_YAML_ROWS_H

#include "base/arena.h"
#include "base/yaml_fields.h"

/* A file that is one list. */
struct yaml_list_file {
    const char *schema, *key;
    unsigned maximum; /* of entries; at least one is needed */
};

/* Lies in the document. NULL: not of that schema, another key, no list. */
const struct yaml_node *yaml_list_find(const struct yaml_document *document,
                                       const struct yaml_list_file *file, struct error_info *err);

struct yaml_row_table {
    const struct yaml_field *fields;
    size_t field_count;
    size_t row_bytes;
};

/* 1 to `maximum` rows, each of zeroes where its mapping says nothing. */
void *yaml_rows_load(struct arena *arena, const struct yaml_node *list,
                     const struct yaml_row_table *table, size_t maximum, size_t *ret_count,
                     struct error_info *err);

#endif
