/* SPDX-License-Identifier: MIT */
/*
 * policy_checks: what in the admins' file can be read and yet cannot work: defaults that no step
 * can take, and scopes that nobody is in. Findings say the file's line. -1 is out of memory alone.
 */
#ifndef CLI_DOCTOR_POLICY_CHECKS_H
#define CLI_DOCTOR_POLICY_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"
#include "workload/admin_config.h"

/* defaults: as srun takes it: parsed, its file read, held against the policy and the largest node.
 * And beside require_plan: deny, which refuses steps that a default does not plan. */
int check_defaults(const struct doctor_facts *facts, const struct admin_config *config,
                   struct findings *findings, struct error_info *err);
/* partitions:, users:, and where slurmctld knows them accounts: and qos:. */
int check_scopes(const struct doctor_facts *facts, const struct admin_config *config,
                 struct findings *findings, struct error_info *err);

#endif
