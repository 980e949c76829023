/* SPDX-License-Identifier: MIT */
#include "topology/groups/gpu_search.h"
#include "topology/groups/nvlink_domain.h"
#include <stdlib.h>

struct subset {
    unsigned set;
    struct gpu_group_quality quality;
};

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

static void list_gpus(const struct gpu_search *search, unsigned set, unsigned *gpus)
{
    for (; set; set &= set - 1)
        *gpus++ = search->order[__builtin_ctz(set)];
}

static int classify(const struct gpu_search *search, const struct gpu_search_level *level,
                    struct error_info *err)
{
    const struct node_topology *node = search->node;
    size_t count = count_subsets(node->gpu_count, level->width);
    CLEANUP_MEMORY struct subset *subsets = memory_allocate_array(count, sizeof(*subsets));
    if (!subsets)
        return error_set_memory(err);
    unsigned set = (1u << level->width) - 1;
    for (size_t i = 0; i < count; i++) {
        unsigned gpus[GPU_SEARCH_MAXIMUM];
        subsets[i].set = set;
        list_gpus(search, set, gpus);
        gpu_group_rate(node, gpus, level->width, &subsets[i].quality);
        set = next_subset(set);
    }
    qsort(subsets, count, sizeof(*subsets), compare_subsets);
    uint16_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && gpu_group_compare(&subsets[i - 1].quality, &subsets[i].quality) != 0)
            rank++;
        level->class_of[subsets[i].set] = rank;
    }
    return 0;
}

int gpu_search_init(struct gpu_search *search, const struct node_topology *node,
                    const unsigned *order, const unsigned *widths, unsigned count,
                    struct error_info *err)
{
    size_t sets = (size_t)1 << node->gpu_count;
    *search = (struct gpu_search){.node = node, .order = order, .level_count = count};
    for (unsigned i = 0, first = 0; i < count; i++) {
        struct gpu_search_level *level = &search->levels[i];
        level->width = widths[i];
        level->first = first;
        level->end = first += node->gpu_count / widths[i];
        level->class_of = memory_allocate_array(sets, sizeof(*level->class_of));
        level->best = memory_allocate_array(sets, sizeof(*level->best));
        level->choice = memory_allocate_array(sets, sizeof(*level->choice));
        if (!level->class_of || !level->best || !level->choice)
            return error_set_memory(err);
        if (classify(search, level, err) < 0)
            return -1;
    }
    return 0;
}

void gpu_search_done(struct gpu_search *search)
{
    for (unsigned i = 0; i < search->level_count; i++) {
        memory_free(search->levels[i].class_of);
        memory_free(search->levels[i].best);
        memory_free(search->levels[i].choice);
    }
}

static int compare_scores(const struct gpu_score *left, const struct gpu_score *right,
                          unsigned classes)
{
    for (unsigned i = 0; i < classes; i++)
        if (left->classes[i] != right->classes[i])
            return left->classes[i] < right->classes[i] ? -1 : 1;
    return 0;
}

/* Worst first: the new class goes before the first that is better. The last one is free. */
static void add_class(struct gpu_score *score, const struct gpu_search_level *level, uint16_t added)
{
    unsigned at = level->end - 1;
    for (; at > level->first && score->classes[at - 1] < added; at--)
        score->classes[at] = score->classes[at - 1];
    score->classes[at] = added;
}

static void list_bits(unsigned set, unsigned *bits)
{
    for (unsigned count = 0; set; set &= set - 1)
        bits[count++] = (unsigned)__builtin_ctz(set);
}

static void solve(struct gpu_search *search, unsigned depth, unsigned open);

/* The group itself, and the groups of its own best partition. */
static void add_group(struct gpu_search *search, unsigned depth, unsigned group,
                      struct gpu_score *score)
{
    const struct gpu_search_level *level = &search->levels[depth];
    add_class(score, level, level->class_of[group]);
    if (depth == 0)
        return;
    solve(search, depth - 1, group);
    const struct gpu_score *inside = &search->levels[depth - 1].best[group];
    for (const struct gpu_search_level *inner = search->levels; inner < level; inner++)
        for (unsigned i = 0; i < level->width / inner->width; i++)
            add_class(score, inner, inside->classes[inner->first + i]);
}

/* The partition that starts with this group, or leaves the first GPU over (group of one). */
static void try_choice(struct gpu_search *search, unsigned depth, unsigned open, unsigned group)
{
    struct gpu_search_level *level = &search->levels[depth];
    unsigned rest = open & ~group;
    solve(search, depth, rest);
    struct gpu_score score = level->best[rest];
    if ((group & (group - 1)) != 0)
        add_group(search, depth, group, &score);
    if (level->choice[open] && compare_scores(&score, &level->best[open], level->end) >= 0)
        return;
    level->best[open] = score;
    level->choice[open] = (uint16_t)group;
}

/* The first open GPU is in the next group, or is left over; groups are tried in the order of
 * their GPUs, and only a better one replaces an earlier one. Depth: at most n a level. */
static void solve(struct gpu_search *search, unsigned depth, unsigned open)
{
    unsigned count = (unsigned)__builtin_popcount(open), k = search->levels[depth].width;
    if (count < k || search->levels[depth].choice[open])
        return;
    unsigned lowest = open & -open, bits[GPU_SEARCH_MAXIMUM];
    list_bits(open & ~lowest, bits);
    /* Places among the other open GPUs, in lexicographic order. */
    unsigned pick[GPU_SEARCH_MAXIMUM];
    for (unsigned i = 0; i + 1 < k; i++)
        pick[i] = i;
    for (;;) {
        unsigned group = lowest;
        for (unsigned i = 0; i + 1 < k; i++)
            group |= 1u << bits[pick[i]];
        try_choice(search, depth, open, group);
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
        try_choice(search, depth, open, lowest);
}

static const struct gpu_score *solve_set(struct gpu_search *search, unsigned set)
{
    unsigned widest = search->level_count - 1;
    solve(search, widest, set);
    return &search->levels[widest].best[set];
}

unsigned gpu_search_best_set(struct gpu_search *search, unsigned gpus)
{
    unsigned set = (1u << gpus) - 1, best = set;
    unsigned classes = search->levels[search->level_count - 1].end;
    while ((set = next_subset(set)) >> search->node->gpu_count == 0)
        if (compare_scores(solve_set(search, set), solve_set(search, best), classes) < 0)
            best = set;
    return best;
}

static unsigned read_choices(const struct gpu_search *search, unsigned depth, unsigned open,
                             unsigned *ret_gpus)
{
    const struct gpu_search_level *level = &search->levels[depth];
    unsigned placed = 0;
    while ((unsigned)__builtin_popcount(open) >= level->width) {
        unsigned group = level->choice[open];
        open &= ~group;
        if ((group & (group - 1)) == 0)
            continue; /* left over */
        if (depth > 0)
            read_choices(search, depth - 1, group, ret_gpus + placed);
        else
            list_gpus(search, group, ret_gpus + placed);
        placed += level->width;
    }
    return placed;
}

unsigned gpu_search_read(struct gpu_search *search, unsigned set, unsigned *ret_gpus)
{
    solve_set(search, set);
    return read_choices(search, search->level_count - 1, set, ret_gpus);
}
