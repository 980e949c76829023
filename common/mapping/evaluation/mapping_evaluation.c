/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/mapping_evaluation.h"

/* mapping_cost asks only for the node of a block: with blocks of one rank it takes any mapping. */
static void compute_cost(const struct rank_map *ours, const struct rank_places *places,
                         const struct traffic *traffic, const struct link_seconds *seconds,
                         struct mapping_cost *ret)
{
    struct rank_map single = *ours;
    single.gpus_per_node = 1;
    single.block_count = (size_t)places->world;
    single.block_nodes = places->nodes;
    mapping_cost_compute(&single, traffic, seconds, ret);
}

static bool share_domain(const struct cluster_topology *cluster, const struct rank_places *places,
                         uint64_t left, uint64_t right)
{
    const struct cluster_node *node = &cluster->nodes[places->nodes[left]];
    const struct node_topology *kind = cluster->kinds[node->kind];
    if (places->nodes[left] != places->nodes[right])
        return node->nvlink_block == cluster->nodes[places->nodes[right]].nvlink_block;
    return kind->nvlink == NVLINK_UNKNOWN || kind->gpus[places->gpus[left]].nvlink_domain ==
                                                 kind->gpus[places->gpus[right]].nvlink_domain;
}

/* TP varies fastest in every rank order: a group is tp consecutive ranks. */
static void count_split_groups(const struct rank_map *ours, const struct rank_places *places,
                               struct mapping_evaluation *ret)
{
    unsigned tp = ours->degrees.tp;
    if (tp < 2 || ours->locality_only)
        return;
    for (uint64_t first = 0; first + tp <= places->world; first += tp) {
        bool whole = true;
        for (uint64_t rank = first + 1; rank < first + tp && whole; rank++)
            whole = ret->tp_within == TP_WITHIN_NVLINK_DOMAIN
                        ? share_domain(ours->cluster, places, first, rank)
                        : places->nodes[first] == places->nodes[rank];
        ret->tp_groups++;
        ret->tp_groups_split += !whole;
    }
}

static void compare_places(const struct rank_map *ours, const struct rank_places *places,
                           struct mapping_evaluation *ret)
{
    for (uint64_t rank = 0; rank < places->world; rank++) {
        struct rank_place place;
        rank_map_place(ours, rank, &place);
        if (place.node != places->nodes[rank])
            ret->other_nodes++;
        else if (places->gpus_told && place.gpu != places->gpus[rank])
            ret->other_gpus++;
    }
    ret->same = ret->other_nodes == 0 && ret->other_gpus == 0;
}

void mapping_evaluation_compute(const struct rank_map *ours, const struct rank_places *places,
                                const struct traffic *traffic, const struct link_seconds *seconds,
                                enum tp_within tp_within, const char *source,
                                struct mapping_evaluation *ret)
{
    *ret = (struct mapping_evaluation){
        .source = source, .tp_within = tp_within, .world = places->world};
    compute_cost(ours, places, traffic, seconds, &ret->cost);
    count_split_groups(ours, places, ret);
    compare_places(ours, places, ret);
}
