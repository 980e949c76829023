/* SPDX-License-Identifier: MIT */
/* The two watchers: what the API server tells of nodes and pods goes into the machine. */
#include "base/name_index.h"
#include "k8s_extender/api/list_watch.h"
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/extender/extender.h"
#include <stdio.h>
#include <string.h>

#define TOLD_COUNT 256u
#define NAMESPACE_CHARACTERS 63
#define NAME_CHARACTERS 253
#define OBJECT_WORD_BYTES 352u

struct watcher {
    struct extender *extender;
    enum gang_list list;
    uint64_t told[TOLD_COUNT]; /* objects that cannot be read: hashes of what names them, a ring */
    unsigned told_next;
};

static const struct {
    const char *word, *path, *one;
    const char *harm; /* that one of them cannot be read */
} lists[LIST_COUNT] = {
    [LIST_NODES] = {"nodes", "/api/v1/nodes", "node", "no gang gets it"},
    /* Also those that are over: one that ends would leave a selection by phase as a DELETED event
     * with the pod as it was before, and nobody could tell success from loss. */
    [LIST_PODS] = {"pods", "/api/v1/pods", "pod", "GPUs that it holds are not counted"},
};

static void heard_something(struct watcher *watcher)
{
    struct hearing *heard = &watcher->extender->heard[watcher->list];
    if (!heard->troubled)
        heard->since_milliseconds = time_now_milliseconds();
}

static void note_heard(void *context)
{
    struct watcher *watcher = context;
    pthread_mutex_lock(&watcher->extender->lock);
    heard_something(watcher);
    pthread_mutex_unlock(&watcher->extender->lock);
}

static void begin_list(void *context)
{
    struct watcher *watcher = context;
    pthread_mutex_lock(&watcher->extender->lock);
    gang_machine_begin_list(watcher->extender->machine, watcher->list);
    pthread_mutex_unlock(&watcher->extender->lock);
}

/* With the lock. One that must be read again does not count: what it named came before the machine
 * was told that a list begins, and all of it would be taken for gone. */
static void take_end(struct watcher *watcher)
{
    struct extender *extender = watcher->extender;
    if (__atomic_load_n(&extender->list_again[watcher->list], __ATOMIC_ACQUIRE))
        return;
    if (gang_machine_end_list(extender->machine, watcher->list) < 0)
        log_message(&extender->log, LOG_LEVEL_ERROR, "out of memory after a list of %s",
                    lists[watcher->list].word);
    extender->rereads[watcher->list] = false;
}

static void end_list(void *context)
{
    struct watcher *watcher = context;
    struct extender *extender = watcher->extender;
    pthread_mutex_lock(&extender->lock);
    take_end(watcher);
    heard_something(watcher);
    extender_wake(extender);
    pthread_mutex_unlock(&extender->lock);
}

static int take_node(struct gang_machine *machine, enum watch_change change,
                     struct node_record *node)
{
    if (change == WATCH_SET)
        return gang_machine_set_node(machine, node);
    gang_machine_remove_node(machine, node->name);
    node_record_free(node);
    return 0;
}

static int take_pod(struct gang_machine *machine, enum watch_change change, struct pod_record *pod)
{
    if (change == WATCH_SET)
        return gang_machine_set_pod(machine, pod);
    gang_machine_remove_pod(machine, pod->uid);
    pod_record_free(pod);
    return 0;
}

static bool is_told(struct watcher *watcher, const char *what)
{
    uint64_t hash = name_hash_add(NAME_HASH_START, what, strlen(what));
    for (unsigned i = 0; i < TOLD_COUNT; i++)
        if (watcher->told[i] == hash)
            return true;
    watcher->told[watcher->told_next++ % TOLD_COUNT] = hash;
    return false;
}

