/* SPDX-License-Identifier: MIT */
/*
 * fabric_file: a file of ours about the switches between nodes (schema: parplan.fabric/1), and
 * the `fabric:` section of a cluster file, which has the same keys:
 *     schema: parplan.fabric/1
 *     tiers: [leaf, spine]              near to far; may be left out
 *     switches:
 *       - {name: leaf1, tier: leaf, nodes: "n[001-008]"}
 *       - {name: spine, tier: spine, children: "leaf[1-2]", uplink: 3.2Tb/s, downlink: 6.4Tb/s}
 *     nvlink_domains:
 *       - {name: rack1, id: <ClusterUUID>.<CliqueID>, nodes: "n[001-018]"}
 * A domain with `candidate: true` is a block of Slurm's: it joins only nodes whose own NVLink
 * leaves them. A switch of one rail says `rail: 0` … and lists the nodes that this rail joins; a
 * node is then in one leaf of each rail. uplink: all links to the parent together, downlink: all
 * links to nodes and children (cluster_readers/rate.h).
 */
#ifndef TOPOLOGY_FABRIC_FILE_H
#define TOPOLOGY_FABRIC_FILE_H

#include "base/yaml_document.h"
#include "topology/fabric_readers/fabric_draft.h"

#define FABRIC_FILE_SCHEMA "parplan.fabric/1"

struct fabric *fabric_file_parse(const char *text, size_t bytes, const char *source,
                                 struct error_info *err);
/* The same keys as a mapping inside another file. Whether switches and nodes fit together is
 * for the build to say. */
struct fabric_draft *fabric_file_load(const struct yaml_node *mapping, struct error_info *err);

#endif
