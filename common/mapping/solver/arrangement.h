/* SPDX-License-Identifier: MIT */
/*
 * arrangement: which unit of blocks sits on which site: what a search changes, with its cost in
 * the integers of flow_weights.h. Units sit on sites of their own; sites may stay empty.
 */
#ifndef MAPPING_SOLVER_ARRANGEMENT_H
#define MAPPING_SOLVER_ARRANGEMENT_H

#include "mapping/solver/block_graph.h"
#include "mapping/solver/site_map.h"

enum site_flag {
    SITE_FIXED = 1, /* what sits there stays there */
    SITE_USED = 2,  /* may not become empty */
};

struct arrangement {
    const struct block_graph *graph; /* a block of it is a unit */
    const struct site_map *sites;
    const unsigned char *flags; /* by site: site_flag; NULL: none */
    unsigned *site_of;          /* unit -> site */
    unsigned *leaf_of;          /* unit -> its site's leaf */
    unsigned *unit_at;          /* site -> unit, or SITE_NONE */
};

/* Room for the arrays, from the arena; nothing is placed yet. */
int arrangement_init(struct arrangement *ret, const struct block_graph *graph,
                     const struct site_map *sites, struct arena *arena, struct error_info *err);
void arrangement_copy(struct arrangement *to, const struct arrangement *from);
void arrangement_fill(struct arrangement *arrangement, const unsigned *site_of);

/* The whole cost. O(edges). */
uint64_t arrangement_cost(const struct arrangement *arrangement);
/* Cost of a unit's edges if it sat in that leaf; edges to `except` left out. */
uint64_t arrangement_unit_cost(const struct arrangement *arrangement, unsigned unit, unsigned leaf,
                               unsigned except);
/* What exchanging the contents of two sites adds; the first one holds a unit. */
int64_t arrangement_delta(const struct arrangement *arrangement, unsigned left, unsigned right);
bool arrangement_may_exchange(const struct arrangement *arrangement, unsigned left, unsigned right);
void arrangement_exchange(struct arrangement *arrangement, unsigned left, unsigned right);

#endif
