/* SPDX-License-Identifier: MIT */
/* gpu_groups_partition: exact by dynamic programming over sets of GPUs up to EXACT_MAXIMUM,
 * greedy above. */
#include "topology/groups/gpu_ring.h"
#include "topology/groups/nvlink_domain.h"
#include <stdlib.h>
#include <string.h>

#define EXACT_MAXIMUM 16u
#define MAXIMUM_GROUPS (EXACT_MAXIMUM / 2)
#define NO_CLASS UINT16_MAX

struct subset {
    unsigned set;
    struct gpu_group_quality quality;
};

/* Classes of the groups in a partition of some set, worst first: class 0 is the best quality,
 * so the smaller list is better. Adding one group to two lists keeps their order, which is
 * what makes the dynamic programming exact. */
struct score {
    uint16_t classes[MAXIMUM_GROUPS];
};

struct search {
    const struct node_topology *node;
    unsigned n, k;
    uint16_t *class_of; /* set of k GPUs -> class */
    struct score *best; /* set of free GPUs -> score of its best partition */
    uint16_t *choice;   /* … and the first group of it; 0: not computed */
};

static void list_members(unsigned set, unsigned *members)
{
    for (unsigned count = 0; set; set &= set - 1)
        members[count++] = (unsigned)__builtin_ctz(set);
}

/* The next larger number with as many bits (Gosper). */
static unsigned next_subset(unsigned set)
{
    unsigned low = set & -set, ripple = set + low;
    return ripple | ((set ^ ripple) / low) >> 2;
}

static size_t count_subsets(unsigned n, unsigned k)
{
    size_t count = 1;
    for (unsigned i = 0; i < k; i++)
        count = count * (n - i) / (i + 1);
    return count;
}

static int compare_subsets(const void *left_pointer, const void *right_pointer)
{
    const struct subset *left = left_pointer, *right = right_pointer;
    int order = gpu_group_compare(&left->quality, &right->quality);
    return order ? order : (left->set > right->set) - (left->set < right->set);
}

static int classify(struct search *search, struct error_info *err)
{
    size_t count = count_subsets(search->n, search->k);
    CLEANUP_MEMORY struct subset *subsets = memory_allocate_array(count, sizeof(*subsets));
    if (!subsets)
        return error_set_memory(err);
    unsigned set = (1u << search->k) - 1;
    for (size_t i = 0; i < count; i++) {
        unsigned members[EXACT_MAXIMUM];
        subsets[i].set = set;
        list_members(set, members);
        gpu_group_rate(search->node, members, search->k, &subsets[i].quality);
        set = next_subset(set);
    }
    qsort(subsets, count, sizeof(*subsets), compare_subsets);
    uint16_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && gpu_group_compare(&subsets[i - 1].quality, &subsets[i].quality) != 0)
            rank++;
        search->class_of[subsets[i].set] = rank;
    }
    return 0;
}

static int compare_scores(const struct score *left, const struct score *right, unsigned groups)
{
    for (unsigned i = 0; i < groups; i++)
        if (left->classes[i] != right->classes[i])
            return left->classes[i] < right->classes[i] ? -1 : 1;
    return 0;
}

/* Worst first: the new class goes before the first that is better. */
static void add_class(struct score *score, unsigned groups, uint16_t added)
{
    unsigned at = groups;
    for (; at > 0 && score->classes[at - 1] < added; at--)
        score->classes[at] = score->classes[at - 1];
    score->classes[at] = added;
}

static void solve(struct search *search, unsigned open);

/* The partition that starts with this group, or leaves the lowest GPU over (group of one). */
static void try_choice(struct search *search, unsigned open, unsigned group, unsigned groups)
{
    unsigned rest = open & ~group;
    bool spare = (group & (group - 1)) == 0;
    solve(search, rest);
    struct score score = search->best[rest];
    if (!spare)
        add_class(&score, groups - 1, search->class_of[group]);
    if (search->choice[open] && compare_scores(&score, &search->best[open], groups) >= 0)
        return;
    search->best[open] = score;
    search->choice[open] = (uint16_t)group;
}

/* The lowest open GPU is in the next group, or is left over; groups are tried in the order of
 * their indices, and only a better one replaces an earlier one. Depth: at most n. */
static void solve(struct search *search, unsigned open)
{
    unsigned count = (unsigned)__builtin_popcount(open), k = search->k;
    unsigned groups = count / k;
    if (groups == 0 || search->choice[open])
        return;
    unsigned lowest = open & -open, members[EXACT_MAXIMUM];
    list_members(open & ~lowest, members);
    /* Positions among the other open GPUs, in lexicographic order. */
    unsigned pick[EXACT_MAXIMUM];
    for (unsigned i = 0; i + 1 < k; i++)
        pick[i] = i;
    for (;;) {
        unsigned group = lowest;
        for (unsigned i = 0; i + 1 < k; i++)
            group |= 1u << members[pick[i]];
        try_choice(search, open, group, groups);
        unsigned at = k - 1;
        while (at > 0 && pick[at - 1] == count - 1 - (k - at))
            at--;
        if (at == 0)
            break;
        pick[at - 1]++;
        for (; at < k - 1; at++)
            pick[at] = pick[at - 1] + 1;
    }
    if (count % k > 0)
        try_choice(search, open, lowest, groups);
}

