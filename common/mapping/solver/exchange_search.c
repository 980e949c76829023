/* SPDX-License-Identifier: MIT */
#include "mapping/solver/exchange_search.h"

/* Annealing with fewer exchanges than this for each unit ends worse than descent alone. */
#define ANNEALING_PER_UNIT 400u
/* … and with more it gains no more. */
#define ANNEALING_ENOUGH_PER_UNIT 3000u
#define COOLING_STEPS 32u
#define DESCENT_NODES 24u
#define STRETCH_MAXIMUM 8u
#define STRETCH_EVERY 4u
/* The first threshold, of the dearest edge of the mean unit: colder where time is short, so that
 * what is good in the start survives. Tried on some hundred seeded cases of 16 to 4,096 units. */
#define WARM_SHARE 4u
#define COLD_SHARE 8u
#define WARM_FROM_PER_UNIT 1000u

struct search {
    struct arrangement *arrangement;
    uint64_t cost, below;
    uint64_t *budget;
    uint64_t random;
};

static unsigned draw(struct search *search, unsigned below)
{
    search->random ^= search->random << 13;
    search->random ^= search->random >> 7;
    search->random ^= search->random << 17;
    return (unsigned)((search->random >> 32) * below >> 32);
}

static bool spend(struct search *search)
{
    if (*search->budget == 0)
        return false;
    --*search->budget;
    return true;
}

static void apply(struct search *search, unsigned left, unsigned right, int64_t delta)
{
    arrangement_exchange(search->arrangement, left, right);
    search->cost += (uint64_t)delta;
}

/* --- descent ------------------------------------------------------------------------ */

struct best_exchange {
    int64_t delta;
    unsigned site, unit; /* of equals the smallest unit, an empty site last */
};

/* The leaf, or what is above it while that holds few nodes: a neighbour's domain is full soon,
 * the switch above it less so. */
static unsigned near_vertex(const struct site_map *sites, unsigned leaf)
{
    const struct fabric_vertex *vertices = sites->tree->vertices;
    unsigned vertex = sites->vertices[leaf];
    while (vertex != 0 && vertices[vertex].parent != 0 &&
           vertices[vertices[vertex].parent].node_count <= DESCENT_NODES)
        vertex = vertices[vertex].parent;
    return vertex;
}

static void look_below(struct search *search, unsigned site, unsigned vertex,
                       struct best_exchange *best)
{
    const struct arrangement *arrangement = search->arrangement;
    const unsigned *leaves = arrangement->sites->leaves;
    struct site_range range = site_map_below(arrangement->sites, vertex);
    unsigned empty_leaf = SITE_NONE; /* whose empty site was tried */
    for (unsigned other = range.first; other < range.end; other++) {
        unsigned unit = arrangement->unit_at[other];
        if (leaves[other] == leaves[site] || (unit == SITE_NONE && leaves[other] == empty_leaf) ||
            !arrangement_may_exchange(arrangement, site, other))
            continue;
        if (unit == SITE_NONE)
            empty_leaf = leaves[other];
        if (!spend(search))
            return;
        int64_t delta = arrangement_delta(arrangement, site, other);
        if (delta < best->delta || (delta == best->delta && delta < 0 && unit < best->unit))
            *best = (struct best_exchange){delta, other, unit};
    }
}

/* Whether an earlier edge of the unit led below that vertex. */
static bool seen_before(const struct arrangement *arrangement, unsigned unit, uint64_t edge,
                        unsigned vertex)
{
    const struct block_graph *graph = arrangement->graph;
    for (uint64_t e = graph->first[unit]; e < edge; e++)
        if (near_vertex(arrangement->sites, arrangement->leaf_of[graph->edges[e].to]) == vertex)
            return true;
    return false;
}

