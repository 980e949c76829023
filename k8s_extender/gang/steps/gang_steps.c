/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/steps/gang_steps.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_members.h"
#include "k8s_extender/gang/gang_outputs.h"
#include "k8s_extender/gang/gang_outsiders.h"
#include "k8s_extender/gang/gang_recovery.h"
#include "k8s_extender/gang/steps/gang_candidates.h"
#include "k8s_extender/gang/steps/gang_planning.h"
#include "k8s_extender/gang/steps/gang_tasks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHORT_MILLISECONDS 10000u
#define OWNERS_TOLD 8u            /* of those that use the name of another's gang */
#define STRAYS_TOLD 8u            /* of its own pods that were bound by hand */
#define SERVICE_PREFIX "parplan-" /* of subdomains that the admission policy gave */

static void wait_until(struct gang *gang, uint64_t due)
{
    if (due < gang->due)
        gang->due = due;
}

/* Whether something may be asked for that slot's pod now. */
static bool is_idle(const struct gang_machine *machine, struct gang *gang,
                    const struct gang_slot *slot)
{
    if (slot->task)
        return false;
    if (machine->now >= slot->quiet_until)
        return true;
    wait_until(gang, slot->quiet_until);
    return false;
}

/* --- what does not belong --------------------------------------------------------------- */

/* One pod of each owner is told. */
static void tell_outsiders(struct gang_machine *machine, struct gang *gang)
{
    char text[GANG_REASON_BYTES];
    uint32_t told[OWNERS_TOLD];
    unsigned count = 0;
    for (size_t i = 0; gang->outsiders && i < gang->member_count && count < OWNERS_TOLD; i++) {
        const struct pod_record *pod = gang->members[i];
        bool known = false;
        for (unsigned t = 0; t < count; t++)
            known |= told[t] == pod->gang.unit;
        if (known || !gang_outsider_reason(gang, pod, text))
            continue;
        gang_events_add(&machine->events, &gang->told, pod, true, "GangRefused", text);
        told[count++] = pod->gang.unit;
    }
}

/* What is placed stays as it is. */
static void tell_resized(struct gang_machine *machine, struct gang *gang)
{
    char text[GANG_REASON_BYTES];
    if (!gang->placed_size || !gang->said_size || gang->said_size == gang->placed_size)
        return;
    snprintf(text, sizeof(text),
             "gang %s was placed as %u pods and now says %u; it goes on as %u: delete what made it "
             "and make it anew to have %u",
             gang->key, gang->placed_size, gang->said_size, gang->placed_size, gang->said_size);
    gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), true, "GangResized", text);
}

/* --- before there is a plan ---------------------------------------------------------- */

static int ask_size(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    const struct pod_record *pod = gang_first_member(gang);
    if (!pod)
        return 0; /* all its pods are ending */
    if (pod->gang.size || !pod->gang.size_owner) {
        if (gang->size)
            return 0;
        snprintf(gang->reason, sizeof(gang->reason),
                 "gang %s: nothing says how many pods it has; set annotation " ANNOTATION_SIZE,
                 gang->key);
        gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), true, "GangRefused",
                        gang->reason);
        return 0;
    }
    if (gang->ask_task)
        return 0;
    if (machine->now >= gang->ask_at)
        return gang_task_ask_size(machine, gang, ret);
    wait_until(gang, gang->ask_at);
    return 0;
}

static uint32_t first_missing(const struct gang *gang)
{
    uint32_t index = 0;
    while (index < gang->slot_count && gang->slots[index].pod)
        index++;
    return index;
}

static const struct {
    unsigned bit;
    const char *words;
} foreign_words[] = {
    {POD_USES_VOLUME_TOPOLOGY, "a PersistentVolumeClaim"},
    {POD_USES_SPREAD, "topologySpreadConstraints that must hold"},
    {POD_USES_POD_AFFINITY, "required affinity to other pods"},
    {POD_USES_CLAIMS, "resourceClaims"},
    {POD_USES_HOST_PORTS, "host ports"},
};

/* A pinned pod would wait for ever where the scheduler sees what nobody here has judged. Claims of
 * volumes are let through: most are bound where the pod lands; docs say so. */
