/* SPDX-License-Identifier: MIT */
#include "mapping/solver/block_graph.h"
#include "base/memory.h"
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 30)

/* Edges are counted first, then filled in backwards from each block's end. */
struct drawing {
    struct block_graph *graph;
    uint64_t *ends; /* [block]: edges, then one past the next free place */
    struct block_edge *edges;
    unsigned flow;
};

static void count_run(void *context, unsigned from, unsigned to, unsigned pairs)
{
    struct drawing *drawing = context;
    if (from == to) {
        drawing->graph->inside[drawing->flow] += pairs;
        return;
    }
    drawing->ends[from]++;
    drawing->ends[to]++;
}

static void fill_run(void *context, unsigned from, unsigned to, unsigned pairs)
{
    const struct drawing *drawing = context;
    if (from == to)
        return;
    drawing->edges[--drawing->ends[from]] = (struct block_edge){to, pairs, drawing->flow};
    drawing->edges[--drawing->ends[to]] = (struct block_edge){from, pairs, drawing->flow};
}

static void visit_all(struct drawing *drawing, uint64_t world, unsigned block_ranks,
                      pair_run_fn visit)
{
    const struct flow_weights *weights = drawing->graph->weights;
    for (drawing->flow = 0; drawing->flow < weights->flow_count; drawing->flow++)
        group_pairs_visit(&weights->lines[drawing->flow], weights->patterns[drawing->flow], world,
                          block_ranks, visit, drawing);
}

static bool comes_before(struct block_edge left, struct block_edge right)
{
    return left.to < right.to || (left.to == right.to && left.flow < right.flow);
}

/* One edge for each other block and flow, in their order. Returns how many are left. */
static unsigned merge_edges(struct block_edge *edges, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        struct block_edge edge = edges[i];
        unsigned at = kept;
        while (at > 0 && comes_before(edge, edges[at - 1]))
            at--;
        if (at > 0 && !comes_before(edges[at - 1], edge)) {
            edges[at - 1].pairs += edge.pairs;
            continue;
        }
        memmove(edges + at + 1, edges + at, (kept - at) * sizeof(*edges));
        edges[at] = edge;
        kept++;
    }
    return kept;
}

static void merge_all(struct block_graph *graph, uint64_t *first, struct block_edge *edges)
{
    uint64_t kept = 0;
    for (unsigned block = 0; block < graph->block_count; block++) {
        uint64_t start = first[block];
        unsigned count = merge_edges(edges + start, (unsigned)(first[block + 1] - start));
        memmove(edges + kept, edges + start, count * sizeof(*edges));
        first[block] = kept;
        kept += count;
    }
    first[graph->block_count] = kept;
}

static int draw(struct block_graph *graph, uint64_t world, unsigned block_ranks,
                struct error_info *err)
{
    struct drawing drawing = {.graph = graph};
    unsigned count = graph->block_count;
    drawing.ends = arena_allocate_array(graph->arena, (size_t)count + 1, sizeof(*drawing.ends));
    uint64_t *first = arena_allocate_array(graph->arena, (size_t)count + 1, sizeof(*first));
    if (!drawing.ends || !first)
        return error_set_memory(err);
    visit_all(&drawing, world, block_ranks, count_run);
    for (unsigned block = 0; block < count; block++) {
        first[block + 1] = first[block] + drawing.ends[block];
        drawing.ends[block] = first[block + 1];
    }
    if (first[count] > BLOCK_GRAPH_MAXIMUM_EDGES)
        return error_set(err, "more than %llu pairs of nodes talk to each other",
                         (unsigned long long)BLOCK_GRAPH_MAXIMUM_EDGES / 2);
    drawing.edges =
        arena_allocate_array(graph->arena, (size_t)first[count] + 1, sizeof(*drawing.edges));
    if (!drawing.edges)
        return error_set_memory(err);
    visit_all(&drawing, world, block_ranks, fill_run);
    merge_all(graph, first, drawing.edges);
    graph->first = first;
    graph->edges = drawing.edges;
    return 0;
}

struct block_graph *block_graph_create(const struct flow_weights *weights, uint64_t world,
                                       unsigned block_ranks, struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP(block_graph)
    struct block_graph *graph = arena ? arena_allocate(arena, sizeof(*graph)) : NULL;
    if (!graph) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *graph = (struct block_graph){
        .block_count = (unsigned)(world / block_ranks), .weights = weights, .arena = arena};
    return draw(graph, world, block_ranks, err) < 0 ? NULL : move_pointer(graph);
}

void block_graph_free(struct block_graph *graph)
{
    if (graph)
        arena_free(graph->arena);
}
