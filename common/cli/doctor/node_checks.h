/* SPDX-License-Identifier: MIT */
/*
 * node_checks: what `parplan doctor` says of this node, and of the topology that the controller
 * tells. -1 is out of memory alone.
 */
#ifndef CLI_DOCTOR_NODE_CHECKS_H
#define CLI_DOCTOR_NODE_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"
#include "topology/gpu_catalogue.h"
#include "topology/node_topology.h"
#include "topology/preset_catalogue.h"

/* May this host have GPUs that Slurm gives to jobs? True also where nobody can tell. */
bool is_compute_node(const struct doctor_facts *facts);
/* The node's cache. *ret_node: what it says, or NULL. */
int check_node_cache(const struct doctor_facts *facts, struct node_topology **ret_node,
                     struct findings *findings, struct error_info *err);
/* What Slurm gives out here against the node as its cache or a look at it tells; NULL: not known.
 */
void check_node_gpus(const struct doctor_facts *facts, const struct node_topology *node,
                     const struct gpu_catalogue *gpus, struct findings *findings);
/* A GRES type may mean the node's GPUs. True also where one of the two is not known. */
bool node_has_gpu_type(const struct node_topology *node, const char *type,
                       const struct gpu_catalogue *gpus);
/* The controller's topology: ours to read, and of the cluster's nodes. */
int check_topology(const struct doctor_facts *facts, struct findings *findings,
                   struct error_info *err);

#endif
