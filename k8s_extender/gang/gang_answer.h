/* SPDX-License-Identifier: MIT */
/*
 * gang_answer: what the scheduler is told about one pod: from the machine's state alone, changing
 * nothing. Nodes are named by their position in the question, so that no answer can name another.
 *
 * filter: a pod that neither belongs to a gang nor asks for GPUs passes everywhere. One that asks
 * for GPUs and is in no gang passes where its GPUs are not promised to a gang; what `require_plan`
 * says of it stands in `error`. A gang's pod passes on its own node, as far as that is known to
 * be sound; without a plan nowhere, with the reason. `error` speaks for the whole pod (mode A and
 * B); in mode C (native) it is never used, the text then stands for every node.
 */
#ifndef K8S_EXTENDER_GANG_GANG_ANSWER_H
#define K8S_EXTENDER_GANG_GANG_ANSWER_H

#include "k8s_extender/gang/gang_machine.h"

#define ANSWER_TEXT_BYTES GANG_REASON_BYTES
#define ANSWER_NODE_NONE SIZE_MAX

enum answer_kind {
    ANSWER_ALL,    /* every node passes */
    ANSWER_ONE,    /* only `node` passes; ANSWER_NODE_NONE: it was not among those asked about */
    ANSWER_SOME,   /* those whose `passes` is true */
    ANSWER_REFUSED /* none, for the reason in `text` */
};

struct gang_answer {
    enum answer_kind kind;
    size_t node;
    bool *passes;   /* ANSWER_SOME: caller's array, as many as names */
    bool whole_pod; /* text is to be the Error of the answer, not that of every node */
    char text[ANSWER_TEXT_BYTES]; /* why the others do not pass */
};

/* passes has room for count entries. Until synced everything is refused ("parplan is still reading
 * the cluster"), but pods that ask for no GPU and belong to no gang. */
void gang_answer_filter(struct gang_machine *machine, const struct policy *policy,
                        const struct pod_record *pod, const char *const *names, size_t count,
                        bool *passes, struct gang_answer *ret);
/* ret_scores: 0 … 10 for each name. */
void gang_answer_prioritize(struct gang_machine *machine, const struct pod_record *pod,
                            const char *const *names, size_t count, uint8_t *ret_scores);
/* Which of the nodes may be freed for the pod by eviction: a waiting gang's none, a planned pod's
 * its own, else all whose GPUs are not promised. */
void gang_answer_preempt(struct gang_machine *machine, const struct pod_record *pod,
                         const char *const *names, size_t count, bool *ret_allowed);
/* Whether that pod may be bound there; text says why not. */
bool gang_answer_bind(struct gang_machine *machine, const char *namespace, const char *name,
                      const char *uid, const char *node, char text[ANSWER_TEXT_BYTES]);

#endif
