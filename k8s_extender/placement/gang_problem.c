/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/gang_plan.h"

void gang_problem_free(struct gang_problem *problem)
{
    if (!problem)
        return;
    cluster_view_free(problem->view);
    arena_free(problem->arena);
}
