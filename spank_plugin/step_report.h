/* SPDX-License-Identifier: MIT */
/*
 * step_report: what srun's user reads about the plan: one line always, the whole report on
 * request (--parplan-report).
 */
#ifndef SPANK_PLUGIN_STEP_REPORT_H
#define SPANK_PLUGIN_STEP_REPORT_H

#include "spank_plugin/step_plan.h"

void step_report_line(const struct step_plan *plan);
/* Can a report be written there? Asked before anything is allocated; makes an empty file. */
int step_report_check(const char *path, struct error_info *err);
/* path "" writes to standard error. Written as the user. */
int step_report_write(const struct step_plan *plan, const char *path, struct error_info *err);

#endif
