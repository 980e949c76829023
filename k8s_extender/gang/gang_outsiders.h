/* SPDX-License-Identifier: MIT */
/*
 * gang_outsiders: pods that say that they belong to a gang, and do not count as its pods: of
 * another Job (or whatever owns them) that uses the gang's name, beyond the size with which it was
 * placed, of an index that another pod has, or unlike those that are placed (gang_is_misfit). They
 * must not stop those that do belong.
 *
 * Of several owners (gang_identity.unit) the one holds the name of which a pod is released, else
 * the one of which a pod is bound, else the one whose first pod was created first; then the uids
 * decide. All that stands in the objects, so a restart gives the same answer. When it has no live
 * pod left the next owner has the name. A pod of no owner, or whose index was given by hand, is
 * `bare`: it counts beside the holder's, but does not speak for the gang, and takes an index from
 * one of them only where it has been released to a node and that one has not. Bare pods have the
 * name themselves (gang->unowned) where one of them is released and no owner's pod is, or one is
 * bound and no owner's is either; so of a gang that has both an owner's pod is released first.
 */
#ifndef K8S_EXTENDER_GANG_GANG_OUTSIDERS_H
#define K8S_EXTENDER_GANG_GANG_OUTSIDERS_H

#include "k8s_extender/gang/gang_state.h"

/* Neither over nor terminating. */
bool gang_pod_is_live(const struct pod_record *pod);
/* Bound, or released by what stands on it. */
bool gang_pod_is_placed(const struct pod_record *pod);
/* Which of two pods has the better claim to an index: one that is released, else one of the owner
 * that holds the name, else as the owners above; never both. */
bool gang_claims_before(const struct gang *gang, const struct pod_record *pod,
                        const struct pod_record *other);
/* Sets gang->holder and gang->unowned from the members. */
void gang_find_holder(struct gang *gang);
/* Whether that member counts: it is of the owner that holds the name, or bare. */
bool gang_is_of_holder(const struct gang *gang, const struct pod_record *pod);
/* Whether what it says counts for all: it is the holder's own; without a holder, a bare pod's. */
bool gang_speaks(const struct gang *gang, const struct pod_record *pod);
/* The first member that is live and speaks; NULL: none. */
const struct pod_record *gang_first_member(const struct gang *gang);
/* Whether that index of a gang that is placed is not for the pod: it asks for other GPUs than the
 * others, or the index is done, and only one that speaks may begin it anew. */
bool gang_is_misfit(const struct gang *gang, const struct pod_record *pod, uint32_t index);
/* Whether the pod is an outsider of a gang that is refreshed; then the text is one line that says
 * why. */
bool gang_outsider_reason(const struct gang *gang, const struct pod_record *pod,
                          char text[GANG_REASON_BYTES]);

#endif
