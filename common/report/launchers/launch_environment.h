/* SPDX-License-Identifier: MIT */
/*
 * launch_environment: which variables a launcher's processes need beside RANK and its like
 * (those are rank_environment.h's): one table, each row with its reason and its source.
 */
#ifndef REPORT_LAUNCHERS_LAUNCH_ENVIRONMENT_H
#define REPORT_LAUNCHERS_LAUNCH_ENVIRONMENT_H

#include "base/error.h"
#include "report/launchers/launch_plan.h"
#include "report/launchers/launch_settings.h"

/* Adds the rows that the traits (launch_plan_traits and the launcher's family) ask for. */
int launch_environment_add(const struct launch_plan *launch, uint64_t traits,
                           struct launch_settings *settings, struct error_info *err);

#endif
