/* SPDX-License-Identifier: MIT */
#include "base/tables/yaml_rows.h"

const struct yaml_node *yaml_list_find(const struct yaml_document *document,
                                       const struct yaml_list_file *file, struct error_info *err)
{
    const struct yaml_field field = {.key = file->key, .type = YAML_NODE, .required = true};
    const struct yaml_node *list = NULL;
    if (yaml_document_check_schema(document, file->schema, err) < 0 ||
        yaml_fields_load(yaml_document_root(document), &field, 1, &list, err) < 0)
        return NULL;
    if (list->kind != YAML_SEQUENCE || list->child_count == 0 || list->child_count > file->maximum)
        return error_null(
            yaml_node_error(list, err, "needs a list of 1 to %u %s", file->maximum, file->key));
    return list;
}

static int keep_texts(struct arena *arena, const struct yaml_row_table *table, char *row,
                      struct error_info *err)
{
    for (size_t i = 0; i < table->field_count; i++) {
        const struct yaml_field *field = &table->fields[i];
        const char **text = (const char **)(void *)(row + field->offset);
        if (field->type != YAML_TEXT || !*text)
            continue;
        *text = arena_copy_text(arena, *text);
        if (!*text)
            return error_set_memory(err);
    }
    return 0;
}

void *yaml_rows_load(struct arena *arena, const struct yaml_node *list,
                     const struct yaml_row_table *table, size_t maximum, size_t *ret_count,
                     struct error_info *err)
{
    if (list->kind != YAML_SEQUENCE || list->child_count == 0 || list->child_count > maximum)
        return error_null(
            yaml_node_error(list, err, "must be a list of 1 to %zu mappings", maximum));
    char *rows = arena_allocate_array(arena, list->child_count, table->row_bytes);
    if (!rows)
        return error_null(error_set_memory(err));
    for (size_t i = 0; i < list->child_count; i++) {
        char *row = rows + i * table->row_bytes;
        if (yaml_fields_load(list->children[i], table->fields, table->field_count, row, err) < 0 ||
            keep_texts(arena, table, row, err) < 0)
            return NULL;
    }
    *ret_count = list->child_count;
    return rows;
}
