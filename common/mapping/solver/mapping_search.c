/* SPDX-License-Identifier: MIT */
#include "mapping/solver/mapping_search.h"
#include "base/memory.h"
#include "base/numbers/real.h"
#include "mapping/solver/cost_bound.h"
#include "mapping/solver/exact_search.h"
#include "mapping/solver/exchange_search.h"
#include "mapping/solver/node_packing.h"

#include <string.h>

/* Enough for descent, too little for annealing. */
#define DESCENT_PER_UNIT 100u

struct solution {
    const struct mapping_problem *problem;
    unsigned *node_position;   /* cluster node -> position in the tree */
    unsigned *position_vertex; /* position -> leaf vertex */
    unsigned *blocks, *packed; /* of one start */
    unsigned *positions;       /* block -> position: the best start */
    unsigned *candidate;       /* of the start at hand */
    uint64_t cost, bound, budget;
    struct arena *arena;
};

double mapping_quality_gap(const struct mapping_quality *quality)
{
    double over = quality->cost - quality->lower_bound;
    return over > 0 && quality->lower_bound > 0 && !quality->optimal ? over / quality->lower_bound
                                                                     : 0;
}

/* --- what a start costs ------------------------------------------------------------- */

struct cost_sum {
    const struct fabric_vertex *vertices;
    const unsigned *positions, *position_vertex;
    const uint64_t *weights; /* of one flow, by slot */
    uint64_t cost;
};

static void add_run(void *context, unsigned from, unsigned to, unsigned count)
{
    struct cost_sum *sum = context;
    unsigned slot = COST_SLOT_NODE;
    if (from != to)
        slot = fabric_tree_slot(sum->vertices, sum->position_vertex[sum->positions[from]],
                                sum->position_vertex[sum->positions[to]]);
    sum->cost += count * sum->weights[slot];
}

static uint64_t cost_of(const struct solution *solution, const unsigned *positions)
{
    const struct mapping_problem *problem = solution->problem;
    const struct flow_weights *weights = problem->weights;
    struct cost_sum sum = {problem->tree->vertices, positions, solution->position_vertex, NULL, 0};
    uint64_t world = (uint64_t)problem->order->block_count * problem->block_ranks;
    for (unsigned f = 0; f < weights->flow_count; f++) {
        sum.weights = weights->weights[f];
        group_pairs_visit(&weights->lines[f], weights->patterns[f], world, problem->block_ranks,
                          add_run, &sum);
    }
    return sum.cost;
}

/* --- starts ------------------------------------------------------------------------- */

static int try_start(struct solution *solution, const struct block_order *order,
                     struct error_info *err)
{
    if (node_packing_solve(solution->problem->tree, order, solution->packed, err) < 0)
        return -1;
    block_order_fill(order, solution->blocks);
    for (unsigned i = 0; i < order->block_count; i++)
        solution->candidate[solution->blocks[i]] = solution->node_position[solution->packed[i]];
    uint64_t cost = cost_of(solution, solution->candidate);
    if (cost >= solution->cost)
        return 0;
    unsigned *swap = solution->positions;
    solution->positions = solution->candidate;
    solution->candidate = swap;
    solution->cost = cost;
    return 0;
}

static int try_tile(struct solution *solution, const struct block_tile *tile,
                    struct error_info *err)
{
    struct block_order order = *solution->problem->order;
    if (solution->cost <= solution->bound)
        return 0;
    block_order_tile(&order, tile);
    return try_start(solution, &order, err);
}

/* More nodes, under a vertex of more nodes: nothing that names decide. */
static bool is_larger_leaf(const struct fabric_vertex *vertices, unsigned left, unsigned right)
{
    const struct fabric_vertex *l = &vertices[left], *r = &vertices[right];
    if (l->node_count != r->node_count)
        return l->node_count > r->node_count;
    if (l->slot != r->slot)
        return l->slot < r->slot;
    const struct fabric_vertex *above_l = &vertices[l->parent], *above_r = &vertices[r->parent];
    if (above_l->node_count != above_r->node_count)
        return above_l->node_count > above_r->node_count;
    return above_l->slot < above_r->slot;
}

static unsigned largest_leaf(const struct fabric_tree *tree)
{
    unsigned best = tree->vertex_count;
    for (unsigned v = 0; v < tree->vertex_count; v++)
        if (tree->vertices[v].child_count == 0 &&
            (best == tree->vertex_count || is_larger_leaf(tree->vertices, v, best)))
            best = v;
    return best < tree->vertex_count ? best : 0;
}

