/* SPDX-License-Identifier: MIT */
/*
 * exchange_search: makes an arrangement cheaper by exchanging the contents of two sites.
 *
 * Descent: unit by unit, the best exchange with a site of a leaf where the unit has a neighbour,
 * until none helps. Where the budget allows, simulated annealing before it (Kirkpatrick 1983):
 * random exchanges of the same kind that are also taken when they cost a little, ever less; the
 * best arrangement met is kept. Never ends worse than it began.
 *
 * Deterministic: a fixed generator, integers only, a budget in exchanges looked at, and choices
 * that depend on blocks and leaves, never on names.
 */
#ifndef MAPPING_SOLVER_EXCHANGE_SEARCH_H
#define MAPPING_SOLVER_EXCHANGE_SEARCH_H

#include "mapping/solver/arrangement.h"

/* cost: of the arrangement as given; below: stop when it is reached (a lower bound). budget is
 * lowered by what was used. Returns the cost reached. Fails without memory only (UINT64_MAX). */
uint64_t exchange_search(struct arrangement *arrangement, uint64_t cost, uint64_t below,
                         uint64_t *budget, struct error_info *err);

#endif
