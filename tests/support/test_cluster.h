/* SPDX-License-Identifier: MIT */
/*
 * test_cluster: small clusters in one line, for tests of everything behind the topology.
 */
#ifndef TESTS_SUPPORT_TEST_CLUSTER_H
#define TESTS_SUPPORT_TEST_CLUSTER_H

#include "topology/cluster_topology.h"

/* A node of that many GPUs, each with a NIC of its own. domain_of[gpu] names the NVLink domain
 * of a GPU (every pair in one at the same rate); NULL: all in one domain. */
struct node_topology *test_node_create(unsigned gpus, const unsigned *domain_of,
                                       enum nvlink_state nvlink);

/* Lists in bracket notation; nodes or children may be NULL. */
struct test_switch {
    const char *name, *nodes, *children;
};

struct test_cluster {
    const char *nodes; /* the cluster's own order */
    unsigned gpus;     /* of each node, all in one NVLink domain */
    const struct test_switch *switches;
    size_t switch_count;
    const char *const *domains; /* nodes that share an NVLink domain */
    size_t domain_count;
};

/* NULL and err on any mistake. */
struct cluster_topology *test_cluster_create(const struct test_cluster *test,
                                             struct error_info *err);

/* The same for generated clusters: names in cluster order, the leaf of each (FABRIC_NONE: in no
 * switch), leaf_count leaves with leaves_per_pod of them under one spine (0: one spine for all),
 * and a core above several spines. */
struct test_grid {
    const struct node_list *names;
    const unsigned *leaves; /* by node */
    unsigned leaf_count, leaves_per_pod;
    const unsigned *domains; /* NVLink domain by node, FABRIC_NONE: its own; NULL: all their own */
    unsigned domain_count;
    unsigned gpus;
};

struct cluster_topology *test_grid_create(const struct test_grid *grid, struct error_info *err);

#endif
