/* SPDX-License-Identifier: MIT */
/*
 * group_span: where the ranks of one group of a dimension sit, as far as degrees, order and
 * the cluster's shape tell before the mapping: how many share a node, an NVLink domain, a
 * tier. The mapping later confirms or corrects it.
 * The model behind it: RANK blocks whole on a node, TP (then CP, EP) inside, PP over near
 * nodes, DP outermost (node permutation), leaves filled in order. A shard group narrower
 * than DP (HSDP) stays nearer than PP.
 * Strides come from rank_order.h. Pure; group_span_in allocates nothing.
 */
#ifndef PLANNER_GROUP_SPAN_H
#define PLANNER_GROUP_SPAN_H

#include "topology/cluster_topology.h"
#include "workload/parallelism.h"
#include "workload/rank_order.h"

enum group_dimension {
    GROUP_TP,
    GROUP_ETP,
    GROUP_CP,
    GROUP_EP,
    GROUP_PP,
    GROUP_DP,
    GROUP_SHARD,
    GROUP_STATES,           /* DP x CP, which hold the same dense parameters */
    GROUP_STATE_SHARD,      /* shard x CP: of them those that share their states */
    GROUP_REPLICATE,        /* one rank of each shard group */
    GROUP_EDP,              /* which hold the same experts */
    GROUP_EXPERT_SHARD,     /* EDP shard / D of them, or the next lower divisor of EDP */
    GROUP_EXPERT_REPLICATE, /* one rank of each of those */
    GROUP_DIMENSION_COUNT
};

struct group_span {
    unsigned size;       /* ranks of the group */
    unsigned per_node;   /* ranks of it on one node */
    unsigned per_domain; /* ranks of it in one NVLink domain (>= per_node on NVL72) */
    unsigned nodes;      /* nodes that it touches */
    int tier;            /* farthest distance, as cluster_distance */
};

/* What of a cluster decides spans; made once per request. */
struct cluster_shape {
    unsigned gpus_per_node; /* used ones */
    unsigned domain_gpus;   /* used GPUs of one NVLink domain, may span nodes; 1: none known */
    bool domain_known;
    unsigned tier_count;
    /* The largest run of nodes that never straddles a switch of that tier (the greatest
     * common divisor of the switches' node counts); 0: one switch holds every node. */
    unsigned tier_nodes[FABRIC_MAXIMUM_TIERS];
};

/* Ranks of one group; 1 at least. */
unsigned group_size(const struct degrees *degrees, enum group_dimension dimension);
/* Ranks between one member and the next; of STATES and STATE_SHARD, where CP and DP are apart,
 * between those that share a tp (as if CP lay beside DP). */
unsigned group_stride(const struct degrees *degrees, enum rank_order order,
                      enum group_dimension dimension);
/* gpus_per_node 0: all of the smallest node. Fails without memory only. */
int cluster_shape_of(const struct cluster_topology *cluster, unsigned gpus_per_node,
                     struct cluster_shape *ret, struct error_info *err);
/* degrees: complete. A group that a node's GPUs cannot hold whole counts with the largest
 * equal parts. */
void group_span_in(const struct cluster_shape *shape, const struct degrees *degrees,
                   enum rank_order order, enum group_dimension dimension, struct group_span *ret);
/* The same in one call. */
int group_span_of(const struct cluster_topology *cluster, unsigned gpus_per_node,
                  const struct degrees *degrees, enum rank_order order,
                  enum group_dimension dimension, struct group_span *ret, struct error_info *err);

#endif
