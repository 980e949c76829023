/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/steps/gang_planning.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outputs.h"
#include "k8s_extender/gang/gang_recovery.h"
#include "k8s_extender/gang/gang_table.h"
#include "k8s_extender/gang/steps/gang_candidates.h"
#include "k8s_extender/gang/steps/gang_tasks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool gang_plan_is_due(const struct gang_machine *machine, struct gang *gang)
{
    if (gang->tried_digest != gang->pods_digest) {
        gang->tried = false;
        gang->attempt = ATTEMPT_PLAIN;
        gang->tried_digest = gang->pods_digest;
    }
    if (!gang->tried || machine->now >= gang->retry_at)
        return true;
    uint64_t due = gang->retry_at, soon = gang->tried_at + PLAN_RETRY_MILLISECONDS;
    uint64_t drained = machine->freed_at + DRAIN_MILLISECONDS;
    soon = drained > soon ? drained : soon;
    if (gang->outcome == GANG_NO_FIT && cluster_state_frees(machine->state) != gang->tried_frees &&
        soon < due)
        due = soon;
    if (machine->now >= due)
        return true;
    gang->due = due < gang->due ? due : gang->due;
    return false;
}

/* What stands in gang->reason. */
static void tell(struct gang_machine *machine, struct gang *gang, bool warning, const char *reason)
{
    gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), warning, reason,
                    gang->reason);
}

/* --- whose turn it is ---------------------------------------------------------------- */

static bool comes_before(const struct gang *gang, const struct gang *other)
{
    if (gang_has_begun(gang) != gang_has_begun(other))
        return gang_has_begun(gang);
    if (gang->priority != other->priority)
        return gang->priority > other->priority;
    return gang->arrival < other->arrival;
}

static bool has_waited_long(const struct gang_machine *machine, const struct gang *gang)
{
    return gang->waiting_since && machine->now > gang->waiting_since &&
           machine->now - gang->waiting_since >= machine->settings.patience_milliseconds;
}

/* Whether those behind it have to wait: it has waited for long, and could have the empty cluster.
 */
static bool bars(const struct gang_machine *machine, const struct gang *gang)
{
    return gang->tried && gang->possible && !gang_has_begun(gang) && !gang->plan &&
           gang->outcome == GANG_NO_FIT && gang->present == gang->size &&
           has_waited_long(machine, gang);
}

static struct gang *first_of(const struct gang_machine *machine, bool barring)
{
    struct gang *first = NULL;
    for (size_t i = 0; i < machine->gang_count; i++) {
        struct gang *gang = machine->gangs[i];
        if ((barring ? bars(machine, gang) : gang->wants_plan) &&
            (!first || comes_before(gang, first)))
            first = gang;
    }
    return first;
}

static bool is_barred(const struct gang *gang, const struct gang *bar)
{
    return bar && bar != gang && !gang_has_begun(gang) && comes_before(bar, gang);
}

/* The same text for as long as it waits behind that one: it is one event. */
static void tell_barred(struct gang_machine *machine, struct gang *gang, const struct gang *bar)
{
    snprintf(gang->reason, sizeof(gang->reason),
             "gang %s waits behind gang %s, which has not fitted for more than %" PRIu64
             " s and must not be passed any more; to go first give this one a higher priority, or "
             "delete that one",
             gang->key, bar->key, machine->settings.patience_milliseconds / 1000);
    if (gang->barred_by != bar->arrival)
        tell(machine, gang, true, "GangWaiting");
    gang->barred_by = bar->arrival;
}

/* next: the one that is planned now; NULL: all wait behind bar. */
static void tell_order(struct gang_machine *machine, const struct gang *next,
                       const struct gang *bar)
{
    for (size_t i = 0; i < machine->gang_count; i++) {
        struct gang *gang = machine->gangs[i];
        bool waits = gang->wants_plan && gang != next;
        if (waits && is_barred(gang, bar))
            tell_barred(machine, gang, bar);
        else if (waits && next && !gang->tried)
            snprintf(gang->reason, sizeof(gang->reason),
                     "gang %s waits for its turn to be planned, behind gang %s", gang->key,
                     next->key);
    }
}

/* 1: *ret; 0: it cannot be asked now; -1: out of memory. */
static int ask(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_problem *problem = NULL;
    if (gang_problem_create(machine, gang, has_waited_long(machine, gang), &problem, &err) < 0)
        return -1;
    gang->wants_plan = false;
    gang->tried_at = machine->now;
    gang->asked_frees = cluster_state_frees(machine->state);
    if (problem)
        return gang_task_plan(machine, gang, problem, ret);
    gang->tried = true;
    gang->possible = false;
    gang->outcome = GANG_NO_FIT;
    gang->tried_frees = gang->asked_frees;
    gang->retry_at = gang->due = machine->now + TASK_RETRY_MILLISECONDS;
    tell(machine, gang, true, "GangWaiting");
    return 0;
}

bool gang_plan_next(struct gang_machine *machine, struct gang_task *ret)
{
    struct gang *gang;
    while (!machine->planning && (gang = first_of(machine, false))) {
        const struct gang *bar = first_of(machine, true);
        bool barred = is_barred(gang, bar);
        tell_order(machine, barred ? NULL : gang, bar);
        int status = barred ? 0 : ask(machine, gang, ret);
        if (status >= 0)
            return status > 0;
        gang_table_pause(machine, gang);
    }
    return false;
}

/* --- the answer ---------------------------------------------------------------------- */

/* Whether the plan leaves where it is what cannot move, and the rest has room. It was made from a
 * copy, and much may have happened since. */
