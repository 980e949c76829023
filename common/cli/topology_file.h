/* SPDX-License-Identifier: MIT */
/*
 * topology_file: what `parplan topology --format yaml` prints: the file of ours for a node, a
 * fabric or a cluster, which can be kept, edited and read again.
 */
#ifndef CLI_TOPOLOGY_FILE_H
#define CLI_TOPOLOGY_FILE_H

#include "cli/inputs/topology_source.h"

/* is_live: the node is this machine, and the file says its name: Slurm's where a step runs here,
 * else the host's up to its first dot. */
int topology_file_write(const struct topology_source *source, bool is_live,
                        const struct catalogues *catalogues, struct text_buffer *out,
                        struct error_info *err);

#endif
