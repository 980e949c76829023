/* SPDX-License-Identifier: MIT */
/*
 * plugstack_checks: what `parplan doctor` says of our line in plugstack.conf: there, once,
 * required, with arguments that the plugin takes, in files that users can read, behind pyxis (which
 * sets RANK anew in containers: its issue 46). One finding, with the line that is to be changed.
 */
#ifndef CLI_DOCTOR_PLUGSTACK_CHECKS_H
#define CLI_DOCTOR_PLUGSTACK_CHECKS_H

#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/finding.h"

void check_plugstack(const struct doctor_facts *facts, struct findings *findings);

#endif
