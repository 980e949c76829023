/* SPDX-License-Identifier: MIT */
/*
 * plan_variable: what SLURM_PARPLAN_PLAN holds: the step that it is for, and its plan:
 *
 *     17.0 v=1;id=…        the plan of step 17.0 (wire_plan.h)
 *     17.0 refused         step 17.0 must not run: srun has said why
 *
 * The step's number keeps a plan from being replayed in another step. "refused" is for steps
 * inside an allocation: where srun's local_user_init fails, Slurm 22.05 keeps the step's
 * resources until the job ends and every later step waits for them; a step whose tasks refuse
 * to start ends cleanly.
 */
#ifndef SPANK_PLUGIN_PLAN_VARIABLE_H
#define SPANK_PLUGIN_PLAN_VARIABLE_H

#include "mapping/wire_plan.h"

#define PLAN_VARIABLE_MAXIMUM_BYTES (WIRE_PLAN_MAXIMUM_BYTES + 64u)

/* Into this process' environment. wire NULL: refused. */
int plan_variable_set(uint32_t job, uint32_t step, const struct wire_plan *wire,
                      struct error_info *err);

/* *ret_plan: the plan inside text, NULL when the step is refused. A variable of another step
 * is an error. */
int plan_variable_open(const char *text, uint32_t job, uint32_t step, const char **ret_plan,
                       struct error_info *err);

#endif
