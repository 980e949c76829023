/* SPDX-License-Identifier: MIT */
/*
 * exact_search: the cheapest arrangement there is, by branch and bound: unit by unit, the one
 * most tied to those placed, in every leaf with room; a branch is left when what is placed, the
 * cheapest place of every other unit beside it, and the least that the others cost among
 * themselves are no less than the best known. Leaves and switches that are empty and alike are
 * tried once.
 *
 * For small cases: EXACT_SEARCH_UNITS units at most, which take about a second.
 */
#ifndef MAPPING_SOLVER_EXACT_SEARCH_H
#define MAPPING_SOLVER_EXACT_SEARCH_H

#include "mapping/solver/arrangement.h"

#define EXACT_SEARCH_UNITS 24u
#define EXACT_SEARCH_VISITS UINT64_C(400000000)

/* Starts from the arrangement and its cost and improves both. Returns 1 when the result is
 * proven optimal (or reached `below`), 0 where the case is too large, has pins, or took too many
 * visits; -1 without memory. */
int exact_search(struct arrangement *arrangement, uint64_t *cost, uint64_t below,
                 struct error_info *err);

#endif
