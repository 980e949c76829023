/* SPDX-License-Identifier: MIT */
/*
 * map_scene: the picture of a mapping while it is drawn. Inside this folder only.
 */
#ifndef REPORT_MAP_SCENE_H
#define REPORT_MAP_SCENE_H

#include "report/pictures/map/map_layout.h"
#include "report/pictures/picture.h"

#define MAP_WORDS_BYTES 96u

struct map_scene {
    const struct rank_map *map;
    const struct mapping_cost *cost;
    const char *policy_note; /* or NULL */
    struct map_units units;
    struct map_links links;
    struct map_layout layout;
    struct picture picture;
    unsigned rows_shown; /* bit i: the layout's row i */
    char near_words[MAP_WORDS_BYTES], far_words[MAP_WORDS_BYTES];
};

/* "lpp", the colour of a dimension's lines. */
const char *map_scene_link_hue(unsigned dimension);

/* Brackets of the tiers, frames with their names, bands of NVLink domains. */
void map_scene_draw_frames(struct map_scene *scene);
void map_scene_name_frames(struct map_scene *scene);
void map_scene_draw_boxes(struct map_scene *scene);
void map_scene_draw_links(struct map_scene *scene);
/* Dimensions by tier, with totals, from picture.bottom on; moves it. */
void map_scene_draw_table(struct map_scene *scene);
/* "tp=8,…: no pipeline crosses a leaf switch; …" */
void map_scene_verdict(const struct map_scene *scene, struct text_buffer *out);

#endif
