/* SPDX-License-Identifier: MIT */
/*
 * gang_candidates: which nodes will do for a gang's pods: those that it has been given (the leader
 * judges them again and again until the pods are bound), and those that a plan may choose from.
 */
#ifndef K8S_EXTENDER_GANG_STEPS_GANG_CANDIDATES_H
#define K8S_EXTENDER_GANG_STEPS_GANG_CANDIDATES_H

#include "k8s_extender/gang/gang_state.h"

struct gang_judgement {
    uint32_t lost, stranded, blocked;
};

/* Sets every slot's fate: a node that is gone, that the scheduler would refuse, or where there is
 * no room but what this gang has reserved itself, will not do. After the deadline (gang->late) a
 * pod pinned to a node without room counts as stranded too. What is bound to a node that is gone is
 * judged as its successor will be. */
int gang_judge(struct gang_machine *machine, struct gang *gang, struct gang_judgement *ret);

/* Everything that planning needs, as a copy. Pods that are bound or released, and unless nothing is
 * those that have a good node, keep it; with ATTEMPT_MOVE not those that share a TP group with a
 * lost one. with_empty: whether it could have the empty cluster is asked too. *ret: NULL where it
 * cannot be asked now: gang->reason says why. */
int gang_problem_create(struct gang_machine *machine, struct gang *gang, bool with_empty,
                        struct gang_problem **ret, struct error_info *err);
/* Of so many pods like that one, of no gang. */
struct gang_problem *gang_problem_like(struct gang_machine *machine, const struct pod_record *pod,
                                       uint32_t pods, struct error_info *err);
/* Whether a slot of that one's TP group under the gang's plan, or itself, has one of those fates:
 * bits 1u << enum slot_fate. */
bool gang_group_has(const struct gang *gang, uint32_t index, unsigned fates);

#endif
