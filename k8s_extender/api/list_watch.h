/* SPDX-License-Identifier: MIT */
/*
 * list_watch: all objects of one kind, and every change of them, for ever: list in chunks (each
 * object is split off and handed over as it arrives: nothing is kept), then watch with bookmarks
 * from the list's resourceVersion; again from the start after 410 (as a status or as an ERROR
 * event), with backoff and jitter after anything else (backoff.h), at most 30 s.
 * The handlers run on the caller's thread.
 */
#ifndef K8S_EXTENDER_API_LIST_WATCH_H
#define K8S_EXTENDER_API_LIST_WATCH_H

#include "k8s_extender/api/api_client.h"

#define LIST_CHUNK_OBJECTS 250u
#define WATCH_OBJECT_MAXIMUM_BYTES ((size_t)4 << 20) /* an object is 1.5 MiB at most in etcd */

enum watch_change { WATCH_SET, WATCH_GONE }; /* listed, added or modified; deleted */

struct list_watch_handlers {
    void (*begin_list)(void *context);
    void (*end_list)(void *context);
    /* JSON of one object, not NUL-terminated, valid during the call. -1 ends list_watch_run. */
    int (*object)(void *context, enum watch_change change, const char *text, size_t bytes);
    /* Once for each failure and once when all is well again (reason NULL). */
    void (*trouble)(void *context, const char *reason);
};

struct list_watch_request {
    const char *path;  /* "/api/v1/pods" */
    const char *query; /* "fieldSelector=…", escaped; or NULL */
    struct list_watch_handlers handlers;
    void *context;
    const bool *stop; /* set by another thread: list_watch_run returns within a second */
    uint64_t seed;    /* of the jitter */
};

/* Returns 0 when told to stop, -1 when a handler ended it or memory is short. */
int list_watch_run(struct api_client *client, const struct list_watch_request *request,
                   struct error_info *err);

#endif
