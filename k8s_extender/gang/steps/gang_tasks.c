/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/steps/gang_tasks.h"
#include "base/memory.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_outputs.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_table.h"
#include <stdio.h>
#include <string.h>

void gang_task_done(struct gang_task *task)
{
    gang_problem_free(task->problem);
    arena_free(task->arena);
    *task = (struct gang_task){.kind = TASK_NONE};
}

const char *gang_version_of(const struct pod_record *pod)
{
    return pod->resource_version ? pod->resource_version : "";
}

static int task_init(struct gang_machine *machine, const struct gang *gang,
                     enum gang_task_kind kind, struct gang_task *ret)
{
    *ret = (struct gang_task){.kind = kind, .arena = arena_create(TASK_MAXIMUM_BYTES)};
    if (!ret->arena)
        return -1;
    ret->gang = gang ? arena_copy_text(ret->arena, gang->key) : NULL;
    ret->number = ++machine->numbers;
    return gang && !ret->gang ? -1 : 0;
}

static int fail(struct gang_task *ret)
{
    gang_task_done(ret);
    return -1;
}

static int name_pod(struct gang_task *ret, const struct pod_record *pod)
{
    ret->namespace = arena_copy_text(ret->arena, pod->namespace);
    ret->pod = arena_copy_text(ret->arena, pod->name);
    ret->uid = arena_copy_text(ret->arena, pod->uid);
    ret->resource_version = arena_copy_text(ret->arena, gang_version_of(pod));
    return ret->namespace && ret->pod && ret->uid && ret->resource_version ? 0 : -1;
}

int gang_task_ask_size(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    const struct pod_record *pod = gang_first_member(gang);
    if (task_init(machine, gang, TASK_ASK_SIZE, ret) < 0 || name_pod(ret, pod) < 0)
        return fail(ret);
    ret->size_from = pod->gang.size_from;
    ret->size_owner = arena_copy_text(ret->arena, pod->gang.size_owner ? pod->gang.size_owner : "");
    if (!ret->size_owner)
        return fail(ret);
    gang->ask_task = ret->number;
    return 1;
}

/* The slot remembers what was asked for on top of which version; a release may stand from here on.
 */
static int remember_patch(struct gang *gang, struct gang_slot *slot, const struct gang_task *task,
                          const char *node)
{
    CLEANUP_MEMORY char *version = memory_copy_text(task->resource_version);
    CLEANUP_MEMORY char *sent = node ? memory_copy_text(node) : NULL;
    if (!version || (node && !sent))
        return -1;
    bool uncertain = slot->uncertain;
    enum slot_state state = slot->state;
    gang_slot_unsend(slot);
    slot->uncertain = uncertain;
    slot->asked_version = move_pointer(version);
    slot->sent_node = move_pointer(sent);
    slot->task = task->number;
    if (slot->sent_node) {
        gang->promised += state == SLOT_WAITING;
        slot->state = SLOT_PROMISED;
        slot->node = slot->sent_node;
        slot->pinned = true;
    }
    return 0;
}

/* A patch that is no release: what is already under way to that pod stays known. */
static int ask_beside(struct gang *gang, struct gang_slot *slot, struct gang_task *ret)
{
    if (slot->sent_node) {
        slot->task = ret->number;
        return 1;
    }
    return remember_patch(gang, slot, ret, NULL) < 0 ? fail(ret) : 1;
}

int gang_task_write_plan(struct gang_machine *machine, struct gang *gang,
                         const struct gang_plan *plan, struct gang_task *ret)
{
    struct gang_slot *slot = &gang->slots[0];
    if (task_init(machine, gang, TASK_PATCH_POD, ret) < 0 || name_pod(ret, slot->pod) < 0 ||
        gang_plan_output(plan, ret->arena, &ret->annotations) < 0)
        return fail(ret);
    snprintf(slot->asked_plan, sizeof(slot->asked_plan), "%s", plan ? plan->id : "");
    slot->has_plan = false;
    return ask_beside(gang, slot, ret);
}

