/* SPDX-License-Identifier: MIT */
/*
 * fabric_picture: how nodes are connected, as SVG: tiers as rows, the farthest on top, leaves
 * with their nodes as squares, NVLink domains as coloured bands, rails by colour. A fabric of
 * any size becomes a picture of about one page: where there are more switches or nodes than
 * it shows, it says how many. What no source tells is drawn as "?".
 * The same input gives the same bytes. Out of memory makes `out` failed.
 */
#ifndef REPORT_PICTURES_FABRIC_PICTURE_H
#define REPORT_PICTURES_FABRIC_PICTURE_H

#include "base/text_buffer.h"
#include "topology/cluster_topology.h"

void fabric_picture(const struct fabric *fabric, struct text_buffer *out);
/* The same with the kinds of the nodes and their GPUs. */
void cluster_picture(const struct cluster_topology *cluster, struct text_buffer *out);

#endif
