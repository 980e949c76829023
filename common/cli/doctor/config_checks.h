/* SPDX-License-Identifier: MIT */
/*
 * config_checks: what `parplan doctor` says of the admins' file as such. -1 is out of memory alone.
 */
#ifndef CLI_DOCTOR_CONFIG_CHECKS_H
#define CLI_DOCTOR_CONFIG_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"
#include "workload/admin_config.h"

/* The file as the plugin reads it, and whether users' srun can. *ret: NULL where it cannot be
 * used, which was said then. */
int check_config(const struct doctor_facts *facts, struct admin_config **ret,
                 struct findings *findings, struct error_info *err);
/* require_plan is on, somewhere. */
bool config_requires_plan(const struct admin_config *config);

#endif
