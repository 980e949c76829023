/* SPDX-License-Identifier: MIT */
/*
 * fake_planner: plans for tests of what stands around planning: the candidates are filled in their
 * order, what is fixed stays. tp = the GPUs of a pod, dp = the pods.
 */
#ifndef TESTS_SUPPORT_FAKE_PLANNER_H
#define TESTS_SUPPORT_FAKE_PLANNER_H

#include "k8s_extender/placement/gang_plan.h"

/* NULL: out of memory. */
struct gang_plan *fake_planner_plan(const struct gang_problem *problem);

#endif
