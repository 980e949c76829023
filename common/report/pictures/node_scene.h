/* SPDX-License-Identifier: MIT */
/*
 * node_scene: a node's picture while it is drawn. Inside this folder only.
 */
#ifndef REPORT_PICTURES_NODE_SCENE_H
#define REPORT_PICTURES_NODE_SCENE_H

#include "report/pictures/node_layout.h"
#include "report/pictures/picture.h"

#define SCENE_NIC_HEIGHT 34.0
#define SCENE_NIC_LANE 42.0

/* Heights of one row, downward. */
struct scene_row {
    double top;     /* of its frames */
    double between; /* the bar between domains; equal to domains where there is none */
    double domains; /* of the NVLink domains' bands */
    double gpus;
    double paths; /* below the GPUs: how NICs are joined */
    double nics;
    double bottom;
};

struct node_scene {
    const struct node_topology *node;
    struct node_layout layout;
    struct picture picture;
    double gpu_height;
    struct scene_row rows[NODE_MAXIMUM_GPUS];
};

/* "NVLink", or "XGMI" where a link is one. */
const char *scene_link_word(const struct node_topology *node);

/* How much the links of a row need above its GPUs: ret_between for what joins domains (0: no
 * need), ret_domains for the links inside them. */
void scene_measure_links(const struct node_scene *scene, unsigned row, double *ret_between,
                         double *ret_domains);
/* Domains and links of all rows, below everything else, and their legend. */
void scene_draw_links(struct node_scene *scene);
/* NICs and what joins them to GPUs, and their legend. Moves picture.bottom. */
void scene_draw_nics(struct node_scene *scene);

#endif
