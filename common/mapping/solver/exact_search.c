/* SPDX-License-Identifier: MIT */
#include "mapping/solver/exact_search.h"

#include <string.h>

struct exact {
    const struct arrangement *arrangement;
    const struct fabric_vertex *vertices;
    unsigned units, leaves;
    unsigned order[EXACT_SEARCH_UNITS];    /* depth -> unit */
    unsigned leaf_of[EXACT_SEARCH_UNITS];  /* unit -> leaf, of those placed */
    unsigned best_leaf[EXACT_SEARCH_UNITS];
    uint64_t rest[EXACT_SEARCH_UNITS + 1]; /* least cost among the units from that depth on */
    uint64_t *prices;                      /* [depth][unit][leaf]: of edges to those placed */
    unsigned *used;                        /* vertex -> units below */
    uint64_t best, below, visits;
    bool improved;
};

static uint64_t *prices_at(const struct exact *exact, unsigned depth, unsigned unit)
{
    return exact->prices + ((size_t)depth * exact->units + unit) * exact->leaves;
}

static const uint64_t *edge_weights(const struct exact *exact, const struct block_edge *edge)
{
    return exact->arrangement->graph->weights->weights[edge->flow];
}

/* --- order of units ----------------------------------------------------------------- */

static uint64_t edge_gain(const struct exact *exact, const struct block_edge *edge)
{
    const uint64_t *weights = edge_weights(exact, edge);
    unsigned last = exact->arrangement->graph->weights->slot_count - 1;
    return edge->pairs * (weights[last] - weights[COST_SLOT_DOMAIN]);
}

/* The unit most tied to those taken. */
static unsigned next_unit(const struct exact *exact, const bool *taken)
{
    const struct block_graph *graph = exact->arrangement->graph;
    unsigned best = EXACT_SEARCH_UNITS;
    uint64_t most = 0;
    for (unsigned unit = 0; unit < exact->units; unit++) {
        uint64_t tie = 1;
        if (taken[unit])
            continue;
        for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++)
            if (taken[graph->edges[e].to])
                tie += edge_gain(exact, &graph->edges[e]);
        if (tie > most) {
            most = tie;
            best = unit;
        }
    }
    return best;
}

/* Any two units are at least as far apart as the nearest two sites. */
static void find_rest(struct exact *exact, unsigned nearest)
{
    const struct block_graph *graph = exact->arrangement->graph;
    bool later[EXACT_SEARCH_UNITS] = {false};
    exact->rest[exact->units] = 0;
    for (unsigned depth = exact->units; depth-- > 0;) {
        unsigned unit = exact->order[depth];
        exact->rest[depth] = exact->rest[depth + 1];
        for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++)
            if (later[graph->edges[e].to])
                exact->rest[depth] +=
                    graph->edges[e].pairs * edge_weights(exact, &graph->edges[e])[nearest];
        later[unit] = true;
    }
}

static unsigned nearest_slot(const struct site_map *sites)
{
    unsigned nearest = COST_SLOT_MAXIMUM;
    for (unsigned leaf = 0; leaf < sites->leaf_count; leaf++) {
        unsigned slot = site_map_slot(sites, leaf, leaf);
        nearest = slot < nearest ? slot : nearest;
    }
    return nearest;
}

/* --- branches ----------------------------------------------------------------------- */

static void count_used(struct exact *exact, unsigned leaf, int change)
{
    unsigned vertex = exact->arrangement->sites->vertices[leaf];
    for (; vertex != 0; vertex = exact->vertices[vertex].parent)
        exact->used[vertex] += (unsigned)change;
}

/* An empty part of the tree that looks like an empty one beside it, which is tried. */
static bool is_mirror(const struct exact *exact, unsigned leaf)
{
    unsigned vertex = exact->arrangement->sites->vertices[leaf];
    for (; vertex != 0 && exact->used[vertex] == 0; vertex = exact->vertices[vertex].parent) {
        unsigned first = exact->vertices[exact->vertices[vertex].parent].first_child;
        for (unsigned other = first; other < vertex; other++)
            if (exact->used[other] == 0 &&
                exact->vertices[other].shape == exact->vertices[vertex].shape)
                return true;
    }
    return false;
}

static bool has_room(const struct exact *exact, unsigned leaf)
{
    const struct site_map *sites = exact->arrangement->sites;
    return exact->used[sites->vertices[leaf]] < sites->counts[leaf];
}

/* The prices of the units still to place, once `unit` sits in that leaf; returns the sum of
 * their cheapest ones. */
