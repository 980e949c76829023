/* SPDX-License-Identifier: MIT */
/*
 * task_cpus: the CPUs near a task's GPU, for tasks that Slurm and the user leave all CPUs of the
 * machine (TaskPlugin=task/none, or task/affinity without binding).
 */
#ifndef SPANK_PLUGIN_TASK_CPUS_H
#define SPANK_PLUGIN_TASK_CPUS_H

#include <slurm/spank.h>

/* In slurmstepd, before any container hides the machine's /sys. */
void task_cpus_prepare(void);

/* Binds this task to the list ("0-23,96-119"), as far as CPUs of it are online. Returns how many
 * that are. 0, and nothing is changed: a mask that is not the whole machine, --cpu-bind of any
 * kind (SLURM_CPU_BIND), no such CPU, or a machine of more than CPU_SETSIZE. Never fails. */
unsigned task_cpus_bind(spank_t spank, const char *cpus);

#endif
