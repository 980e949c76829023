/* SPDX-License-Identifier: MIT */
/*
 * node_description: a node as people describe it (a preset, a kind in cluster.yaml), turned
 * into evidence like that of any other source. GPUs and NICs have no names and no bus ids.
 */
#ifndef TOPOLOGY_NODE_DESCRIPTION_H
#define TOPOLOGY_NODE_DESCRIPTION_H

#include "topology/node_evidence.h"

struct node_description {
    enum evidence_source source;
    const char *source_text;
    const struct gpu_model *gpu;
    unsigned gpu_count;
    enum nvlink_state nvlink;
    bool nvlink_switched;
    const double *nvlink_bytes_per_second; /* gpu_count^2 where nvlink is known */
    unsigned nvlink_domain_nodes;          /* 0: unknown */
    unsigned nic_count;
    double nic_bytes_per_second; /* each; 0: unknown */
    uint64_t host_memory_bytes;
    uint64_t host_nvme_bytes;
    unsigned cpu_count;
};

/* Everything is copied. NICs are spread evenly over the GPUs in order: NIC i sits beside the
 * GPUs that have its turn, and on the same NUMA node or farther from the others. */
struct node_evidence *node_description_evidence(const struct node_description *description,
                                                struct error_info *err);

#endif