/* The stages of the rectangle that a vertex likes best. */
static unsigned liked_stages(const struct solution *solution, unsigned vertex, unsigned multiple)
{
    const struct mapping_problem *problem = solution->problem;
    uint64_t world = (uint64_t)problem->order->block_count * problem->block_ranks;
    return cost_bound_stages(problem->weights, problem->tree, vertex, world, problem->block_ranks,
                             block_order_stages(problem->order), multiple);
}

/* Units of replicas that make a vertex's rectangle of so many stages; a divisor of them all. */
static unsigned units_beside(const struct solution *solution, unsigned vertex, unsigned stages)
{
    const struct block_order *order = solution->problem->order;
    unsigned all = block_order_units(order);
    unsigned units = solution->problem->tree->vertices[vertex].node_count /
                     (stages * block_order_unit_blocks(order));
    while (units > 1 && all % units != 0)
        units--;
    return units > 0 && units < all ? units : all;
}

/* What a leaf likes, inside of what the vertex above likes. */
static struct block_tile liked_tile(const struct solution *solution)
{
    const struct fabric_vertex *vertices = solution->problem->tree->vertices;
    unsigned leaf = largest_leaf(solution->problem->tree), above = vertices[leaf].parent;
    struct block_tile tile = {.stages = liked_stages(solution, leaf, 1)};
    tile.outer_stages = tile.stages;
    tile.outer_units = block_order_units(solution->problem->order);
    if (above != leaf && vertices[above].node_count < solution->problem->tree->node_count) {
        tile.outer_stages = liked_stages(solution, above, tile.stages);
        tile.outer_units = units_beside(solution, above, tile.outer_stages);
    }
    return tile;
}

/* The rule's order first: of equals it stays. Then the rectangles that leaves like best, then,
 * while that is cheap, all others. */
static int try_starts(struct solution *solution, struct error_info *err)
{
    const struct block_order *plain = solution->problem->order;
    unsigned stages = block_order_stages(plain), units = block_order_units(plain);
    if (try_start(solution, plain, err) < 0)
        return -1;
    struct block_tile liked = liked_tile(solution);
    if (liked.stages < stages && try_tile(solution, &liked, err) < 0)
        return -1;
    for (unsigned tile = 1; tile < stages && plain->block_count <= MAPPING_SEARCH_MANY_NODES;
         tile++) {
        struct block_tile other = {tile, tile, units};
        if (stages % tile == 0 && try_tile(solution, &other, err) < 0)
            return -1;
    }
    return 0;
}

/* --- search ------------------------------------------------------------------------- */

static uint64_t smaller(uint64_t left, uint64_t right) { return left < right ? left : right; }

static unsigned unit_nodes(const struct solution *solution)
{
    return solution->problem->order->tp_blocks;
}

/* Every leaf holds whole units; else TP groups are already cut and nothing can be moved whole.
 * And units cost the same inside of every leaf: a search looks at pairs between units only. */
static bool units_fit(const struct solution *solution)
{
    const struct fabric_tree *tree = solution->problem->tree;
    unsigned nodes = unit_nodes(solution), slot = COST_SLOT_MAXIMUM;
    for (unsigned v = 0; v < tree->vertex_count; v++) {
        const struct fabric_vertex *leaf = &tree->vertices[v];
        if (leaf->child_count > 0 || leaf->node_count == 0)
            continue;
        if (leaf->node_count % nodes != 0 ||
            (nodes > 1 && slot != COST_SLOT_MAXIMUM && leaf->slot != slot))
            return false;
        slot = leaf->slot;
    }
    return true;
}

static void read_sites(const struct solution *solution, const struct site_map *sites,
                       unsigned units, unsigned *ret_site_of)
{
    unsigned nodes = unit_nodes(solution);
    for (unsigned unit = 0; unit < units; unit++)
        ret_site_of[unit] = sites->site_at[solution->positions[unit * nodes] / nodes];
}

