/* SPDX-License-Identifier: MIT */
#include "mapping/solver/arrangement.h"

#include <string.h>

int arrangement_init(struct arrangement *ret, const struct block_graph *graph,
                     const struct site_map *sites, struct arena *arena, struct error_info *err)
{
    *ret = (struct arrangement){.graph = graph, .sites = sites};
    ret->site_of = arena_allocate_array(arena, graph->block_count, sizeof(*ret->site_of));
    ret->unit_at = arena_allocate_array(arena, sites->site_count, sizeof(*ret->unit_at));
    ret->leaf_of = arena_allocate_array(arena, graph->block_count, sizeof(*ret->leaf_of));
    return ret->site_of && ret->leaf_of && ret->unit_at ? 0 : error_set_memory(err);
}

void arrangement_copy(struct arrangement *to, const struct arrangement *from)
{
    memcpy(to->site_of, from->site_of, from->graph->block_count * sizeof(*to->site_of));
    memcpy(to->leaf_of, from->leaf_of, from->graph->block_count * sizeof(*to->leaf_of));
    memcpy(to->unit_at, from->unit_at, from->sites->site_count * sizeof(*to->unit_at));
}

void arrangement_fill(struct arrangement *arrangement, const unsigned *site_of)
{
    unsigned units = arrangement->graph->block_count;
    memset(arrangement->unit_at, 0xff,
           arrangement->sites->site_count * sizeof(*arrangement->unit_at));
    for (unsigned unit = 0; unit < units; unit++) {
        arrangement->site_of[unit] = site_of[unit];
        arrangement->leaf_of[unit] = arrangement->sites->leaves[site_of[unit]];
        arrangement->unit_at[site_of[unit]] = unit;
    }
}

uint64_t arrangement_unit_cost(const struct arrangement *arrangement, unsigned unit, unsigned leaf,
                               unsigned except)
{
    const struct block_graph *graph = arrangement->graph;
    const struct block_edge *end = graph->edges + graph->first[unit + 1];
    uint64_t cost = 0;
    for (const struct block_edge *edge = graph->edges + graph->first[unit]; edge < end; edge++) {
        unsigned slot = site_map_slot(arrangement->sites, leaf, arrangement->leaf_of[edge->to]);
        if (edge->to != except)
            cost += edge->pairs * graph->weights->weights[edge->flow][slot];
    }
    return cost;
}

uint64_t arrangement_cost(const struct arrangement *arrangement)
{
    uint64_t twice = 0;
    for (unsigned unit = 0; unit < arrangement->graph->block_count; unit++)
        twice += arrangement_unit_cost(arrangement, unit, arrangement->leaf_of[unit], SITE_NONE);
    return twice / 2;
}

bool arrangement_may_exchange(const struct arrangement *arrangement, unsigned left, unsigned right)
{
    if (!arrangement->flags)
        return true;
    unsigned flags = arrangement->flags[left] | arrangement->flags[right];
    bool empties = arrangement->unit_at[right] == SITE_NONE && arrangement->flags[left] & SITE_USED;
    return !(flags & SITE_FIXED) && !empties;
}

/* What the unit's edges cost more in `to` than in `from`. */
static int64_t move_delta(const struct arrangement *arrangement, unsigned unit, unsigned from,
                          unsigned to, unsigned except)
{
    const struct block_graph *graph = arrangement->graph;
    const struct block_edge *end = graph->edges + graph->first[unit + 1];
    int64_t delta = 0;
    for (const struct block_edge *edge = graph->edges + graph->first[unit]; edge < end; edge++) {
        const uint64_t *weights = graph->weights->weights[edge->flow];
        unsigned other = arrangement->leaf_of[edge->to];
        uint64_t before = weights[site_map_slot(arrangement->sites, from, other)];
        uint64_t after = weights[site_map_slot(arrangement->sites, to, other)];
        if (edge->to != except)
            delta += (int64_t)((after - before) * edge->pairs);
    }
    return delta;
}

int64_t arrangement_delta(const struct arrangement *arrangement, unsigned left, unsigned right)
{
    unsigned unit = arrangement->unit_at[left], other = arrangement->unit_at[right];
    unsigned from = arrangement->sites->leaves[left], to = arrangement->sites->leaves[right];
    int64_t delta = move_delta(arrangement, unit, from, to, other);
    if (other != SITE_NONE)
        delta += move_delta(arrangement, other, to, from, unit);
    return delta;
}

void arrangement_exchange(struct arrangement *arrangement, unsigned left, unsigned right)
{
    unsigned unit = arrangement->unit_at[left], other = arrangement->unit_at[right];
    arrangement->unit_at[left] = other;
    arrangement->unit_at[right] = unit;
    if (unit != SITE_NONE) {
        arrangement->site_of[unit] = right;
        arrangement->leaf_of[unit] = arrangement->sites->leaves[right];
    }
    if (other != SITE_NONE) {
        arrangement->site_of[other] = left;
        arrangement->leaf_of[other] = arrangement->sites->leaves[left];
    }
}
