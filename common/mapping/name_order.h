/* SPDX-License-Identifier: MIT */
/*
 * name_order: nodes of a cluster sorted by node_name_compare; O(nodes) for the names that
 * clusters have, all alike but for up to four numbers ("gpu-r[01-64]n[1-8]").
 */
#ifndef MAPPING_NAME_ORDER_H
#define MAPPING_NAME_ORDER_H

#include "base/error.h"
#include "topology/cluster_topology.h"

/* Sorts node indices in place; equal names keep the order of their indices. */
int name_order_sort(const struct cluster_topology *cluster, unsigned *nodes, size_t count,
                    struct error_info *err);

#endif
