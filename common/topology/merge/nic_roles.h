/* SPDX-License-Identifier: MIT */
/*
 * nic_roles: which NICs carry training traffic (rails) and which do not, and which rail
 * each GPU uses. Every decision has a reason in words.
 *
 * A table of rules, the first that holds decides. No rails are:
 * - management functions of NVSwitches, and devices without RDMA;
 * - bonds and Ethernet, while a usable NIC that is no bond, or InfiniBand, is not far: where all
 *   others are far (storage), RoCE and bonds beside the GPUs are the rails;
 * - ports that are down;
 * - far devices: NODE or SYS to every GPU, while another sits at PIX or PXB to one;
 * - virtual functions while there are whole devices (a VM that has only those uses them);
 * - cards of several ports, while others have a card each and no NIC is known to be near any
 *   GPU (GB200 trays, whose GPUs are not on PCIe: BlueField cards carry storage).
 * A role that people gave stands, whatever the rules say; a rail of theirs whose port is down
 * keeps its role and number, and serves no GPU until it is up again.
 * No I/O, no allocation.
 */
#ifndef TOPOLOGY_NIC_ROLES_H
#define TOPOLOGY_NIC_ROLES_H

#include "topology/node_evidence.h"

struct nic_candidate {
    struct evidence_nic said;
    const char *source;                      /* the highest that names it */
    size_t rank;                             /* its index; 0 is the highest */
    unsigned spoken;                         /* who speaks of it: one bit for each index */
    unsigned position;                       /* as the sources list them */
    enum link_kind links[NODE_MAXIMUM_GPUS]; /* to each GPU */
    enum nic_role role;
    const char *reason;
    int rail; /* 0-based, or -1 */
};

struct nic_roles {
    unsigned count;
    unsigned gpu_count;
    struct nic_candidate nics[NODE_MAXIMUM_NICS];
};

/* Fills role, reason and rail. Rails are numbered along the GPUs that they are nearest to,
 * so that rail k serves GPU k where each GPU has its own. */
void nic_roles_decide(struct nic_roles *roles);

/* A rail that carries traffic now: its port is not known to be down. */
bool nic_roles_is_usable_rail(const struct nic_candidate *nic);

/* The rails for one GPU, nearest first: by link class, NUMA node, then rail number. GPUs
 * that share equally near rails start at different ones. Those that are down are left out.
 * Returns how many. */
unsigned nic_roles_order(const struct nic_roles *roles, const struct node_gpu *gpus, unsigned gpu,
                         unsigned ret_nics[NODE_MAXIMUM_NICS]);

#endif
