/* SPDX-License-Identifier: MIT */
/*
 * map_report: which rank sits where, for people, programs and launchers.
 */
#ifndef REPORT_MAP_REPORT_H
#define REPORT_MAP_REPORT_H

#include "mapping/evaluation/mapping_evaluation.h"
#include "mapping/objective.h"
#include "report/text_table.h"

/* From this many ranks on, the text shows one row for each node. */
#define MAP_REPORT_FOLD_RANKS 129u
/* … and from this many nodes on, only the first and the last ones. */
#define MAP_REPORT_FOLD_NODES 48u

#define MAP_DEVICE_COLUMNS 4u /* nic, rail, numa, cpus */

/* Adds a rank's cells of those columns. */
typedef void (*map_devices_fn)(struct text_table *table, const struct node_topology *kind,
                               const struct rank_place *place);

struct map_report {
    const struct rank_map *map;
    const struct objective_result *outlook;
    const char *policy_note;    /* a warning to show, or NULL */
    const char *master;         /* MASTER_ADDR; NULL: the name of RANK 0's node */
    const char *rail_note;      /* likewise (map_rail_note), or NULL */
    bool every_rank;            /* never fold */
    map_devices_fn add_devices; /* map_devices_add; NULL: the nearest NIC alone (the plugin) */
    const struct mapping_evaluation *evaluation; /* JSON alone; or NULL */
};

void map_report_text(const struct map_report *report, const struct text_style *style,
                     struct text_buffer *out);

/* The document parplan.map/1, written as it goes (no tree): a rank a line, so that 131,072
 * ranks take milliseconds. */
void map_report_json(const struct map_report *report, struct text_buffer *out);

/* Slurm's SLURM_HOSTFILE: the node's name of each rank, a line each, in RANK order. */
void map_report_hostfile(const struct map_report *report, struct text_buffer *out);
/* Open MPI's rankfile: "rank 0=n001 slot=0" (slot: the local rank). */
void map_report_rankfile(const struct map_report *report, struct text_buffer *out);

#endif
