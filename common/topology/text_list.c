/* SPDX-License-Identifier: MIT */
#include "topology/text_list.h"

static int check_item(const struct yaml_node *item, struct error_info *err)
{
    if (item->kind != YAML_SCALAR || !item->text[0])
        return yaml_node_error(item, err, "a plain text is expected here");
    return 0;
}

int text_list_load(const struct yaml_node *node, struct arena *arena, const char *const **ret_texts,
                   size_t *ret_count, struct error_info *err)
{
    if (!node) {
        *ret_texts = NULL;
        *ret_count = 0;
        return 0;
    }
    if (node->kind != YAML_SEQUENCE)
        return yaml_node_error(node, err, "a list is expected, as [one, two]");
    if (node->child_count > TEXT_LIST_MAXIMUM)
        return yaml_node_error(node, err, "%zu items are more than the %u that are possible",
                               node->child_count, TEXT_LIST_MAXIMUM);
    const char **texts = arena_allocate_array(arena, node->child_count, sizeof(*texts));
    if (!texts)
        return error_set_memory(err);
    for (size_t i = 0; i < node->child_count; i++) {
        if (check_item(node->children[i], err) < 0)
            return -1;
        texts[i] = arena_copy_text(arena, node->children[i]->text);
        if (!texts[i])
            return error_set_memory(err);
    }
    *ret_texts = texts;
    *ret_count = node->child_count;
    return 0;
}

const char *text_list_copy(struct arena *arena, const char *text, bool *failed)
{
    char *copy = text ? arena_copy_text(arena, text) : NULL;
    if (text && !copy)
        *failed = true;
    if (copy)
        error_clean_text(copy); /* names end on terminals */
    return copy;
}