static bool holds(struct gang_machine *machine, struct gang *gang, const struct gang_plan *plan)
{
    struct gang_judgement judgement;
    if (plan->pods != gang->size || plan->gpus_per_pod != gang->gpus_per_pod)
        return false;
    for (uint32_t i = 0; i < gang->size; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        bool bound = slot->state == SLOT_BOUND && !slot->doomed;
        bool stays = bound || slot->state == SLOT_PROMISED;
        if (stays && slot->fate != FATE_STRANDED && strcmp(slot->node, plan->nodes[i]) != 0)
            return false;
    }
    const struct gang_plan *old = gang->plan;
    gang->plan = plan;
    bool good = gang_judge(machine, gang, &judgement) == 0 && judgement.lost == 0;
    gang->plan = old;
    return good;
}

static void set_reason(struct gang *gang, const struct gang_plan *plan)
{
    if (strncmp(plan->reason, "gang ", strlen("gang ")) == 0) /* it names the gang itself */
        snprintf(gang->reason, sizeof(gang->reason), "%s", plan->reason);
    else
        snprintf(gang->reason, sizeof(gang->reason), "gang %s: %.900s", gang->key, plan->reason);
}

/* It may be in the way. */
static void name_stray(struct gang *gang)
{
    size_t used = strlen(gang->reason);
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        if (!slot->stray || !slot->pod)
            continue;
        snprintf(gang->reason + used, sizeof(gang->reason) - used,
                 "; pod %s was bound to node %s by hand: delete it to have it placed too",
                 slot->pod->name, slot->node);
        return;
    }
}

/* on-no-spare: move. The pods of a lost one's TP group that are placed go; their successors are
 * planned together with it. */
static bool condemn_group(struct gang *gang)
{
    bool any = false;
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        bool placed = slot->state == SLOT_BOUND || slot->state == SLOT_PROMISED;
        if (!placed || slot->condemned || !gang_group_has(gang, i, 1u << FATE_LOST))
            continue;
        slot->condemned = any = true;
        slot->unless_bound = false;
    }
    return any;
}

static void take(struct gang_machine *machine, struct gang *gang, struct gang_plan *plan)
{
    bool again = gang_has_begun(gang);
    gang->tried = false;
    gang->waiting_since = gang->told_at = 0;
    set_reason(gang, plan);
    gang_take_plan(gang, plan);
    tell(machine, gang, false, again ? "GangReplanned" : "GangPlanned");
}

static void postpone(struct gang_machine *machine, struct gang *gang, const struct gang_plan *plan)
{
    gang->tried = true;
    gang->outcome = plan->outcome;
    gang->possible = plan->fits_empty;
    gang->tried_frees = gang->asked_frees;
    gang->retry_at = machine->now + machine->settings.retry_milliseconds;
    set_reason(gang, plan);
    name_stray(gang);
    /* How much is free may change every moment: not every figure is an event. */
    bool again = plan->outcome == GANG_NO_FIT && gang->told_at &&
                 machine->now < gang->told_at + machine->settings.retry_milliseconds;
    if (!again) {
        tell(machine, gang, true, plan->outcome == GANG_NO_FIT ? "GangWaiting" : "GangRefused");
        gang->told_at = machine->now + 1;
    }
    /* No gang starts in part. */
    if (!gang_has_started(gang) && gang->promised > 0)
        gang->withdrawing = true;
}

/* What is tried next where the TP group's domain has no spare. */
static enum plan_attempt next_attempt(const struct gang *gang, const struct gang_plan *plan)
{
    if (gang->attempt != ATTEMPT_PLAIN || !plan->no_spare || plan->outcome != GANG_NO_FIT)
        return ATTEMPT_PLAIN;
    const char *policy = gang_input(gang, ANNOTATION_ON_NO_SPARE);
    if (strcmp(policy, "relax") == 0)
        return ATTEMPT_RELAX;
    return strcmp(policy, "move") == 0 ? ATTEMPT_MOVE : ATTEMPT_PLAIN;
}

/* Returns whether the plan was taken. */
static bool judge_answer(struct gang_machine *machine, struct gang *gang, struct gang_plan *plan)
{
    enum plan_attempt next = next_attempt(gang, plan), attempt = gang->attempt;
    gang->attempt = next;
    if (plan->outcome != GANG_PLANNED) {
        if (next == ATTEMPT_PLAIN)
            postpone(machine, gang, plan);
        else
            gang->tried = false;
        return false;
    }
    if (attempt == ATTEMPT_MOVE && condemn_group(gang)) {
        gang->tried = true;
        gang->retry_at = machine->now + machine->settings.retry_milliseconds;
        return false;
    }
    if (holds(machine, gang, plan)) {
        take(machine, gang, plan);
        return true;
    }
    gang->tried = true; /* the cluster has changed meanwhile */
    gang->outcome = GANG_NO_FIT;
    gang->retry_at = machine->now + PLAN_RETRY_MILLISECONDS;
    return false;
}

void gang_plan_answer(struct gang_machine *machine, const struct gang_problem *problem,
                      struct gang_plan *plan)
{
    struct gang *gang = gang_table_find(machine, problem->key);
    bool awaited = machine->planning && machine->planning == problem->number;
    if (awaited)
        machine->planning = 0;
    if (!gang || !awaited || gang->plan_number != problem->number || !plan) {
        gang_plan_free(plan);
        return; /* without a plan gang_task_settle sees to it */
    }
    gang->plan_number = 0;
    bool usable = gang_refresh(machine, gang) == 0 && !gang->problem[0] &&
                  gang->tried_digest == gang->pods_digest;
    gang->dirty = true;
    /* A gang that is placed may lack pods; one that is not starts whole. */
    usable &= gang->present == gang->size || gang_has_begun(gang);
    if (!usable || !judge_answer(machine, gang, plan))
        gang_plan_free(plan);
}
