/* SPDX-License-Identifier: MIT */
#include "mapping/solver/arrangement.h"

#include <string.h>

int arrangement_init(struct arrangement *ret, const struct block_graph *graph,
                     const struct site_map *sites, struct arena *arena, struct error_info *err)
{
    *ret = (struct arrangement){.graph = graph, .sites = sites};
    ret->site_of = arena_allocate_array(arena, graph->block_count, sizeof(*ret->site_of));
    ret->unit_at = arena_allocate_array(arena, sites->site_count, sizeof(*ret->unit_at));
    return ret->site_of && ret->unit_at ? 0 : error_set_memory(err);
}

void arrangement_copy(struct arrangement *to, const struct arrangement *from)
{
    memcpy(to->site_of, from->site_of, from->graph->block_count * sizeof(*to->site_of));
    memcpy(to->unit_at, from->unit_at, from->sites->site_count * sizeof(*to->unit_at));
}

void arrangement_fill(struct arrangement *arrangement, const unsigned *site_of)
{
    unsigned units = arrangement->graph->block_count;
    memset(arrangement->unit_at, 0xff,
           arrangement->sites->site_count * sizeof(*arrangement->unit_at));
    for (unsigned unit = 0; unit < units; unit++) {
        arrangement->site_of[unit] = site_of[unit];
        arrangement->unit_at[site_of[unit]] = unit;
    }
}

static uint64_t edge_cost(const struct arrangement *arrangement, const struct block_edge *edge,
                          unsigned leaf)
{
    const struct site_map *sites = arrangement->sites;
    unsigned other = sites->leaves[arrangement->site_of[edge->to]];
    return edge->pairs *
           arrangement->graph->weights->weights[edge->flow][site_map_slot(sites, leaf, other)];
}

uint64_t arrangement_unit_cost(const struct arrangement *arrangement, unsigned unit, unsigned leaf,
                               unsigned except)
{
    const struct block_graph *graph = arrangement->graph;
    uint64_t cost = 0;
    for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++)
        if (graph->edges[e].to != except)
            cost += edge_cost(arrangement, &graph->edges[e], leaf);
    return cost;
}

uint64_t arrangement_cost(const struct arrangement *arrangement)
{
    uint64_t twice = 0;
    for (unsigned unit = 0; unit < arrangement->graph->block_count; unit++)
        twice += arrangement_unit_cost(
            arrangement, unit, arrangement->sites->leaves[arrangement->site_of[unit]], SITE_NONE);
    return twice / 2;
}

bool arrangement_may_exchange(const struct arrangement *arrangement, unsigned left, unsigned right)
{
    if (!arrangement->flags)
        return true;
    unsigned flags = arrangement->flags[left] | arrangement->flags[right];
    bool empties =
        arrangement->unit_at[right] == SITE_NONE && arrangement->flags[left] & SITE_USED;
    return !(flags & SITE_FIXED) && !empties;
}

int64_t arrangement_delta(const struct arrangement *arrangement, unsigned left, unsigned right)
{
    unsigned unit = arrangement->unit_at[left], other = arrangement->unit_at[right];
    unsigned from = arrangement->sites->leaves[left], to = arrangement->sites->leaves[right];
    uint64_t before = arrangement_unit_cost(arrangement, unit, from, other);
    uint64_t after = arrangement_unit_cost(arrangement, unit, to, other);
    if (other != SITE_NONE) {
        before += arrangement_unit_cost(arrangement, other, to, unit);
        after += arrangement_unit_cost(arrangement, other, from, unit);
    }
    return (int64_t)(after - before);
}

void arrangement_exchange(struct arrangement *arrangement, unsigned left, unsigned right)
{
    unsigned unit = arrangement->unit_at[left], other = arrangement->unit_at[right];
    arrangement->unit_at[left] = other;
    arrangement->unit_at[right] = unit;
    if (unit != SITE_NONE)
        arrangement->site_of[unit] = right;
    if (other != SITE_NONE)
        arrangement->site_of[other] = left;
}