int gang_task_release(struct gang_machine *machine, struct gang *gang, uint32_t index,
                      struct gang_task *ret)
{
    struct gang_slot *slot = &gang->slots[index];
    const char *node = slot->sent_node ? slot->sent_node : gang->plan->nodes[index];
    if (task_init(machine, gang, TASK_PATCH_POD, ret) < 0 || name_pod(ret, slot->pod) < 0 ||
        gang_pod_outputs(gang, index, node, ret->arena, &ret->annotations) < 0 ||
        gang_copy_affinity(&slot->pod->affinity, ret->arena, &ret->affinity) < 0)
        return fail(ret);
    ret->release = slot->pod->gated;
    ret->node = arena_copy_text(ret->arena, node);
    return !ret->node || remember_patch(gang, slot, ret, node) < 0 ? fail(ret) : 1;
}

int gang_task_withdraw(struct gang_machine *machine, struct gang *gang, uint32_t index,
                       struct gang_task *ret)
{
    struct gang_slot *slot = &gang->slots[index];
    if (task_init(machine, gang, TASK_PATCH_POD, ret) < 0 || name_pod(ret, slot->pod) < 0 ||
        gang_no_outputs(ret->arena, &ret->annotations) < 0)
        return fail(ret);
    return ask_beside(gang, slot, ret);
}

int gang_task_delete(struct gang_machine *machine, struct gang *gang, uint32_t index,
                     struct gang_task *ret)
{
    struct gang_slot *slot = &gang->slots[index];
    if (task_init(machine, gang, TASK_DELETE_POD, ret) < 0 || name_pod(ret, slot->pod) < 0)
        return fail(ret);
    slot->task = ret->number;
    return 1;
}

int gang_task_plan(struct gang_machine *machine, struct gang *gang, struct gang_problem *problem,
                   struct gang_task *ret)
{
    if (task_init(machine, gang, TASK_PLAN, ret) < 0) {
        gang_problem_free(problem);
        return fail(ret);
    }
    ret->problem = problem;
    problem->number = ret->number;
    gang->plan_number = ret->number;
    machine->planning = ret->number;
    return 1;
}

static const char *copy_or_null(struct gang_task *task, const char *text)
{
    return text ? arena_copy_text(task->arena, text) : NULL;
}

int gang_task_service(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    const struct pod_record *pod = gang->slots[0].pod;
    if (task_init(machine, gang, TASK_SERVICE, ret) < 0 || name_pod(ret, pod) < 0)
        return fail(ret);
    ret->service = copy_or_null(ret, pod->subdomain);
    ret->gang_label = copy_or_null(ret, pod->gang_label);
    ret->owner_kind = copy_or_null(ret, pod->owner_kind);
    ret->owner_name = copy_or_null(ret, pod->owner_name);
    ret->owner_uid = copy_or_null(ret, pod->owner_uid);
    if (!ret->service || !ret->gang_label)
        return fail(ret);
    gang->service_task = ret->number;
    return 1;
}

int gang_task_event(struct gang_machine *machine, struct gang_task *ret)
{
    if (machine->events.count == 0)
        return 0;
    if (task_init(machine, NULL, TASK_EVENT, ret) < 0 ||
        gang_events_take(&machine->events, ret) < 0)
        return fail(ret);
    return 1;
}

/* --- results ----------------------------------------------------------------------- */

static struct gang_slot *slot_of(struct gang *gang, const struct gang_task *task)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].task == task->number)
            return &gang->slots[i];
    return NULL;
}

/* A release: it is promised no node by that; but it stays known what the pod was like, so that
 * another version of it ends the pause. */
static void settle_refused(struct gang_slot *slot)
{
    char *version = move_pointer(slot->asked_version);
    gang_slot_unsend(slot);
    slot->asked_version = version;
}

