/* SPDX-License-Identifier: MIT */
/*
 * gang_task: one thing that a gang_machine wants done, with copies of all that it takes, and what
 * may come of it.
 */
#ifndef K8S_EXTENDER_GANG_GANG_TASK_H
#define K8S_EXTENDER_GANG_GANG_TASK_H

#include "k8s_extender/objects/gang_identity.h"
#include "k8s_extender/objects/node_selector.h"
#include "k8s_extender/placement/gang_plan.h"

enum gang_task_kind {
    TASK_NONE,
    TASK_ASK_SIZE,  /* read size_owner; answer: gang_machine_size */
    TASK_PLAN,      /* answer: gang_machine_planned */
    TASK_PATCH_POD, /* annotations; release: remove the gate and pin to the node too.
                     * preconditions: metadata.uid and metadata.resourceVersion */
    TASK_SERVICE,   /* a headless Service `service` for the pods with that gang label. CONFLICT: one
                     * of that name is there, and goes with the owner of an earlier gang: asked
                     * again. REFUSED: it is another gang's, which was told. SUCCEEDED also where
                     * none can ever be made */
    TASK_EVENT,
    TASK_DELETE_POD /* preconditions: the same; a pod that was bound meanwhile stays */
};

struct gang_task {
    enum gang_task_kind kind;
    const char *gang;                  /* key */
    const char *namespace, *pod, *uid; /* of the pod that is written to or spoken of */
    const char *resource_version;      /* TASK_PATCH_POD, TASK_DELETE_POD: of it as it was judged */
    enum gang_size_from size_from;     /* TASK_ASK_SIZE … */
    const char *size_owner;            /* … and the object's name */
    struct gang_problem *problem;      /* TASK_PLAN: the task's own; gang_task_done frees it */
    struct label_set annotations;      /* TASK_PATCH_POD */
    bool release; /* take our gate away, and require `node` (a matchFields term,
                   * ANDed into every term that the pod has) */
    const char *node;
    struct node_selector affinity;    /* the pod's own, to AND the pin into */
    const char *service, *gang_label; /* TASK_SERVICE … */
    /* … and with whom it goes; TASK_EVENT: who is told too. NULL: nobody */
    const char *owner_kind, *owner_name, *owner_uid;
    bool warning;                 /* TASK_EVENT */
    const char *reason, *message; /* "GangPlanned", one sentence */
    uint64_t number;
    struct arena *arena;
};
void gang_task_done(struct gang_task *task);

enum gang_task_result {
    TASK_SUCCEEDED,
    TASK_CONFLICT, /* the object is gone or has changed: 404, 409: it was not applied */
    TASK_REFUSED,  /* the same would be refused again: 400, 403, 413, 422: not applied either. Asked
                    * again when the pod changes, or minutes later */
    TASK_FAILED    /* no answer, 429, 5xx: it may have been applied */
};

#endif
