/* SPDX-License-Identifier: MIT */
#include "topology/groups/nvlink_domain.h"
#include "base/parse_number.h"
#include "topology/groups/gpu_ring.h"

#define COMPARED_DIGITS 6u

static bool is_connected(const struct node_topology *node, const unsigned *gpus, unsigned k)
{
    bool reached[NODE_MAXIMUM_GPUS] = {true};
    unsigned stack[NODE_MAXIMUM_GPUS] = {0}, depth = 1, count = 1;
    while (depth > 0) {
        unsigned at = stack[--depth];
        for (unsigned i = 0; i < k; i++) {
            size_t pair = (size_t)gpus[at] * node->gpu_count + gpus[i];
            if (reached[i] || node->nvlink_bytes_per_second[pair] <= 0)
                continue;
            reached[i] = true;
            stack[depth++] = i;
            count++;
        }
    }
    return count == k;
}

void gpu_group_rate(const struct node_topology *node, const unsigned *gpus, unsigned k,
                    struct gpu_group_quality *ret)
{
    *ret = (struct gpu_group_quality){.connected = true, .farthest = LINK_UNKNOWN};
    if (k < 2)
        return;
    bool first = true;
    for (unsigned i = 0; i < k; i++) {
        for (unsigned j = 0; j < i; j++, first = false) {
            size_t pair = (size_t)gpus[i] * node->gpu_count + gpus[j];
            double rate = node->nvlink_bytes_per_second[pair];
            enum link_kind link = node->links[pair];
            ret->total_bytes_per_second += rate;
            if (first || rate < ret->clique_bytes_per_second)
                ret->clique_bytes_per_second = rate;
            if (first || link_distance(link) > link_distance(ret->farthest))
                ret->farthest = link;
        }
    }
    ret->connected = is_connected(node, gpus, k);
    /* Past the exact search, a clique's weakest pair is a bound that every ring keeps. */
    ret->ring_bytes_per_second = ret->clique_bytes_per_second;
    if (ret->connected && k <= GPU_RING_MAXIMUM)
        ret->ring_bytes_per_second = gpu_ring_find(node, gpus, k, NULL);
}

static int compare_rates(double left, double right)
{
    double first = round_significant(left, COMPARED_DIGITS);
    double second = round_significant(right, COMPARED_DIGITS);
    return (first < second) - (first > second);
}

int gpu_group_compare(const struct gpu_group_quality *left, const struct gpu_group_quality *right)
{
    int order = compare_rates(left->clique_bytes_per_second, right->clique_bytes_per_second);
    if (order == 0)
        order = compare_rates(left->ring_bytes_per_second, right->ring_bytes_per_second);
    if (order == 0)
        order = (int)right->connected - (int)left->connected;
    unsigned left_distance = link_distance(left->farthest);
    unsigned right_distance = link_distance(right->farthest);
    if (order == 0)
        order = (left_distance > right_distance) - (left_distance < right_distance);
    return order ? order
                 : compare_rates(left->total_bytes_per_second, right->total_bytes_per_second);
}
