/* SPDX-License-Identifier: MIT */
/*
 * gang_tasks: tasks as they are given out, and what their results mean. Each of the first group
 * returns 1 with *ret filled, or -1 without memory (*ret then is TASK_NONE).
 */
#ifndef K8S_EXTENDER_GANG_STEPS_GANG_TASKS_H
#define K8S_EXTENDER_GANG_STEPS_GANG_TASKS_H

#include "k8s_extender/gang/gang_state.h"

#define TASK_MAXIMUM_BYTES ((size_t)4 << 20)
#define TASK_RETRY_MILLISECONDS 1000u /* after a failure, doubled by each of a pod's in a row … */
#define TASK_RETRY_DOUBLINGS 4u       /* … so often */
/* Between looks at a Service that another gang made. */
#define SERVICE_MAXIMUM_MILLISECONDS 60000u
#define TASK_REFUSED_MILLISECONDS 300000u
#define TASK_QUIET_MILLISECONDS 5000u /* after a success that is not heard of yet */

int gang_task_ask_size(struct gang_machine *machine, struct gang *gang, struct gang_task *ret);
/* The plan to pod 0, or taken back from it (plan NULL). */
int gang_task_write_plan(struct gang_machine *machine, struct gang *gang,
                         const struct gang_plan *plan, struct gang_task *ret);
/* The pod's annotations, and where it is gated its release, to its node. */
int gang_task_release(struct gang_machine *machine, struct gang *gang, uint32_t index,
                      struct gang_task *ret);
/* Its annotations are taken back: only of a pod that is not known to be pinned. */
int gang_task_withdraw(struct gang_machine *machine, struct gang *gang, uint32_t index,
                       struct gang_task *ret);
int gang_task_delete(struct gang_machine *machine, struct gang *gang, uint32_t index,
                     struct gang_task *ret);
/* Takes the problem. */
int gang_task_plan(struct gang_machine *machine, struct gang *gang, struct gang_problem *problem,
                   struct gang_task *ret);
/* The headless Service of pod 0's subdomain. */
int gang_task_service(struct gang_machine *machine, struct gang *gang, struct gang_task *ret);
/* 1: there was an event; 0: none. */
int gang_task_event(struct gang_machine *machine, struct gang_task *ret);

void gang_task_settle(struct gang_machine *machine, const struct gang_task *task,
                      enum gang_task_result result);

const char *gang_version_of(const struct pod_record *pod); /* resourceVersion, never NULL */

#endif
