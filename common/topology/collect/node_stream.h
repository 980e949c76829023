/* SPDX-License-Identifier: MIT */
/*
 * node_stream: the node files (node_readers/node_file.h) in one text: one, several that follow
 * each other (a line "---" between them, or the next one's "schema:" line), or what
 * `srun --label` made of many, where each line begins with its task's number ("12: ") and the
 * tasks' lines are mixed. Pure.
 */
#ifndef TOPOLOGY_NODE_STREAM_H
#define TOPOLOGY_NODE_STREAM_H

#include "base/cleanup.h"
#include "base/error.h"

#define NODE_STREAM_MAXIMUM_DOCUMENTS 262144u

struct node_stream;

/* The text must outlive it. Blank documents are left out. */
struct node_stream *node_stream_split(const char *text, size_t bytes, const char *source,
                                      struct error_info *err);
void node_stream_free(struct node_stream *stream);

size_t node_stream_count(const struct node_stream *stream);
/* Not NUL-terminated. */
const char *node_stream_document(const struct node_stream *stream, size_t index, size_t *ret_bytes);

DEFINE_CLEANUP(node_stream);

#endif
