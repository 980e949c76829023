/* SPDX-License-Identifier: MIT */
/*
 * map_layout: where units, frames and links of a mapping's picture stand. All units stand in
 * one row; chains (PP) are arcs above it, rings below. An arc between two units of one frame
 * stays inside the frame, the others leave it and meet outside of all frames.
 * Downward: brackets of the tiers above the frames, arcs outside, frame (its name, arcs inside,
 * boxes, arcs inside), arcs outside. Inside this folder only. Pure; no allocation.
 */
#ifndef REPORT_MAP_LAYOUT_H
#define REPORT_MAP_LAYOUT_H

#include "report/pictures/map/map_links.h"

#define LAYOUT_ROWS (6u + 2u * TRAFFIC_DIMENSION_COUNT)
#define LAYOUT_BRACKET 24.0   /* height of a tier's row */
#define LAYOUT_NAME 20.0      /* of a frame's name */
#define LAYOUT_BAND_NAME 15.0 /* of an NVLink domain's */

/* What is written into a box, a row each. */
enum box_row {
    ROW_NAME,
    ROW_NODES,
    ROW_SPARE,
    ROW_RANKS,
    ROW_CP,
    ROW_PP,
    ROW_DP,
    ROW_LEAVING, /* + the dimension */
    ROW_COUNT = ROW_LEAVING + TRAFFIC_DIMENSION_COUNT
};

struct map_layout {
    bool wordy; /* room for names and ranks */
    double pitch, box_width, row_height;
    double unit_x[UNITS_MAXIMUM]; /* middles */
    double frame_left[UNITS_MAXIMUM], frame_right[UNITS_MAXIMUM];
    double width; /* of the picture */
    enum box_row rows[LAYOUT_ROWS];
    unsigned row_count;
    unsigned cell_columns, cell_rows; /* of nodes: GPUs */
    double cell_width, cell_height;
    unsigned bracket_tiers[FABRIC_MAXIMUM_TIERS]; /* farthest first */
    unsigned bracket_count;
    bool banded; /* NVLink domains of several nodes are shown */
    double brackets_top, frame_top, box_top, cells_top, box_bottom, frame_bottom, bottom;
};

void map_layout_make(const struct map_units *units, const struct map_links *links, double top,
                     struct map_layout *ret);

/* Chains are above. */
bool map_arc_is_above(const struct map_link *link);
bool map_arc_leaves_frame(const struct map_units *units, const struct map_link *link);
/* Where it starts and ends, and how far it goes away from where it bends. */
double map_arc_left(const struct map_layout *layout, const struct map_link *link);
double map_arc_right(const struct map_layout *layout, const struct map_link *link);
double map_arc_height(const struct map_layout *layout, const struct map_link *link);

#endif
