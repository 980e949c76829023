/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/node_entry.h"
#include "base/memory.h"
#include "k8s_extender/gang/store/request_match.h"
#include <string.h>

#define REQUESTS_MAXIMUM_BYTES ((size_t)1 << 16)

/* --- room -------------------------------------------------------------------------- */

/* One resource: a kind, or by name (kind RESOURCE_KIND_COUNT). */
static uint64_t amount_of(const struct resource_list *list, unsigned kind, const char *name)
{
    return kind < RESOURCE_KIND_COUNT ? list->amounts[kind] : resource_list_amount(list, name);
}

static uint64_t without(uint64_t amount, uint64_t taken)
{
    return taken < amount ? amount - taken : 0;
}

/* Reservations first: a gang's often leave nothing of the GPUs, and pods are many. */
static uint64_t free_amount(const struct node_entry *entry, const struct node_load *load,
                            unsigned kind, const char *name)
{
    uint64_t left = amount_of(&entry->record->allocatable, kind, name);
    for (size_t i = 0; load->reservations && left && i < entry->reservation_count; i++) {
        const struct node_reservation *reservation = &entry->reservations[i];
        uint64_t taken;
        if (load->owner && strcmp(reservation->owner, load->owner) == 0)
            continue;
        if (__builtin_mul_overflow(amount_of(&reservation->requests, kind, name),
                                   (uint64_t)reservation->count, &taken))
            return 0;
        left = without(left, taken);
    }
    for (size_t i = 0; load->pods && left && i < entry->pod_count; i++)
        left = without(left, amount_of(&entry->pods[i]->requests, kind, name));
    return left;
}

/* GPUs, which are among the others, are what is short. */
static uint64_t room_by_amounts(const struct node_entry *entry, const struct node_load *load,
                                const struct resource_list *requests, uint64_t maximum)
{
    uint64_t room = maximum;
    for (unsigned i = 0; room && i < requests->other_count; i++) {
        const struct resource_amount *wanted = &requests->others[i];
        uint64_t fits =
            wanted->amount
                ? free_amount(entry, load, RESOURCE_KIND_COUNT, wanted->name) / wanted->amount
                : room;
        room = fits < room ? fits : room;
    }
    for (unsigned kind = 0; room && kind < RESOURCE_KIND_COUNT; kind++) {
        uint64_t fits = requests->amounts[kind]
                            ? free_amount(entry, load, kind, NULL) / requests->amounts[kind]
                            : room;
        room = fits < room ? fits : room;
    }
    return room;
}

/* Of all kinds together: of a promised node mostly none is left, and a question names thousands. */
static void count_gpus(struct node_entry *entry)
{
    static const struct node_load all = {.pods = true, .reservations = true};
    entry->gpus_left = 0;
    if (!entry->record || entry->reservation_count == 0)
        return;
    const struct resource_list *offered = &entry->record->allocatable;
    for (unsigned i = 0; i < offered->other_count; i++) {
        const char *name = offered->others[i].name;
        uint64_t left =
            resource_is_gpu(name) ? free_amount(entry, &all, RESOURCE_KIND_COUNT, name) : 0;
        if (__builtin_add_overflow(entry->gpus_left, left, &entry->gpus_left))
            entry->gpus_left = UINT64_MAX;
    }
}

static bool lacks_gpus(const struct node_entry *entry, const struct node_load *load,
                       const struct resource_list *requests)
{
    return entry->reservation_count > 0 && load->pods && load->reservations && !load->owner &&
           entry->gpus_left < resource_list_gpus(requests, NULL);
}

uint32_t node_entry_room(const struct node_entry *entry, const struct node_load *load,
                         const struct resource_list *requests, uint32_t maximum)
{
    if (!entry || !entry->record || lacks_gpus(entry, load, requests))
        return 0;
    return (uint32_t)room_by_amounts(entry, load, requests, maximum);
}

struct resource_lack node_entry_lack(const struct node_entry *entry, const struct node_load *load,
                                     const struct resource_list *requests)
{
    if (!entry || !entry->record)
        return (struct resource_lack){.resource = NULL};
    for (unsigned kind = 0; kind < RESOURCE_KIND_COUNT; kind++) {
        uint64_t left = free_amount(entry, load, kind, NULL);
        if (left < requests->amounts[kind])
            return (struct resource_lack){resource_kind_names[kind], requests->amounts[kind], left};
    }
    for (unsigned i = 0; i < requests->other_count; i++) {
        const struct resource_amount *wanted = &requests->others[i];
        uint64_t left = free_amount(entry, load, RESOURCE_KIND_COUNT, wanted->name);
        if (left < wanted->amount)
            return (struct resource_lack){wanted->name, wanted->amount, left};
    }
    return (struct resource_lack){.resource = NULL};
}

