/* SPDX-License-Identifier: MIT */
#include "mapping/solver/exact_search.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MAXIMUM 6u
#define SIZES (EXACT_SEARCH_UNITS + 1)

typedef uint32_t unit_set;

struct rated_set {
    uint64_t saved;
    unit_set set;
};

/* Vertices that save alike: a pair inside costs what it costs at slot `to` instead of `from`. */
struct kind {
    unsigned from, to;
    uint64_t *saved;         /* by set */
    uint64_t most[SIZES];    /* by size of the set */
    struct rated_set *rated; /* of leaves: by size, best first */
    unsigned first[SIZES + 1];
};

struct leaf {
    unsigned kind, capacity;
    bool twin;          /* alike with the leaf before it, under one parent */
    unsigned closed[8]; /* vertices that this leaf is the last one of, nearest first */
    unsigned closed_count;
};

struct exact {
    const struct arrangement *arrangement;
    const struct fabric_vertex *vertices;
    unsigned units, leaf_count;
    struct kind kinds[KINDS_MAXIMUM];
    unsigned kind_count;
    unsigned *vertex_kind;
    unit_set *vertex_set; /* of the vertices above leaves */
    struct leaf leaves[EXACT_SEARCH_LEAVES];
    /* [leaf][units left]: the most that leaves from there on, and what they close, can save */
    uint64_t rest[EXACT_SEARCH_LEAVES + 1][SIZES];
    unit_set sets[EXACT_SEARCH_LEAVES], best_sets[EXACT_SEARCH_LEAVES];
    uint64_t best, visits;
    bool improved;
    struct arena *arena;
};

/* --- tables ------------------------------------------------------------------------- */

static uint64_t pair_saving(const struct exact *exact, const struct block_edge *edge,
                            const struct kind *kind)
{
    const uint64_t *weights = exact->arrangement->graph->weights->weights[edge->flow];
    return edge->pairs * (weights[kind->from] - weights[kind->to]);
}

/* A set saves what it saves without its lowest unit, and that unit's pairs with the others. */
static void sum_savings(const struct exact *exact, struct kind *kind)
{
    const struct block_graph *graph = exact->arrangement->graph;
    uint64_t with[EXACT_SEARCH_UNITS][EXACT_SEARCH_UNITS] = {{0}};
    for (unsigned unit = 0; unit < exact->units; unit++)
        for (uint64_t e = graph->first[unit]; e < graph->first[unit + 1]; e++)
            with[unit][graph->edges[e].to] += pair_saving(exact, &graph->edges[e], kind);
    for (unit_set set = 1; set < (unit_set)1 << exact->units; set++) {
        unsigned lowest = (unsigned)__builtin_ctz(set);
        uint64_t saved = kind->saved[set & (set - 1)];
        for (unit_set others = set & (set - 1); others != 0; others &= others - 1)
            saved += with[lowest][__builtin_ctz(others)];
        kind->saved[set] = saved;
        unsigned size = (unsigned)__builtin_popcount(set);
        kind->most[size] = saved > kind->most[size] ? saved : kind->most[size];
    }
}

static int kind_of(struct exact *exact, unsigned vertex, struct error_info *err)
{
    unsigned to = exact->vertices[vertex].slot;
    unsigned from = exact->vertices[exact->vertices[vertex].parent].slot;
    for (unsigned k = 0; k < exact->kind_count; k++)
        if (exact->kinds[k].from == from && exact->kinds[k].to == to)
            return (int)k;
    if (exact->kind_count == KINDS_MAXIMUM)
        return KINDS_MAXIMUM;
    struct kind *kind = &exact->kinds[exact->kind_count];
    *kind = (struct kind){.from = from, .to = to};
    kind->saved =
        arena_allocate_array(exact->arena, (size_t)1 << exact->units, sizeof(*kind->saved));
    if (!kind->saved)
        return error_set_memory(err);
    sum_savings(exact, kind);
    return (int)exact->kind_count++;
}

static int compare_rated(const void *left, const void *right)
{
    const struct rated_set *l = left, *r = right;
    if (l->saved != r->saved)
        return l->saved > r->saved ? -1 : 1;
    return (l->set > r->set) - (l->set < r->set);
}

static int rate_sets(struct exact *exact, struct kind *kind, unsigned most, struct error_info *err)
{
    unsigned counts[SIZES + 1] = {0}, filled[SIZES + 1];
    unit_set end = (unit_set)1 << exact->units;
    if (kind->rated || !kind->saved)
        return 0;
    for (unit_set set = 0; set < end; set++)
        counts[__builtin_popcount(set)]++;
    for (unsigned size = 0; size <= most; size++)
        kind->first[size + 1] = kind->first[size] + counts[size];
    memcpy(filled, kind->first, sizeof(filled));
    kind->rated = arena_allocate_array(exact->arena, kind->first[most + 1], sizeof(*kind->rated));
    if (!kind->rated)
        return error_set_memory(err);
    for (unit_set set = 0; set < end; set++) {
        unsigned size = (unsigned)__builtin_popcount(set);
        if (size <= most)
            kind->rated[filled[size]++] = (struct rated_set){kind->saved[set], set};
    }
    for (unsigned size = 1; size <= most; size++)
        qsort(kind->rated + kind->first[size], counts[size], sizeof(*kind->rated), compare_rated);
    return 0;
}

