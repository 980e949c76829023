/* SPDX-License-Identifier: MIT */
/*
 * map_units: what the picture of a mapping shows side by side, from left to right: nodes; or,
 * where they are more than UNITS_OF_NODES, the switches of the lowest tier that has at most
 * UNITS_OF_GROUPS of them with ranks (of a flat fabric: the first ones and a bundle).
 *
 * Units stand in frames: nodes in their leaf, switches in the switch above. The order is the
 * fabric's; inside a frame nodes of one NVLink domain are together, then pipelines: by the dp
 * and pp of a node's first rank. Nodes without a rank come last; where there are more than
 * UNITS_IN_WORDS nodes, they are one unit in each frame, and frames without a rank are left out.
 * Time: nodes * log(nodes). Inside this folder only.
 */
#ifndef REPORT_MAP_UNITS_H
#define REPORT_MAP_UNITS_H

#include "mapping/rank_map.h"

#define UNITS_IN_WORDS 20u
#define UNITS_OF_NODES 96u
#define UNITS_OF_GROUPS 16u
#define UNITS_MAXIMUM (2u * UNITS_OF_NODES)
#define UNIT_NONE (~0u)

enum unit_kind {
    UNIT_NODE,  /* a node with ranks */
    UNIT_SPARE, /* nodes without */
    UNIT_GROUP, /* a switch with its nodes */
    UNIT_BUNDLE /* the nodes of the switches that are left */
};

struct map_unit {
    enum unit_kind kind;
    unsigned frame;
    unsigned switch_index; /* the nearest above its nodes, at the unit's tier or above; or
                            * FABRIC_NONE */
    size_t first, count;   /* nodes, in order */
    size_t used;           /* of them with ranks */
    size_t switches;       /* of a bundle */
};

struct map_frame {
    unsigned switch_index; /* or FABRIC_NONE: none is known */
    unsigned first, count; /* units */
};

struct map_units {
    const struct rank_map *map;
    bool grouped;        /* units are switches */
    unsigned frame_tier; /* of the frames' switches */
    struct map_unit units[UNITS_MAXIMUM + 1];
    unsigned count;
    struct map_frame frames[UNITS_MAXIMUM];
    unsigned frame_count;
    unsigned *order;        /* nodes */
    unsigned *unit_of;      /* by node: its unit, or UNIT_NONE */
    size_t *block_of;       /* by node: its block, or block_count: no rank */
    unsigned *domain_nodes; /* by nvlink_block: its nodes */
    size_t left_out_nodes;  /* not shown: below switches without a rank */
};

int map_units_init(struct map_units *units, const struct rank_map *map, struct error_info *err);
void map_units_done(struct map_units *units);

/* The node's switch of that tier, or the nearest one above; FABRIC_NONE: not known. */
unsigned map_switch_above(const struct cluster_topology *cluster, unsigned node, unsigned tier);
/* The NVLink domain of a node, where it has more nodes than this one; else FABRIC_NONE. */
unsigned map_units_domain(const struct map_units *units, unsigned unit);

DEFINE_CLEANUP_DONE(map_units);

#endif