static void order_group(const struct node_topology *node, unsigned *group, unsigned k)
{
    unsigned order[GPU_RING_MAXIMUM];
    if (k < 2 || k > GPU_RING_MAXIMUM)
        return;
    gpu_ring_find(node, group, k, order);
    memcpy(group, order, k * sizeof(*group));
}

static void read_choices(const struct search *search, unsigned *ret_groups)
{
    unsigned open = (1u << search->n) - 1, placed = 0;
    while ((unsigned)__builtin_popcount(open) >= search->k) {
        unsigned group = search->choice[open];
        open &= ~group;
        if ((group & (group - 1)) == 0)
            continue; /* left over */
        list_members(group, ret_groups + placed);
        order_group(search->node, ret_groups + placed, search->k);
        placed += search->k;
    }
}

static int partition_exactly(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                             struct error_info *err)
{
    size_t sets = (size_t)1 << node->gpu_count;
    CLEANUP_MEMORY uint16_t *class_of = memory_allocate_array(sets, sizeof(*class_of));
    CLEANUP_MEMORY struct score *best = memory_allocate_array(sets, sizeof(*best));
    CLEANUP_MEMORY uint16_t *choice = memory_allocate_array(sets, sizeof(*choice));
    if (!class_of || !best || !choice)
        return error_set_memory(err);
    struct search search = {
        .node = node,
        .n = node->gpu_count,
        .k = k,
        .class_of = class_of,
        .best = best,
        .choice = choice,
    };
    if (classify(&search, err) < 0)
        return -1;
    solve(&search, (unsigned)sets - 1);
    read_choices(&search, ret_groups);
    return 0;
}

/* How well a GPU goes with a group: its weakest link to it, then the sum of its links, then the
 * farthest PCIe class. */
static bool goes_better(const struct node_topology *node, const unsigned *group, unsigned count,
                        unsigned left, unsigned right)
{
    double weakest[2] = {0, 0}, sum[2] = {0, 0};
    unsigned farthest[2] = {0, 0};
    for (unsigned side = 0; side < 2; side++) {
        unsigned gpu = side == 0 ? left : right;
        for (unsigned i = 0; i < count; i++) {
            size_t pair = (size_t)group[i] * node->gpu_count + gpu;
            double rate = node->nvlink_bytes_per_second[pair];
            unsigned link = node->links[pair] ? node->links[pair] : LINK_KIND_COUNT;
            weakest[side] = i == 0 || rate < weakest[side] ? rate : weakest[side];
            sum[side] += rate;
            farthest[side] = link > farthest[side] ? link : farthest[side];
        }
    }
    if (weakest[0] < weakest[1] || weakest[0] > weakest[1])
        return weakest[0] > weakest[1];
    if (sum[0] < sum[1] || sum[0] > sum[1])
        return sum[0] > sum[1];
    return farthest[0] < farthest[1];
}

static int compare_indices(const void *left_pointer, const void *right_pointer)
{
    const unsigned *left = left_pointer, *right = right_pointer;
    return (*left > *right) - (*left < *right);
}

static void partition_greedily(const struct node_topology *node, unsigned k, unsigned *ret_groups)
{
    bool used[NODE_MAXIMUM_GPUS] = {false};
    for (unsigned g = 0; g < node->gpu_count / k; g++) {
        unsigned *group = ret_groups + (size_t)g * k;
        for (unsigned count = 0; count < k; count++) {
            unsigned best = node->gpu_count;
            for (unsigned gpu = 0; gpu < node->gpu_count; gpu++)
                if (!used[gpu] &&
                    (best == node->gpu_count || goes_better(node, group, count, gpu, best)))
                    best = gpu;
            group[count] = best;
            used[best] = true;
        }
        qsort(group, k, sizeof(*group), compare_indices);
        order_group(node, group, k);
    }
}

int gpu_groups_partition(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                         unsigned *ret_group_count, struct error_info *err)
{
    unsigned n = node->gpu_count;
    if (k == 0 || k > n)
        return error_set(err, "groups of %u GPUs on a node that has %u", k, n);
    if (k == 1 || node_topology_is_uniform(node)) {
        for (unsigned i = 0; i < n / k * k; i++)
            ret_groups[i] = i;
    } else if (n <= EXACT_MAXIMUM) {
        if (partition_exactly(node, k, ret_groups, err) < 0)
            return -1;
    } else {
        partition_greedily(node, k, ret_groups);
    }
    *ret_group_count = n / k;
    return 0;
}
