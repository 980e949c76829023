/* SPDX-License-Identifier: MIT */
/*
 * link_rates: bandwidths between GPUs as one source gives them, in rates or in numbers of
 * links, held against what the GPUs' models have. Internal to the merge.
 */
#ifndef TOPOLOGY_LINK_RATES_H
#define TOPOLOGY_LINK_RATES_H

#include "topology/merge/merge_state.h"

/* Bytes per second between two GPUs of a source, one direction; 0: no link;
 * NVLINK_RATE_UNKNOWN. *ret_assumed tells that only the number of links is known, times
 * NVLINK_RATE_ASSUMED. */
double link_rate_of_pair(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                         bool *ret_assumed);

/* Pairs of this source meet in switches: it says so, or a GPU's counted links are more than its
 * model has (a part of a node behind switches: each peer is reached by all of them). */
bool link_rates_switched(const struct merge_state *state, size_t e);

/* What one GPU gets when its whole domain works together. Behind switches every pair runs at
 * the GPU's full speed: the best pair of the row. Direct links add up: the sum of the row
 * (rings and meshes use them all: 8 V100 in the cube mesh reach 130 of the 150). */
double link_capability(const struct node_topology *node, unsigned gpu, bool switched);

/* hwloc 2.9.0 counts A100 links twice, and ROCm SMI's XGMI figure is a constant: no GPU's links
 * add up to more than its model has. rates: gpu_count^2 of the node, scaled in place. measured:
 * by a reader; what people wrote stands as it is. */
void link_rates_limit(struct merge_state *state, double *rates, bool switched, bool measured);

#endif