static uint64_t pause_after(struct gang_slot *slot, enum gang_task_result result)
{
    unsigned doublings =
        slot->failures < TASK_RETRY_DOUBLINGS ? slot->failures : TASK_RETRY_DOUBLINGS;
    slot->failures = result == TASK_SUCCEEDED ? 0 : slot->failures + 1;
    return result == TASK_SUCCEEDED ? TASK_QUIET_MILLISECONDS
           : result == TASK_REFUSED ? TASK_REFUSED_MILLISECONDS
                                    : (uint64_t)TASK_RETRY_MILLISECONDS << doublings;
}

/* Only what has been asked for is settled: a release before it may stand. */
static void settle_patch(struct gang_slot *slot, const struct gang_task *task,
                         enum gang_task_result result)
{
    const char *plan = label_set_find(&task->annotations, ANNOTATION_PLAN);
    bool only_plan = plan && task->annotations.count == 1;
    if (result == TASK_SUCCEEDED && only_plan && *plan && slot->asked_version) {
        slot->has_plan = true;
        memcpy(slot->acknowledged, slot->asked_plan, sizeof(slot->acknowledged));
    } else if (result == TASK_FAILED) {
        slot->uncertain = true;
    } else if (result == TASK_CONFLICT && !slot->uncertain && task->node) {
        gang_slot_unsend(slot);
    } else if (result == TASK_REFUSED && !slot->uncertain && task->node) {
        settle_refused(slot);
    }
}

static void settle_slot(struct gang_machine *machine, struct gang *gang,
                        const struct gang_task *task, enum gang_task_result result)
{
    struct gang_slot *slot = slot_of(gang, task);
    if (!slot)
        return;
    slot->task = 0;
    /* A version that was heard meanwhile has settled it: asked_version is gone then. */
    bool open = task->kind == TASK_DELETE_POD || slot->asked_version;
    if (task->kind == TASK_PATCH_POD)
        settle_patch(slot, task, result);
    uint64_t pause = pause_after(slot, result);
    if (open)
        slot->quiet_until = machine->now + pause;
}

/* One that is there already may be the last gang's, and goes with the Job that owns it. */
static void settle_service(struct gang_machine *machine, struct gang *gang,
                           enum gang_task_result result)
{
    bool there = result == TASK_CONFLICT && gang->service_pause > 0;
    uint64_t pause = there ? 2 * gang->service_pause : TASK_RETRY_MILLISECONDS;
    if (pause > SERVICE_MAXIMUM_MILLISECONDS)
        pause = SERVICE_MAXIMUM_MILLISECONDS;
    gang->service_pause = result == TASK_REFUSED ? TASK_REFUSED_MILLISECONDS : pause;
    gang->service_task = 0;
    gang->has_service = result == TASK_SUCCEEDED;
    gang->service_at = machine->now + gang->service_pause;
}

void gang_task_settle(struct gang_machine *machine, const struct gang_task *task,
                      enum gang_task_result result)
{
    struct gang *gang = task->gang ? gang_table_find(machine, task->gang) : NULL;
    if (task->kind == TASK_PLAN && machine->planning == task->number)
        machine->planning = 0;
    if (!gang)
        return;
    /* That a pod has been released is expected: the rest goes on. */
    bool expected = task->kind == TASK_PATCH_POD && task->node && result == TASK_SUCCEEDED;
    gang->dirty |= !expected || !gang->followed;
    if (task->kind == TASK_PLAN && gang->plan_number == task->number) { /* no answer came */
        gang->plan_number = 0;
        gang->tried = true;
        gang->outcome = GANG_NO_FIT;
        gang->retry_at = machine->now + TASK_RETRY_MILLISECONDS;
    } else if (task->kind == TASK_ASK_SIZE && gang->ask_task == task->number) {
        gang->ask_task = 0;
        gang->ask_at =
            machine->now + (result == TASK_SUCCEEDED ? machine->settings.retry_milliseconds
                                                     : TASK_RETRY_MILLISECONDS);
    } else if (task->kind == TASK_SERVICE && gang->service_task == task->number) {
        settle_service(machine, gang, result);
    } else {
        settle_slot(machine, gang, task, result);
    }
}
