/* SPDX-License-Identifier: MIT */
/*
 * step_cluster: the cluster_topology of one step: its nodes in Slurm's order, of the kind
 * and on the fabric that the admins' file names, else the GRES type and the controller.
 */
#ifndef SPANK_PLUGIN_STEP_CLUSTER_H
#define SPANK_PLUGIN_STEP_CLUSTER_H

#include "spank_plugin/step_facts.h"
#include "topology/cluster_topology.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"

/* `cluster` is the admins' word: NULL or "slurm" (GRES type and controller), "PRESET:N" (the
 * kind of every node; fabric from the controller), or a cluster file's path. A controller's
 * topology that cannot be read is one warning to the user, and the fabric unknown. */
struct cluster_topology *step_cluster_create(const struct step_facts *facts, const char *cluster,
                                             const struct preset_catalogue *presets,
                                             const struct gpu_catalogue *gpus,
                                             struct error_info *err);

/* A cluster file has its own fabric, and the controller's does not count. */
bool step_cluster_is_file(const char *cluster);

/* The kind's GPUs are in the catalogue, so that memory and time can be planned. */
bool step_cluster_knows_gpus(const struct cluster_topology *cluster,
                             const struct gpu_catalogue *gpus);

#endif
