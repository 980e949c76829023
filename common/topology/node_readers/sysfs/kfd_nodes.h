/* SPDX-License-Identifier: MIT */
/*
 * kfd_nodes: the files of AMD's KFD topology as numbers, before any conclusion: one folder per
 * node (CPUs of a NUMA node, or a GPU, or a partition of one), its memory banks and its links.
 * What cannot be read, or is malformed, becomes a note in the draft.
 * Source of names and meanings: the Linux kernel's amdkfd topology as facts on real trees show
 * it (MI210, MI300X in CPX mode).
 */
#ifndef TOPOLOGY_KFD_NODES_H
#define TOPOLOGY_KFD_NODES_H

#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/sysfs/sysfs_tree.h"

#define KFD_MAXIMUM_NODES 1024u /* 64 GPUs in 8 partitions each, and CPUs */
#define KFD_NAME_BYTES 64u
#define KFD_NO_GPU (~0u)

#define KFD_LINK_PCIE 2u
#define KFD_LINK_XGMI 11u
#define KFD_WEIGHT_ONE_HOP 15u /* 13 inside one package; 30 is two hops */

struct kfd_node {
    bool present;
    bool readable; /* its properties are for us (a device cgroup can hide them) and make sense */
    uint64_t cpu_cores_count;
    uint64_t simd_count; /* > 0: a GPU */
    uint64_t gfx_target_version;
    uint64_t vendor_id;
    uint64_t device_id;
    uint64_t location_id; /* bus << 8 | device << 3 | function; a partition's number << 28 */
    uint64_t domain;
    uint64_t hive_id;
    uint64_t unique_id;
    uint64_t num_xcc;
    uint64_t memory_bytes; /* 0: unknown */
    char name[KFD_NAME_BYTES];
    unsigned gpu; /* the reader's: KFD_NO_GPU, or which GPU this is (a part of) */
};

struct kfd_link {
    unsigned from;
    unsigned to; /* a readable one */
    uint64_t type;
    uint64_t weight;
    uint64_t minimum_megabytes_per_second; /* of one link; 0: unknown */
    uint64_t maximum_megabytes_per_second; /* of all that the pair has; 0: unknown */
};

struct kfd_nodes {
    struct sysfs_tree *tree; /* these three are the caller's to set */
    const char *folder;
    struct evidence_draft *draft;
    struct kfd_node nodes[KFD_MAXIMUM_NODES]; /* by number */
};

typedef void (*kfd_link_fn)(void *context, const struct kfd_link *link);

/* A number past the maximum is noted and left out. */
int kfd_nodes_read(struct kfd_nodes *nodes, struct error_info *err);

enum kfd_links { KFD_LINKS_ABSENT, KFD_LINKS_PARTIAL, KFD_LINKS_WHOLE };

/* Calls take for each link in kind ("io_links", "p2p_links") of one node. Links to nodes that are
 * hidden from us pass; *ret is PARTIAL where one was malformed and left out. */
int kfd_links_read(struct kfd_nodes *nodes, unsigned node, const char *kind, kfd_link_fn take,
                   void *context, enum kfd_links *ret, struct error_info *err);

#endif
