/* SPDX-License-Identifier: MIT */
/*
 * node_file_links: what a node file says of the links between devices. For node_file.c, after
 * the GPUs and NICs are in the draft. Keys that are not there (NULL) leave it as it is.
 */
#ifndef TOPOLOGY_NODE_FILE_LINKS_H
#define TOPOLOGY_NODE_FILE_LINKS_H

#include "base/yaml_document.h"
#include "topology/node_readers/evidence_draft.h"

int node_file_read_rate(const struct yaml_node *node, double *ret_bytes_per_second,
                        struct error_info *err);
int node_file_load_nvlink(struct evidence_draft *draft, const struct yaml_node *node,
                          struct error_info *err);
int node_file_load_gpu_links(struct evidence_draft *draft, const struct yaml_node *rows,
                             struct error_info *err);
int node_file_load_nic_links(struct evidence_draft *draft, const struct yaml_node *rows,
                             struct error_info *err);

#endif
