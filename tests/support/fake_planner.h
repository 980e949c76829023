/* SPDX-License-Identifier: MIT */
/*
 * fake_planner: plans for tests of what stands around planning: the candidates are filled in their
 * order, what is fixed stays. The degrees of the plan before; else tp = parplan.io/tp, or the GPUs
 * of a pod, and dp is the rest.
 */
#ifndef TESTS_SUPPORT_FAKE_PLANNER_H
#define TESTS_SUPPORT_FAKE_PLANNER_H

#include "k8s_extender/placement/gang_plan.h"

/* NULL: out of memory. */
struct gang_plan *fake_planner_plan(const struct gang_problem *problem);
/* As if each TP group had an NVLink domain without a spare: where some of its pods stay, and others
 * need a node, there is no plan, unless the group may leave it. */
struct gang_plan *fake_planner_no_spare(const struct gang_problem *problem);

#endif
