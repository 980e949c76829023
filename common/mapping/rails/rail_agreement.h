/* SPDX-License-Identifier: MIT */
/*
 * rail_agreement: whether a local rank uses the same rail on every kind of node. Where it does,
 * data parallel traffic stays on one leaf of a rail-optimised fabric.
 */
#ifndef MAPPING_RAIL_AGREEMENT_H
#define MAPPING_RAIL_AGREEMENT_H

#include "mapping/rank_map.h"

struct rail_use {
    const char *kind; /* its name */
    unsigned rail;
    bool is_permuted; /* the order of its GPU groups leads away from rails that rise */
};

struct rail_difference {
    unsigned local_rank; /* the first that differs */
    unsigned count;      /* local ranks that differ on some kind */
    struct rail_use first, other;
};

/* False: all kinds in use agree; a kind with an unknown rail is passed over. */
bool rail_agreement_differs(const struct rank_map *map, struct rail_difference *ret);

#endif
