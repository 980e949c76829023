/* SPDX-License-Identifier: MIT */
/*
 * step_wire_facts: what the plan tells the nodes beside who is where (struct wire_facts): what
 * they are taken to be, and what the framework wants of them.
 */
#ifndef SPANK_PLUGIN_NODE_STEP_WIRE_FACTS_H
#define SPANK_PLUGIN_NODE_STEP_WIRE_FACTS_H

#include "spank_plugin/step_plan.h"

/* Of a plan that has its placement and its wire plan; facts: the step's. device_connections only
 * where the job, or the command's own flags, name the framework. */
void step_wire_facts(const struct step_plan *plan, const struct step_facts *facts,
                     struct wire_facts *ret);

#endif
