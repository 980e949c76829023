/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/annotations.h"
#include "tests/support/fake_planner.h"
#include "tests/support/gang_world_parts.h"
#include <stdio.h>
#include <string.h>

static struct world_pod *find_pod(struct world *world, const char *uid, const char *name)
{
    for (size_t i = 0; i < world->pod_count; i++) {
        struct world_pod *pod = &world->pods[i];
        char own[16];
        snprintf(own, sizeof(own), "u%u", pod->serial);
        if (pod->exists && strcmp(pod->name, name) == 0 &&
            (strcmp(own, uid) == 0 || world->fault == WORLD_MIXES_UIDS))
            return pod;
    }
    return NULL;
}

static bool is_version(const struct world_pod *pod, const char *version)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", pod->version);
    return strcmp(text, version) == 0;
}

static enum gang_task_result patch(struct world *world, const struct gang_task *task)
{
    struct world_pod *pod = find_pod(world, task->uid, task->pod);
    if (!pod || !is_version(pod, task->resource_version))
        return TASK_CONFLICT;
    if (!world_may_be_let_in(world, pod))
        world_violate(world, "a pod is written to that does not belong", pod);
    for (size_t i = 0; i < COUNT_OF(world_notes); i++) {
        const char *value = label_set_find(&task->annotations, world_notes[i]);
        if (value && i == NOTE_PLAN && *value && world->fault == WORLD_LOSES_PLANS)
            return TASK_SUCCEEDED;
        if (value)
            pod->annotations[i] = arena_copy_text(world->arena, value);
        if (value && i == NOTE_PLAN)
            world_note_plan(world, pod);
    }
    if (task->release) {
        world_must(task->node != NULL, "release without a node");
        pod->gated = false;
        pod->pin = task->node[1] - '0';
    }
    if (label_set_find(&task->annotations, ANNOTATION_NODE) && world_promise_of(world, pod) >= 0) {
        world_check_node(world, world_promise_of(world, pod), pod);
        world_check_order(world, pod);
    }
    world_pod_changes(world, pod);
    return TASK_SUCCEEDED;
}

static enum gang_task_result delete_pod(struct world *world, const struct gang_task *task)
{
    struct world_pod *pod = find_pod(world, task->uid, task->pod);
    if (!pod || !is_version(pod, task->resource_version))
        return TASK_CONFLICT;
    if (pod->foreign)
        world_violate(world, "a pod is deleted that does not belong", pod);
    const struct world_gang *gang = &world->gangs[pod->gang];
    if (pod->node >= 0 && !gang->on_partial && !gang->on_no_spare)
        world_violate(world, "a pod that is bound is deleted", pod);
    if (pod->node >= 0 && world->nodes[pod->node].exists)
        world->deletions++;
    if (pod->node < 0)
        pod->exists = false;
    else
        pod->terminating = true;
    world_pod_changes(world, pod);
    return TASK_SUCCEEDED;
}

static enum gang_task_result apply(struct world *world, const struct gang_task *task)
{
    if (task->kind == TASK_PATCH_POD)
        return patch(world, task);
    return task->kind == TASK_DELETE_POD ? delete_pod(world, task) : TASK_SUCCEEDED;
}

/* Some of what writes is refused. */
static enum gang_task_result answer(struct world *world, const struct gang_task *task, bool smooth)
{
    bool writes = task->kind == TASK_PATCH_POD || task->kind == TASK_DELETE_POD;
    return !smooth && writes && world_chance(world, 5) ? TASK_REFUSED : apply(world, task);
}

/* What others were about when one begins to lead has come to pass before it acts, or never will:
 * requests are bounded (extender_write_seconds). */
void world_cut_off(struct world *world, struct world_process *process, bool leads)
{
    for (size_t i = 0; i < process->task_count; i++) {
        const struct gang_task *task = &process->tasks[i];
        bool writes = task->kind == TASK_PATCH_POD || task->kind == TASK_DELETE_POD;
        if (!writes || process->late[i] || (leads && !process->zombie[i]))
            continue;
        if (world_chance(world, 50))
            (void)apply(world, task);
        process->late[i] = true;
    }
}

void world_finish(struct world *world, struct world_process *process, size_t at, bool smooth)
{
    struct gang_task task = process->tasks[at];
    bool zombie = process->zombie[at], late = process->late[at];
    process->task_count--;
    memmove(&process->tasks[at], &process->tasks[at + 1],
            (process->task_count - at) * sizeof(task));
    memmove(&process->zombie[at], &process->zombie[at + 1], process->task_count - at);
    memmove(&process->late[at], &process->late[at + 1], process->task_count - at);
    bool lost = late || (!smooth && world_chance(world, 10));
    enum gang_task_result result = lost ? TASK_FAILED : answer(world, &task, smooth);
    if (!smooth && !lost && result == TASK_SUCCEEDED && world_chance(world, 10))
        result = TASK_FAILED; /* applied all the same */
    if (zombie || !process->machine) {
        gang_task_done(&task);
        return;
    }
    if (task.kind == TASK_PLAN && result != TASK_FAILED) {
        bool spare = smooth || world_chance(world, 50);
        struct gang_plan *plan =
            spare ? fake_planner_plan(task.problem) : fake_planner_no_spare(task.problem);
        world_must(gang_machine_planned(process->machine, task.problem, plan) == 0, "planned");
    }
    world_must(gang_machine_finished(process->machine, &task, result) == 0, "finished");
}

/* Takes one task from the machine; false: there was none. */
bool world_take_task(struct world_process *process)
{
    if (!process->machine || process->task_count == WORLD_TASKS)
        return false;
    struct gang_task *task = &process->tasks[process->task_count];
    world_must(gang_machine_next(process->machine, task) == 0, "next");
    if (task->kind == TASK_NONE)
        return false;
    process->zombie[process->task_count] = process->late[process->task_count] = false;
    process->task_count++;
    return true;
}