/* --- leaves ------------------------------------------------------------------------- */

static unsigned smaller(unsigned left, unsigned right) { return left < right ? left : right; }

/* Whether no later leaf lies below the vertex. */
static bool is_closed_by(const struct exact *exact, unsigned vertex, unsigned leaf)
{
    const struct site_map *sites = exact->arrangement->sites;
    for (unsigned later = leaf + 1; later < exact->leaf_count; later++)
        for (unsigned v = sites->vertices[later]; v != 0; v = exact->vertices[v].parent)
            if (v == vertex)
                return false;
    return true;
}

static int describe_leaf(struct exact *exact, unsigned index, struct error_info *err)
{
    const struct site_map *sites = exact->arrangement->sites;
    struct leaf *leaf = &exact->leaves[index];
    unsigned vertex = sites->vertices[index];
    if (vertex == 0) /* the root is a leaf only where there is no other */
        return 0;
    leaf->capacity = smaller(sites->counts[index], exact->units);
    if (index > 0) {
        const struct fabric_vertex *here = &exact->vertices[vertex];
        const struct fabric_vertex *before = &exact->vertices[sites->vertices[index - 1]];
        leaf->twin = here->parent == before->parent && here->shape == before->shape;
    }
    for (unsigned v = vertex; v != 0; v = exact->vertices[v].parent) {
        int kind = kind_of(exact, v, err);
        if (kind < 0)
            return -1;
        exact->vertex_kind[v] = (unsigned)kind;
        if (kind == KINDS_MAXIMUM)
            return 0;
        if (v != vertex && is_closed_by(exact, v, index) && leaf->closed_count < 8)
            leaf->closed[leaf->closed_count++] = v;
    }
    leaf->kind = exact->vertex_kind[vertex];
    return 1;
}

/* The most that the vertices can save which this leaf is the last one of. */
static uint64_t most_closed(const struct exact *exact, const struct leaf *leaf)
{
    uint64_t saved = 0;
    for (unsigned i = 0; i < leaf->closed_count; i++) {
        unsigned vertex = leaf->closed[i];
        unsigned most = exact->vertices[vertex].node_count / exact->arrangement->sites->unit_nodes;
        saved += exact->kinds[exact->vertex_kind[vertex]].most[smaller(most, exact->units)];
    }
    return saved;
}

static void find_rest(struct exact *exact)
{
    const struct kind *kinds = exact->kinds;
    for (unsigned index = exact->leaf_count; index-- > 0;) {
        const struct leaf *leaf = &exact->leaves[index];
        uint64_t closes = most_closed(exact, leaf);
        for (unsigned left = 0; left <= exact->units; left++)
            for (unsigned size = 0; size <= leaf->capacity && size <= left; size++) {
                uint64_t saved =
                    kinds[leaf->kind].most[size] + exact->rest[index + 1][left - size] + closes;
                if (saved > exact->rest[index][left])
                    exact->rest[index][left] = saved;
            }
    }
}

/* --- branches ----------------------------------------------------------------------- */

static uint64_t close_vertices(struct exact *exact, unsigned index)
{
    const struct leaf *leaf = &exact->leaves[index];
    uint64_t saved = 0;
    for (unsigned i = 0; i < leaf->closed_count; i++) {
        unsigned vertex = leaf->closed[i];
        saved += exact->kinds[exact->vertex_kind[vertex]].saved[exact->vertex_set[vertex]];
    }
    return saved;
}

static void enter(struct exact *exact, unsigned index, unit_set set)
{
    unsigned vertex = exact->arrangement->sites->vertices[index];
    exact->sets[index] = set;
    for (unsigned v = vertex; v != 0; v = exact->vertices[v].parent)
        exact->vertex_set[v] ^= set;
}

static bool out_of_turn(const struct exact *exact, unsigned index, unit_set set)
{
    if (!exact->leaves[index].twin)
        return false;
    unit_set before = exact->sets[index - 1];
    return set != 0 && (before == 0 || __builtin_ctz(set) < __builtin_ctz(before));
}

static void fill_leaf(struct exact *exact, unsigned index, unit_set left, uint64_t saved);