static bool improve_unit(struct search *search, unsigned unit)
{
    const struct arrangement *arrangement = search->arrangement;
    const struct block_graph *graph = arrangement->graph;
    unsigned site = arrangement->site_of[unit];
    struct best_exchange best = {0, site, SITE_NONE};
    for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++) {
        unsigned leaf = arrangement->leaf_of[graph->edges[e].to];
        unsigned vertex = near_vertex(arrangement->sites, leaf);
        if (!seen_before(arrangement, unit, e, vertex))
            look_below(search, site, vertex, &best);
    }
    if (best.delta >= 0)
        return false;
    apply(search, site, best.site, best.delta);
    return true;
}

static void descend(struct search *search)
{
    unsigned units = search->arrangement->graph->block_count, quiet = 0;
    for (unsigned unit = 0; quiet<units && * search->budget> 0 && search->cost > search->below;
         unit = unit + 1 < units ? unit + 1 : 0)
        quiet = improve_unit(search, unit) ? 0 : quiet + 1;
}

/* --- annealing ---------------------------------------------------------------------- */

/* -log2(r / 2^32) in 1/256, of r drawn evenly; 0 … 32 * 256. The fraction is linear, which is
 * near enough and the same on every machine. */
static unsigned exponential(struct search *search)
{
    unsigned r = draw(search, ~0u) | 1u;
    unsigned zeros = (unsigned)__builtin_clz(r);
    unsigned fraction = zeros < 31 ? (r << (zeros + 1)) >> 24 : 0;
    return (zeros + 1) * 256 - fraction;
}

/* A random unit, and a random site near a random neighbour of it: of its leaf, or of what is
 * above. */
static bool draw_exchange(struct search *search, unsigned *ret_site, unsigned *ret_other)
{
    const struct arrangement *arrangement = search->arrangement;
    const struct block_graph *graph = arrangement->graph;
    const struct site_map *sites = arrangement->sites;
    unsigned unit = draw(search, graph->block_count);
    unsigned degree = (unsigned)(graph->first[unit + 1] - graph->first[unit]);
    if (degree == 0)
        return false;
    unsigned leaf =
        arrangement->leaf_of[graph->edges[graph->first[unit] + draw(search, degree)].to];
    const struct fabric_vertex *vertices = sites->tree->vertices;
    unsigned vertex = sites->vertices[leaf];
    while (vertices[vertex].parent != 0 && draw(search, 2) == 0)
        vertex = vertices[vertex].parent;
    struct site_range range = site_map_below(sites, vertex);
    *ret_site = arrangement->site_of[unit];
    *ret_other = range.first + draw(search, range.end - range.first);
    return sites->leaves[*ret_other] != arrangement->leaf_of[unit] &&
           arrangement_may_exchange(arrangement, *ret_site, *ret_other);
}

static bool is_taken(struct search *search, int64_t delta, uint64_t threshold)
{
    return delta <= 0 || (uint64_t)delta <= (threshold * exponential(search)) >> 8;
}

static void try_exchange(struct search *search, uint64_t threshold)
{
    unsigned site, other;
    if (!draw_exchange(search, &site, &other) || !spend(search))
        return;
    int64_t delta = arrangement_delta(search->arrangement, site, other);
    if (is_taken(search, delta, threshold))
        apply(search, site, other, delta);
}

/* The same for stretches of units: of pipelines, or of rings, whichever the unit's random
 * neighbour stands beside it in: what single exchanges reach only over dear ones. */
static void try_stretch(struct search *search, uint64_t threshold)
{
    struct arrangement *arrangement = search->arrangement;
    const struct block_graph *graph = arrangement->graph;
    unsigned site, other, units = graph->block_count, done = 0;
    if (!draw_exchange(search, &site, &other) || arrangement->unit_at[other] == SITE_NONE)
        return;
    int64_t left = arrangement->unit_at[site], right = arrangement->unit_at[other], sum = 0;
    unsigned degree = (unsigned)(graph->first[left + 1] - graph->first[left]);
    int64_t step = graph->edges[graph->first[left] + draw(search, degree)].to - left;
    unsigned length = 2 + draw(search, STRETCH_MAXIMUM - 1);
    if ((right - left) % step == 0)
        return;
    struct {
        unsigned left, right;
    } swaps[STRETCH_MAXIMUM];
    for (; done < length; done++, left += step, right += step) {
        if (left < 0 || right < 0 || left >= units || right >= units)
            break;
        site = arrangement->site_of[left];
        other = arrangement->site_of[right];
        if (!arrangement_may_exchange(arrangement, site, other) || !spend(search))
            break;
        sum += arrangement_delta(arrangement, site, other);
        arrangement_exchange(arrangement, site, other);
        swaps[done].left = site;
        swaps[done].right = other;
    }
    if (is_taken(search, sum, threshold)) {
        search->cost += (uint64_t)sum;
        return;
    }
    while (done-- > 0)
        arrangement_exchange(arrangement, swaps[done].left, swaps[done].right);
}

