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

/* Rank of a source in the ladder: a higher one wins a conflict. */
enum evidence_source {
    EVIDENCE_PCI, /* PCI and NUMA only: says nothing of NVLink */
    EVIDENCE_KFD,
    EVIDENCE_NCCL_XML,
    EVIDENCE_TOPO_M,
    EVIDENCE_SLURM_GRES,
    EVIDENCE_HWLOC, /* distances */
    EVIDENCE_NVML,
    EVIDENCE_PRESET,
    EVIDENCE_ADMIN, /* a file of ours */
    EVIDENCE_SOURCE_COUNT
};

struct evidence_gpu {
    const char *bus_id;     /* normalised "dddd:bb:dd.f", lower case; NULL in presets */
    const char *model_text; /* as the source says */
    const char *uuid;
    uint64_t memory_bytes;
    int numa;
};

struct evidence_nic {
    const char *name;
    const char *bus_id;
    const char *driver_class; /* "openfabrics", "ethernet", "hsi", … or NULL */
    enum nic_state state;
    bool is_ethernet; /* link layer Ethernet by whatever sign; false: IB or unknown */
    bool is_virtual;
    uint64_t guid; /* 0: unknown */
    int numa;
    double bytes_per_second;
};

struct node_evidence {
    enum evidence_source source;
    const char *source_text; /* "hwloc xml turin.xml" */
    const struct evidence_gpu *gpus;
    unsigned gpu_count;
    const struct evidence_nic *nics;
    unsigned nic_count;
    enum nvlink_state nvlink;
    const double *nvlink_bytes_per_second; /* gpu_count^2 after the reader's closure, or NULL */
    bool nvlink_switched;                  /* pairs meet in switches, not in direct links */
    const enum link_kind *gpu_links;       /* gpu_count^2 PCI classes, or NULL */
    const enum link_kind *nic_links;       /* gpu_count x nic_count, or NULL */
    unsigned nvlink_domain_nodes;          /* 0: unknown */
    double gpu_nvlink_bytes_per_second;    /* 0: unknown */
    double pcie_bytes_per_second;
    uint64_t host_memory_bytes;
    uint64_t host_nvme_bytes;
    unsigned cpu_count;
    const char *const *notes; /* decisions for --explain ("mlx5_0: port is down") */
    size_t note_count;
    struct arena *arena;
};

void node_evidence_free(struct node_evidence *evidence);

/* Merge by the ladder; facts keep their source. count >= 1. */
struct node_topology *node_topology_merge(const char *name,
                                          const struct node_evidence *const *evidence, size_t count,
                                          const struct gpu_catalogue *gpus, struct error_info *err);

DEFINE_CLEANUP(node_evidence);

#endif
