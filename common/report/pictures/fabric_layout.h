/* SPDX-License-Identifier: MIT */
/*
 * fabric_layout: where the columns of a fabric and the switches above them stand. A switch
 * stands above the middle of what is below it, moved aside where switches of its tier would
 * touch. Inside this folder only. Pure but for one allocation.
 */
#ifndef REPORT_PICTURES_FABRIC_LAYOUT_H
#define REPORT_PICTURES_FABRIC_LAYOUT_H

#include "report/pictures/fabric_columns.h"

#define LAYOUT_SWITCHES 512u
#define LAYOUT_GUTTER 88.0 /* left: the names of the tiers */
#define LAYOUT_NO_BOX (~0u)

/* A switch that is drawn. */
struct switch_box {
    unsigned index; /* of the fabric's switches */
    unsigned above; /* box, or LAYOUT_NO_BOX */
    unsigned rail;  /* its hue; of leaves in sets, else 0 */
    bool railed;
    bool is_leaf;    /* of a column */
    double x, width; /* its middle */
    double sum;      /* of the middles below, while it is placed */
    unsigned below;
};

struct fabric_layout {
    struct switch_box boxes[LAYOUT_SWITCHES]; /* leaves of the columns, then tier by tier */
    unsigned box_count;
    unsigned column_above[COLUMNS_MAXIMUM + 2]; /* box that a bundle hangs from */
    double column_x[COLUMNS_MAXIMUM + 2];
    double column_width;
    double left, right; /* of the columns */
    unsigned roots;
};

/* The columns stand in the middle of a picture at least narrowest wide. */
int fabric_layout_make(const struct fabric_columns *columns, double narrowest,
                       struct fabric_layout *ret, struct error_info *err);

#endif