/* The dearest edges of the units, in the mean: what one bad place costs. */
static uint64_t typical_edge(const struct arrangement *arrangement)
{
    const struct block_graph *graph = arrangement->graph;
    const struct flow_weights *weights = graph->weights;
    uint64_t sum = 0;
    for (unsigned unit = 0; unit < graph->block_count; unit++) {
        uint64_t dearest = 0;
        for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++) {
            const uint64_t *each = weights->weights[graph->edges[e].flow];
            uint64_t cost =
                graph->edges[e].pairs * (each[weights->slot_count - 1] - each[COST_SLOT_TIERS]);
            dearest = cost > dearest ? cost : dearest;
        }
        sum += dearest;
    }
    return sum / graph->block_count;
}

static uint64_t smaller(uint64_t left, uint64_t right) { return left < right ? left : right; }

static void anneal(struct search *search, struct arrangement *best, uint64_t *best_cost,
                   uint64_t exchanges)
{
    unsigned units = search->arrangement->graph->block_count;
    bool warm = exchanges / WARM_FROM_PER_UNIT >= units;
    uint64_t threshold = typical_edge(search->arrangement) / (warm ? WARM_SHARE : COLD_SHARE);
    for (unsigned step = 0; step < COOLING_STEPS; step++, threshold = threshold * 5 / 6) {
        uint64_t stop = *search->budget - smaller(*search->budget, exchanges / COOLING_STEPS);
        for (uint64_t i = 0; i<exchanges && * search->budget> stop; i++)
            if (i % STRETCH_EVERY == 0)
                try_stretch(search, threshold);
            else
                try_exchange(search, threshold);
        if (search->cost >= *best_cost)
            continue;
        *best_cost = search->cost;
        arrangement_copy(best, search->arrangement);
        if (*best_cost <= search->below)
            return;
    }
}

uint64_t exchange_search(struct arrangement *arrangement, uint64_t cost, uint64_t below,
                         uint64_t *budget, struct error_info *err)
{
    unsigned units = arrangement->graph->block_count;
    struct search search = {.arrangement = arrangement,
                            .cost = cost,
                            .below = below,
                            .budget = budget,
                            .random = UINT64_C(0x9e3779b97f4a7c15)};
    descend(&search);
    if (search.cost <= below || *budget / ANNEALING_PER_UNIT < units)
        return search.cost;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct arrangement best;
    int ready = arena ? arrangement_init(&best, arrangement->graph, arrangement->sites, arena, err)
                      : error_set_memory(err);
    if (ready < 0)
        return UINT64_MAX;
    arrangement_copy(&best, arrangement);
    uint64_t best_cost = search.cost, enough = (uint64_t)units * ANNEALING_ENOUGH_PER_UNIT;
    while (best_cost > below && *budget / ANNEALING_PER_UNIT >= units) {
        uint64_t before = *budget, exchanges = smaller(before, enough);
        anneal(&search, &best, &best_cost, exchanges);
        descend(&search);
        if (search.cost < best_cost) {
            best_cost = search.cost;
            arrangement_copy(&best, arrangement);
        }
        if (before - *budget < exchanges / 2) /* hardly anything may move: no end to it */
            break;
    }
    arrangement_copy(arrangement, &best);
    return best_cost;
}
