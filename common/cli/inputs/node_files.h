/* SPDX-License-Identifier: MIT */
/*
 * node_files: the files in which nodes of a site described themselves, into a collection: files
 * with one or several nodes (topology/collect/node_stream.h), and folders, of which every .yaml
 * and .yml counts. A node is called by its `name:`, else by its file ("n001.yaml").
 */
#ifndef CLI_INPUTS_NODE_FILES_H
#define CLI_INPUTS_NODE_FILES_H

#include "cli/inputs/catalogues.h"
#include "topology/collect/cluster_collection.h"

#define NODE_FILES_MAXIMUM 65536u /* in one folder */
#define NODE_STREAM_MAXIMUM_BYTES ((size_t)512 << 20)

/* One line says which file is none, and why. */
int node_files_read(struct cluster_collection *collection, const char *path,
                    const struct catalogues *catalogues, struct error_info *err);

#endif
