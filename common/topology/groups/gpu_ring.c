/* SPDX-License-Identifier: MIT */
#include "topology/groups/gpu_ring.h"
#include <string.h>

#define SUBSETS (1u << (GPU_RING_MAXIMUM - 1))

static double link_rate(const struct node_topology *node, unsigned first, unsigned second)
{
    return node->nvlink_bytes_per_second[(size_t)first * node->gpu_count + second];
}

unsigned gpu_ring_strengths(const struct node_topology *node, const unsigned *gpus, unsigned k,
                            double *ret)
{
    unsigned count = 0;
    for (unsigned i = 0; i < k; i++) {
        for (unsigned j = 0; j < i; j++) {
            double rate = link_rate(node, gpus[i], gpus[j]);
            unsigned at = count;
            while (at > 0 && ret[at - 1] < rate)
                at--;
            if (rate <= 0 || (at > 0 && ret[at - 1] <= rate))
                continue;
            memmove(&ret[at + 1], &ret[at], (count - at) * sizeof(*ret));
            ret[at] = rate;
            count++;
        }
    }
    return count;
}

/* neighbours[i]: bit j when the link between gpus[i] and gpus[j] has at least that strength. */
static void find_neighbours(const struct node_topology *node, const unsigned *gpus, unsigned k,
                            double strength, unsigned *neighbours)
{
    for (unsigned i = 0; i < k; i++) {
        neighbours[i] = 0;
        for (unsigned j = 0; j < k; j++)
            if (i != j && link_rate(node, gpus[i], gpus[j]) >= strength)
                neighbours[i] |= 1u << j;
    }
}

/* The ring starts at GPU 0. ends[s]: the GPUs at which a path from GPU 0 through exactly the
 * set s can end; bit i of s and of its entry stands for GPU i + 1. True: a ring exists. */
static bool find_paths(const unsigned *neighbours, unsigned k, uint16_t *ends)
{
    unsigned full = (1u << (k - 1)) - 1;
    memset(ends, 0, ((size_t)full + 1) * sizeof(*ends));
    for (unsigned i = 0; i + 1 < k; i++)
        if (neighbours[0] & 1u << (i + 1))
            ends[1u << i] = (uint16_t)(1u << i);
    for (unsigned set = 1; set <= full; set++) {
        for (unsigned left = ends[set]; left; left &= left - 1) {
            unsigned end = (unsigned)__builtin_ctz(left);
            unsigned next = neighbours[end + 1] >> 1 & full & ~set;
            for (; next; next &= next - 1) {
                unsigned bit = next & -next;
                ends[set | bit] = (uint16_t)(ends[set | bit] | bit);
            }
        }
    }
    return (ends[full] & neighbours[0] >> 1) != 0;
}

/* Backwards from the full set; links are two-way, so the ring may be walked either way. */
static void walk_ring(const unsigned *gpus, unsigned k, const unsigned *neighbours,
                      const uint16_t *ends, unsigned *order)
{
    unsigned set = (1u << (k - 1)) - 1, last = 0;
    order[0] = gpus[0];
    for (unsigned i = 1; i < k; i++) {
        unsigned next = (unsigned)__builtin_ctz(ends[set] & neighbours[last] >> 1);
        order[i] = gpus[next + 1];
        set &= ~(1u << next);
        last = next + 1;
    }
}

double gpu_ring_find(const struct node_topology *node, const unsigned *gpus, unsigned k,
                     unsigned *ret_order)
{
    double strengths[GPU_RING_MAXIMUM * GPU_RING_MAXIMUM / 2];
    unsigned neighbours[GPU_RING_MAXIMUM];
    uint16_t ends[SUBSETS];
    unsigned low = 0, high = gpu_ring_strengths(node, gpus, k, strengths);
    unsigned none = high;
    if (ret_order)
        memcpy(ret_order, gpus, k * sizeof(*gpus));
    while (low < high) { /* weaker links only add rings */
        unsigned middle = low + (high - low) / 2;
        find_neighbours(node, gpus, k, strengths[middle], neighbours);
        if (find_paths(neighbours, k, ends))
            high = middle;
        else
            low = middle + 1;
    }
    if (low == none)
        return 0;
    if (ret_order) {
        find_neighbours(node, gpus, k, strengths[low], neighbours);
        find_paths(neighbours, k, ends);
        walk_ring(gpus, k, neighbours, ends, ret_order);
    }
    return strengths[low];
}
