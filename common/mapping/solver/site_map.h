/* SPDX-License-Identifier: MIT */
/*
 * site_map: the places that a search moves units of blocks between. A site is unit_nodes
 * consecutive nodes of one leaf of a fabric_tree (as many as a TP group needs; mostly 1), so
 * sites of one leaf are alike, and what matters is the leaf.
 *
 * Leaves, and sites with them, are numbered so that names decide only between leaves that differ
 * in nothing else: from the root down, children with more nodes first, then by shape, then in
 * natural order. The sites below a vertex are consecutive.
 */
#ifndef MAPPING_SOLVER_SITE_MAP_H
#define MAPPING_SOLVER_SITE_MAP_H

#include "mapping/fabric_tree.h"

#define SITE_NONE (~0u)
#define SITE_MAP_TABLE_LEAVES 512u

struct site_map {
    const struct fabric_tree *tree;
    unsigned unit_nodes;
    unsigned site_count;
    const unsigned *positions; /* site -> position in tree->nodes of its first node */
    const unsigned *site_at;   /* position / unit_nodes -> site */
    const unsigned *below;     /* vertex -> the first site below it */
    unsigned leaf_count;
    const unsigned *vertices;   /* leaf -> vertex */
    const unsigned *first_site; /* leaf -> its first site; leaf_count entries */
    const unsigned *counts;     /* leaf -> sites */
    const unsigned *leaves;     /* site -> leaf */
    /* [left * leaf_count + right]: their slot; NULL above SITE_MAP_TABLE_LEAVES */
    const unsigned char *slots;
    struct arena *arena;
};

/* Every leaf of the tree holds a multiple of unit_nodes. The tree stays the caller's. */
struct site_map *site_map_create(const struct fabric_tree *tree, unsigned unit_nodes,
                                 struct error_info *err);
void site_map_free(struct site_map *sites);

struct site_range {
    unsigned first, end;
};

static inline struct site_range site_map_below(const struct site_map *sites, unsigned vertex)
{
    unsigned first = sites->below[vertex];
    return (struct site_range){first, first + sites->tree->vertices[vertex].node_count /
                                                  sites->unit_nodes};
}

static inline unsigned site_map_slot(const struct site_map *sites, unsigned left, unsigned right)
{
    if (sites->slots)
        return sites->slots[left * sites->leaf_count + right];
    return fabric_tree_slot(sites->tree->vertices, sites->vertices[left], sites->vertices[right]);
}

DEFINE_CLEANUP(site_map);

#endif
