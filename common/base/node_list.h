/* SPDX-License-Identifier: MIT */
/*
 * node_list: an ordered list of node names and its bracket notation, as Slurm writes it:
 * "n[001-016,020],gpu-a", "rack[1-2]n[0-7]" (several brackets multiply, the last varies
 * fastest). Widths are kept ("001"). Limits: NODE_LIST_MAXIMUM_NODES names of at most
 * NODE_LIST_NAME_BYTES - 1 characters each.
 */
#ifndef BASE_NODE_LIST_H
#define BASE_NODE_LIST_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include <stddef.h>

#define NODE_LIST_MAXIMUM_NODES 1048576u
#define NODE_LIST_NAME_BYTES 256u

struct node_list;

struct node_list *node_list_create(struct error_info *err);
void node_list_free(struct node_list *list);
/* Appends; a name may stand twice (callers that must refuse this use name_index). */
int node_list_add(struct node_list *list, const char *name, struct error_info *err);
struct node_list *node_list_decode(const char *text, struct error_info *err);
/* Shortest runs in the list's own order: decode(encode(x)) == x. */
void node_list_encode(const struct node_list *list, struct text_buffer *out);
size_t node_list_count(const struct node_list *list);
const char *node_list_name(const struct node_list *list, size_t index);

/* Natural order: digit runs compare as numbers ("n2" < "n10"), then by bytes. */
int node_name_compare(const char *left, const char *right);

DEFINE_CLEANUP(node_list);

#endif
