/* SPDX-License-Identifier: MIT */
/*
 * map_links: who talks to whom in the picture of a mapping: the neighbour pairs of each
 * dimension (those that mapping_cost.h counts: rings of TP, CP, EP and DP, chains of PP) between
 * two units and inside one, and which pipelines leave a leaf. A pipeline is the ranks of one dp.
 * Without degrees there are none. Time: ranks * dimensions. Inside this folder only. Pure.
 */
#ifndef REPORT_MAP_LINKS_H
#define REPORT_MAP_LINKS_H

#include "mapping/mapping_cost.h"
#include "report/pictures/map/map_units.h"

enum link_reach {
    REACH_NEAR,    /* below one switch of tier 0, or in one NVLink domain */
    REACH_FAR,     /* across switches of tier 0 */
    REACH_UNKNOWN, /* no source tells */
    REACH_COUNT
};

struct map_link {
    unsigned left, right; /* units, left < right */
    enum traffic_dimension dimension;
    enum link_reach reach;
    uint64_t pairs;
    double weight; /* bytes per step where they are known, else pairs */
};

struct map_links {
    struct map_link *links; /* by dimension, then left, then right */
    size_t count;
    uint64_t *leaving; /* [unit * TRAFFIC_DIMENSION_COUNT + dimension]: one end in the unit */
    uint64_t pairs[TRAFFIC_DIMENSION_COUNT][REACH_COUNT]; /* of all ranks; NEAR: nodes too */
    double heaviest;                                      /* weight of a link; 0: no link */
    unsigned char *pipelines;                             /* by dp: its enum link_reach */
    unsigned pipeline_count;                              /* 0: no pipelines */
    unsigned far_pipelines, unknown_pipelines;
};

int map_links_init(struct map_links *links, const struct map_units *units,
                   const struct mapping_cost *cost, struct error_info *err);
void map_links_done(struct map_links *links);

DEFINE_CLEANUP_DONE(map_links);

#endif
