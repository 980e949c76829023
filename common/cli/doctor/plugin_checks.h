/* SPDX-License-Identifier: MIT */
/*
 * plugin_checks: what `parplan doctor` says of the files of our plugins, and of the job_submit
 * plugin's configuration, which is slurmctld's environment.
 */
#ifndef CLI_DOCTOR_PLUGIN_CHECKS_H
#define CLI_DOCTOR_PLUGIN_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"

/* The SPANK plugin's file: there, safe to load as root, open to users, built for this Slurm's
 * release. */
void check_plugin(const struct doctor_facts *facts, struct findings *findings);
/* requires_plan: the admins' file asks a plan of some job. The job_submit plugin must be of
 * slurmctld's very version, or slurmctld does not start; and it must judge by the file that srun
 * and the nodes read, which is seen where slurmctld runs here. */
void check_job_submit(const struct doctor_facts *facts, bool requires_plan,
                      struct findings *findings);

#endif
