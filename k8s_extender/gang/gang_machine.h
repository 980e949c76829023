/* SPDX-License-Identifier: MIT */
/*
 * gang_machine: what becomes of every gang. Deterministic: it is told what happens (objects that
 * changed, time, leadership, what came of its tasks) and says what is to be done (gang_task). It
 * does no I/O, has no clock and starts no thread; its owner locks.
 *
 *     COLLECT -> PLANNING -> PLANNED -> RELEASED -> RUNNING
 *        ^ no fit  │            │ a node or pod is lost, nothing released yet
 *        └─────────┴────────────┘
 *     RELEASED, RUNNING -> DEGRADED (a pod or its node is lost) -> RELEASED
 * COLLECT: pods of all indices are waited for; a missing, doubled or too large index is refused in
 * one line. A plan waits for gates of others (Kueue): they may still change what the pods ask for.
 * PLANNED: the plan is written to pod 0 (parplan.io/plan) before any pod hears of its node.
 * RELEASED: each pod gets its annotations, with our gate gone and the node pinned in the same PATCH
 * (mode A), or alone, which makes the scheduler try it again (modes B and C). Until the first pod
 * is released a plan is given up when one of its nodes will not do; after that what is bound or
 * pinned stays, and the rest is planned anew around it.
 * DEGRADED: a replacement pod gets its rank's old node if it is sound and free (a terminating
 * predecessor is waited for), else the nearest spare. A pod that is pinned to a bad node is
 * deleted, so that its owner makes another. If nothing is bound and there is no other node,
 * everything released is taken back: no gang starts in part. A gang without pods is forgotten.
 *
 * A pod that has succeeded is done, one that has failed is lost; when all are over the gang is
 * forgotten. Both must be told as they are: set_pod with their phase, not remove_pod.
 *
 * What others do behind its back: a pod that is bound by hand begins nothing, and the plan goes
 * around it. Pods of another owner under the same name, or beyond what was placed, stop nothing;
 * one of each owner's is told why it waits (gang_outsiders.h).
 *
 * Everything is rebuilt from the objects: state is what the annotations and bindings say, and only
 * deadlines start again. A reservation is held from the plan on, until the pod is bound (it then
 * holds its node itself), gone, or the plan is given up; while others of the gang are bound, a lost
 * pod's place is kept for its successor for release_milliseconds.
 *
 * One plan is asked for at a time. First gangs that have lost pods, then by priority (the largest
 * of the pods'), then the one that was seen first. A gang that does not fit is passed by those
 * behind it, until it has waited for patience_milliseconds: then those of no higher priority wait
 * behind it, and are told so, unless it could not even have the empty cluster.
 *
 * Only a leader asks for plans and writes; every machine that has synced answers. A new leader
 * first waits for a list of pods that began after gang_machine_lead, or settle_milliseconds: it
 * must have heard what the last one wrote. Nothing that an old leader asked for may be written
 * later than that: its owner bounds what each request may take. What this machine itself asked for
 * when it led before, and is not answered, it remembers.
 */
#ifndef K8S_EXTENDER_GANG_GANG_MACHINE_H
#define K8S_EXTENDER_GANG_GANG_MACHINE_H

#include "k8s_extender/gang/cluster_state.h"
#include "k8s_extender/gang/gang_task.h"

enum gang_phase {
    GANG_COLLECT,
    GANG_PLANNING,
    GANG_PLAN_MADE, /* PLANNED: being written to pod 0 */
    GANG_RELEASED,
    GANG_RUNNING,
    GANG_DEGRADED,
    GANG_PHASE_COUNT
};
extern const char *const gang_phase_words[GANG_PHASE_COUNT];

#define GANG_SETTLE_SECONDS 2u

struct gang_machine_settings {
    uint64_t release_milliseconds;  /* from RELEASED until a pod must be bound: 60,000 */
    uint64_t retry_milliseconds;    /* a gang that did not fit is tried again after so long, and
                                     * whenever something becomes free: 30,000 */
    uint64_t settle_milliseconds;   /* 0: 2,000; UINT64_MAX: only a new list of pods counts */
    uint64_t patience_milliseconds; /* 0: 600,000 */
    struct cluster_view_sources view;
};

struct gang_machine;

struct gang_machine *gang_machine_create(const struct gang_machine_settings *settings,
                                         struct error_info *err);
void gang_machine_free(struct gang_machine *machine);

/* What happens. Records are taken, also on failure; all fail only for memory. */
int gang_machine_set_node(struct gang_machine *machine, struct node_record *node);
int gang_machine_set_pod(struct gang_machine *machine, struct pod_record *pod);
void gang_machine_remove_node(struct gang_machine *machine, const char *name);
void gang_machine_remove_pod(struct gang_machine *machine, const char *uid);
/* A full list begins and ends: what it did not name is gone. Both lists once: synced. */
enum gang_list { LIST_NODES, LIST_PODS, LIST_COUNT };
void gang_machine_begin_list(struct gang_machine *machine, enum gang_list list);
int gang_machine_end_list(struct gang_machine *machine, enum gang_list list);
bool gang_machine_synced(const struct gang_machine *machine);
void gang_machine_lead(struct gang_machine *machine, bool leads);
/* Milliseconds of a clock that only goes forward. */
int gang_machine_tick(struct gang_machine *machine, uint64_t now_milliseconds);
/* problem: NULL, or why the size is not known, which the gang is told where it has none. */
int gang_machine_size(struct gang_machine *machine, const char *key, uint32_t size,
                      const char *problem);
/* Takes the plan; a plan for an older problem is dropped, as is one whose nodes are no longer free.
 * plan NULL: it could not be made (memory), and is asked for again later. The task's problem stays
 * the task's: gang_machine_finished or gang_task_done frees it. */
int gang_machine_planned(struct gang_machine *machine, const struct gang_problem *problem,
                         struct gang_plan *plan);

/* What is to be done next; TASK_NONE: nothing now. A task is given once; its result comes back
 * through gang_machine_finished (which also frees it). A gang for which memory runs out is passed
 * over, and tried again a second later; -1: that happened, and there is nothing else to do now. */
int gang_machine_next(struct gang_machine *machine, struct gang_task *ret);
int gang_machine_finished(struct gang_machine *machine, struct gang_task *task,
                          enum gang_task_result result);
/* Milliseconds until something is due of itself (a retry, a deadline); at most a second. */
uint64_t gang_machine_wait(const struct gang_machine *machine);

/* For reports: the state as a JSON object under `parent`, one member for each gang; what fails
 * for want of memory is told by json_value_write. */
void gang_machine_describe(const struct gang_machine *machine, struct json_value *parent);
struct gang_counts {
    uint64_t gangs[GANG_PHASE_COUNT];
    uint64_t nodes, pods;
    uint64_t promised_nodes; /* where something is reserved */
};
void gang_machine_count(const struct gang_machine *machine, struct gang_counts *ret);
const struct cluster_state *gang_machine_state(const struct gang_machine *machine);
/* A plan of a gang that does not exist, for /plan: the problem of so many pods like this one. */
struct gang_problem *gang_machine_problem(struct gang_machine *machine,
                                          const struct pod_record *pod, uint32_t pods,
                                          struct error_info *err);

DEFINE_CLEANUP(gang_machine);

#endif