/* --- record and pods --------------------------------------------------------------- */

struct node_entry *node_entry_create(const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct node_entry *entry = memory_allocate(sizeof(*entry) + bytes);
    if (entry)
        memcpy(entry->name, name, bytes);
    return entry;
}

static void reservation_done(struct node_reservation *reservation)
{
    memory_free(reservation->owner);
    arena_free(reservation->arena);
}

void node_entry_free(struct node_entry *entry)
{
    if (!entry)
        return;
    for (size_t i = 0; i < entry->reservation_count; i++)
        reservation_done(&entry->reservations[i]);
    memory_free(entry->reservations);
    memory_free(entry->pods);
    node_record_free(entry->record);
    memory_free(entry);
}

bool node_entry_is_idle(const struct node_entry *entry)
{
    return !entry->record && !entry->pod_count && !entry->reservation_count;
}

struct node_record *node_entry_swap(struct node_entry *entry, struct node_record *record)
{
    struct node_record *old = entry->record;
    entry->record = record;
    count_gpus(entry);
    return old;
}

int node_entry_prepare_pod(struct node_entry *entry)
{
    if (entry->pod_count < entry->pod_capacity)
        return 0;
    uint32_t capacity = entry->pod_capacity ? entry->pod_capacity * 2 : 4;
    const struct pod_record **grown =
        memory_grow_array(entry->pods, entry->pod_capacity, capacity, sizeof(*grown));
    if (!grown)
        return -1;
    entry->pods = grown;
    entry->pod_capacity = capacity;
    return 0;
}

void node_entry_add_pod(struct node_entry *entry, const struct pod_record *pod)
{
    entry->pods[entry->pod_count++] = pod;
    count_gpus(entry);
}

bool node_entry_remove_pod(struct node_entry *entry, const struct pod_record *pod)
{
    for (uint32_t i = 0; i < entry->pod_count; i++)
        if (entry->pods[i] == pod) {
            entry->pods[i] = entry->pods[--entry->pod_count];
            count_gpus(entry);
            return true;
        }
    return false;
}

/* --- reservations ------------------------------------------------------------------ */

static struct node_reservation *find_reservation(const struct node_entry *entry, const char *owner,
                                                 const struct resource_list *requests)
{
    for (size_t i = 0; i < entry->reservation_count; i++)
        if (strcmp(entry->reservations[i].owner, owner) == 0 &&
            requests_equal(&entry->reservations[i].requests, requests))
            return &entry->reservations[i];
    return NULL;
}

static int prepare_reservation(struct node_entry *entry)
{
    if (entry->reservation_count < entry->reservation_capacity)
        return 0;
    uint32_t capacity = entry->reservation_capacity ? entry->reservation_capacity * 2 : 2;
    struct node_reservation *grown = memory_grow_array(
        entry->reservations, entry->reservation_capacity, capacity, sizeof(*grown));
    if (!grown)
        return -1;
    entry->reservations = grown;
    entry->reservation_capacity = capacity;
    return 0;
}

static int add_reservation(struct node_entry *entry, const char *owner,
                           const struct resource_list *requests)
{
    struct node_reservation made = {.count = 1, .arena = arena_create(REQUESTS_MAXIMUM_BYTES)};
    made.owner = memory_copy_text(owner);
    if (!made.arena || !made.owner || prepare_reservation(entry) < 0 ||
        resource_list_copy(requests, made.arena, &made.requests) < 0) {
        reservation_done(&made);
        return -1;
    }
    entry->reservations[entry->reservation_count++] = made;
    return 0;
}

int node_entry_reserve(struct node_entry *entry, const char *owner,
                       const struct resource_list *requests)
{
    struct node_reservation *known = find_reservation(entry, owner, requests);
    if (known)
        known->count++;
    else if (add_reservation(entry, owner, requests) < 0)
        return -1;
    count_gpus(entry);
    return 0;
}

bool node_entry_release(struct node_entry *entry, const char *owner,
                        const struct resource_list *requests)
{
    struct node_reservation *known = find_reservation(entry, owner, requests);
    if (!known)
        return false;
    if (--known->count == 0) {
        reservation_done(known);
        *known = entry->reservations[--entry->reservation_count];
    }
    count_gpus(entry);
    return true;
}
