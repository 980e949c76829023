/* SPDX-License-Identifier: MIT */
/*
 * gang_events: events that wait to be written, each text once for each pod of a gang; with whom
 * people look at for the whole job: the JobSet that the pod's labels name, else the pod's
 * controller.
 */
#ifndef K8S_EXTENDER_GANG_STORE_GANG_EVENTS_H
#define K8S_EXTENDER_GANG_STORE_GANG_EVENTS_H

#include "k8s_extender/objects/pod_record.h"

#define GANG_EVENTS_MAXIMUM 4096u /* that wait; later ones are dropped */
#define GANG_TOLD_MAXIMUM 64u     /* of one gang that are remembered as told, the last ones */

struct gang_task;

struct gang_event {
    char *namespace, *pod, *uid, *message;
    char *owner_kind, *owner_name, *owner_uid; /* NULL: there is none */
    const char *reason;                        /* static */
    bool warning;
};

/* What a gang's pods were told, so that one gang's many texts push out no other's. */
struct gang_told {
    uint64_t digests[GANG_TOLD_MAXIMUM]; /* a ring */
    uint32_t count, next;
};

struct gang_events {
    struct gang_event *waiting; /* a queue: from first, count */
    size_t first, count, capacity;
};

void gang_events_done(struct gang_events *events);
/* Does nothing if that pod was told the same, without memory, or pod NULL. told: of the gang that
 * speaks. reason: static text. */
void gang_events_add(struct gang_events *events, struct gang_told *told,
                     const struct pod_record *pod, bool warning, const char *reason,
                     const char *message);
/* The next one as a task's texts, in the task's arena. 1: there was one; 0: none; -1: memory. */
int gang_events_take(struct gang_events *events, struct gang_task *ret);

#endif
