/* SPDX-License-Identifier: MIT */
/*
 * gpu_ring: the ring through a group of GPUs whose weakest NVLink is strongest (bottleneck
 * Hamiltonian cycle), by dynamic programming over subsets (Held and Karp, 1962, with
 * reachability instead of lengths). Exact up to GPU_RING_MAXIMUM GPUs. No allocation:
 * about 128 KiB of stack.
 */
#ifndef TOPOLOGY_GPU_RING_H
#define TOPOLOGY_GPU_RING_H

#include "topology/node_topology.h"

#define GPU_RING_MAXIMUM 16u

/* Weakest link of the best ring over the k GPUs; 0: there is none. Two GPUs are a ring over
 * their link. ret_order (NULL: not wanted) gets the GPUs along the ring from gpus[0] on, the
 * smaller neighbours first; without a ring, as they are. 2 <= k <= GPU_RING_MAXIMUM. */
double gpu_ring_find(const struct node_topology *node, const unsigned *gpus, unsigned k,
                     unsigned *ret_order);

/* The strengths of the links among the GPUs, each once, strongest first: what a ring's
 * weakest link can be. ret has room for k * (k - 1) / 2. Returns how many. */
unsigned gpu_ring_strengths(const struct node_topology *node, const unsigned *gpus, unsigned k,
                            double *ret);

#endif
