/* SPDX-License-Identifier: MIT */
/*
 * extender: what the threads of parplan-extender share. One mutex guards the gang_machine and what
 * was last heard; it is never held over I/O or planning.
 *
 *     two watchers ──set_node, set_pod──> gang_machine <──questions── the server's threads
 *     one leader   ──lead──────────────>       │
 *     workers      <─────────────tasks─────────┘──> plans, PATCHes, events
 */
#ifndef K8S_EXTENDER_EXTENDER_EXTENDER_H
#define K8S_EXTENDER_EXTENDER_EXTENDER_H

#include "base/log_sink.h"
#include "k8s_extender/api/lease.h"
#include "k8s_extender/api/pod_event.h"
#include "k8s_extender/extender/extender_options.h"
#include "k8s_extender/extender/live_config.h"
#include "k8s_extender/gang/gang_machine.h"
#include "k8s_extender/server/metrics.h"
#include "planner/efficiency_catalogue.h"
#include <pthread.h>

/* What must be heard of: the lists, and the Lease, which is asked for every two seconds: a watch
 * may be silent for a minute, and says nothing of a server that hangs. */
#define HEARD_LEASE LIST_COUNT
#define HEARD_COUNT (LIST_COUNT + 1)
#define HEARING_REASON_BYTES 320u
struct hearing {
    bool troubled;                     /* since then, without a break */
    uint64_t since_milliseconds;       /* troubled: since when; else when something last came */
    char reason[HEARING_REASON_BYTES]; /* troubled: what was said last, one line */
};

struct extender {
    struct extender_options options;
    struct api_config *api;
    struct live_config *config;
    struct preset_catalogue *presets;
    struct gpu_catalogue *gpus;
    struct framework_catalogue *frameworks;
    struct model_catalogue *models;
    struct efficiency_catalogue *efficiencies;
    struct fabric_label_keys *label_keys; /* NULL: the default ones */
    struct metrics *metrics;
    struct log_sink log;

    pthread_mutex_t binder_lock;
    struct api_client *binder; /* under it; NULL without --bind */

    pthread_mutex_t events_lock;
    struct event_memory events; /* under it, as what follows */
    uint64_t refusals_since;    /* a minute begins */
    unsigned refusals;          /* of pods' changes, in it */

    pthread_mutex_t lock;
    pthread_cond_t work;          /* something may be due */
    struct gang_machine *machine; /* under the lock, as what follows */
    struct hearing heard[HEARD_COUNT];
    bool rereads[LIST_COUNT]; /* the list is being read again, and what is known may be wrong */
    uint64_t starved_milliseconds; /* when it was last logged that memory ran out; 0: never */
    bool leads;
    const struct lease *lease; /* set while leads is */

    bool list_again[LIST_COUNT]; /* set by one thread, cleared by the watcher; without the lock */
    bool stop;                   /* set once; read by all threads without the lock */
    bool quiet;                  /* likewise: none but the leader's thread asks or writes */
    bool failed;                 /* a thread could not go on */
};

/* Opens everything that needs no thread. On failure nothing is left to close. */
int extender_open(struct extender *extender, const struct extender_options *options,
                  struct error_info *err);
void extender_close(struct extender *extender);

/* Synced, and nothing unheard for longer than the limit; else why not, in one line. */
bool extender_ready(struct extender *extender, char *ret_why, size_t bytes);
/* The same for a caller that holds the lock. */
bool extender_ready_locked(struct extender *extender, char *ret_why, size_t bytes);
/* Before a task is taken, with the lock: leadership ends with the Lease's deadline, also where the
 * leader's thread did not run until now (all of this process was stopped). */
void extender_end_lapsed_lead(struct extender *extender);
/* How long what a worker writes to pods may take: until another leader may act at the soonest,
 * API_REQUEST_SECONDS at most. */
unsigned extender_write_seconds(struct extender *extender);
/* Of the lists alone: whether this process may lead. */
bool extender_has_lists(struct extender *extender);
/* Since now it is heard again (trouble NULL), or not any more, and why; whether that is a change.
 */
bool extender_note_heard(struct extender *extender, unsigned what, const char *trouble);
/* What was heard is not what the cluster has any more: both lists are read again; until they are
 * whole nothing is planned or written, and GPU pods wait; the Lease is kept. */
void extender_list_again(struct extender *extender);
bool extender_stopping(const struct extender *extender);
void extender_stop(struct extender *extender, bool failed); /* all threads come to an end */
void extender_set_quiet(struct extender *extender);         /* all but the leader's have ended */
void extender_wake(struct extender *extender); /* a worker looks whether there is work */

/* Plans a problem by the policy in force; without the lock. NULL: memory. */
struct gang_plan *extender_plan(struct extender *extender, const struct gang_problem *problem,
                                struct error_info *err);

/* Threads: each returns when extender->stop is set, the leader's when extender->quiet is too: the
 * Lease is given back once nothing that this process wrote can be under way. */
void *extender_watch_nodes(void *extender);
void *extender_watch_pods(void *extender);
void *extender_lead(void *context);
void *extender_work(void *context);

#endif
