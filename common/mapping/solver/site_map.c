/* SPDX-License-Identifier: MIT */
#include "mapping/solver/site_map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)256 << 20)

struct child {
    unsigned nodes, vertex;
    uint64_t shape;
};

struct survey {
    const struct fabric_vertex *vertices;
    unsigned *leaf_vertices;
    unsigned leaf_count;
    unsigned *pending;      /* a stack of vertices */
    struct child *children; /* of one vertex */
};

static int compare_children(const void *left, const void *right)
{
    const struct child *l = left, *r = right;
    if (l->nodes != r->nodes)
        return l->nodes > r->nodes ? -1 : 1;
    if (l->shape != r->shape)
        return l->shape < r->shape ? -1 : 1;
    return (l->vertex > r->vertex) - (l->vertex < r->vertex);
}

/* Pushes the children so that the first one is taken next. */
static unsigned push_children(struct survey *survey, unsigned vertex, unsigned depth)
{
    const struct fabric_vertex *parent = &survey->vertices[vertex];
    bool sorted = true;
    for (unsigned i = 0; i < parent->child_count; i++) {
        unsigned at = parent->first_child + i;
        const struct fabric_vertex *child = &survey->vertices[at];
        survey->children[i] = (struct child){child->node_count, at, child->shape};
        sorted = sorted &&
                 (i == 0 || compare_children(&survey->children[i - 1], &survey->children[i]) < 0);
    }
    if (!sorted)
        qsort(survey->children, parent->child_count, sizeof(*survey->children), compare_children);
    for (unsigned i = parent->child_count; i-- > 0;)
        survey->pending[depth++] = survey->children[i].vertex;
    return depth;
}

static void find_leaves(struct survey *survey)
{
    unsigned depth = 0;
    survey->pending[depth++] = 0;
    while (depth > 0) {
        unsigned vertex = survey->pending[--depth];
        if (survey->vertices[vertex].child_count > 0)
            depth = push_children(survey, vertex, depth);
        else if (survey->vertices[vertex].node_count > 0)
            survey->leaf_vertices[survey->leaf_count++] = vertex;
    }
}

static int number_sites(struct site_map *sites, const struct survey *survey)
{
    struct arena *arena = sites->arena;
    unsigned *first = arena_allocate_array(arena, survey->leaf_count, sizeof(*first));
    unsigned *counts = arena_allocate_array(arena, survey->leaf_count, sizeof(*counts));
    unsigned *leaves = arena_allocate_array(arena, sites->site_count, sizeof(*leaves));
    unsigned *positions = arena_allocate_array(arena, sites->site_count, sizeof(*positions));
    unsigned *site_at = arena_allocate_array(arena, sites->site_count, sizeof(*site_at));
    unsigned *below = arena_allocate_array(arena, sites->tree->vertex_count, sizeof(*below));
    unsigned site = 0;
    if (!first || !counts || !leaves || !positions || !site_at || !below)
        return -1;
    memset(below, 0xff, sites->tree->vertex_count * sizeof(*below));
    for (unsigned leaf = 0; leaf < survey->leaf_count; leaf++) {
        const struct fabric_vertex *vertex = &survey->vertices[survey->leaf_vertices[leaf]];
        first[leaf] = site;
        counts[leaf] = vertex->node_count / sites->unit_nodes;
        for (unsigned v = survey->leaf_vertices[leaf]; below[v] == SITE_NONE;
             v = survey->vertices[v].parent)
            below[v] = site;
        for (unsigned i = 0; i < counts[leaf]; i++, site++) {
            leaves[site] = leaf;
            positions[site] = vertex->first_node + i * sites->unit_nodes;
            site_at[positions[site] / sites->unit_nodes] = site;
        }
    }
    sites->leaf_count = survey->leaf_count;
    sites->vertices = survey->leaf_vertices;
    sites->first_site = first;
    sites->counts = counts;
    sites->leaves = leaves;
    sites->positions = positions;
    sites->site_at = site_at;
    sites->below = below;
    return 0;
}

static int table_slots(struct site_map *sites)
{
    unsigned count = sites->leaf_count;
    if (count > SITE_MAP_TABLE_LEAVES)
        return 0;
    unsigned char *slots = arena_allocate_array(sites->arena, (size_t)count * count, 1);
    if (!slots)
        return -1;
    for (unsigned left = 0; left < count; left++)
        for (unsigned right = 0; right < count; right++)
            slots[left * count + right] = (unsigned char)site_map_slot(sites, left, right);
    sites->slots = slots;
    return 0;
}

struct site_map *site_map_create(const struct fabric_tree *tree, unsigned unit_nodes,
                                 struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP(site_map) struct site_map *sites = arena ? arena_allocate(arena, sizeof(*sites)) : NULL;
    if (!sites) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *sites = (struct site_map){.tree = tree,
                               .unit_nodes = unit_nodes,
                               .site_count = tree->node_count / unit_nodes,
                               .arena = arena};
    size_t count = tree->vertex_count;
    struct survey survey = {
        .vertices = tree->vertices,
        .leaf_vertices = arena_allocate_array(arena, count, sizeof(unsigned)),
        .pending = arena_allocate_array(arena, count, sizeof(unsigned)),
        .children = arena_allocate_array(arena, count, sizeof(struct child)),
    };
    if (!survey.leaf_vertices || !survey.pending || !survey.children)
        return error_null(error_set_memory(err));
    find_leaves(&survey);
    return number_sites(sites, &survey) < 0 || table_slots(sites) < 0
               ? error_null(error_set_memory(err))
               : move_pointer(sites);
}

void site_map_free(struct site_map *sites)
{
    if (sites)
        arena_free(sites->arena);
}
