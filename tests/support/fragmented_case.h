/* SPDX-License-Identifier: MIT */
/*
 * fragmented_case: jobs on what a busy cluster leaves free, for tests and benches of the
 * mapping: leaves filled unevenly, one or two tiers above them, at times NVLink domains wider
 * than a node and nodes to spare. The same case for the same seed, everywhere (Knuth's MMIX
 * generator).
 *
 * Bytes of a pair per step: PP and DP 0.25 … 5 GB, TP 10 GB inside the node; CP, EP 0.5 … 4 GB
 * where they leave it. Links: 450 GB/s inside a node or domain, 50 GB/s over a leaf, above it
 * 1.17 (collectives) and 1.70 times (messages) as long a tier (arXiv 2509.15940, as in
 * efficiencies.yaml), in a third of the cases also four times for a tapered spine.
 */
#ifndef TESTS_SUPPORT_FRAGMENTED_CASE_H
#define TESTS_SUPPORT_FRAGMENTED_CASE_H

#include "mapping/rank_map.h"

#define FRAGMENTED_GPUS 8u

struct fragmented_range {
    unsigned nodes_low, nodes_high; /* of the cluster; spare ones included */
    bool plain;                     /* no domains, spare nodes, CP or EP */
};

struct fragmented_case {
    uint64_t seed;
    unsigned node_count, leaf_count, leaves_per_pod; /* 0: one spine above all leaves */
    unsigned domain_count;                           /* 0: no NVLink between nodes */
    unsigned block_count;                            /* nodes in use */
    const unsigned *leaves, *domains;                /* of each node, neighbours side by side */
    bool tapered;
    struct degrees degrees; /* TP fills a node */
    enum rank_order order;
    struct traffic traffic;
    struct link_seconds seconds;
    struct arena *arena;
};

/* How its cluster is written down: node i of the case has the number numbers[i] in its name, the
 * cluster's position p holds node order[p], leaf l is called and listed as leaves[l]. NULL: as
 * it is. */
struct fragmented_naming {
    const unsigned *numbers, *order, *leaves;
};

struct fragmented_case *fragmented_case_create(uint64_t seed, const struct fragmented_range *range,
                                               struct error_info *err);
/* Leaves of one size, all used, below one spine; pp stages of leaf_count * leaf_nodes / pp
 * replicas. The seed chooses traffic and links. */
struct fragmented_case *fragmented_case_aligned(uint64_t seed, unsigned leaf_count,
                                                unsigned leaf_nodes, unsigned pp,
                                                struct error_info *err);
void fragmented_case_free(struct fragmented_case *sample);
struct cluster_topology *fragmented_case_cluster(const struct fragmented_case *sample,
                                                 const struct fragmented_naming *naming,
                                                 struct error_info *err);
/* The request for objective=cost with the default budget. */
struct node_mapping_request fragmented_case_request(const struct fragmented_case *sample,
                                                    const struct cluster_topology *cluster);
/* "seed 7: 16 of 20 nodes, 4 leaves, pp 4 dp 4", into a buffer of the caller. */
void fragmented_case_describe(const struct fragmented_case *sample, char *ret, size_t size);

/* Left to right: the nodes of the fabric order, filled with blocks by this order. */
enum fixed_order {
    FIXED_REPLICAS, /* replica after replica: pipelines side by side */
    FIXED_STAGES,   /* stage after stage */
    FIXED_RANKS,    /* in the order of RANK, on the cluster's own node order */
    FIXED_ORDER_COUNT
};

/* ret_nodes[block]: cluster node; room for block_count. */
int fragmented_case_fix(const struct fragmented_case *sample,
                        const struct cluster_topology *cluster, enum fixed_order order,
                        unsigned *ret_nodes, struct error_info *err);
/* Exposed seconds of any placement, counted by mapping_cost. */
double fragmented_case_seconds(const struct fragmented_case *sample,
                               const struct cluster_topology *cluster, const unsigned *nodes);
/* The same if every pair between nodes were as near as two nodes can be. */
double fragmented_case_near_seconds(const struct fragmented_case *sample);

struct case_optimum {
    bool proven;         /* else it took too long, and seconds is 0 */
    double seconds;      /* exposed, by mapping_cost */
    double milliseconds; /* of processor time, of the search */
};

/* The exact search, in a child with so many seconds of processor time. */
int fragmented_case_optimum(const struct fragmented_case *sample,
                            const struct cluster_topology *cluster, unsigned limit_seconds,
                            struct case_optimum *ret, struct error_info *err);

DEFINE_CLEANUP(fragmented_case);

#endif
