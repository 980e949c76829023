/* SPDX-License-Identifier: MIT */
/*
 * submit_config: the admins' file as slurmctld holds it: read once, and again when it changes
 * (device, inode, size, times; owner and mode of its folder). A file that cannot be used is said
 * once in the log, and the last good one stays: no typing error switches the policy off, or stops
 * a job. Job_submit plugins get no arguments, so the environment of slurmctld names the file:
 *
 *     PARPLAN_CONFIG        its absolute path (/etc/parplan/parplan.yaml, where a missing one means
 *                           built-in defaults)
 *     PARPLAN_CONFIG_OWNER  the uid that must own it and its folder (0)
 *
 * The caller holds a lock.
 */
#ifndef SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_CONFIG_H
#define SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_CONFIG_H

#include "workload/admin_config.h"

/* Reads the environment again, and forgets the file. Never fails. */
void submit_config_begin(void);
/* The file's state now; NULL: never a good one. Valid until the next call. */
const struct admin_config *submit_config_get(void);
void submit_config_end(void);

#endif
