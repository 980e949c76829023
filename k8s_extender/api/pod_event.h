/* SPDX-License-Identifier: MIT */
/*
 * pod_event: what people read in `kubectl describe`, of a pod or of the job that owns it. Core v1
 * Events, not events.k8s.io/v1: both are stored as the same object, but an Event of core v1 can be
 * counted up by a plain patch of count and lastTimestamp, where events.k8s.io takes only a series
 * that its validation binds to five more fields. Needs "create" and "patch" of events.
 *
 * The same event (pod's uid, kind, reason, message) has the same name: repeated it is one object
 * with a count, and it is written at most every POD_EVENT_PAUSE_SECONDS; what comes between is
 * counted and not written. After a restart the count begins again at 2. The owner of many pods is
 * told of at most POD_EVENT_OWNER_EVENTS different things in that time.
 */
#ifndef K8S_EXTENDER_API_POD_EVENT_H
#define K8S_EXTENDER_API_POD_EVENT_H

#include "k8s_extender/api/api_client.h"

#define POD_EVENT_SLOTS 1024u /* events that are remembered */
#define POD_EVENT_PAUSE_SECONDS 60u
#define POD_EVENT_OWNERS 256u /* whose events are limited at once */
#define POD_EVENT_OWNER_EVENTS 10u
#define POD_EVENT_MESSAGE_BYTES 1024u /* the API takes 1024 characters */
#define POD_EVENT_COMPONENT "parplan-extender"

struct pod_event {
    const char *namespace, *name, *uid; /* of the object that it is about */
    const char *kind;                   /* NULL: a Pod; else an owner: "Job" */
    bool warning;
    const char *reason, *message; /* "GangPlanned", one sentence; cut where it is too long */
};

/* What was sent. Zeroed: nothing yet. Not thread safe. */
struct event_memory {
    struct event_slot {
        uint64_t key; /* 0: empty */
        uint64_t sent_milliseconds;
        uint32_t count;
        bool written; /* the object exists */
    } slots[POD_EVENT_SLOTS];
    struct event_share { /* of an owner */
        uint64_t key, since_milliseconds;
        uint32_t count; /* of events made since then */
    } shares[POD_EVENT_OWNERS];
};

enum event_move { EVENT_CREATE, EVENT_COUNT, EVENT_HOLD };

/* Notes the event and says what to do about it; *ret_count: how often it happened. Pure. */
enum event_move event_memory_note(struct event_memory *memory, const struct pod_event *event,
                                  uint64_t now_milliseconds, uint32_t *ret_count);
/* POST (count 1) or PATCH of count. */
int pod_event_request(const struct pod_event *event, uint32_t count,
                      uint64_t time_of_day_microseconds, struct arena *arena,
                      struct api_request *ret, struct error_info *err);
/* Sends what event_memory_note said. An event that is there already is counted; one that has gone
 * (the API keeps them for an hour) is made again. -1: it was not written. Touches no memory of
 * events, so that nobody need hold a lock meanwhile: event_memory_written is told after it. */
int pod_event_write(struct api_client *client, const struct pod_event *event, enum event_move move,
                    uint32_t count, uint64_t time_of_day_microseconds, struct error_info *err);
void event_memory_written(struct event_memory *memory, const struct pod_event *event, bool written);
/* All three, for one thread. -1: it could not be written; nobody need try again, the next one does.
 */
int pod_event_send(struct api_client *client, struct event_memory *memory,
                   const struct pod_event *event, uint64_t now_milliseconds,
                   uint64_t time_of_day_microseconds, struct error_info *err);

#endif
