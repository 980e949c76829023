/* SPDX-License-Identifier: MIT */
/*
 * node_layout: where everything of a node stands in its picture. GPUs stand in rows of at most
 * LAYOUT_ROW_GPUS, side by side with those of their NUMA node; a NIC stands below the GPUs that
 * it is nearest to, or, where no source says so, in a strip below all rows.
 *
 * Which GPUs a NIC belongs to: those with the nearest PCIe path to it (PIX, PXB or PHB); else
 * those of its NUMA node, and of them, or where that is not known of all, those that have it
 * first in their list (rails): assigned, not known to be near. All arrays are by the node's own
 * indices. Pure; no allocation.
 */
#ifndef REPORT_PICTURES_NODE_LAYOUT_H
#define REPORT_PICTURES_NODE_LAYOUT_H

#include "topology/node_topology.h"

#define LAYOUT_ROW_GPUS 8u
#define LAYOUT_FRAMES (2u * NODE_MAXIMUM_GPUS)
#define LAYOUT_SLOT 112.0 /* from one GPU to the next */
#define LAYOUT_BOX 100.0  /* width of a GPU and of a NIC */
#define LAYOUT_STRIP (~0u)

/* GPUs of one NUMA node in one row; NUMA_UNKNOWN: of no known one. */
struct layout_frame {
    int numa;
    unsigned row, gpu_count;
    const char *cpus; /* or NULL */
    double left, right;
};

struct layout_gpu {
    unsigned row, frame;
    double x; /* its middle */
};

/* NICs that belong to the same GPUs, and how they are joined. */
struct layout_group {
    uint64_t gpus; /* bit i: GPU i */
    unsigned row;  /* or LAYOUT_STRIP */
    bool wired;    /* false: only the NUMA node is the same; no path is drawn */
    enum link_kind kind;
    unsigned nic_count;
    double left, right; /* of the path between them */
    unsigned lane;      /* of the path, from 0 */
};

struct layout_nic {
    unsigned group;
    double x;
    unsigned lane; /* from 0, downward */
};

struct layout_row {
    double right;
    unsigned path_lanes, nic_lanes;
};

struct node_layout {
    struct layout_frame frames[LAYOUT_FRAMES];
    unsigned frame_count;
    struct layout_row rows[NODE_MAXIMUM_GPUS];
    unsigned row_count;
    struct layout_gpu gpus[NODE_MAXIMUM_GPUS];
    struct layout_group groups[NODE_MAXIMUM_NICS];
    unsigned group_count;
    struct layout_nic nics[NODE_MAXIMUM_NICS];
    double left, right; /* of the widest row */
};

/* The rows stand in the middle of a picture at least narrowest wide. */
void node_layout_make(const struct node_topology *node, double narrowest, struct node_layout *ret);

/* Lanes for intervals: the lowest one that is free from left to right, which is then taken. */
#define LAYOUT_INTERVALS (NODE_MAXIMUM_NICS + NODE_MAXIMUM_GPUS)
struct lane_set {
    struct {
        double left, right;
        unsigned lane;
    } taken[LAYOUT_INTERVALS];
    unsigned count, lanes;
};
unsigned lane_set_take(struct lane_set *set, double left, double right);

#endif
