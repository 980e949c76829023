/* SPDX-License-Identifier: MIT */
/*
 * srun_context: the plugin inside srun, sbatch and salloc, as the user. One plan per step,
 * made once and shipped to every task in SLURM_PARPLAN_PLAN (a name that survives
 * --export=NONE).
 */
#ifndef SPANK_PLUGIN_SRUN_CONTEXT_H
#define SPANK_PLUGIN_SRUN_CONTEXT_H

#include <slurm/spank.h>

/* First of all: forget a plan that the environment brings along. */
void srun_context_begin(void);
/* Before anything is submitted: the option's syntax, a job file's content. 0, or -1. */
int srun_context_check_options(void);
/* Once the step exists and before it is launched. 0, or -1 (nothing is launched). */
int srun_context_plan(spank_t spank);

#endif
