/* SPDX-License-Identifier: MIT */
/*
 * task_cpus: the CPUs near a task's GPU, for tasks that Slurm and the user leave all CPUs of the
 * machine (TaskPlugin=task/none, or task/affinity without binding).
 */
#ifndef SPANK_PLUGIN_NODE_TASK_CPUS_H
#define SPANK_PLUGIN_NODE_TASK_CPUS_H

#include <slurm/spank.h>
#include <stdbool.h>

/* In slurmstepd, before any container hides the machine's /sys. */
void task_cpus_prepare(void);

/* Binds this task to the CPUs near its GPU ("0-23,96-119"; NULL: unknown), as far as they are
 * online. Nothing is changed by: may_bind false, a mask that is not the whole machine, --cpu-bind
 * of any kind (SLURM_CPU_BIND), no such CPU, or a machine of more than CPU_SETSIZE.
 * Returns how many CPUs are this task's alone: what the step asked for with --cpus-per-task, else
 * its share where `sharers` tasks are bound to the same; 0: unknown. Never fails. */
unsigned task_cpus_take(spank_t spank, const char *cpus, unsigned sharers, bool may_bind);

#endif
