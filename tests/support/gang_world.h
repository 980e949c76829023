/* SPDX-License-Identifier: MIT */
/*
 * gang_world: a small simulated Kubernetes around gang_machines: an API server (objects with uid,
 * resourceVersion, gates, annotations; patches with preconditions), a watch that repeats, delays,
 * mixes objects and breaks off until everything is listed again, a scheduler that asks
 * gang_answer_filter and binds, a controller that makes lost pods anew, and processes that run a
 * machine each: they crash, lose the leadership, and leave requests behind that land later.
 * Everything follows from the seed.
 */
#ifndef TESTS_SUPPORT_GANG_WORLD_H
#define TESTS_SUPPORT_GANG_WORLD_H

#include "k8s_extender/gang/gang_answer.h"

#define WORLD_NODES 8u
#define WORLD_NODE_GPUS 8u
#define WORLD_GANGS 4u
#define WORLD_SIZE 6u /* pods of a gang, at most */
#define WORLD_PODS 1024u
#define WORLD_PROCESSES 2u
#define WORLD_EVENTS 4096u
#define WORLD_TASKS 64u
#define WORLD_PLANS 8u
#define WORLD_TEXT 512u
#define WORLD_LEADER_NONE WORLD_PROCESSES

/* Faults that are planted, to see that they are found. */
enum world_fault {
    WORLD_SOUND,
    WORLD_LOSES_PLANS,      /* the plan on pod 0 is answered as written, and is not */
    WORLD_MIXES_UIDS,       /* a pod made anew has the old one's uid */
    WORLD_HIDES_TERMINATING /* a terminating pod counts as gone */
};

enum world_note { NOTE_PLAN, NOTE_ID, NOTE_NODE, NOTE_SHAPE, NOTE_RANK, WORLD_NOTES };

struct world_node {
    bool exists, ready, cordoned;
    unsigned gpus;
    uint32_t version;
};

struct world_pod {
    bool exists, gated, terminating;
    bool foreign; /* it says that it is of gang `gang`, and is another job's, or one too many */
    uint32_t unit;
    bool over;    /* it has succeeded: it holds nothing, and there is no other of its index */
    bool by_hand; /* somebody bound it without asking anybody */
    uint32_t serial, version;
    int gang; /* -1: of no gang */
    uint32_t index;
    unsigned gpus;
    int node, pin; /* -1: none */
    char name[32];
    const char *annotations[WORLD_NOTES]; /* NULL: never set */
};

struct world_gang {
    bool exists, gate, same_names;
    const char *on_partial, *on_no_spare; /* annotations; NULL: none */
    const char *tp;                       /* likewise: TP groups of two pods */
    uint32_t unit;
    uint32_t size;
    unsigned gpus;
    int32_t priority;
    char published[WORLD_PLANS]
                  [GANG_PLAN_ID_BYTES]; /* plans that have stood on pod 0, the last ones */
    unsigned publications;
    bool started;  /* a pod has heard of its node */
    uint32_t seen; /* bits of the indices that have had a pod */
};

struct world_event {
    bool of_pod, gone;
    unsigned object; /* node number, or the pod's serial */
    struct world_pod pod;
    struct world_node node;
};

struct world_process {
    struct gang_machine *machine; /* NULL: it is down */
    struct world_event *events;
    size_t event_count;
    bool broken[LIST_COUNT]; /* the watch is: a list must come */
    bool relists;            /* it has begun to lead, and is to list all pods again */
    struct gang_task tasks[WORLD_TASKS];
    bool zombie[WORLD_TASKS]; /* of a machine that is gone */
    bool late[WORLD_TASKS];   /* another one leads since: it was applied before, or never will be */
    size_t task_count;
};

struct world {
    uint64_t random;
    enum world_fault fault;
    struct world_node nodes[WORLD_NODES];
    struct world_gang gangs[WORLD_GANGS];
    struct world_pod pods[WORLD_PODS];
    size_t pod_count;
    uint32_t serials, versions;
    struct world_process processes[WORLD_PROCESSES];
    unsigned leader;
    uint64_t now;
    struct arena *arena;
    const struct cluster_view_sources *sources;
    unsigned deletions;    /* of bound pods on nodes that are there, by the machines */
    const char *violation; /* what is wrong, or NULL */
    char text[WORLD_TEXT];
};

void world_init(struct world *world, uint64_t seed, enum world_fault fault,
                const struct cluster_view_sources *sources);
void world_done(struct world *world);
unsigned world_draw(struct world *world, unsigned below);

/* One thing that may happen any time. */
void world_step(struct world *world);
/* Everything is repaired, and then nothing bad happens any more, until nothing is left to do.
 * Returns false if that takes for ever. */
bool world_settle(struct world *world);
/* The gang's owner is deleted, and its pods with it. */
void world_end_gang(struct world *world, unsigned number);
/* A machine that has just listed everything; the caller's. */
struct gang_machine *world_restarted(struct world *world);
/* Pods of that gang that are bound, or released to a node and not bound. */
unsigned world_bound(const struct world *world, unsigned gang);
/* Those that were released, are bound and have not succeeded; all that are bound where none has. */
unsigned world_alive(const struct world *world, unsigned gang);
unsigned world_promised(const struct world *world, unsigned gang);
/* Pods of it that have or need a place: those that are not bound, or on a node that is gone. */
unsigned world_missing(const struct world *world, unsigned gang);
/* Free pods' worth of GPUs on good nodes. */
unsigned world_room(const struct world *world, unsigned gpus);

#endif
