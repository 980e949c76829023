/* SPDX-License-Identifier: MIT */
/*
 * gang_recovery: what a gang's plan is, from what its pods say.
 */
#ifndef K8S_EXTENDER_GANG_GANG_RECOVERY_H
#define K8S_EXTENDER_GANG_GANG_RECOVERY_H

#include "k8s_extender/gang/gang_state.h"

#define GANG_SHAPE_MAXIMUM_BYTES 512u

/* A plan without its nodes: what annotation parplan.io/plan-shape of every placed pod says. */
struct gang_shape {
    uint32_t pods, gpus_per_pod;
    bool has_degrees;
    struct degrees degrees;
    enum rank_order order;
};

/* "pods=16 gpus=8 order=tp-cp-ep-dp-pp tp=8 …", in the arena; NULL: out of memory. */
const char *gang_shape_encode(const struct gang_plan *plan, struct arena *arena);
/* Hostile input: 0, or -1 for whatever is no shape (err says why, and may be NULL). */
int gang_shape_decode(const char *text, struct gang_shape *ret, struct error_info *err);
/* Of the first live pod of the owner that holds the gang's name that has a readable one. */
bool gang_shape_find(const struct gang *gang, struct gang_shape *ret);

/* Sets gang->plan, ->written and ->made from the slots' pods. */
int gang_adopt_plan(struct gang *gang);
/* The plan that holds now is given up. */
void gang_reject_plan(struct gang *gang);
/* Takes a new one. */
void gang_take_plan(struct gang *gang, struct gang_plan *plan);
/* Whether the plan that holds stands on pod 0, as seen or as answered. */
bool gang_plan_stands(const struct gang *gang);

#endif
