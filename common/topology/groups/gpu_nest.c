/* SPDX-License-Identifier: MIT */
#include "topology/groups/gpu_nest.h"
#include "topology/groups/gpu_search.h"
#include "topology/groups/nvlink_domain.h"

/* The nest's widths and one more at its place; false: it does not lie in or around the others. */
static bool insert_width(struct gpu_nest *nest, unsigned width)
{
    unsigned at = nest->width_count;
    while (at > 0 && nest->widths[at - 1] > width) {
        nest->widths[at] = nest->widths[at - 1];
        at--;
    }
    nest->widths[at] = width;
    nest->width_count++;
    return (at == 0 || (width > nest->widths[at - 1] && width % nest->widths[at - 1] == 0)) &&
           (at + 1 == nest->width_count || nest->widths[at + 1] % width == 0);
}

static int search_nest(const struct node_topology *node, const unsigned *order, unsigned ranks,
                       struct gpu_nest *nest, struct error_info *err)
{
    CLEANUP_DONE(gpu_search) struct gpu_search search;
    if (gpu_search_init(&search, node, order, nest->widths, nest->width_count, err) < 0)
        return -1;
    gpu_search_read(&search, gpu_search_best_set(&search, ranks), nest->gpus);
    return 0;
}

static bool is_held(const struct node_topology *node, unsigned ranks, const struct gpu_nest *nest,
                    unsigned tp)
{
    for (unsigned i = 0; i < nest->width_count; i++) {
        unsigned width = nest->widths[i];
        for (unsigned at = 0; width > tp && at < ranks; at += width) {
            struct gpu_group_quality quality;
            gpu_group_rate(node, nest->gpus + at, width, &quality);
            if (quality.ring_bytes_per_second <= 0)
                return false;
        }
    }
    return true;
}

/* Any partition into TP groups can be gathered into wider ones, and the narrowest level counts
 * first: no trial has a worse one. */
static int search_exactly(const struct node_topology *node, const unsigned *order, unsigned ranks,
                          unsigned tp, const unsigned *wider, unsigned wider_count,
                          struct gpu_nest *nest, struct error_info *err)
{
    bool searched = tp == 1;
    for (unsigned i = 0; i < wider_count && node->nvlink == NVLINK_KNOWN; i++) {
        struct gpu_nest trial = *nest;
        if (!insert_width(&trial, wider[i]))
            continue;
        if (search_nest(node, order, ranks, &trial, err) < 0)
            return -1;
        if (!is_held(node, ranks, &trial, tp))
            continue;
        *nest = trial;
        searched = true;
    }
    return searched ? 0 : search_nest(node, order, ranks, nest, err);
}

int gpu_nest_solve(const struct node_topology *node, const unsigned *order, unsigned ranks,
                   unsigned tp, const unsigned *wider, unsigned wider_count, struct gpu_nest *ret,
                   struct error_info *err)
{
    struct gpu_nest nest = {.widths = {tp}, .width_count = tp > 1};
    for (unsigned i = 0; i < ranks; i++)
        nest.gpus[i] = order[i];
    if (node->gpu_count > GPU_SEARCH_MAXIMUM)
        gpu_groups_gather(node, tp, nest.gpus);
    else if (search_exactly(node, order, ranks, tp, wider, wider_count, &nest, err) < 0)
        return -1;
    *ret = nest;
    return 0;
}
