/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_machine.h"
#include "base/memory.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_table.h"
#include "k8s_extender/gang/steps/gang_candidates.h"
#include "k8s_extender/gang/steps/gang_planning.h"
#include "k8s_extender/gang/steps/gang_steps.h"
#include "k8s_extender/gang/steps/gang_tasks.h"
#include <stdio.h>
#include <string.h>

#define PATIENCE_MILLISECONDS 600000u
#define WAIT_MAXIMUM_MILLISECONDS 1000u
#define EVENTS_FEW 8u     /* go before other tasks; of more … */
#define TASKS_AN_EVENT 4u /* … one after so many: each is two requests, and can wait */

struct gang_machine *gang_machine_create(const struct gang_machine_settings *settings,
                                         struct error_info *err)
{
    struct gang_machine *machine = memory_allocate(sizeof(*machine));
    if (!machine)
        return error_null(error_set_memory(err));
    machine->settings = *settings;
    if (!machine->settings.settle_milliseconds)
        machine->settings.settle_milliseconds = GANG_SETTLE_SECONDS * 1000u;
    if (!machine->settings.patience_milliseconds)
        machine->settings.patience_milliseconds = PATIENCE_MILLISECONDS;
    machine->state = cluster_state_create();
    machine->table = record_table_create();
    if (machine->state && machine->table)
        return machine;
    gang_machine_free(machine);
    return error_null(error_set_memory(err));
}

void gang_machine_free(struct gang_machine *machine)
{
    if (!machine)
        return;
    if (machine->table)
        gang_table_done(machine);
    cluster_state_free(machine->state);
    cluster_view_free(machine->view);
    gang_events_done(&machine->events);
    memory_free(machine);
}

/* --- what happens -------------------------------------------------------------------- */

/* What was well may not be so any more. */
static void look_again(struct gang_machine *machine)
{
    for (size_t i = 0; i < machine->gang_count; i++)
        machine->gangs[i]->smooth_until = 0;
}

/* A node that comes or goes is news for the gangs that have pods on it. */
static void tell_gangs(struct gang_machine *machine, const char *node)
{
    for (size_t i = 0; gang_machine_synced(machine) && i < machine->gang_count; i++) {
        struct gang *gang = machine->gangs[i];
        for (uint32_t slot = 0; !gang->dirty && slot < gang->slot_count; slot++)
            gang->dirty =
                gang->slots[slot].state == SLOT_BOUND && strcmp(gang->slots[slot].node, node) == 0;
    }
}

int gang_machine_set_node(struct gang_machine *machine, struct node_record *node)
{
    bool changed = false;
    if (!cluster_state_node(machine->state, node->name))
        tell_gangs(machine, node->name);
    int status = cluster_state_set_node(machine->state, node, &changed);
    if (changed)
        look_again(machine);
    return status;
}

void gang_machine_remove_node(struct gang_machine *machine, const char *name)
{
    tell_gangs(machine, name);
    look_again(machine);
    cluster_state_remove_node(machine->state, name);
}

/* A pod of which something is heard, and one of its name that it may replace: their uids, and the
 * gangs that they are taken out of for as long as the records change. */
struct change {
    char *uid, *named_uid;
    struct gang *gang, *named_gang;
    size_t at, named_at; /* their places there */
};

static void change_done(struct change *change)
{
    memory_free(change->uid);
    memory_free(change->named_uid);
}
DEFINE_CLEANUP_DONE(change);

static int take_out(struct gang_machine *machine, const struct pod_record *pod, struct change *ret)
{
    const struct pod_record *same = cluster_state_pod(machine->state, pod->uid);
    const struct pod_record *named =
        cluster_state_pod_named(machine->state, pod->namespace, pod->name);
    if (named == same)
        named = NULL;
    ret->uid = memory_copy_text(pod->uid);
    ret->named_uid = named ? memory_copy_text(named->uid) : NULL;
    if (!ret->uid || (named && !ret->named_uid))
        return -1;
    ret->gang = gang_table_detach(machine, same, &ret->at);
    ret->named_gang = gang_table_detach(machine, named, &ret->named_at);
    return 0;
}

/* Whatever is known now of that uid belongs to the gang (again). */
static void put_in(struct gang_machine *machine, const char *uid, struct gang *gang, size_t at)
{
    const struct pod_record *pod = uid && gang ? cluster_state_pod(machine->state, uid) : NULL;
    if (pod)
        gang_table_attach(gang, pod, at);
}

