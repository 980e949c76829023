/* SPDX-License-Identifier: MIT */
/*
 * list_watch: all objects of one kind, and every change of them, for ever: list in chunks (each
 * object is split off and handed over as it arrives: nothing is kept), then watch with bookmarks
 * from the list's resourceVersion. A watch that ends or breaks, or that heard nothing for
 * watch_idle_seconds, goes on from the last version that was heard, and a chunk that failed is
 * asked for again, but for the first, whose version may be another then. After 410 (as a status or
 * as an ERROR event), also between chunks, the list begins again: begin_list is then called again;
 * also where a version is an older one than was heard (resource_version.h). When etcd was restored
 * from a backup, a watch from a version that is yet to come hears nothing: list_again is for who
 * learns of that (lease_went_back). With backoff and jitter after anything that failed (backoff.h),
 * at most 30 s, at least what Retry-After says. The handlers run on the caller's thread, which
 * list_watch_run keeps until it is told to stop.
 */
#ifndef K8S_EXTENDER_API_LIST_WATCH_H
#define K8S_EXTENDER_API_LIST_WATCH_H

#include "k8s_extender/api/api_client.h"
#include "k8s_extender/objects/reading/object_text.h"

#define LIST_CHUNK_OBJECTS 250u
#define LIST_IDLE_SECONDS 30u
#define LIST_CHUNK_SECONDS 120u
#define WATCH_IDLE_SECONDS 180u /* most servers send a bookmark about every minute */
#define WATCH_MINIMUM_SECONDS 240u
#define WATCH_MAXIMUM_SECONDS 480u
#define WATCH_OBJECT_MAXIMUM_BYTES OBJECT_TEXT_MAXIMUM_BYTES

enum watch_change { WATCH_SET, WATCH_GONE }; /* listed, added or modified; deleted */

/* Valid during the call. */
struct watch_object {
    const char *text; /* JSON, not NUL-terminated, where metadata.managedFields is null; NULL: it is
                       * larger than WATCH_OBJECT_MAXIMUM_BYTES */
    size_t bytes;
    const char *namespace, *name; /* "": none, or not known */
};

struct list_watch_handlers {
    /* A list begins: also where one before it was not ended. end_list: it was whole. */
    void (*begin_list)(void *context);
    void (*end_list)(void *context);
    /* -1 ends list_watch_run. */
    int (*object)(void *context, enum watch_change change, const struct watch_object *object);
    /* Once for each failure and once when all is well again (reason NULL). */
    void (*trouble)(void *context, const char *reason);
    /* Something was received from the server, be it a bookmark; or NULL. */
    void (*heard)(void *context);
};

struct list_watch_request {
    const char *path;  /* "/api/v1/pods" */
    const char *query; /* "fieldSelector=…", escaped; or NULL */
    struct list_watch_handlers handlers;
    void *context;
    const bool *stop; /* set by another thread (__atomic_store_n): list_watch_run returns within a
                       * second; or NULL */
    bool *list_again; /* set by another thread (__atomic_store_n): the list begins again, within a
                       * second; cleared when it does. Or NULL */
    uint64_t seed;    /* of the jitter */
    unsigned watch_idle_seconds; /* 0: WATCH_IDLE_SECONDS */
};

/* Returns 0 when told to stop, -1 when a handler ended it (err is as it was) or memory is short. */
int list_watch_run(struct api_client *client, const struct list_watch_request *request,
                   struct error_info *err);

#endif