/* Units of one leaf stand in the order in which the rule would lay them. */
static void write_sites(struct solution *solution, const struct arrangement *arrangement,
                        unsigned *filled)
{
    unsigned nodes = unit_nodes(solution);
    const struct site_map *sites = arrangement->sites;
    block_order_fill(solution->problem->order, solution->blocks);
    memset(filled, 0, sites->leaf_count * sizeof(*filled));
    for (unsigned i = 0; i < solution->problem->order->block_count; i++) {
        unsigned block = solution->blocks[i], site = arrangement->site_of[block / nodes];
        if (block % nodes != 0)
            continue;
        unsigned leaf = sites->leaves[site];
        if (!arrangement->flags)
            site = sites->first_site[leaf] + filled[leaf]++;
        for (unsigned k = 0; k < nodes; k++)
            solution->positions[block + k] = sites->positions[site] + k;
    }
}

/* Units of several nodes have sites for whole units only, which pins of nodes do not name. */
static int check_pins(const struct solution *solution, struct error_info *err)
{
    const struct mapping_problem *problem = solution->problem;
    const struct fabric_tree *tree = problem->tree;
    if (problem->pin_count > 0 && unit_nodes(solution) > 1)
        return error_set(err, "TP groups of %u nodes cannot be pinned; use a smaller tp or no pins",
                         unit_nodes(solution));
    for (size_t i = 0; i < problem->pin_count; i++) {
        unsigned node = problem->pins[i].node;
        if (tree->nodes[solution->node_position[node]] != node)
            return error_set(err, "%s is pinned, but has fewer GPUs than the job uses of a node",
                             problem->cluster->nodes[node].name);
    }
    return 0;
}

/* Puts what is pinned where it belongs (a unit is one block: check_pins); then the cost is
 * another. */
static int apply_pins(const struct solution *solution, struct arrangement *arrangement,
                      struct error_info *err)
{
    const struct mapping_problem *problem = solution->problem;
    unsigned free_site = 0;
    if (problem->pin_count == 0)
        return 0;
    unsigned char *flags = arena_allocate_array(solution->arena, arrangement->sites->site_count, 1);
    if (!flags)
        return error_set_memory(err);
    for (size_t i = 0; i < problem->pin_count; i++) {
        unsigned position = solution->node_position[problem->pins[i].node];
        unsigned site = arrangement->sites->site_at[position];
        if (problem->pins[i].block != SITE_NONE) {
            arrangement_exchange(arrangement, arrangement->site_of[problem->pins[i].block], site);
            flags[site] |= SITE_FIXED;
        }
        flags[site] |= SITE_USED;
    }
    arrangement->flags = flags;
    for (unsigned site = 0; site < arrangement->sites->site_count; site++) {
        if (!(flags[site] & SITE_USED) || arrangement->unit_at[site] != SITE_NONE)
            continue;
        while (arrangement->unit_at[free_site] == SITE_NONE || flags[free_site] & SITE_USED)
            free_site++;
        arrangement_exchange(arrangement, free_site, site);
    }
    return 0;
}

/* Small cases are tried whole after a descent; annealing is for what that leaves open. */
static int improve(struct solution *solution, struct arrangement *arrangement, uint64_t below,
                   uint64_t *cost, struct mapping_quality *quality, struct error_info *err)
{
    bool asked = solution->problem->exact;
    unsigned units = arrangement->graph->block_count;
    uint64_t few = smaller((uint64_t)units * DESCENT_PER_UNIT, solution->budget);
    uint64_t visits = asked ? MAPPING_SEARCH_EXACT_VISITS_ASKED : MAPPING_SEARCH_EXACT_VISITS;
    bool small = units <= MAPPING_SEARCH_EXACT_UNITS;
    int proven = 0;
    if (small || asked) {
        solution->budget -= few;
        *cost = exchange_search(arrangement, *cost, below, &few, err);
        proven =
            *cost > below && *cost != UINT64_MAX ? exact_search(arrangement, cost, visits, err) : 0;
    }
    if (proven == 0 && *cost > below)
        *cost = exchange_search(arrangement, *cost, below, &solution->budget, err);
    quality->optimal = proven > 0;
    return proven < 0 || *cost == UINT64_MAX ? -1 : 0;
}

static int search_units(struct solution *solution, const struct block_graph *graph,
                        const struct site_map *sites, struct mapping_quality *quality,
                        struct error_info *err)
{
    struct arrangement arrangement;
    unsigned *scratch = arena_allocate_array(
        solution->arena, (size_t)graph->block_count + sites->leaf_count, sizeof(*scratch));
    if (!scratch || arrangement_init(&arrangement, graph, sites, solution->arena, err) < 0)
        return error_set_memory(err);
    read_sites(solution, sites, graph->block_count, scratch);
    arrangement_fill(&arrangement, scratch);
    uint64_t inside = solution->cost - arrangement_cost(&arrangement); /* of the units */
    if (apply_pins(solution, &arrangement, err) < 0)
        return -1;
    uint64_t start = arrangement_cost(&arrangement);
    uint64_t below = solution->bound > inside ? solution->bound - inside : 0;
    uint64_t cost = start;
    if (improve(solution, &arrangement, below, &cost, quality, err) < 0)
        return -1;
    if (cost < start || solution->problem->pin_count > 0)
        write_sites(solution, &arrangement, scratch);
    solution->cost = cost_of(solution, solution->positions);
    return 0;
}

