/* SPDX-License-Identifier: MIT */
/*
 * slurm_nodes: a first draft of a cluster for a site that has only its Slurm: the nodes with
 * their GRES, from the text of `scontrol show node --oneliner`, and the controller's fabric.
 * Nodes of one GRES type and count are one kind: the preset that fits, else so many GPUs of
 * which nothing more is known. Left out: nodes without GPUs, MIG instances (by their type's
 * name, "a100_3g.20gb"), and of nodes with GPUs of several types all but the first. Nodes that
 * are down or drained stay. Pure.
 */
#ifndef TOPOLOGY_SLURM_NODES_H
#define TOPOLOGY_SLURM_NODES_H

#include "base/text_buffer.h"
#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"

/* Takes the fabric (or NULL), also on failure. notes: what was assumed or left out, a line of
 * text each, for people to check: also the other models that a type may mean ("a100"). */
struct cluster_topology *slurm_nodes_parse(const char *text, size_t bytes, const char *source,
                                           struct fabric *fabric,
                                           const struct preset_catalogue *presets,
                                           const struct gpu_catalogue *gpus,
                                           struct text_buffer *notes, struct error_info *err);

#endif
