/* SPDX-License-Identifier: MIT */
#include "mapping/gpu_mapping.h"
#include "topology/groups/gpu_nest.h"
#include "topology/groups/gpu_ring.h"
#include "topology/groups/nvlink_domain.h"
#include <string.h>

/* The degrees as far as they matter inside a node. */
struct widths {
    unsigned ranks, tp, ring; /* groups up to `ring` ranks talk along a ring */
    unsigned wider[GPU_NEST_WIDER], wider_count;
};

int gpu_rail(const struct node_topology *node, unsigned gpu)
{
    const struct node_gpu *device = &node->gpus[gpu];
    return device->nic_count > 0 ? node->nics[device->nics[0]].rail : -1;
}

/* Descending; what is wider than the node takes all of its ranks. */
static void add_width(struct widths *widths, uint64_t width)
{
    unsigned ranks = widths->ranks, at = widths->wider_count;
    if (width > ranks && width % ranks == 0)
        width = ranks;
    if (width <= widths->tp || ranks % width != 0 || width % widths->tp != 0)
        return;
    for (; at > 0 && widths->wider[at - 1] < width; at--)
        widths->wider[at] = widths->wider[at - 1];
    widths->wider[at] = (unsigned)width;
    widths->wider_count++;
}

static void find_widths(const struct degrees *degrees, enum rank_order order, struct widths *widths)
{
    uint64_t dense = (uint64_t)degrees->tp * degrees->cp;
    add_width(widths, dense);
    widths->ring = dense < widths->ranks ? (unsigned)dense : widths->ranks;
    add_width(widths, (uint64_t)degrees->etp * degrees->ep);
    /* Shards of one stage are neighbours where dp varies before pp. */
    if (order == ORDER_TP_CP_EP_DP_PP || degrees->pp == 1)
        add_width(widths, dense * degrees->shard);
}

/* By rail where each GPU has one of its own: rails that GPUs share say nothing of their order. */
static void sort_by_rail(const struct node_topology *node, unsigned *order)
{
    int rails[NODE_MAXIMUM_GPUS];
    bool own = true;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        unsigned at = i;
        rails[i] = gpu_rail(node, i);
        for (; at > 0 && rails[order[at - 1]] > rails[i]; at--)
            order[at] = order[at - 1];
        own = own && rails[i] >= 0 && (at == 0 || rails[order[at - 1]] < rails[i]);
        order[at] = i;
    }
    for (unsigned i = 0; !own && i < node->gpu_count; i++)
        order[i] = i;
}

/* A group whose weakest ring is better than its weakest pair: in that ring's order. */
static void lay_ring(const struct node_topology *node, unsigned *gpus, unsigned width)
{
    unsigned ring[GPU_RING_MAXIMUM];
    struct gpu_group_quality quality;
    if (width < 4 || width > GPU_RING_MAXIMUM)
        return;
    gpu_group_rate(node, gpus, width, &quality);
    if (quality.ring_bytes_per_second <= quality.clique_bytes_per_second)
        return;
    gpu_ring_find(node, gpus, width, ring);
    memcpy(gpus, ring, width * sizeof(*gpus));
}

static int nest_groups(const struct node_topology *node, const struct widths *widths,
                       unsigned *gpus, struct error_info *err)
{
    struct gpu_nest nest;
    if (gpu_nest_solve(node, gpus, widths->ranks, widths->tp, widths->wider, widths->wider_count,
                       &nest, err) < 0)
        return -1;
    if (nest.width_count > 0 && nest.widths[0] <= widths->ring)
        for (unsigned at = 0; at < widths->ranks; at += nest.widths[0])
            lay_ring(node, nest.gpus + at, nest.widths[0]);
    memcpy(gpus, nest.gpus, widths->ranks * sizeof(*gpus));
    return 0;
}

/* Every order is as good as any other, but for the rails. */
static bool is_free(const struct node_topology *node, const struct widths *widths)
{
    return (widths->tp == 1 && widths->wider_count == 0) || node_topology_is_uniform(node);
}

int gpu_mapping_solve(const struct node_topology *node, const struct degrees *degrees,
                      enum rank_order order, unsigned ranks_per_node, unsigned *ret_gpus,
                      struct error_info *err)
{
    if (ranks_per_node > node->gpu_count || node->gpu_count > NODE_MAXIMUM_GPUS)
        return error_set(err, "%u ranks on %s, which has %u GPUs; use at most %u", ranks_per_node,
                         node->name, node->gpu_count, node->gpu_count);
    unsigned tp = degrees->tp < ranks_per_node ? degrees->tp : ranks_per_node;
    if (tp == 0 || ranks_per_node % tp != 0)
        return error_set(err, "tp=%u does not divide the %u ranks of a node", tp, ranks_per_node);
    struct widths widths = {.ranks = ranks_per_node, .tp = tp};
    unsigned gpus[NODE_MAXIMUM_GPUS];
    find_widths(degrees, order, &widths);
    for (unsigned i = 0; i < ranks_per_node; i++)
        gpus[i] = i;
    bool grouped = !is_free(node, &widths);
    if (!grouped || node->nvlink != NVLINK_UNKNOWN)
        sort_by_rail(node, gpus);
    if (grouped && node->nvlink != NVLINK_UNKNOWN && nest_groups(node, &widths, gpus, err) < 0)
        return -1;
    memcpy(ret_gpus, gpus, ranks_per_node * sizeof(*ret_gpus));
    return 0;
}
