/* SPDX-License-Identifier: MIT */
/*
 * node_file: a node as a file of ours (schema: parplan.node/1), for topology/node_readers/
 * node_file.h to read: everything that the merge cannot derive again, one GPU, NIC and fact per
 * line. Reading, merging alone and writing again gives the same bytes. Warnings are left out:
 * they follow from the problems of GPUs and NICs.
 * A failure is the buffer's (text_buffer_failed).
 */
#ifndef REPORT_FILES_NODE_FILE_H
#define REPORT_FILES_NODE_FILE_H

#include "base/text_buffer.h"
#include "topology/node_topology.h"

/* name: the host's, or NULL. */
void node_file_write(const struct node_topology *node, const char *name, struct text_buffer *out);
/* Its keys without schema and name, as a mapping inside another file. */
void node_file_write_keys(const struct node_topology *node, unsigned indent,
                          struct text_buffer *out);

#endif
