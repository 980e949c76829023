/* SPDX-License-Identifier: MIT */
/*
 * slurm_checks: what `parplan doctor` says of Slurm and of the plugins in it. Each looks at facts
 * that were read before (and at the plugins' files), adds one finding, two for a plugin's file, and
 * cannot fail. Points that need an answer which is not there say nothing: the point slurmctld does.
 */
#ifndef CLI_DOCTOR_SLURM_CHECKS_H
#define CLI_DOCTOR_SLURM_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"

void check_slurm_version(const struct doctor_facts *facts, struct findings *findings);
void check_controller(const struct doctor_facts *facts, struct findings *findings);
/* Our line in plugstack.conf: there, once, required, behind pyxis (which sets RANK anew in
 * containers: its issue 46). */
void check_plugstack(const struct doctor_facts *facts, struct findings *findings);
/* The plugin's file: there, safe to load as root, built for this Slurm's release. */
void check_plugin(const struct doctor_facts *facts, struct findings *findings);
/* requires_plan: the admins' file asks a plan of some job. The job_submit plugin must be of
 * slurmctld's very version, or slurmctld does not start. */
void check_job_submit(const struct doctor_facts *facts, bool requires_plan,
                      struct findings *findings);
/* Recommendations: KillOnBadExit=1 and MpiParams=ports=…. */
void check_slurm_settings(const struct doctor_facts *facts, struct findings *findings);

#endif
