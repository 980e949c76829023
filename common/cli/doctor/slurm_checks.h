/* SPDX-License-Identifier: MIT */
/*
 * slurm_checks: what `parplan doctor` says of Slurm. Each looks at facts that were read before,
 * adds a finding for each point, and cannot fail. Points that need an answer which is not there say
 * nothing: the point slurmctld does.
 */
#ifndef CLI_DOCTOR_SLURM_CHECKS_H
#define CLI_DOCTOR_SLURM_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"

void check_slurm_version(const struct doctor_facts *facts, struct findings *findings);
void check_controller(const struct doctor_facts *facts, struct findings *findings);
/* Recommendations: KillOnBadExit=1 and MpiParams=ports=…. */
void check_slurm_settings(const struct doctor_facts *facts, struct findings *findings);

#endif