static uint64_t price_rest(struct exact *exact, unsigned depth, unsigned unit, unsigned leaf)
{
    const struct block_graph *graph = exact->arrangement->graph;
    const struct site_map *sites = exact->arrangement->sites;
    size_t row = (size_t)exact->units * exact->leaves;
    memcpy(prices_at(exact, depth + 1, 0), prices_at(exact, depth, 0), row * sizeof(uint64_t));
    for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++) {
        const struct block_edge *edge = &graph->edges[e];
        uint64_t *prices = prices_at(exact, depth + 1, edge->to);
        const uint64_t *weights = edge_weights(exact, edge);
        for (unsigned other = 0; other < exact->leaves; other++)
            prices[other] += edge->pairs * weights[site_map_slot(sites, leaf, other)];
    }
    uint64_t sum = 0;
    for (unsigned later = depth + 1; later < exact->units; later++) {
        const uint64_t *prices = prices_at(exact, depth + 1, exact->order[later]);
        uint64_t least = UINT64_MAX;
        for (unsigned other = 0; other < exact->leaves; other++)
            if (prices[other] < least && has_room(exact, other))
                least = prices[other];
        sum += least;
    }
    return sum;
}

static void keep_best(struct exact *exact, uint64_t cost)
{
    exact->best = cost;
    exact->improved = true;
    memcpy(exact->best_leaf, exact->leaf_of, sizeof(exact->best_leaf));
}

static bool is_over(const struct exact *exact)
{
    return exact->visits == 0 || exact->best <= exact->below;
}

/* Depth is at most EXACT_SEARCH_UNITS. */
static void branch(struct exact *exact, unsigned depth, uint64_t cost)
{
    if (depth == exact->units) {
        keep_best(exact, cost);
        return;
    }
    unsigned unit = exact->order[depth];
    for (unsigned leaf = 0; leaf < exact->leaves && !is_over(exact); leaf++) {
        uint64_t here = cost + prices_at(exact, depth, unit)[leaf];
        if (!has_room(exact, leaf) || here + exact->rest[depth + 1] >= exact->best ||
            is_mirror(exact, leaf))
            continue;
        exact->visits--;
        exact->leaf_of[unit] = leaf;
        count_used(exact, leaf, 1);
        if (here + price_rest(exact, depth, unit, leaf) + exact->rest[depth + 1] < exact->best)
            branch(exact, depth + 1, here);
        count_used(exact, leaf, -1);
    }
}

/* --- the whole ---------------------------------------------------------------------- */

static void write_back(const struct exact *exact, struct arrangement *arrangement)
{
    const struct site_map *sites = arrangement->sites;
    memset(arrangement->unit_at, 0xff, sites->site_count * sizeof(*arrangement->unit_at));
    for (unsigned unit = 0; unit < exact->units; unit++) {
        unsigned site = sites->first_site[exact->best_leaf[unit]];
        while (arrangement->unit_at[site] != SITE_NONE)
            site++;
        arrangement->unit_at[site] = unit;
        arrangement->site_of[unit] = site;
        arrangement->leaf_of[unit] = exact->best_leaf[unit];
    }
}

static void order_units(struct exact *exact)
{
    bool taken[EXACT_SEARCH_UNITS] = {false};
    for (unsigned depth = 0; depth < exact->units; depth++) {
        exact->order[depth] = next_unit(exact, taken);
        taken[exact->order[depth]] = true;
    }
}

int exact_search(struct arrangement *arrangement, uint64_t *cost, uint64_t below,
                 struct error_info *err)
{
    struct exact exact = {.arrangement = arrangement,
                          .vertices = arrangement->sites->tree->vertices,
                          .units = arrangement->graph->block_count,
                          .leaves = arrangement->sites->leaf_count,
                          .best = *cost,
                          .below = below,
                          .visits = EXACT_SEARCH_VISITS};
    if (exact.units > EXACT_SEARCH_UNITS || exact.leaves > 2 * EXACT_SEARCH_UNITS ||
        arrangement->flags)
        return 0;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!arena)
        return error_set_memory(err);
    size_t prices = (size_t)(exact.units + 1) * exact.units * exact.leaves;
    exact.prices = arena_allocate_array(arena, prices, sizeof(*exact.prices));
    exact.used = arena_allocate_array(arena, arrangement->sites->tree->vertex_count,
                                      sizeof(*exact.used));
    if (!exact.prices || !exact.used)
        return error_set_memory(err);
    order_units(&exact);
    find_rest(&exact, nearest_slot(arrangement->sites));
    branch(&exact, 0, 0);
    if (exact.improved)
        write_back(&exact, arrangement);
    *cost = exact.best;
    return exact.visits > 0;
}
