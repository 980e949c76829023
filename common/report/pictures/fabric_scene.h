/* SPDX-License-Identifier: MIT */
/*
 * fabric_scene: a fabric's picture while it is drawn. Inside this folder only.
 */
#ifndef REPORT_PICTURES_FABRIC_SCENE_H
#define REPORT_PICTURES_FABRIC_SCENE_H

#include "report/pictures/fabric_layout.h"
#include "report/pictures/picture.h"

#define SCENE_KINDS PICTURE_HUES /* told apart by colour */

struct nvlink_block {
    size_t nodes; /* 1: alone, no band */
    uint64_t gpus;
    unsigned hue;     /* + 1; 0: not drawn yet */
    unsigned counted; /* the column that counted it last, + 1 */
};

struct fabric_scene {
    struct fabric_columns columns;
    struct fabric_layout layout;
    struct picture picture;
    bool unjoined;    /* several roots */
    bool has_ratio;   /* an oversubscription was drawn */
    bool has_squares; /* nodes one by one */
    bool has_tooltips;
    struct nvlink_block *blocks; /* by the number of the NVLink domain */
    size_t block_count;
    unsigned next_hue;
    char kind_texts[SCENE_KINDS][128];
};

/* Allocates blocks, which the caller frees. */
int scene_count_blocks(struct fabric_scene *scene, struct error_info *err);
/* The nodes of a column from y downward; moves picture.bottom. */
void scene_draw_nodes(struct fabric_scene *scene, unsigned index, double y);
void scene_add_node_legend(struct fabric_scene *scene);

#endif