/* What comes again as it was changes nothing. */
static bool is_known(const struct gang_machine *machine, const struct pod_record *pod)
{
    const struct pod_record *known = cluster_state_pod(machine->state, pod->uid);
    return known && *gang_version_of(pod) &&
           strcmp(gang_version_of(known), gang_version_of(pod)) == 0;
}

/* Of a gang all of whose pods are over nothing is left to do, and nothing need be kept. While a
 * list is read its other pods may yet come. */
static void forget_ended(struct gang_machine *machine, struct gang *gang)
{
    if (machine->listing[LIST_PODS])
        return;
    for (size_t i = 0; i < gang->member_count; i++)
        if (!pod_record_is_over(gang->members[i]))
            return;
    while (gang->member_count > 0) {
        const struct pod_record *pod = gang->members[gang->member_count - 1];
        (void)gang_table_detach(machine, pod, NULL);
        cluster_state_remove_pod(machine->state, pod->uid);
    }
}

/* One that is over holds nothing; of a gang's it counts whether it succeeded. */
static bool is_nothing(const struct pod_record *pod)
{
    return !pod->gang.key && pod_record_is_over(pod);
}

/* The gangs that a change has touched, each once. */
static void tidy(struct gang_machine *machine, struct gang *const touched[3])
{
    for (size_t i = 0; i < 3; i++) {
        bool again = (i > 0 && touched[i] == touched[0]) || (i > 1 && touched[i] == touched[1]);
        if (!touched[i] || again)
            continue;
        forget_ended(machine, touched[i]);
        gang_table_prune(machine, touched[i]);
    }
}

/* Takes the pod. gang: its own, or NULL. */
static int replace_pod(struct gang_machine *machine, struct pod_record *pod, struct gang *gang,
                       struct change *change)
{
    const struct pod_record *known = cluster_state_pod(machine->state, pod->uid);
    bool expected = gang && known && gang_version_is_expected(gang, known, pod);
    if (take_out(machine, pod, change) < 0) {
        pod_record_free(pod);
        return -1;
    }
    int status = cluster_state_set_pod(machine->state, pod, NULL);
    bool stays = status < 0 || gang == change->gang;
    put_in(machine, change->uid, status == 0 ? gang : change->gang, stays ? change->at : SIZE_MAX);
    const struct pod_record *taken =
        status == 0 && expected ? cluster_state_pod(machine->state, change->uid) : NULL;
    if (taken)
        gang_take_version(machine, gang, taken);
    put_in(machine, change->named_uid, change->named_gang, change->named_at);
    return status;
}

int gang_machine_set_pod(struct gang_machine *machine, struct pod_record *pod)
{
    CLEANUP_DONE(change) struct change change = {.uid = NULL};
    if (is_nothing(pod))
        gang_machine_remove_pod(machine, pod->uid);
    if (is_nothing(pod) || (is_known(machine, pod) && !machine->listing[LIST_PODS])) {
        pod_record_free(pod);
        return 0;
    }
    struct gang *gang = NULL;
    if (pod->gang.key && !(gang = gang_table_prepare(machine, pod))) {
        pod_record_free(pod);
        return -1;
    }
    int status = replace_pod(machine, pod, gang, &change);
    struct gang *const touched[3] = {gang, change.gang, change.named_gang};
    tidy(machine, touched);
    return status;
}

void gang_machine_remove_pod(struct gang_machine *machine, const char *uid)
{
    struct gang *gang = gang_table_detach(machine, cluster_state_pod(machine->state, uid), NULL);
    cluster_state_remove_pod(machine->state, uid);
    if (!gang)
        return;
    forget_ended(machine, gang);
    gang_table_prune(machine, gang);
}

void gang_machine_begin_list(struct gang_machine *machine, enum gang_list list)
{
    machine->listing[list] = true;
    if (list == LIST_PODS) {
        machine->fresh_list = machine->leads;
        cluster_state_begin_pods(machine->state);
    } else {
        cluster_state_begin_nodes(machine->state);
    }
}

static void sweep(struct gang_machine *machine, enum gang_list list)
{
    size_t cursor = 0;
    if (list == LIST_NODES) {
        for (const struct node_record *node;
             (node = cluster_state_unheard_node(machine->state, &cursor));)
            gang_machine_remove_node(machine, node->name);
        return;
    }
    for (const struct pod_record *pod; (pod = cluster_state_unheard_pod(machine->state, &cursor));)
        gang_machine_remove_pod(machine, pod->uid);
}

