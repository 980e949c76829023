/* SPDX-License-Identifier: MIT */
/*
 * gres_text: what Slurm says of a node's GPUs where it says only that: "gpu:h100:8(S:0-1)", and
 * the node that this stands for. For the plugin and for the command line.
 */
#ifndef TOPOLOGY_GRES_TEXT_H
#define TOPOLOGY_GRES_TEXT_H

#include "topology/preset_catalogue.h"

#define GPU_TYPE_BYTES 64u

/* "gpu:h100:8(S:0-1)", "gres:gpu:4", "gres/gpu:a100:2,…": count and type ("": none) of the first
 * gpu entry; false when there is none. */
bool gres_text_parse(const char *text, unsigned *ret_count, char ret_type[static GPU_TYPE_BYTES]);
/* The same from *text on, which moves behind that entry: a node may have GPUs of several types. */
bool gres_text_next(const char **text, unsigned *ret_count, char ret_type[static GPU_TYPE_BYTES]);

/* So many GPUs, of which nothing more is known than perhaps their type (or NULL). count: 1 to
 * NODE_MAXIMUM_GPUS. */
struct node_topology *gres_unknown_node(const char *name, const char *type, unsigned count,
                                        const struct gpu_catalogue *gpus, struct error_info *err);

#endif
