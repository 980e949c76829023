/* SPDX-License-Identifier: MIT */
/*
 * task_context: the plugin inside slurmstepd. The plan from the wire is hostile input: it is
 * decoded, compared with the step as Slurm tells it, and the admins' policy is checked
 * again. No hwloc, dlopen, RPC or search here. A refusal is task_init's -1: the task exits 1
 * and its node stays up.
 */
#ifndef SPANK_PLUGIN_TASK_CONTEXT_H
#define SPANK_PLUGIN_TASK_CONTEXT_H

#include <slurm/spank.h>

/* As root, once per step and node: read the admins' file, and the node's cache when the step
 * carries a plan. What goes wrong is kept for task_context_apply. */
void task_context_prepare(spank_t spank);
/* As the user, in each task before exec: all variables, or none and -1. A step without a plan
 * meets require_plan, and is else left alone. */
int task_context_apply(spank_t spank);

#endif
