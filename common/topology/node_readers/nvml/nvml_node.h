/* SPDX-License-Identifier: MIT */
/*
 * nvml_node: what NVML answers about every GPU and pair, before anything is decided.
 * nvml_node_read asks (nvml_device.c), nvml_links_decide concludes (nvml_links.c, pure).
 */
#ifndef TOPOLOGY_NVML_NODE_H
#define TOPOLOGY_NVML_NODE_H

#include "topology/node_evidence.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/nvml/nvml_symbols.h"

/* Link numbers to ask for; more than any GPU has (NVLINK_MAXIMUM_LINKS, and Rubin's 36). */
#define NVML_MAXIMUM_LINKS 36u

struct nvml_gpu {
    struct nvml_handle *handle;
    unsigned domain, bus, device; /* PCI */
    unsigned compute;             /* 90; 0: unknown */
    /* NVLink. Links that are up are direct, to switches, hidden or of no use (to processors). */
    bool knows_links;
    unsigned links_up;
    unsigned direct[NODE_MAXIMUM_GPUS]; /* to each visible GPU */
    unsigned to_switches;
    bool says_switch;      /* the driver itself says that some lead to a switch */
    unsigned hidden;       /* to GPUs that are not visible here */
    unsigned link_version; /* NVML's code; 0: unknown */
    /* Fabric; zero where the driver knows none. */
    unsigned fabric_state, fabric_clique, fabric_health;
    int fabric_status;
    unsigned char cluster_uuid[NVML_CLUSTER_UUID_BYTES];
};

enum nvml_peer { NVML_PEER_UNKNOWN, NVML_PEER_NO, NVML_PEER_YES };

struct nvml_node {
    const char *library; /* for messages */
    struct nvml_gpu gpus[NODE_MAXIMUM_GPUS];
    enum nvml_peer peers[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS]; /* P2P through NVLink */
};

/* Fills node, and the draft's GPUs (same order) with all but what links decide. */
int nvml_node_read(const struct nvml_symbols *symbols, struct nvml_node *node,
                   struct evidence_draft *draft, struct error_info *err);

/* Counts of links, NVLink's state, cliques and faults, into the draft:
 *     links(i, j) = direct ones, else min(links to switches), where P2P through NVLink is OK
 * A GPU cut into instances (MIG) and one whose fabric is not ready have none. */
void nvml_links_decide(const struct nvml_node *node, struct evidence_draft *draft);

#endif
