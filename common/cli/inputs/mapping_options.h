/* SPDX-License-Identifier: MIT */
/*
 * mapping_options: --exact, --budget and --pin as what the mapping is asked for.
 */
#ifndef CLI_INPUTS_MAPPING_OPTIONS_H
#define CLI_INPUTS_MAPPING_OPTIONS_H

#include "cli/command_options.h"
#include "mapping/objective.h"

struct mapping_options {
    struct mapping_wishes wishes;
    struct node_pin *pins; /* owned */
};

/* --pin LIST: nodes that must be used; --pin NODE=K: the node that holds the K-th block of
 * consecutive RANKs (NODE_RANK). Refuses nodes that the cluster does not have, blocks that the
 * world does not have, a node or a block twice. */
int mapping_options_read(const struct command_options *options,
                         const struct cluster_topology *cluster, uint64_t blocks,
                         struct mapping_options *ret, struct error_info *err);
void mapping_options_done(struct mapping_options *options);

DEFINE_CLEANUP_DONE(mapping_options);

#endif
