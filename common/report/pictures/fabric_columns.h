/* SPDX-License-Identifier: MIT */
/*
 * fabric_columns: which parts of a fabric its picture shows, from left to right. A column is
 * the nodes of one leaf; where leaves carry rails, the nodes that share one set of leaves; or a
 * bundle that stands for many of them. Inside this folder only.
 *
 * Trees: every switch above gets a share of the columns; where its children are more, the
 * first ones and the last are shown and a bundle for the rest. Time: linear in nodes and
 * switches, with rails nodes * rails * log(nodes).
 */
#ifndef REPORT_PICTURES_FABRIC_COLUMNS_H
#define REPORT_PICTURES_FABRIC_COLUMNS_H

#include "base/error.h"
#include "topology/cluster_topology.h"

#define COLUMNS_MAXIMUM 16u   /* where all of it fits */
#define COLUMNS_OF_A_PART 12u /* where it does not: wider ones, bundles have longer words */
#define COLUMNS_OF_RAILS 4u   /* each as wide as its leaves */
#define COLUMN_LEAVES 8u      /* leaves shown of one set */

enum column_kind {
    COLUMN_LEAF,   /* leaf_count leaves and the nodes below each of them */
    COLUMN_OWN,    /* nodes that hang directly from `above`, which has children too */
    COLUMN_BUNDLE, /* switches of one parent, or further sets of leaves */
    COLUMN_ASTRAY, /* nodes that no switch names */
    COLUMN_KIND_COUNT
};

struct fabric_column {
    enum column_kind kind;
    unsigned leaves[COLUMN_LEAVES];        /* switches; with rails by rail */
    unsigned leaf_count;                   /* of leaves */
    unsigned leaf_total;                   /* of the set, which may be larger */
    unsigned above;                        /* of a bundle or COLUMN_OWN; or FABRIC_NONE */
    unsigned top_tier;                     /* of a bundle: its highest switches */
    size_t switches[FABRIC_MAXIMUM_TIERS]; /* of a bundle, by tier */
    size_t sets;                           /* of a bundle of sets of leaves; else 0 */
    size_t first, node_count;              /* in order */
};

/* Nodes are the cluster's where there is one, else the fabric's. */
struct fabric_columns {
    const struct fabric *fabric;            /* or NULL */
    const struct cluster_topology *cluster; /* or NULL */
    struct fabric_column columns[COLUMNS_MAXIMUM + 2];
    unsigned count;
    unsigned *order; /* nodes, column after column */
    size_t node_count;
    bool railed;
};

int fabric_columns_init(struct fabric_columns *columns, const struct fabric *fabric,
                        const struct cluster_topology *cluster, struct error_info *err);
void fabric_columns_done(struct fabric_columns *columns);

/* Of a node of order. */
const char *columns_node_name(const struct fabric_columns *columns, size_t node);
unsigned columns_fabric_node(const struct fabric_columns *columns, size_t node);
unsigned columns_nvlink_block(const struct fabric_columns *columns, size_t node);

DEFINE_CLEANUP_DONE(fabric_columns);

#endif