static bool refuse_foreign(struct gang_machine *machine, struct gang *gang)
{
    unsigned uses = gang->foreign_uses & ~(unsigned)POD_USES_VOLUME_TOPOLOGY;
    for (size_t i = 0; i < COUNT_OF(foreign_words); i++) {
        if (!(uses & foreign_words[i].bit))
            continue;
        snprintf(gang->reason, sizeof(gang->reason),
                 "gang %s: its pods use %s, which parplan does not judge; take that out, or make "
                 "them anew with label " LABEL_GANG ": \"off\" to let the scheduler place them",
                 gang->key, foreign_words[i].words);
        gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), true, "GangRefused",
                        gang->reason);
        return true;
    }
    return false;
}

/* As a StatefulSet leaves it that is not Parallel: pod 0 will never be ready while it is held. */
static bool is_ordered(const struct gang *gang)
{
    const struct pod_record *pod = gang_first_member(gang);
    return pod && pod->owner_kind && strcmp(pod->owner_kind, "StatefulSet") == 0 &&
           gang->present > 0 && first_missing(gang) == gang->present;
}

static const struct gang_slot *find_doomed(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].doomed)
            return &gang->slots[i];
    return NULL;
}

/* Whether all are there and nothing is in the way; else gang->reason is set. */
static bool is_complete(struct gang_machine *machine, struct gang *gang)
{
    if (gang->present < gang->size) {
        snprintf(gang->reason, sizeof(gang->reason),
                 "gang %s waits for its pods: %u of %u are there, the first that is missing has "
                 "index %u%s",
                 gang->key, gang->present, gang->size, first_missing(gang),
                 is_ordered(gang) ? "; if its StatefulSet makes a pod only when the one before is "
                                    "ready, make it anew with podManagementPolicy: Parallel"
                                  : "");
        return false;
    }
    const struct gang_slot *doomed = find_doomed(gang);
    if (doomed) {
        snprintf(gang->reason, sizeof(gang->reason),
                 "gang %s: pod %s is bound to node %s, which is gone; the others wait until that "
                 "pod is deleted",
                 gang->key, doomed->pod->name, doomed->node);
        return false;
    }
    if (gang->foreign_gates) {
        snprintf(gang->reason, sizeof(gang->reason),
                 "gang %s waits for scheduling gates of others to go", gang->key);
        return false;
    }
    return !refuse_foreign(machine, gang);
}

/* Nobody else tells a user why gated pods wait. Pods that are just being made are no news, and of
 * those of a job that is deleted not every single one is. */
static void tell_short(struct gang_machine *machine, struct gang *gang)
{
    if (!gang->short_since)
        gang->short_since = machine->now + 1;
    uint64_t due = gang->short_told_at ? gang->short_told_at + machine->settings.retry_milliseconds
                                       : gang->short_since + SHORT_MILLISECONDS;
    if (machine->now < due) {
        wait_until(gang, due);
        return;
    }
    if (gang->present == 0)
        return;
    gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), true, "GangIncomplete",
                    gang->reason);
    gang->short_told_at = machine->now + 1;
}

static void tell_strays(struct gang_machine *machine, struct gang *gang)
{
    char text[GANG_REASON_BYTES];
    unsigned told = 0;
    for (uint32_t i = 0; gang->strays && i < gang->slot_count && told < STRAYS_TOLD; i++) {
        const struct gang_slot *slot = &gang->slots[i];
        if (!slot->stray || !slot->pod)
            continue;
        told++;
        snprintf(text, sizeof(text),
                 "gang %s: pod %s was bound to node %s before the gang had a plan; the others wait "
                 "until all %u are there, and are then placed around it; delete it to have it "
                 "placed with them",
                 gang->key, slot->pod->name, slot->node, gang->size);
        gang_events_add(&machine->events, &gang->told, slot->pod, true, "GangBoundByHand", text);
    }
}

static int collect(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    struct gang_slot *first = &gang->slots[0];
    const char *text = first->pod ? pod_record_annotation(first->pod, ANNOTATION_PLAN) : NULL;
    /* A plan that was given up goes before there is another one. */
    if (text && *text)
        return is_idle(machine, gang, first) ? gang_task_write_plan(machine, gang, NULL, ret) : 0;
    tell_strays(machine, gang);
    if (!is_complete(machine, gang)) {
        gang->waiting_since = 0;
        gang->tried = false;
        tell_short(machine, gang);
        return gang->present < gang->size ? ask_size(machine, gang, ret) : 0;
    }
    gang->short_since = gang->short_told_at = 0;
    if (!gang->waiting_since)
        gang->waiting_since = machine->now + 1;
    gang->wants_plan = !gang->plan_number && gang_plan_is_due(machine, gang);
    return 0;
}