/* An object that cannot be read is left as it was, with one line for it: others must not suffer. */
static int skip(struct watcher *watcher, const struct watch_object *object,
                const struct error_info *err)
{
    char what[OBJECT_WORD_BYTES];
    const char *one = lists[watcher->list].one;
    if (err->kind == ERROR_MEMORY)
        return -1;
    metrics_add(watcher->extender->metrics, METRIC_API_ERRORS, lists[watcher->list].word, NULL, 1);
    if (object->name[0])
        snprintf(what, sizeof(what), "%s %.*s%s%.*s", one, NAMESPACE_CHARACTERS, object->namespace,
                 object->namespace[0] ? "/" : "", NAME_CHARACTERS, object->name);
    else
        snprintf(what, sizeof(what), "a %s without a name", one);
    if (!is_told(watcher, what))
        log_message(&watcher->extender->log, LOG_LEVEL_WARNING, "%s is passed over, and %s: %s",
                    what, lists[watcher->list].harm, err->text);
    return 0;
}

static void note_cut(struct watcher *watcher, const struct pod_record *pod)
{
    char what[OBJECT_WORD_BYTES];
    snprintf(what, sizeof(what), "pod %.*s/%.*s", NAMESPACE_CHARACTERS, pod->namespace,
             NAME_CHARACTERS, pod->name);
    if (!is_told(watcher, what))
        log_message(&watcher->extender->log, LOG_LEVEL_WARNING,
                    "%s has more than %u values: only what it takes from its node is read, and it "
                    "is in no gang; make its lists shorter",
                    what, OBJECT_MAXIMUM_VALUES);
}

static int take_object(void *context, enum watch_change change, const struct watch_object *object)
{
    struct watcher *watcher = context;
    struct extender *extender = watcher->extender;
    struct error_info err = {.kind = ERROR_NONE};
    struct node_record *node = NULL;
    struct pod_record *pod = NULL;
    if (!object->text)
        error_set(&err,
                  "%zu bytes are too many; at most %zu are taken; delete it or make it smaller",
                  object->bytes, WATCH_OBJECT_MAXIMUM_BYTES);
    else if (watcher->list == LIST_NODES)
        node = node_record_parse(object->text, object->bytes, &err);
    else
        pod = pod_record_parse(object->text, object->bytes, &err);
    if (!node && !pod)
        return skip(watcher, object, &err);
    if (pod && pod->cut)
        note_cut(watcher, pod);
    pthread_mutex_lock(&extender->lock);
    int status = node ? take_node(extender->machine, change, node)
                      : take_pod(extender->machine, change, pod);
    heard_something(watcher);
    if (gang_machine_synced(extender->machine)) /* before, nothing is to be done */
        extender_wake(extender);
    pthread_mutex_unlock(&extender->lock);
    return status;
}

static void note_trouble(void *context, const char *reason)
{
    struct watcher *watcher = context;
    struct extender *extender = watcher->extender;
    const char *word = lists[watcher->list].word;
    bool changes = extender_note_heard(extender, watcher->list, reason);
    if (reason)
        metrics_add(extender->metrics, METRIC_API_ERRORS, word, NULL, 1);
    if (changes && reason)
        log_message(&extender->log, LOG_LEVEL_WARNING, "watching %s: %s", word, reason);
    else if (changes)
        log_message(&extender->log, LOG_LEVEL_INFO, "watching %s again", word);
}

static void *watch(struct extender *extender, enum gang_list list)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct watcher watcher = {.extender = extender, .list = list};
    CLEANUP(api_client) struct api_client *client = api_client_create(extender->api, &err);
    const struct list_watch_request request = {
        .path = lists[list].path,
        .handlers = {.begin_list = begin_list,
                     .end_list = end_list,
                     .object = take_object,
                     .heard = note_heard,
                     .trouble = note_trouble},
        .context = &watcher,
        .stop = &extender->stop,
        .list_again = &extender->list_again[list],
        .seed = time_now_milliseconds() + list,
    };
    if (!client || list_watch_run(client, &request, &err) < 0) {
        if (!err.text[0]) /* a handler ended it */
            error_set_memory(&err);
        log_message(&extender->log, LOG_LEVEL_ERROR, "watching %s ends: %s", lists[list].word,
                    err.text);
        extender_stop(extender, true);
    }
    return NULL;
}

void *extender_watch_nodes(void *extender) { return watch(extender, LIST_NODES); }

void *extender_watch_pods(void *extender) { return watch(extender, LIST_PODS); }