static int search(struct solution *solution, struct mapping_quality *quality,
                  struct error_info *err)
{
    const struct mapping_problem *problem = solution->problem;
    unsigned nodes = unit_nodes(solution);
    uint64_t world = (uint64_t)problem->order->block_count * problem->block_ranks;
    CLEANUP(block_graph)
    struct block_graph *graph =
        block_graph_create(problem->weights, world, problem->block_ranks * nodes, err);
    CLEANUP(site_map) struct site_map *sites = site_map_create(problem->tree, nodes, err);
    if (!graph || !sites)
        return -1;
    return search_units(solution, graph, sites, quality, err);
}

/* --- the whole ---------------------------------------------------------------------- */

static int solution_init(struct solution *solution, struct error_info *err)
{
    const struct mapping_problem *problem = solution->problem;
    const struct fabric_tree *tree = problem->tree;
    size_t blocks = problem->order->block_count;
    unsigned **arrays[] = {&solution->blocks, &solution->packed, &solution->positions,
                           &solution->candidate};
    for (size_t i = 0; i < COUNT_OF(arrays); i++) {
        *arrays[i] = arena_allocate_array(solution->arena, blocks, sizeof(unsigned));
        if (!*arrays[i]) {
            error_set_memory(err);
            return -1;
        }
    }
    solution->node_position =
        arena_allocate_array(solution->arena, problem->cluster->node_count, sizeof(unsigned));
    solution->position_vertex =
        arena_allocate_array(solution->arena, tree->node_count, sizeof(unsigned));
    if (!solution->node_position || !solution->position_vertex)
        return error_set_memory(err);
    for (unsigned i = 0; i < tree->node_count; i++)
        solution->node_position[tree->nodes[i]] = i;
    for (unsigned v = 0; v < tree->vertex_count; v++)
        for (unsigned i = 0; tree->vertices[v].child_count == 0 && i < tree->vertices[v].node_count;
             i++)
            solution->position_vertex[tree->vertices[v].first_node + i] = v;
    return check_pins(solution, err);
}

static uint64_t usual_budget(const struct mapping_problem *problem)
{
    if (problem->order->block_count > MAPPING_SEARCH_MANY_NODES)
        return 0;
    return problem->order->block_count > MAPPING_SEARCH_FEW_NODES ? MAPPING_SEARCH_BUDGET
                                                                  : MAPPING_SEARCH_BUDGET_FEW;
}

int mapping_search(const struct mapping_problem *problem, unsigned *ret_nodes,
                   struct mapping_quality *ret, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    uint64_t budget = problem->budget > 0 ? problem->budget : usual_budget(problem);
    struct solution solution = {
        .problem = problem, .cost = UINT64_MAX, .budget = budget, .arena = arena};
    struct mapping_quality quality = {.optimal = false};
    uint64_t world = (uint64_t)problem->order->block_count * problem->block_ranks;
    if (!arena)
        return error_set_memory(err);
    if (solution_init(&solution, err) < 0 || check_pins(&solution, err) < 0 ||
        cost_bound(problem->weights, problem->tree, world, problem->block_ranks, &solution.bound,
                   err) < 0 ||
        try_starts(&solution, err) < 0)
        return -1;
    bool open = (solution.cost > solution.bound && budget > 0) || problem->pin_count > 0;
    if (open && units_fit(&solution) && search(&solution, &quality, err) < 0)
        return -1;
    for (unsigned block = 0; block < problem->order->block_count; block++)
        ret_nodes[block] = problem->tree->nodes[solution.positions[block]];
    double unit = problem->weights->unit_seconds;
    quality.cost = real_of(solution.cost) * unit;
    quality.optimal |= solution.cost <= solution.bound;
    quality.lower_bound = quality.optimal ? quality.cost : real_of(solution.bound) * unit;
    quality.exchanges = budget - solution.budget;
    *ret = quality;
    return 0;
}
