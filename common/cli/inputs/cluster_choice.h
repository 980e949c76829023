/* SPDX-License-Identifier: MIT */
/*
 * cluster_choice: the cluster that --cluster, or --node with --fabric, and --nodes name.
 */
#ifndef CLI_INPUTS_CLUSTER_CHOICE_H
#define CLI_INPUTS_CLUSTER_CHOICE_H

#include "cli/command_options.h"
#include "cli/inputs/catalogues.h"
#include "topology/cluster_topology.h"

/* --nodes with --cluster: a list, or a number of nodes where no node has that name: the first ones.
 * otherwise: the admins' `cluster:`, used when no option names one; may be NULL. */
struct cluster_topology *cluster_choice_open(const struct command_options *options,
                                             const char *otherwise,
                                             const struct catalogues *catalogues,
                                             struct error_info *err);

/* The node that --node names: a preset, or a file. gpu: the model of its GPUs where the file does
 * not name it; or NULL. */
struct node_topology *node_choice_open(const char *name, const char *gpu,
                                       const struct catalogues *catalogues, struct error_info *err);

#endif
