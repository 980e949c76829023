/* SPDX-License-Identifier: MIT */
#include "mapping/mapping_cost.h"

/* Ranks base, base + stride, … are neighbours in this dimension; size of them. */
struct grid_line {
    uint64_t stride;
    unsigned size;
    bool ring; /* the last one sends to the first */
};

static void lines_of(const struct rank_map *map,
                     struct grid_line ret[static TRAFFIC_DIMENSION_COUNT])
{
    const struct degrees *degrees = &map->degrees;
    uint64_t cell = (uint64_t)degrees->tp * degrees->cp;
    bool pp_inside = map->order == ORDER_TP_CP_EP_PP_DP;
    ret[TRAFFIC_TP] = (struct grid_line){1, degrees->tp, true};
    ret[TRAFFIC_CP] = (struct grid_line){degrees->tp, degrees->cp, true};
    ret[TRAFFIC_EP] = (struct grid_line){degrees->etp, degrees->ep, true};
    ret[TRAFFIC_PP] = (struct grid_line){pp_inside ? cell : cell * degrees->dp, degrees->pp, false};
    ret[TRAFFIC_DP] = (struct grid_line){pp_inside ? cell * degrees->pp : cell, degrees->dp, true};
}

static unsigned slot_of(const struct rank_map *map, size_t left, size_t right)
{
    if (left == right)
        return COST_SLOT_NODE;
    int distance = cluster_distance(map->cluster, map->block_nodes[left], map->block_nodes[right]);
    if (distance == DISTANCE_SAME_NODE)
        return COST_SLOT_NODE;
    return distance == DISTANCE_SAME_NVLINK_DOMAIN ? COST_SLOT_DOMAIN
                                                   : COST_SLOT_TIERS + (unsigned)distance;
}

/* count ranks from `from` on send to as many from `to` on: one distance for each stretch
 * that stays inside one block on both sides. */
static void add_run(const struct rank_map *map, uint64_t from, uint64_t to, uint64_t count,
                    uint64_t *pairs)
{
    uint64_t block = map->gpus_per_node;
    uint64_t from_offset = from % block, to_offset = to % block;
    size_t from_block = (size_t)(from / block), to_block = (size_t)(to / block);
    while (count > 0) {
        uint64_t length = block - (from_offset > to_offset ? from_offset : to_offset);
        if (length > count)
            length = count;
        pairs[slot_of(map, from_block, to_block)] += length;
        count -= length;
        from_offset += length;
        to_offset += length;
        if (from_offset == block) {
            from_offset = 0;
            from_block++;
        }
        if (to_offset == block) {
            to_offset = 0;
            to_block++;
        }
    }
}

static void add_lines(const struct rank_map *map, const struct grid_line *line, uint64_t *pairs)
{
    uint64_t span = line->stride * line->size, inner = span - line->stride;
    if (line->size < 2)
        return;
    if (map->gpus_per_node % span == 0) {
        pairs[COST_SLOT_NODE] += map->world / span * (line->ring ? span : inner);
        return;
    }
    for (uint64_t base = 0; base < map->world; base += span) {
        add_run(map, base, base + line->stride, inner, pairs);
        if (line->ring)
            add_run(map, base + inner, base, line->stride, pairs);
    }
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

void mapping_cost_compute(const struct rank_map *map, const struct traffic *traffic,
                          struct mapping_cost *ret)
{
    struct grid_line lines[TRAFFIC_DIMENSION_COUNT];
    lines_of(map, lines);
    *ret = (struct mapping_cost){.bytes_known = traffic != NULL};
    name_slots(map->cluster, ret);
    for (unsigned dimension = 0; dimension < TRAFFIC_DIMENSION_COUNT; dimension++) {
        add_lines(map, &lines[dimension], ret->pairs[dimension]);
        for (unsigned slot = 0; traffic && slot < ret->slot_count; slot++)
            ret->bytes[dimension][slot] =
                (double)ret->pairs[dimension][slot] * traffic->bytes_per_step[dimension];
    }
}