int gang_machine_end_list(struct gang_machine *machine, enum gang_list list)
{
    if (!machine->listing[list])
        return 0;
    sweep(machine, list);
    machine->listing[list] = false;
    for (size_t i = machine->gang_count; list == LIST_PODS && i > 0; i--) {
        struct gang *gang = machine->gangs[i - 1];
        forget_ended(machine, gang);
        gang_table_prune(machine, gang);
    }
    for (size_t i = 0; !gang_machine_synced(machine) && i < machine->gang_count; i++)
        machine->gangs[i]->dirty = true; /* before, no node was known to be gone */
    machine->listed[list] = true;
    if (list == LIST_PODS && machine->fresh_list && machine->leads)
        machine->settled = true;
    return 0;
}

bool gang_machine_synced(const struct gang_machine *machine)
{
    return machine->listed[LIST_NODES] && machine->listed[LIST_PODS];
}

/* Who does not lead knows nothing but what the objects say, and its own releases that are under
 * way: they may still come to stand when it leads again. */
static void forget_tasks(struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->task && slot->sent_node)
            slot->condemned = slot->has_plan = false;
        else
            gang_slot_forget(slot);
        slot->fate = FATE_FINE;
    }
    gang_plan_free(gang->made);
    gang->made = NULL;
    gang->plan = NULL;
    gang->plan_number = gang->ask_task = gang->service_task = 0;
    gang->deadline = gang->waiting_since = gang->short_since = 0;
    gang->short_told_at = gang->told_at = 0;
    gang->has_service = false;
    gang->service_at = gang->service_pause = 0;
    gang->wants_plan = gang->tried = gang->possible = gang->withdrawing = gang->late = false;
    gang->barred_by = 0;
    gang->told = (struct gang_told){.count = 0};
    gang->attempt = ATTEMPT_PLAIN;
    gang->rejected_id[0] = gang->base_id[0] = '\0';
    gang->dirty = true;
}

void gang_machine_lead(struct gang_machine *machine, bool leads)
{
    if (machine->leads == leads)
        return;
    machine->leads = leads;
    machine->settled = machine->fresh_list = false;
    machine->lead_since = machine->now;
    machine->planning = 0;
    gang_events_done(&machine->events);
    machine->events = (struct gang_events){.count = 0};
    for (size_t i = 0; i < machine->gang_count; i++)
        forget_tasks(machine->gangs[i]);
}

int gang_machine_tick(struct gang_machine *machine, uint64_t now_milliseconds)
{
    if (now_milliseconds > machine->now)
        machine->now = now_milliseconds;
    if (machine->heard_frees != cluster_state_frees(machine->state)) {
        machine->heard_frees = cluster_state_frees(machine->state);
        machine->freed_at = machine->now;
    }
    return 0;
}

int gang_machine_size(struct gang_machine *machine, const char *key, uint32_t size,
                      const char *problem)
{
    struct gang *gang = gang_table_find(machine, key);
    if (!gang)
        return 0;
    if (problem && *problem) {
        snprintf(gang->reason, sizeof(gang->reason), "gang %s: %.900s", key, problem);
        const struct pod_record *pod = gang->size ? NULL : gang_first_member(gang);
        if (pod)
            gang_events_add(&machine->events, &gang->told, pod, true, "GangRefused", gang->reason);
    } else {
        gang->asked_size = size;
    }
    gang->dirty = true;
    return 0;
}

int gang_machine_planned(struct gang_machine *machine, const struct gang_problem *problem,
                         struct gang_plan *plan)
{
    gang_plan_answer(machine, problem, plan);
    struct gang *gang = gang_table_find(machine, problem->key);
    return gang ? gang_refresh(machine, gang) : 0;
}

/* --- what is to be done -------------------------------------------------------------- */

static bool hears_all(const struct gang_machine *machine)
{
    return gang_machine_synced(machine) && !machine->listing[LIST_PODS] &&
           !machine->listing[LIST_NODES];
}

/* Milliseconds until the last leader's writes are taken as heard without a new list. */
static uint64_t unsettled_rest(const struct gang_machine *machine)
{
    uint64_t settle = machine->settings.settle_milliseconds;
    uint64_t passed = machine->now - machine->lead_since;
    if (machine->settled || (passed >= settle && settle != UINT64_MAX))
        return 0;
    return settle == UINT64_MAX ? settle : settle - passed;
}

