/* SPDX-License-Identifier: MIT */
/*
 * map_devices: what a map says of the devices of its ranks, for the command line alone (the plugin
 * shows the nearest NIC).
 */
#ifndef REPORT_MAP_DEVICES_H
#define REPORT_MAP_DEVICES_H

#include "report/map_report.h"

/* A map_devices_fn: every NIC of the rank's GPU, its rail, NUMA node and near CPUs, where known. */
void map_devices_add(struct text_table *table, const struct node_topology *kind,
                     const struct rank_place *place);

/* "rails: local rank 2 uses rail 2 on kind a, rail 3 on kind b (the order of its GPU groups)";
 * nothing where all kinds agree. */
void map_rail_note(const struct rank_map *map, struct text_buffer *out);

#endif