static void fill_with(struct exact *exact, unsigned index, unit_set left, uint64_t saved,
                      unsigned size)
{
    const struct kind *kind = &exact->kinds[exact->leaves[index].kind];
    unsigned rest = (unsigned)__builtin_popcount(left) - size;
    uint64_t later = exact->rest[index + 1][rest] + most_closed(exact, &exact->leaves[index]);
    for (unsigned i = kind->first[size]; i < kind->first[size + 1] && exact->visits > 0; i++) {
        const struct rated_set *rated = &kind->rated[i];
        exact->visits--;
        if (saved + rated->saved + later <= exact->best)
            return;
        if (rated->set & ~left || out_of_turn(exact, index, rated->set))
            continue;
        enter(exact, index, rated->set);
        fill_leaf(exact, index + 1, left & ~rated->set,
                  saved + rated->saved + close_vertices(exact, index));
        enter(exact, index, rated->set);
    }
}

/* Depth is at most EXACT_SEARCH_LEAVES. */
static void fill_leaf(struct exact *exact, unsigned index, unit_set left, uint64_t saved)
{
    if (index == exact->leaf_count) {
        if (left != 0 || saved <= exact->best)
            return;
        exact->best = saved;
        exact->improved = true;
        memcpy(exact->best_sets, exact->sets, sizeof(exact->best_sets));
        return;
    }
    unsigned units = (unsigned)__builtin_popcount(left), room = 0;
    for (unsigned later = index + 1; later < exact->leaf_count; later++)
        room += exact->leaves[later].capacity;
    unsigned least = units > room ? units - room : 0;
    for (unsigned size = smaller(exact->leaves[index].capacity, units) + 1; size-- > least;)
        fill_with(exact, index, left, saved, size);
}

/* --- the whole ---------------------------------------------------------------------- */

static void write_back(const struct exact *exact, struct arrangement *arrangement)
{
    const struct site_map *sites = arrangement->sites;
    unsigned places[EXACT_SEARCH_UNITS];
    for (unsigned leaf = 0; leaf < exact->leaf_count; leaf++) {
        unsigned site = sites->first_site[leaf];
        for (unit_set set = exact->best_sets[leaf]; set != 0; set &= set - 1)
            places[__builtin_ctz(set)] = site++;
    }
    arrangement_fill(arrangement, places);
}

static uint64_t cost_over_root(const struct exact *exact)
{
    const struct block_graph *graph = exact->arrangement->graph;
    uint64_t twice = 0;
    for (uint64_t e = 0; e < graph->first[exact->units]; e++)
        twice += graph->edges[e].pairs *
                 graph->weights->weights[graph->edges[e].flow][exact->vertices[0].slot];
    return twice / 2;
}

/* 1: ready, 0: too many kinds of vertices, -1: no memory. */
static int prepare(struct exact *exact, struct error_info *err)
{
    size_t vertices = exact->arrangement->sites->tree->vertex_count;
    unsigned largest = 0;
    exact->vertex_kind = arena_allocate_array(exact->arena, vertices, sizeof(unsigned));
    exact->vertex_set = arena_allocate_array(exact->arena, vertices, sizeof(unit_set));
    if (!exact->vertex_kind || !exact->vertex_set)
        return error_set_memory(err);
    for (unsigned leaf = 0; leaf < exact->leaf_count; leaf++) {
        int described = describe_leaf(exact, leaf, err);
        if (described <= 0)
            return described;
        if (exact->leaves[leaf].capacity > largest)
            largest = exact->leaves[leaf].capacity;
    }
    for (unsigned leaf = 0; leaf < exact->leaf_count; leaf++)
        if (rate_sets(exact, &exact->kinds[exact->leaves[leaf].kind], largest, err) < 0)
            return -1;
    find_rest(exact);
    return 1;
}

static int search_in(struct exact *exact, struct arrangement *arrangement, uint64_t *cost,
                     struct error_info *err)
{
    int ready = prepare(exact, err);
    if (ready <= 0)
        return ready;
    uint64_t all = cost_over_root(exact);
    exact->best = all - *cost;
    fill_leaf(exact, 0, ((unit_set)1 << exact->units) - 1, 0);
    if (exact->improved)
        write_back(exact, arrangement);
    *cost = all - exact->best;
    return exact->visits > 0;
}

int exact_search(struct arrangement *arrangement, uint64_t *cost, uint64_t visits,
                 struct error_info *err)
{
    const struct site_map *sites = arrangement->sites;
    if (arrangement->graph->block_count > EXACT_SEARCH_UNITS || arrangement->flags ||
        sites->leaf_count > EXACT_SEARCH_LEAVES || sites->leaf_count < 2)
        return 0;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    CLEANUP_MEMORY struct exact *exact = memory_allocate_array(1, sizeof(*exact));
    if (!arena || !exact)
        return error_set_memory(err);
    *exact = (struct exact){.arrangement = arrangement,
                            .vertices = sites->tree->vertices,
                            .units = arrangement->graph->block_count,
                            .leaf_count = sites->leaf_count,
                            .visits = visits,
                            .arena = arena};
    return search_in(exact, arrangement, cost, err);
}
