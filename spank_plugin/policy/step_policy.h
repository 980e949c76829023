/* SPDX-License-Identifier: MIT */
/*
 * step_policy: which policy counts for this step.
 *
 * In slurmstepd partition, user and uid come from Slurm itself (slurmstepd writes them over the
 * step's environment, the uid is spank's own). QOS and account are what the step's environment
 * says, which inside an allocation the user can change: policy_scopes lets them only tighten.
 */
#ifndef SPANK_PLUGIN_POLICY_STEP_POLICY_H
#define SPANK_PLUGIN_POLICY_STEP_POLICY_H

#include "base/error.h"
#include "workload/admin_config.h"
#include <slurm/spank.h>

/* task NULL: in srun, from its own environment. Where parplan is switched off, no plan is asked
 * for. */
void step_policy_read(const struct admin_config *config, const spank_t *task, struct policy *ret);

/* What require_plan says of a task whose step carries no plan. Launchers' own daemons pass:
 * their ranks are not Slurm's. */
void step_policy_judge_unplanned(const struct admin_config *config, spank_t spank,
                                 struct policy_verdict *ret);

#endif
