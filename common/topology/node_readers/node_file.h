/* SPDX-License-Identifier: MIT */
/*
 * node_file: a file of ours about one node (schema: parplan.node/1), as `parplan topology
 * --format yaml` writes it (report/files/node_file.h) and people write it by hand. Only gpus is
 * required; what is left out is unknown.
 *     schema: parplan.node/1
 *     name: n001                          the host's
 *     driver: 580.65.06                   of the GPUs
 *     cpus: 224
 *     host_memory: 2TiB                   host_nvme too
 *     pcie: 63GB/s                        GPU <-> host, one direction
 *     gpus:                               in the order of their bus ids; all have one, or none
 *       - {model: h100-sxm, bus_id: "0000:06:00.0", uuid: …, memory: 80GiB, numa: 0,
 *          cpus: "0-55", mig: true, problem: lost NVLink,
 *          nvlink_lost: true}
 *     nics:                               role: rail, storage, management, nvswitch, other
 *       - {name: mlx5_0, bus_id: …, role: rail, rail: 0, state: active, numa: 0,
 *          rate: 400Gb/s, ethernet: true, reason: …, problem: …}
 *     nvlink: unknown | none | {state: known, switched: true, rate: 450GB/s, gpu_rate: 450GB/s,
 *              domain_nodes: 18, leaves_node: true, clique: <ClusterUUID>.<CliqueID>}
 *         rate is every pair's; where they differ, instead
 *         pairs: {50GB/s: [0-3, 1-2], 25GB/s: [0-1]}      the rest has no link
 *         "18 links" in the place of a rate: rated by the GPU's model
 *     gpu_links: [". pix sys sys", …]     a row for each GPU, a word for each GPU; "." unknown
 *     nic_links: ["pix node", …]          a row for each GPU, a word for each NIC
 *     facts: [{fact: …, value: …, source: …}]
 * A NIC without role is left to the merge's rules. A rail without number takes the next one.
 * Rates: cluster_readers/rate.h. Control characters in texts become '?'.
 * Refused with the line: unknown keys, GPUs and NICs that stand twice, more than fits.
 */
#ifndef TOPOLOGY_NODE_FILE_H
#define TOPOLOGY_NODE_FILE_H

#include "base/yaml_document.h"
#include "topology/node_evidence.h"

#define NODE_FILE_SCHEMA "parplan.node/1"
#define NODE_FILE_MAXIMUM_BYTES ((size_t)4 << 20)
#define NODE_FILE_MAXIMUM_FACTS 1024u

/* Evidence of EVIDENCE_ADMIN; node_name is the file's `name:`. source: for messages and facts. */
struct node_evidence *node_file_parse(const char *text, size_t bytes, const char *source,
                                      struct error_info *err);
/* The same keys as a mapping inside another file. */
struct node_evidence *node_file_load(const struct yaml_node *mapping, struct error_info *err);

#endif