/* --- with a plan, or with pods that are placed already -------------------------------- */

static int delete_condemned(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->pod && slot->condemned && is_idle(machine, gang, slot))
            return gang_task_delete(machine, gang, i, ret);
    }
    return 0;
}

static void condemn_stranded(struct gang_machine *machine, struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->fate != FATE_STRANDED || slot->condemned || slot->sent_node || !slot->pinned)
            continue;
        if (machine->now < slot->bad_since + STRANDED_MILLISECONDS) {
            wait_until(gang, slot->bad_since + STRANDED_MILLISECONDS);
            continue;
        }
        char text[GANG_REASON_BYTES];
        snprintf(text, sizeof(text),
                 "gang %s: pod %s is pinned to node %s, which will not do any more; it is deleted, "
                 "so that its owner makes another",
                 gang->key, slot->pod->name, slot->node);
        gang_events_add(&machine->events, &gang->told, slot->pod, true, "GangPodStranded", text);
        slot->condemned = slot->unless_bound = true;
    }
}

/* A release that is no pin is taken back before there is another: nothing is promised twice. So is
 * one that may or may not have been applied: if it was, this fails, and the watch will tell. */
static int recall_stranded(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->state == SLOT_PROMISED && slot->fate == FATE_STRANDED &&
            (!slot->pinned || slot->sent_node) && !slot->condemned && is_idle(machine, gang, slot))
            return gang_task_withdraw(machine, gang, i, ret);
    }
    return 0;
}

/* Everything that was released is taken back, while nothing is bound. */
static int withdraw(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->state != SLOT_PROMISED || slot->condemned || !is_idle(machine, gang, slot))
            continue;
        if (!slot->pinned || slot->sent_node)
            return gang_task_withdraw(machine, gang, i, ret);
        slot->condemned = slot->unless_bound = true;
    }
    return delete_condemned(machine, gang, ret);
}

/* Until it is heard that an owner's pod was released the bare ones wait: else the name were theirs,
 * and the owner's pods were no more of the gang. */
static bool owner_goes_first(const struct gang *gang)
{
    bool any = false;
    for (uint32_t i = 0; gang->holder && !gang->placed_size && i < gang->slot_count; i++)
        any |= gang->slots[i].pod && gang->slots[i].state != SLOT_BOUND &&
               gang_speaks(gang, gang->slots[i].pod);
    return any;
}

static bool needs_release(const struct gang_machine *machine, struct gang *gang, uint32_t index)
{
    const struct gang_slot *slot = &gang->slots[index];
    if (!slot->pod || slot->condemned || slot->fate != FATE_FINE || slot->pod->foreign_gates)
        return false;
    bool wanted = slot->state == SLOT_WAITING || (slot->state == SLOT_PROMISED && slot->sent_node);
    /* Pod 0 has just been written to: its next version must have been heard. */
    if (index == 0 && gang->plan != gang->written)
        wanted = false;
    return wanted && is_idle(machine, gang, slot);
}

/* A TP group is released whole: not while one of its pods has no node. */
static int release(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    const unsigned lost = 1u << FATE_LOST | 1u << FATE_STRANDED;
    bool smooth = gang->smooth_until > 0, owned = owner_goes_first(gang);
    for (uint32_t i = gang->release_from; i < gang->slot_count; i++) {
        if (!needs_release(machine, gang, i) || (!smooth && gang_group_has(gang, i, lost)) ||
            (owned && !gang_speaks(gang, gang->slots[i].pod)))
            continue;
        gang->release_from = i + 1;
        return gang_task_release(machine, gang, i, ret);
    }
    gang->release_from = gang->slot_count;
    return 0;
}

/* Pod 0 carries the plan before any pod hears of its node. 1: *ret; 0: it stands; 2: not yet. */
static int publish(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    struct gang_slot *first = &gang->slots[0];
    if (!first->pod || gang_plan_stands(gang))
        return 0;
    if (first->condemned || !is_idle(machine, gang, first))
        return 2;
    return gang_task_write_plan(machine, gang, gang->plan, ret);
}

