/* SPDX-License-Identifier: MIT */
/*
 * nic_roles: which NICs carry training traffic (rails) and which do not, and which rail
 * each GPU uses. Every decision has a reason in words.
 *
 * A table of rules, the first that holds decides: NVSwitch management functions, devices
 * without RDMA, bonds, Ethernet beside InfiniBand, ports that are down, and devices far
 * from every GPU while others sit on a GPU's own PCIe switch are no rails.
 * No I/O, no allocation.
 */
#ifndef TOPOLOGY_NIC_ROLES_H
#define TOPOLOGY_NIC_ROLES_H

#include "topology/node_evidence.h"

struct nic_candidate {
    struct evidence_nic said;
    const char *source;
    unsigned position;                       /* as the sources list them */
    enum link_kind links[NODE_MAXIMUM_GPUS]; /* to each GPU */
    enum nic_role role;
    const char *reason;
    int rail; /* 0-based, or -1 */
};

struct nic_roles {
    struct nic_candidate nics[NODE_MAXIMUM_NICS];
    unsigned count;
    unsigned gpu_count;
};

/* Fills role, reason and rail. Rails are numbered along the GPUs that they are nearest to,
 * so that rail k serves GPU k where each GPU has its own. */
void nic_roles_decide(struct nic_roles *roles);

/* The rails for one GPU, nearest first: by link class, NUMA node, then rail number. GPUs
 * that share equally near rails start at different ones. Returns how many. */
unsigned nic_roles_order(const struct nic_roles *roles, const struct node_gpu *gpus, unsigned gpu,
                         unsigned ret_nics[NODE_MAXIMUM_NICS]);

#endif
