/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/gang_table.h"
#include "base/memory.h"
#include <string.h>

#define PAUSE_MILLISECONDS 1000u

struct gang *gang_table_find(const struct gang_machine *machine, const char *key)
{
    return record_table_find(machine->table, key, "");
}

void gang_slot_unsend(struct gang_slot *slot)
{
    if (slot->sent_node && slot->node == slot->sent_node) {
        slot->node = NULL;
        slot->state = SLOT_WAITING;
    }
    memory_free(slot->sent_node);
    memory_free(slot->asked_version);
    slot->sent_node = slot->asked_version = NULL;
    slot->uncertain = false;
}

void gang_slot_forget(struct gang_slot *slot)
{
    gang_slot_unsend(slot);
    memory_free(slot->uid);
    slot->uid = NULL;
    slot->task = slot->quiet_until = slot->bad_since = 0;
    slot->failures = 0;
    slot->condemned = slot->has_plan = false;
}

int gang_slot_reserve(struct gang_machine *machine, struct gang *gang, struct gang_slot *slot,
                      const char *node)
{
    if (node && slot->reserved && strcmp(node, slot->reserved) == 0)
        return 0;
    if (slot->reserved) {
        cluster_state_release(machine->state, slot->reserved, gang->key, &gang->requests);
        memory_free(slot->reserved);
        slot->reserved = NULL;
    }
    if (!node)
        return 0;
    slot->reserved = memory_copy_text(node);
    if (slot->reserved &&
        cluster_state_reserve(machine->state, node, gang->key, &gang->requests) == 0)
        return 0;
    memory_free(slot->reserved);
    slot->reserved = NULL;
    return -1;
}

static void slot_done(struct gang_machine *machine, struct gang *gang, struct gang_slot *slot)
{
    (void)gang_slot_reserve(machine, gang, slot, NULL);
    gang_slot_forget(slot);
}

int gang_resize(struct gang_machine *machine, struct gang *gang, uint32_t size)
{
    if (size == gang->slot_count)
        return 0;
    struct gang_slot *slots = size ? memory_allocate_array(size, sizeof(*slots)) : NULL;
    if (size && !slots)
        return -1;
    for (uint32_t i = 0; i < gang->slot_count; i++)
        if (i < size)
            slots[i] = gang->slots[i];
        else
            slot_done(machine, gang, &gang->slots[i]);
    memory_free(gang->slots);
    gang->slots = slots;
    gang->slot_count = size;
    return 0;
}

static void gang_free(struct gang_machine *machine, struct gang *gang)
{
    if (!gang)
        return;
    (void)gang_resize(machine, gang, 0);
    arena_free(gang->requests_arena);
    gang_plan_free(gang->written);
    gang_plan_free(gang->made);
    memory_free(gang->members);
    memory_free(gang->key);
    memory_free(gang);
}

static int prepare_gangs(struct gang_machine *machine)
{
    if (machine->gang_count < machine->gang_capacity)
        return 0;
    size_t capacity = machine->gang_capacity ? machine->gang_capacity * 2 : 8;
    struct gang **grown =
        memory_grow_array(machine->gangs, machine->gang_capacity, capacity, sizeof(*grown));
    if (!grown)
        return -1;
    machine->gangs = grown;
    machine->gang_capacity = capacity;
    return 0;
}

static struct gang *add_gang(struct gang_machine *machine, const char *key)
{
    struct gang *gang = memory_allocate(sizeof(*gang));
    if (!gang)
        return NULL;
    gang->key = memory_copy_text(key);
    if (!gang->key || prepare_gangs(machine) < 0 ||
        record_table_set(machine->table, gang->key, "", gang) < 0) {
        gang_free(machine, gang);
        return NULL;
    }
    gang->arrival = ++machine->arrivals;
    gang->kept_until = UINT64_MAX;
    machine->gangs[machine->gang_count++] = gang;
    return gang;
}

struct gang *gang_table_prepare(struct gang_machine *machine, const struct pod_record *pod)
{
    struct gang *gang = gang_table_find(machine, pod->gang.key);
    if (!gang)
        gang = add_gang(machine, pod->gang.key);
    if (!gang || gang->member_count < gang->member_capacity)
        return gang;
    size_t capacity = gang->member_capacity ? gang->member_capacity * 2 : 8;
    const struct pod_record **grown =
        memory_grow_array(gang->members, gang->member_capacity, capacity, sizeof(*grown));
    if (!grown) {
        gang_table_prune(machine, gang);
        return NULL;
    }
    gang->members = grown;
    gang->member_capacity = capacity;
    return gang;
}

/* A pod that changes keeps its place: who is the first of them must not depend on who changed last.
 */
void gang_table_attach(struct gang *gang, const struct pod_record *pod, size_t at)
{
    if (at > gang->member_count)
        at = gang->member_count;
    memmove(&gang->members[at + 1], &gang->members[at],
            (gang->member_count - at) * sizeof(const struct pod_record *));
    gang->members[at] = pod;
    gang->member_count++;
    gang->dirty = true;
}

/* What points to the record must not outlive it. */
static void forget_pod(struct gang *gang, const struct pod_record *pod)
{
    for (uint32_t i = 0; i < gang->slot_count; i++) {
        struct gang_slot *slot = &gang->slots[i];
        if (slot->ended == pod)
            slot->ended = NULL;
        if (slot->pod == pod)
            slot->pod = NULL, slot->node = NULL, slot->state = SLOT_EMPTY;
        if (slot->leaving == pod)
            slot->leaving = NULL;
    }
}

struct gang *gang_table_detach(struct gang_machine *machine, const struct pod_record *pod,
                               size_t *ret_at)
{
    struct gang *gang = pod && pod->gang.key ? gang_table_find(machine, pod->gang.key) : NULL;
    for (size_t i = gang ? gang->member_count : 0; i > 0; i--) {
        if (gang->members[i - 1] != pod)
            continue;
        gang->member_count--;
        memmove(&gang->members[i - 1], &gang->members[i],
                (gang->member_count - (i - 1)) * sizeof(const struct pod_record *));
        gang->dirty = true;
        forget_pod(gang, pod);
        if (ret_at)
            *ret_at = i - 1;
        return gang;
    }
    return NULL;
}

void gang_table_prune(struct gang_machine *machine, struct gang *gang)
{
    if (gang->member_count > 0)
        return;
    size_t after = machine->gang_count; /* from the end, where those go that a list is full of */
    while (after > 0 && machine->gangs[after - 1] != gang)
        after--;
    if (after > 0) {
        memmove(&machine->gangs[after - 1], &machine->gangs[after],
                (machine->gang_count - after) * sizeof(struct gang *));
        machine->gang_count--;
    }
    if (gang->plan_number && machine->planning == gang->plan_number)
        machine->planning = 0;
    record_table_remove(machine->table, gang->key, "");
    gang_free(machine, gang);
}

void gang_table_pause(struct gang_machine *machine, struct gang *gang)
{
    gang->paused_until = machine->now + PAUSE_MILLISECONDS;
    gang->due = 0;
    gang->wants_plan = false;
    machine->starved = true;
}

void gang_table_done(struct gang_machine *machine)
{
    for (size_t i = 0; i < machine->gang_count; i++)
        gang_free(machine, machine->gangs[i]);
    memory_free(machine->gangs);
    record_table_free(machine->table);
}
