/* SPDX-License-Identifier: MIT */
/*
 * node_picture: a node as SVG: NUMA nodes as frames, GPUs with their NVLink or XGMI domains
 * and links, NICs with their rails. What no source tells is drawn as "?" or dotted, never left
 * out. From no GPU at all to NODE_MAXIMUM_GPUS and NODE_MAXIMUM_NICS.
 * The same node gives the same bytes. Out of memory makes `out` failed.
 */
#ifndef REPORT_PICTURES_NODE_PICTURE_H
#define REPORT_PICTURES_NODE_PICTURE_H

#include "base/text_buffer.h"
#include "topology/node_topology.h"

void node_picture(const struct node_topology *node, struct text_buffer *out);

#endif