static bool may_act(struct gang_machine *machine)
{
    if (!machine->leads || !hears_all(machine))
        return false;
    machine->settled = unsettled_rest(machine) == 0;
    return machine->settled;
}

/* Whether it makes no difference to it that something became free: it is refused, or not whole. */
static bool asks_no_room(const struct gang *gang)
{
    return gang->problem[0] || (!gang->plan && !gang_has_begun(gang) && !gang->waiting_since);
}

static bool is_quiet(const struct gang_machine *machine, const struct gang *gang)
{
    if (machine->now < gang->paused_until)
        return true;
    if (gang->dirty || machine->now >= gang->due)
        return false;
    return gang->phase == GANG_RUNNING || machine->now < gang->smooth_until || asks_no_room(gang) ||
           gang->looked_frees == cluster_state_frees(machine->state);
}

/* From where the last one ended, so that no gang's tasks wait for all of another's. */
static bool next_step(struct gang_machine *machine, struct gang_task *ret)
{
    for (size_t i = 0; i < machine->gang_count; i++) {
        size_t at = (machine->cursor + i) % machine->gang_count;
        struct gang *gang = machine->gangs[at];
        int status = is_quiet(machine, gang) ? 0 : gang_step(machine, gang, ret);
        if (status < 0)
            gang_table_pause(machine, gang);
        if (status <= 0)
            continue;
        gang->due = 0; /* there may be more */
        machine->cursor = at;
        return true;
    }
    return false;
}

/* Who only answers keeps up too, so that no question finds much to do, and reports are true. */
static void refresh_all(struct gang_machine *machine)
{
    for (size_t i = 0; i < machine->gang_count; i++) {
        struct gang *gang = machine->gangs[i];
        if (machine->now >= gang->paused_until && gang_refresh(machine, gang) < 0)
            gang_table_pause(machine, gang);
    }
}

static bool next_event(struct gang_machine *machine, struct gang_task *ret)
{
    int status = gang_task_event(machine, ret);
    machine->starved |= status < 0;
    return status > 0;
}

/* That memory ran out is said when there is nothing else to do. */
static int end_turn(struct gang_machine *machine, bool found)
{
    bool starved = machine->starved && !found;
    machine->starved &= found;
    return starved ? -1 : 0;
}

int gang_machine_next(struct gang_machine *machine, struct gang_task *ret)
{
    *ret = (struct gang_task){.kind = TASK_NONE};
    if (!may_act(machine)) {
        refresh_all(machine);
        return end_turn(machine, false);
    }
    bool speaks = machine->events.count <= EVENTS_FEW || machine->tasks >= TASKS_AN_EVENT;
    bool found = (speaks && next_event(machine, ret)) || next_step(machine, ret) ||
                 gang_plan_next(machine, ret) || next_event(machine, ret);
    machine->tasks = ret->kind == TASK_EVENT ? 0 : machine->tasks + found;
    return end_turn(machine, found);
}

int gang_machine_finished(struct gang_machine *machine, struct gang_task *task,
                          enum gang_task_result result)
{
    gang_task_settle(machine, task, result);
    gang_task_done(task);
    return 0;
}

uint64_t gang_machine_wait(const struct gang_machine *machine)
{
    uint64_t wait = WAIT_MAXIMUM_MILLISECONDS, unsettled = unsettled_rest(machine);
    if (!machine->leads || !hears_all(machine))
        return wait;
    if (unsettled)
        return unsettled < wait ? unsettled : wait;
    for (size_t i = 0; i < machine->gang_count; i++) {
        const struct gang *gang = machine->gangs[i];
        uint64_t due = gang->dirty ? 0 : gang->due;
        due = gang->paused_until > due ? gang->paused_until : due;
        uint64_t rest = due > machine->now ? due - machine->now : 0;
        wait = rest < wait ? rest : wait;
    }
    return wait;
}

const struct cluster_state *gang_machine_state(const struct gang_machine *machine)
{
    return machine->state;
}

struct gang_problem *gang_machine_problem(struct gang_machine *machine,
                                          const struct pod_record *pod, uint32_t pods,
                                          struct error_info *err)
{
    return gang_problem_like(machine, pod, pods, err);
}
