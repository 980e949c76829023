/* SPDX-License-Identifier: MIT */
/*
 * exact_search: the cheapest arrangement there is, by branch and bound over sets of units.
 *
 * The cost of pairs is what all of them would cost over the root, less what each vertex of the
 * tree saves for the pairs inside of it. So leaves are filled one after the other with a set of
 * the units that are left, those sets first that save most; a branch ends when what is saved,
 * and the most that the leaves and switches still open could save with sets of their sizes, is
 * no more than the best known. Leaves that are alike are filled in one order only.
 *
 * For small cases: EXACT_SEARCH_UNITS units at most; tables of 2^units sums, about a second.
 */
#ifndef MAPPING_SOLVER_EXACT_SEARCH_H
#define MAPPING_SOLVER_EXACT_SEARCH_H

#include "mapping/solver/arrangement.h"

#define EXACT_SEARCH_UNITS 20u
#define EXACT_SEARCH_LEAVES 32u

/* Starts from the arrangement and its cost and improves both. Returns 1 when the result is
 * proven optimal, 0 where the case is too large, has pins, or needs more visits of sets; -1
 * without memory. */
int exact_search(struct arrangement *arrangement, uint64_t *cost, uint64_t visits,
                 struct error_info *err);

#endif
