/* SPDX-License-Identifier: MIT */
/*
 * fake_spank: a stand-in for slurmstepd's side of spank.h, so that the task side of the
 * plugin runs under the sanitizers (a sanitized .so cannot be loaded by a real slurmd). The
 * real Slurm is in tests/slurm.
 */
#ifndef TESTS_SUPPORT_FAKE_SPANK_H
#define TESTS_SUPPORT_FAKE_SPANK_H

#include <stdbool.h>
#include <stdint.h>

struct fake_step {
    uint32_t job, step, node, nodes, tasks_on_node, tasks;
    uint32_t process; /* SLURM_PROCID */
    int local_task;
    bool refuses_setenv; /* spank_setenv fails */
    uint32_t uid;
    const char *program; /* NULL: the command is not told */
};

/* A new step with an empty environment; what the plugin logged before is forgotten. */
void fake_spank_begin(const struct fake_step *step);
void fake_spank_set(const char *name, const char *value);
const char *fake_spank_get(const char *name); /* NULL: not set */
unsigned fake_spank_variables(void);          /* how many are set */
const char *fake_spank_error(void);           /* the last error line, or "" */
unsigned fake_spank_errors(void);
unsigned fake_spank_notices(void);
const char *fake_spank_notice(void); /* the last of them, or "" */

#endif
