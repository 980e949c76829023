/* SPDX-License-Identifier: MIT */
/*
 * cluster_kind: one entry under `kinds:` of a cluster file, as a node:
 *     h100: {preset: dgx-h100}
 *     mine: {node: {gpus: […], nics: […], …}}        the keys of node_readers/node_file.h
 * or a description in place:
 *     a6000: {gpu: a6000, gpus: 8, nvlink: [[0, 1], [2, 3], [4, 5], [6, 7]],
 *             nics: 2, nic_rate: 100Gb/s, host_memory: 512GiB}
 * gpu is a name of the GPU catalogue. nvlink: switch, mesh, none, unknown (the default; what
 * the catalogue rules out is none all the same) or a list of groups whose members are joined
 * directly, each pair by an even share of a GPU's links. nvlink_rate overrides the
 * catalogue's figure for one GPU. Rates: rate.h.
 */
#ifndef TOPOLOGY_CLUSTER_KIND_H
#define TOPOLOGY_CLUSTER_KIND_H

#include "base/yaml_document.h"
#include "topology/preset_catalogue.h"

/* The node is named by the entry's key. */
struct node_topology *cluster_kind_load(const struct yaml_node *node,
                                        const struct preset_catalogue *presets,
                                        const struct gpu_catalogue *gpus, struct error_info *err);

#endif
