/* SPDX-License-Identifier: MIT */
#include "mapping/mapping_cost.h"
#include "base/numbers/real.h"

/* The groups whose neighbours the table counts. */
static const enum group_dimension neighbours[TRAFFIC_DIMENSION_COUNT] = {
    [TRAFFIC_TP] = GROUP_TP, [TRAFFIC_CP] = GROUP_CP, [TRAFFIC_EP] = GROUP_EP,
    [TRAFFIC_PP] = GROUP_PP, [TRAFFIC_DP] = GROUP_DP,
};

struct pair_count {
    const struct rank_map *map;
    uint64_t pairs[COST_SLOT_MAXIMUM];
};

static unsigned slot_of(const struct rank_map *map, unsigned left, unsigned right)
{
    if (left == right)
        return COST_SLOT_NODE;
    int distance = cluster_distance(map->cluster, map->block_nodes[left], map->block_nodes[right]);
    if (distance == DISTANCE_SAME_NODE)
        return COST_SLOT_NODE;
    return distance == DISTANCE_SAME_NVLINK_DOMAIN ? COST_SLOT_DOMAIN
                                                   : COST_SLOT_TIERS + (unsigned)distance;
}

static void count_run(void *context, unsigned from, unsigned to, unsigned count)
{
    struct pair_count *counter = context;
    counter->pairs[slot_of(counter->map, from, to)] += count;
}

static void count_pairs(struct pair_count *counter, enum group_dimension group,
                        enum pair_pattern pattern)
{
    const struct rank_map *map = counter->map;
    struct group_line line = group_line_of(&map->degrees, map->order, group);
    *counter = (struct pair_count){.map = map};
    group_pairs_visit(&line, pattern, map->world, map->gpus_per_node, count_run, counter);
}

static void name_slots(const struct cluster_topology *cluster, struct mapping_cost *ret)
{
    unsigned tiers = cluster_tier_count(cluster);
    ret->slot_count = COST_SLOT_TIERS + tiers + 1;
    ret->slot_names[COST_SLOT_NODE] = "node";
    ret->slot_names[COST_SLOT_DOMAIN] = "nvlink domain";
    for (unsigned tier = 0; tier <= tiers; tier++)
        ret->slot_names[COST_SLOT_TIERS + tier] = cluster_tier_name(cluster, tier);
}

static void add_flow(const struct traffic_flow *flow, const struct pair_count *counter,
                     const struct link_seconds *seconds, struct mapping_cost *ret)
{
    for (unsigned slot = 0; slot < ret->slot_count; slot++) {
        double bytes = real_of(counter->pairs[slot]) * flow->pair_bytes;
        ret->bytes[flow->dimension][slot] += bytes;
        if (!seconds)
            continue;
        double each = flow->is_message ? seconds->message[slot] : seconds->collective[slot];
        ret->seconds[slot] += flow->exposed * bytes * each / real_of(counter->map->world);
    }
}

void mapping_cost_compute(const struct rank_map *map, const struct traffic *traffic,
                          const struct link_seconds *seconds, struct mapping_cost *ret)
{
    struct pair_count counter = {.map = map};
    *ret = (struct mapping_cost){.bytes_known = traffic != NULL,
                                 .seconds_known = traffic != NULL && seconds != NULL};
    name_slots(map->cluster, ret);
    for (unsigned i = 0; i < TRAFFIC_DIMENSION_COUNT; i++) {
        count_pairs(&counter, neighbours[i], i == TRAFFIC_PP ? PAIRS_CHAIN : PAIRS_RING);
        for (unsigned slot = 0; slot < ret->slot_count; slot++)
            ret->pairs[i][slot] = counter.pairs[slot];
    }
    for (unsigned i = 0; traffic && i < traffic->flow_count; i++) {
        count_pairs(&counter, traffic->flows[i].group, traffic->flows[i].pattern);
        add_flow(&traffic->flows[i], &counter, seconds, ret);
    }
    for (unsigned slot = 0; slot < ret->slot_count; slot++)
        ret->exposed_seconds += ret->seconds[slot];
}