/* A job whose framework finds rank 0 by itself does not care: so it is no warning. */
static void tell_nameless(struct gang_machine *machine, struct gang *gang,
                          const struct pod_record *pod)
{
    char text[GANG_REASON_BYTES];
    if (gang->size < 2 || !gang->plan || gang_has_master_name(gang))
        return;
    snprintf(
        text, sizeof(text),
        "gang %s: MASTER_ADDR is %s, a pod's bare name, which other pods cannot look up; set %s "
        "in the pods' template%s",
        gang->key, pod->name,
        pod->subdomain ? "spec.hostname" : "spec.subdomain to a headless Service",
        pod->subdomain ? "" : ", or label " LABEL_GANG " where the admission policy sets it");
    gang_events_add(&machine->events, &gang->told, pod, false, "GangWithoutMasterName", text);
}

/* A name for rank 0 where no framework gave one: the admission policy's subdomain. It must not hold
 * up the pods: who starts first looks the name up again. */
static int make_service(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    const struct pod_record *pod = gang->slots[0].pod;
    if (gang->has_service || gang->service_task || !pod)
        return 0;
    tell_nameless(machine, gang, pod);
    if (!pod->gang_label || !pod->subdomain ||
        strncmp(pod->subdomain, SERVICE_PREFIX, strlen(SERVICE_PREFIX)) != 0) {
        gang->has_service = true;
        return 0;
    }
    if (machine->now >= gang->service_at)
        return gang_task_service(machine, gang, ret);
    wait_until(gang, gang->service_at);
    return 0;
}

/* --- deadlines ----------------------------------------------------------------------- */

/* What becomes of the place of an index that is not bound: a pod that is there keeps it, one that
 * is lost for as long only as its successor may take. */
static void tell_place(const struct gang_machine *machine, const struct gang *gang, uint32_t index,
                       char *text, size_t bytes)
{
    const struct gang_slot *slot = &gang->slots[index];
    const char *node = gang_meant_node(gang, index);
    text[0] = '\0';
    if (slot->pod && slot->reserved)
        snprintf(text, bytes, ", meant for node %s; its place is kept", slot->reserved);
    else if (!slot->pod && node)
        snprintf(text, bytes,
                 ", meant for node %s; %" PRIu64
                 " s after a pod is lost its place is no longer kept",
                 node, machine->settings.release_milliseconds / 1000);
    else if (node)
        snprintf(text, bytes, ", meant for node %s", node);
}

static void tell_missing(struct gang_machine *machine, struct gang *gang)
{
    char text[GANG_REASON_BYTES], place[GANG_REASON_BYTES / 2];
    uint32_t index = 0;
    while (index < gang->slot_count &&
           (gang->slots[index].state == SLOT_BOUND || gang_slot_is_done(gang, &gang->slots[index])))
        index++;
    const struct gang_slot *slot = index < gang->slot_count ? &gang->slots[index] : NULL;
    if (!slot)
        return;
    tell_place(machine, gang, index, place, sizeof(place));
    snprintf(text, sizeof(text), "gang %s: %u of %u pods are bound; index %u (%s) is not%s",
             gang->key, gang->bound, gang->size, index, slot->pod ? slot->pod->name : "no pod",
             place);
    gang_events_add(&machine->events, &gang->told, gang_spokesman(gang), true, "GangIncomplete",
                    text);
}

static void watch_deadline(struct gang_machine *machine, struct gang *gang)
{
    if (gang_is_whole(gang) || !gang_has_begun(gang)) {
        gang->deadline = 0;
        gang->late = false;
        return;
    }
    if (!gang->deadline || gang->bound != gang->deadline_bound) {
        gang->deadline = machine->now + machine->settings.release_milliseconds;
        gang->deadline_bound = gang->bound;
        gang->late = false;
    } else if (machine->now >= gang->deadline) {
        gang->late = true;
        gang->deadline = machine->now + machine->settings.release_milliseconds;
        tell_missing(machine, gang);
        bool condemned =
            gang->bound && strcmp(gang_input(gang, ANNOTATION_ON_PARTIAL), "delete") == 0;
        for (uint32_t i = 0; condemned && i < gang->slot_count; i++) {
            gang->slots[i].condemned = gang->slots[i].pod != NULL;
            gang->slots[i].unless_bound = false;
        }
    }
    wait_until(gang, gang->deadline);
}

/* --- the step ------------------------------------------------------------------------ */

