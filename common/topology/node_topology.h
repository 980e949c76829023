/* SPDX-License-Identifier: MIT */
/*
 * node_topology: one node as everything after the merge sees it. Immutable; everything
 * belongs to its arena. Made only by node_topology_merge() (node_evidence.h), also from a
 * single source.
 *
 * GPUs are sorted by PCI bus id and their position is the GPU index used everywhere
 * (CUDA_DEVICE_ORDER=PCI_BUS_ID). Bandwidths are bytes per second, one direction.
 */
#ifndef TOPOLOGY_NODE_TOPOLOGY_H
#define TOPOLOGY_NODE_TOPOLOGY_H

#include "base/arena.h"
#include "base/error.h"
#include "topology/link.h"
#include <stdbool.h>
#include <stdint.h>

#define NODE_MAXIMUM_GPUS 64u
#define NODE_MAXIMUM_NICS 128u
#define NUMA_UNKNOWN (-1)
/* One link of a GPU whose model nobody names: NVLink 1's, the slowest that meets in switches. */
#define NVLINK_RATE_ASSUMED 20e9

enum nic_role { NIC_RAIL, NIC_STORAGE, NIC_MANAGEMENT, NIC_NVSWITCH, NIC_OTHER, NIC_ROLE_COUNT };
enum nic_state { NIC_STATE_UNKNOWN, NIC_ACTIVE, NIC_DOWN, NIC_STATE_COUNT };

struct node_gpu {
    const char *model;      /* catalogue name ("h100-sxm"), or what the source said, or NULL */
    const char *bus_id;     /* "0000:06:00.0", or NULL (presets) */
    const char *uuid;       /* or NULL */
    const char *cpus;       /* near CPUs as a list "0-23,96-119", or NULL */
    const char *problem;    /* why it is degraded, in words; NULL: nothing is known against it */
    bool mig;               /* cut into instances: no NVLink, no peers, no TP */
    bool nvlink_lost;       /* no peer is reached: none of its NVLinks works, or the driver does
                             * not list it at all (see problem) */
    uint64_t memory_bytes;  /* 0: unknown */
    int numa;               /* or NUMA_UNKNOWN */
    unsigned nvlink_domain; /* index into domains */
    const unsigned *nics;   /* NIC indices, nearest first; usable rails only */
    unsigned nic_count;
};

struct node_nic {
    const char *name;   /* "mlx5_4"; NULL where only the number of NICs is known (presets) */
    const char *bus_id; /* or NULL */
    enum nic_role role;
    enum nic_state state;
    int rail; /* 0-based, or -1 */
    int numa;
    bool is_ethernet;        /* link layer; false: InfiniBand or unknown */
    double bytes_per_second; /* 0: unknown */
    const char *reason;      /* why this role, for --explain; or NULL */
    const char *problem;     /* "200 of 400 Gb/s", or NULL */
};

/* One NVLink/XGMI domain inside the node: GPU indices, ascending. A GPU without known
 * links is a domain of its own. */
struct node_domain {
    const unsigned *gpus;
    unsigned gpu_count;
};

struct topology_fact {
    const char *fact; /* "gpus", "nvlink", "gpu 3 memory" */
    const char *value;
    const char *source; /* "hwloc xml", "preset dgx-h100", … */
};

struct node_topology {
    const char *name; /* preset or file name, for people */
    const struct node_gpu *gpus;
    unsigned gpu_count;
    const struct node_nic *nics;
    unsigned nic_count;
    enum nvlink_state nvlink;
    /* gpu_count * gpu_count, row-major [i * gpu_count + j], symmetric, diagonal 0. */
    const double *nvlink_bytes_per_second; /* own closure over switches; 0: no link or unknown */
    const enum link_kind *links;           /* the nearest known kind; diagonal LINK_UNKNOWN */
    const enum link_kind *nic_links;       /* gpu_count x nic_count, LINK_UNKNOWN where unknown */
    bool nvlink_switched;                  /* pairs meet in switches */
    bool nvlink_assumed;                   /* rates only compare: links were counted, and each is
                                            * assumed to carry NVLINK_RATE_ASSUMED */
    bool nvlink_leaves_node;               /* the domain is wider than this node */
    const char *nvlink_clique;             /* "<ClusterUUID>.<CliqueID>": equal ids, one domain */
    const struct node_domain *domains;
    unsigned domain_count;
    /* Capability of one GPU inside its domain for a group of all of it (0: unknown): what the
     * source says, else the smallest over the GPUs that have links of: behind switches the
     * best pair of its row, with direct links the sum of its row. The matrix itself never
     * gives a GPU more than the catalogue has for its model, unless people wrote it. */
    double gpu_nvlink_bytes_per_second;
    double gpu_nic_bytes_per_second; /* sum of active rails / GPUs; 0: unknown */
    double pcie_bytes_per_second;    /* GPU <-> host, one direction; 0: unknown */
    unsigned nvlink_domain_nodes;    /* nodes that share one NVLink domain (1; 18 on NVL72);
                                      * 1 as well where nvlink_leaves_node and how far is not
                                      * known */
    uint64_t host_memory_bytes;      /* 0: unknown */
    uint64_t host_nvme_bytes;        /* 0: unknown */
    unsigned cpu_count;              /* 0: unknown */
    const char *driver_version;      /* of the GPUs, or NULL */
    const char *const *warnings;     /* degraded devices, conflicts between sources */
    size_t warning_count;
    const struct topology_fact *facts;
    size_t fact_count;
    unsigned sharers; /* beside the first holder: node_topology_share */
    struct arena *arena;
};

const char *nic_role_name(enum nic_role role);    /* "rail", "storage", … */
const char *nic_state_name(enum nic_state state); /* "active", "down", "unknown" */

/* The last of those who hold it frees it. */
void node_topology_free(struct node_topology *node);
/* One more who holds it, and frees it once. From any thread. */
struct node_topology *node_topology_share(const struct node_topology *node);

/* The largest NVLink domain inside the node, in GPUs (1 when none is known). */
unsigned node_topology_largest_domain(const struct node_topology *node);

/* GPUs that no TP group can use: cut into instances, or without the NVLink of their model. */
struct node_fault {
    unsigned gpu;       /* the first of them */
    const char *reason; /* "cut into MIG instances", "lost NVLink: …" */
    /* Without them, joined by NVLink or not: PCIe joins all. At least 1 where one is cut
     * into instances, which work alone; 0: every GPU has lost its NVLink. */
    unsigned sound_gpus;
};

/* False: nothing is known against any GPU. */
bool node_topology_find_fault(const struct node_topology *node, struct node_fault *ret);

/* All GPUs in one domain that is an even full mesh or sits behind switches: every group of k
 * is as good as any other. A single GPU is. */
bool node_topology_is_uniform(const struct node_topology *node);

DEFINE_CLEANUP(node_topology);

#endif
