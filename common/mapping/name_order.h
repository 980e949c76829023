/* SPDX-License-Identifier: MIT */
/*
 * name_order: nodes of a cluster sorted by node_name_compare, fast for the names clusters
 * have: one common beginning and a number ("gpu-r[01-64]n[1-8]"), usually sorted already.
 */
#ifndef MAPPING_NAME_ORDER_H
#define MAPPING_NAME_ORDER_H

#include "base/error.h"
#include "topology/cluster_topology.h"

/* Sorts node indices in place; equal names keep the order of their indices. */
int name_order_sort(const struct cluster_topology *cluster, unsigned *nodes, size_t count,
                    struct error_info *err);

#endif
