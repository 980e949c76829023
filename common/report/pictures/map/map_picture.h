/* SPDX-License-Identifier: MIT */
/*
 * map_picture: where the ranks of a mapping sit and who talks to whom, as SVG: nodes in their
 * leaves, each GPU in the colour of its TP group (one hue for a pipeline, two tints for its
 * stages in turn), pipelines as arcs above the nodes, rings below. What leaves a leaf runs
 * outside of its frame and is strong; what stays inside is pale. A table counts the neighbour
 * pairs of each dimension, or their bytes, by tier.
 * Up to 20 nodes have names and ranks in words, up to 96 are drawn one by one; beyond, a
 * box stands for a switch, with how much leaves it. The same input gives the same bytes.
 * Out of memory makes `out` failed.
 */
#ifndef REPORT_MAP_PICTURE_H
#define REPORT_MAP_PICTURE_H

#include "base/text_buffer.h"
#include "mapping/mapping_cost.h"

/* cost is the map's. policy_note: a warning to show, or NULL. */
void map_picture(const struct rank_map *map, const struct mapping_cost *cost,
                 const char *policy_note, struct text_buffer *out);

#endif
