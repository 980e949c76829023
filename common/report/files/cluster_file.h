/* SPDX-License-Identifier: MIT */
/*
 * cluster_file: a fabric and a cluster as files of ours (schema: parplan.fabric/1, read by
 * topology/fabric_readers/fabric_file.h, and parplan.cluster/1, read by cluster_topology_parse).
 * Names stand in ranges, switches and nodes in their order. Reading and writing again gives the
 * same bytes. Warnings are left out: they are the reader's.
 */
#ifndef REPORT_FILES_CLUSTER_FILE_H
#define REPORT_FILES_CLUSTER_FILE_H

#include "base/error.h"
#include "base/text_buffer.h"
#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"

int fabric_file_write(const struct fabric *fabric, struct text_buffer *out, struct error_info *err);

/* A kind that is a preset to the last bit is written as {preset: NAME}, others as {node: …}. */
int cluster_file_write(const struct cluster_topology *cluster,
                       const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                       struct text_buffer *out, struct error_info *err);

#endif
