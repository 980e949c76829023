/* SPDX-License-Identifier: MIT */
/*
 * cluster_checks: what `parplan doctor` says of `cluster:` in the admins' file. -1 is out of memory
 * alone.
 */
#ifndef CLI_DOCTOR_CLUSTER_CHECKS_H
#define CLI_DOCTOR_CLUSTER_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"
#include "workload/admin_config.h"

/* What `cluster:` names, as srun takes it (spank_plugin/step_cluster.h), against the nodes and
 * GRES types that slurmctld tells. Nothing is said where it is not given. */
int check_cluster(const struct doctor_facts *facts, const struct admin_config *config,
                  const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                  struct findings *findings, struct error_info *err);

#endif
