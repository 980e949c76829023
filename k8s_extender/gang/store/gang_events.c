/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/store/gang_events.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "k8s_extender/gang/gang_machine.h"
#include <string.h>

static void event_done(struct gang_event *event)
{
    memory_free(event->namespace);
    memory_free(event->pod);
    memory_free(event->uid);
    memory_free(event->message);
    memory_free(event->owner_kind);
    memory_free(event->owner_name);
    memory_free(event->owner_uid);
}

void gang_events_done(struct gang_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        event_done(&events->waiting[events->first + i]);
    memory_free(events->waiting);
}

static uint64_t digest_of(const char *uid, const char *message)
{
    uint64_t hash = name_hash_add(NAME_HASH_START, uid, strlen(uid) + 1);
    return name_hash_add(hash, message, strlen(message));
}

/* Whether it is new; then it counts as told. */
static bool tell(struct gang_told *told, uint64_t digest)
{
    for (uint32_t i = 0; i < told->count; i++)
        if (told->digests[i] == digest)
            return false;
    told->digests[told->next] = digest;
    told->next = (told->next + 1) % GANG_TOLD_MAXIMUM;
    told->count += told->count < GANG_TOLD_MAXIMUM;
    return true;
}

/* Room at the end of the queue: the part that is used up goes first. */
static bool make_room(struct gang_events *events)
{
    if (events->first + events->count < events->capacity)
        return true;
    if (events->first > 0) {
        memmove(events->waiting, events->waiting + events->first,
                events->count * sizeof(*events->waiting));
        events->first = 0;
        return true;
    }
    size_t capacity = events->capacity ? events->capacity * 2 : 8;
    struct gang_event *grown =
        memory_grow_array(events->waiting, events->capacity, capacity, sizeof(*grown));
    if (!grown)
        return false;
    events->waiting = grown;
    events->capacity = capacity;
    return true;
}

/* A JobSet's pods belong to Jobs of its own making. */
static bool copy_owner(const struct pod_record *pod, struct gang_event *event)
{
    const struct gang_identity *gang = &pod->gang;
    bool jobset = gang->group && gang->size_owner && gang->found_by &&
                  strcmp(gang->found_by, GANG_JOBSET_UID) == 0;
    const char *kind = jobset ? "JobSet" : pod->owner_kind;
    const char *name = jobset ? gang->size_owner : pod->owner_name;
    const char *uid = jobset ? gang->group : pod->owner_uid;
    if (!kind || !name || !uid)
        return true;
    event->owner_kind = memory_copy_text(kind);
    event->owner_name = memory_copy_text(name);
    event->owner_uid = memory_copy_text(uid);
    return event->owner_kind && event->owner_name && event->owner_uid;
}

void gang_events_add(struct gang_events *events, struct gang_told *told,
                     const struct pod_record *pod, bool warning, const char *reason,
                     const char *message)
{
    if (!pod || events->count >= GANG_EVENTS_MAXIMUM || !make_room(events) ||
        !tell(told, digest_of(pod->uid, message)))
        return;
    struct gang_event event = {
        .namespace = memory_copy_text(pod->namespace),
        .pod = memory_copy_text(pod->name),
        .uid = memory_copy_text(pod->uid),
        .message = memory_copy_text(message),
        .reason = reason,
        .warning = warning,
    };
    if (copy_owner(pod, &event) && event.namespace && event.pod && event.uid && event.message)
        events->waiting[events->first + events->count++] = event;
    else
        event_done(&event);
}

static bool take_owner(const struct gang_event *event, struct gang_task *ret)
{
    if (!event->owner_kind)
        return true;
    ret->owner_kind = arena_copy_text(ret->arena, event->owner_kind);
    ret->owner_name = arena_copy_text(ret->arena, event->owner_name);
    ret->owner_uid = arena_copy_text(ret->arena, event->owner_uid);
    return ret->owner_kind && ret->owner_name && ret->owner_uid;
}

int gang_events_take(struct gang_events *events, struct gang_task *ret)
{
    if (events->count == 0)
        return 0;
    struct gang_event *event = &events->waiting[events->first];
    struct arena *arena = ret->arena;
    ret->namespace = arena_copy_text(arena, event->namespace);
    ret->pod = arena_copy_text(arena, event->pod);
    ret->uid = arena_copy_text(arena, event->uid);
    ret->message = arena_copy_text(arena, event->message);
    ret->reason = event->reason;
    ret->warning = event->warning;
    ret->kind = TASK_EVENT;
    if (!take_owner(event, ret) || !ret->namespace || !ret->pod || !ret->uid || !ret->message)
        return -1;
    event_done(event);
    events->first++;
    events->count--;
    return 1;
}