static int carry_out(struct gang_machine *machine, struct gang *gang,
                     const struct gang_judgement *judgement, struct gang_task *ret)
{
    if (!gang->plan) { /* pod 0 is bound without it: the next one that is lost would need it */
        gang->wants_plan = !gang->plan_number && gang_plan_is_due(machine, gang);
        return 0;
    }
    int status = make_service(machine, gang, ret);
    if (status == 0)
        status = publish(machine, gang, ret);
    if (status != 0)
        return status == 2 ? 0 : status;
    if (!gang_has_begun(gang) && (judgement->blocked || !is_complete(machine, gang)))
        return 0;
    if (!gang_has_started(gang) && gang->present < gang->size)
        return 0;
    bool smooth = judgement->lost + judgement->blocked + judgement->stranded == 0;
    gang->smooth_until = smooth ? machine->now + FOLLOW_MILLISECONDS : 0;
    gang->release_from = 0;
    return release(machine, gang, ret);
}

/* Deletions and recalls come before anything else is asked for. */
static int take_back(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    condemn_stranded(machine, gang);
    gang->withdrawing &= !gang_has_started(gang) && gang->promised > 0;
    if (gang->withdrawing)
        return withdraw(machine, gang, ret);
    int status = delete_condemned(machine, gang, ret);
    return status == 0 ? recall_stranded(machine, gang, ret) : status;
}

static int give_up(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    gang_reject_plan(gang);
    gang->withdrawing = false;
    return gang_reserve(machine, gang) < 0 ? -1 : collect(machine, gang, ret);
}

/* Of a gang with a lost pod: until it is known whether there is another node nothing more starts,
 * and nothing at all while everything could still be taken back. While nothing is bound a gang that
 * lacks pods gets no further. */
static bool awaits_plan(const struct gang_machine *machine, struct gang *gang)
{
    bool started = gang_has_started(gang), whole = started || gang->present == gang->size;
    if (whole && !gang->plan_number)
        gang->wants_plan = gang_plan_is_due(machine, gang);
    return !started || gang->plan_number || gang->wants_plan;
}

/* A plan that was made before a pod was bound by hand elsewhere is none. */
static bool includes_strays(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (gang->slots[i].stray && !gang->slots[i].doomed && gang->plan &&
            strcmp(gang->slots[i].node, gang->plan->nodes[i]) != 0)
            return false;
    return true;
}

static int follow(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    struct gang_judgement judgement;
    watch_deadline(machine, gang);
    if (gang_judge(machine, gang, &judgement) < 0)
        return -1;
    if (!gang_has_begun(gang) &&
        (judgement.lost || !includes_strays(gang) || gang->present < gang->size || !gang->plan))
        return give_up(machine, gang, ret);
    if (gang_reserve(machine, gang) < 0)
        return -1;
    wait_until(gang, machine->now + FOLLOW_MILLISECONDS);
    int status = take_back(machine, gang, ret);
    if (status != 0 || gang->withdrawing)
        return status;
    return judgement.lost && awaits_plan(machine, gang) ? 0
                                                        : carry_out(machine, gang, &judgement, ret);
}

int gang_step(struct gang_machine *machine, struct gang *gang, struct gang_task *ret)
{
    if (gang_refresh(machine, gang) < 0)
        return -1;
    gang->due = UINT64_MAX;
    gang->wants_plan = false;
    gang->looked_frees = cluster_state_frees(machine->state);
    tell_outsiders(machine, gang);
    tell_resized(machine, gang);
    if (gang->problem[0]) {
        snprintf(gang->reason, sizeof(gang->reason), "%s", gang->problem);
        gang_events_add(&machine->events, &gang->told, gang->problem_pod, true, "GangRefused",
                        gang->problem);
        return gang->asked_size ? ask_size(machine, gang, ret) : 0; /* it may have changed */
    }
    if (!gang->size)
        return ask_size(machine, gang, ret);
    bool stands = gang_plan_stands(gang) || !gang->slots[0].pod || gang->strays == gang->size;
    if (gang_is_whole(gang) && stands) {
        gang->deadline = 0;
        gang->late = false;
        gang->phase = GANG_RUNNING;
        wait_until(gang, gang->kept_until);
        return make_service(machine, gang, ret);
    }
    /* One look at all pods is enough to release all of them. */
    if (machine->now < gang->smooth_until) {
        wait_until(gang, gang->smooth_until);
        return release(machine, gang, ret);
    }
    gang->smooth_until = 0;
    bool placed = gang->plan || gang_has_begun(gang);
    int status = placed ? follow(machine, gang, ret) : collect(machine, gang, ret);
    gang_set_phase(gang);
    return status;
}
