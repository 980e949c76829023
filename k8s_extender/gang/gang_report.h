/* SPDX-License-Identifier: MIT */
/*
 * gang_report: a machine's gangs for people and programs; declared in gang_machine.h
 * (gang_machine_describe, gang_machine_count). Here: the words of a gang's mode.
 */
#ifndef K8S_EXTENDER_GANG_GANG_REPORT_H
#define K8S_EXTENDER_GANG_GANG_REPORT_H

#include "k8s_extender/gang/gang_state.h"

extern const char *const gang_mode_words[]; /* by enum gang_mode: "gate", "filter", "native" */

#endif
