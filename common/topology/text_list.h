/* SPDX-License-Identifier: MIT */
/*
 * text_list: a YAML list of plain values as an array of texts, copied into an arena.
 */
#ifndef TOPOLOGY_TEXT_LIST_H
#define TOPOLOGY_TEXT_LIST_H

#include "base/arena.h"
#include "base/yaml_document.h"
#include <stdbool.h>

#define TEXT_LIST_MAXIMUM 256u

/* node may be NULL: an empty list. Empty texts and nested values are refused. */
int text_list_load(const struct yaml_node *node, struct arena *arena, const char *const **ret_texts,
                   size_t *ret_count, struct error_info *err);

/* arena_copy_text that lets NULL pass, and makes control characters '?'. Sets *failed when memory
 * is out, and returns NULL. */
const char *text_list_copy(struct arena *arena, const char *text, bool *failed);

#endif
