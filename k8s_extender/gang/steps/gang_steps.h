/* SPDX-License-Identifier: MIT */
/*
 * gang_steps: the leader's next step for one gang.
 */
#ifndef K8S_EXTENDER_GANG_STEPS_GANG_STEPS_H
#define K8S_EXTENDER_GANG_STEPS_GANG_STEPS_H

#include "k8s_extender/gang/gang_state.h"

#define STRANDED_MILLISECONDS 5000u /* a pinned pod's node may be bad for so long: a blip */
#define FOLLOW_MILLISECONDS 1000u   /* a plan that is not carried out is looked at so often */

/* 1: *ret is what is to be done; 0: nothing now (gang->wants_plan: a plan); -1: out of memory. */
int gang_step(struct gang_machine *machine, struct gang *gang, struct gang_task *ret);

#endif
