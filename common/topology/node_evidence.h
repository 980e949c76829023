/* SPDX-License-Identifier: MIT */
/*
 * node_evidence: what one source says about a node, before any conclusion. Every reader
 * (node_readers/, presets, our own file) returns this and nothing else; node_topology_merge
 * draws the conclusions, also from a single source.
 * A value that a source does not know stays at its "unknown" (0, NULL, NUMA_UNKNOWN).
 */
#ifndef TOPOLOGY_NODE_EVIDENCE_H
#define TOPOLOGY_NODE_EVIDENCE_H

#include "base/error.h"
#include "topology/gpu_catalogue.h"
#include "topology/node_topology.h"

/* Rank of a source in the ladder: a higher one wins a conflict. The kernel's own word on AMD's
 * links and on HCAs stands above hwloc, whose XGMI figures are constants and which knows no
 * link layer; NVML's P2P status is the truth for NVIDIA. */
enum evidence_source {
    EVIDENCE_PCI, /* PCI and NUMA only: says nothing of NVLink */
    EVIDENCE_NCCL_XML,
    EVIDENCE_TOPO_M,
    EVIDENCE_SLURM_GRES,
    EVIDENCE_HWLOC,      /* distances */
    EVIDENCE_INFINIBAND, /* sysfs: NICs only */
    EVIDENCE_KFD,
    EVIDENCE_NVML,
    EVIDENCE_PRESET,
    EVIDENCE_ADMIN, /* a file of ours */
    EVIDENCE_SOURCE_COUNT
};

#define EVIDENCE_WARNING "warning: "
#define NVLINK_RATE_UNKNOWN (-1.0) /* of a pair: this source does not know */
#define NVLINK_COUNT_UNKNOWN (~0u) /* likewise, in nvlink_link_counts */

struct evidence_gpu {
    const char *bus_id;     /* normalised "dddd:bb:dd.f", lower case; NULL: named by position */
    const char *model_text; /* as the source says */
    const char *uuid;
    const char *cpus;          /* CPU list "0-23,96-119"; NULL: unknown */
    const char *nvlink_clique; /* "<ClusterUUID>.<CliqueID>" of a completed fabric; or NULL */
    const char *problem;       /* why it is degraded, in words; NULL: nothing is known against it */
    uint64_t memory_bytes;
    int numa;
    bool mig;         /* cut into instances: no NVLink, no peers */
    bool nvlink_lost; /* it has NVLinks, and none of them works (see problem) */
};

struct evidence_nic {
    const char *name;
    const char *bus_id;
    const char *driver_class; /* "openfabrics", "ethernet", "hsi", "nvswitch", … or NULL */
    const char *problem;      /* "port is down", "200 of 400 Gb/s"; or NULL */
    enum nic_state state;
    bool is_ethernet; /* link layer Ethernet by whatever sign; false: IB or unknown */
    bool is_virtual;
    bool shares_card; /* with another NIC: a card of several ports, or one PCIe switch */
    uint64_t guid;    /* 0: unknown */
    int numa;
    double bytes_per_second;
    /* Decided already (a file of ours): the role, its rail and the reason. */
    bool has_role;
    enum nic_role role;
    int rail; /* or -1 */
    const char *reason;
};

struct node_evidence {
    enum evidence_source source;
    const char *source_text; /* "hwloc xml turin.xml" */
    const char *node_name;   /* the host that a file of ours is about; or NULL */
    const struct evidence_gpu *gpus;
    unsigned gpu_count;
    const struct evidence_nic *nics;
    unsigned nic_count;
    enum nvlink_state nvlink;
    /* gpu_count^2 after the reader's closure, or NULL. 0: no link; NVLINK_RATE_UNKNOWN. */
    const double *nvlink_bytes_per_second;
    /* Instead of rates, gpu_count^2: how many links a pair has ("NV18"); behind switches the
     * links that both have to them; NVLINK_COUNT_UNKNOWN. The merge rates them by the GPU's
     * model, or by this: */
    const unsigned *nvlink_link_counts;
    double nvlink_link_bytes_per_second; /* of one link, as far as this source tells; 0: unknown */
    bool nvlink_switched;                /* pairs meet in switches, not in direct links */
    bool nvlink_assumed;                 /* the rates are counts times NVLINK_RATE_ASSUMED */
    bool nvlink_leaves_node;             /* the domain is wider than the node (GB200 trays) */
    const enum link_kind *gpu_links;     /* gpu_count^2 PCI classes, or NULL */
    const enum link_kind *nic_links;     /* gpu_count x nic_count, or NULL */
    unsigned nvlink_domain_nodes;        /* 0: unknown */
    double gpu_nvlink_bytes_per_second;  /* 0: unknown */
    double pcie_bytes_per_second;
    uint64_t host_memory_bytes;
    uint64_t host_nvme_bytes;
    unsigned cpu_count;
    bool is_part;               /* of a node that was judged whole: its links are not all here */
    const char *driver_version; /* "580.65.06", or NULL */
    /* Decisions for --explain ("mlx5_0: port is down"). One that begins with EVIDENCE_WARNING is
     * a warning too: part of what the source holds could not be used. */
    const char *const *notes;
    size_t note_count;
    /* What an earlier merge found and from where (a node file carries it); or NULL. Alone,
     * such evidence keeps these facts; beside others the merge writes its own. */
    const struct topology_fact *facts;
    size_t fact_count;
    struct arena *arena;
};

void node_evidence_free(struct node_evidence *evidence);

/* Merge by the ladder; facts keep their source. count >= 1. gpus may be NULL: models stay as the
 * sources name them (evidence of a node that was merged before). */
struct node_topology *node_topology_merge(const char *name,
                                          const struct node_evidence *const *evidence, size_t count,
                                          const struct gpu_catalogue *gpus, struct error_info *err);

/* The same of one source alone. (What one source cannot contradict stays out of the plugin.) */
struct node_topology *node_topology_of(const char *name, const struct node_evidence *evidence,
                                       const struct gpu_catalogue *gpus, struct error_info *err);

DEFINE_CLEANUP(node_evidence);

#endif
