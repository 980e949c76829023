/* SPDX-License-Identifier: MIT */
/*
 * gang_members: a gang's slots, counts and reservations from its pods. The same on every machine
 * that has heard the same, whether it leads or not.
 */
#ifndef K8S_EXTENDER_GANG_GANG_MEMBERS_H
#define K8S_EXTENDER_GANG_GANG_MEMBERS_H

#include "k8s_extender/gang/gang_state.h"

/* Does nothing unless the gang is dirty, or a place has been kept for long enough. -1: out of
 * memory; it stays dirty. */
int gang_refresh(struct gang_machine *machine, struct gang *gang);
/* Whether a new version of a member says nothing but that what was asked for has come: it has been
 * released, or bound. Then gang_take_version does for it what gang_refresh does for all: of a gang
 * of a thousand pods each is heard of three times. */
bool gang_version_is_expected(const struct gang *gang, const struct pod_record *known,
                              const struct pod_record *next);
void gang_take_version(struct gang_machine *machine, struct gang *gang,
                       const struct pod_record *pod);
/* Whether a pod of it has been released: then the others follow. What is bound by hand begins
 * nothing: it is one more pod whose node is given. */
bool gang_has_begun(const struct gang *gang);
/* Whether a pod that was released is bound: what has begun cannot be taken back any more. */
bool gang_has_started(const struct gang *gang);
/* Whether every index of a gang that has begun has a pod on a node, or one that has succeeded. */
bool gang_is_whole(const struct gang *gang);
/* Whether its pod has succeeded, and there is no other. */
bool gang_slot_is_done(const struct gang *gang, const struct gang_slot *slot);
/* Reservations as slots and plan say now. */
int gang_reserve(struct gang_machine *machine, struct gang *gang);
void gang_set_phase(struct gang *gang);
/* The slot's pod's index, as the pods are numbered in this gang; GANG_INDEX_NONE: it has none. */
uint32_t gang_index_of(const struct gang *gang, const struct pod_record *pod);
/* Whether the scheduler itself is bound to that one node: the node, or NULL. */
const char *gang_pin_of(const struct pod_record *pod);
/* Where it was released to, by its annotation: only of pods that are not gated; NULL: nowhere. */
const char *gang_promise_of(const struct pod_record *pod);

/* The pod that events of the whole gang stand on; NULL: there is none. */
const struct pod_record *gang_spokesman(const struct gang *gang);
/* The node that the pod of that index is on, or it or its successor is to have; NULL: none yet. */
const char *gang_meant_node(const struct gang *gang, uint32_t index);

#endif
