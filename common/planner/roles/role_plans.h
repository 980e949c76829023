/* SPDX-License-Identifier: MIT */
/*
 * role_plans: a plan for each of several models that one job holds.
 *
 * Roles on the same nodes take turns: a role's activations come and go, but what it keeps
 * (parameters, gradients, optimizer) stays on the GPU while another one runs. So each is planned
 * with what is left of the GPU beside what the others keep, again while one of them moves, at
 * most ROLE_ROUNDS times. The framework's constant counts once, in the role that runs. Pure.
 */
#ifndef PLANNER_ROLES_ROLE_PLANS_H
#define PLANNER_ROLES_ROLE_PLANS_H

#include "planner/plan_search.h"

#define ROLE_ROUNDS 4u

struct role_request {
    const char *name;
    struct plan_request plan; /* its world is that of the role's nodes */
    size_t home;              /* roles with the same one share their nodes */
};

struct role_result {
    struct plan_list *list;  /* owned by role_plans; its first plan is the role's */
    const struct plan *plan; /* NULL: does not fit beside the others, or policy denies it */
    uint64_t kept_bytes;     /* of each GPU, what stays while others run */
    uint64_t others_bytes;   /* what the others keep there */
};

struct role_plans {
    struct role_result *results; /* one for each request */
    size_t count;
};

struct role_plans *role_plans_create(const struct role_request *requests, size_t count,
                                     struct error_info *err);
void role_plans_free(struct role_plans *plans);

DEFINE_CLEANUP(role_plans);

#endif
