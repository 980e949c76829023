/* SPDX-License-Identifier: MIT */
/*
 * gang_state: the insides of a gang_machine, for the files of this folder alone.
 */
#ifndef K8S_EXTENDER_GANG_GANG_STATE_H
#define K8S_EXTENDER_GANG_GANG_STATE_H

#include "k8s_extender/gang/gang_machine.h"
#include "k8s_extender/gang/store/gang_events.h"
#include "k8s_extender/gang/store/record_table.h"

enum gang_mode { GANG_MODE_GATE, GANG_MODE_FILTER, GANG_MODE_NATIVE }; /* A, B, C */

enum slot_state {
    SLOT_EMPTY,    /* no pod, or only a terminating one */
    SLOT_WAITING,  /* a pod that may not be bound yet */
    SLOT_PROMISED, /* released to `node`, or perhaps so */
    SLOT_BOUND
};

/* What the leader thinks of the node that a slot is meant for. */
enum slot_fate {
    FATE_FINE,
    FATE_BLOCKED, /* the terminating predecessor is still there */
    FATE_LOST,    /* it needs another node */
    FATE_STRANDED /* it needs another node, and has been released to this one: that must be taken
                   * back first, and where it is pinned its pod must go */
};

/* One index of a gang. */
struct gang_slot {
    const struct pod_record *pod;     /* NULL: SLOT_EMPTY */
    const struct pod_record *leaving; /* a terminating pod of the index, still on a node */
    const struct pod_record *ended;   /* one that has succeeded */
    enum slot_state state;
    const char *node; /* PROMISED, BOUND */
    bool pinned;      /* PROMISED: nothing can change its node any more */
    bool doomed;      /* BOUND to a node that is gone: only its successor can be placed */
    bool stray;       /* BOUND, and was never released: somebody bound it by hand */
    enum slot_fate fate;
    uint64_t bad_since;     /* STRANDED: since then; 0: it is not */
    char *reserved;         /* the node where a reservation is held; NULL: none */
    uint64_t missing_since; /* EMPTY or doomed: since then; 0: neither */

    /* What was asked of the API server for the pod of that uid; a new pod starts afresh. */
    char *uid;
    uint64_t task;                /* under way; 0: none */
    uint64_t quiet_until;         /* nothing is asked again before */
    unsigned failures;            /* of tasks in a row: each doubles the pause */
    bool condemned, unless_bound; /* to be deleted; not once it is bound */
    bool has_plan;                /* pod 0: it was answered that plan `acknowledged` stands there */
    char acknowledged[GANG_PLAN_ID_BYTES], asked_plan[GANG_PLAN_ID_BYTES];
    char *asked_version; /* of the pod, as last patched; NULL: none, or a newer one has come */
    char *sent_node;     /* it was a release to that node, and may stand */
    bool uncertain;      /* it failed, and may have been applied all the same */
};

enum plan_attempt { ATTEMPT_PLAIN, ATTEMPT_RELAX, ATTEMPT_MOVE };

struct gang {
    char *key;
    const struct pod_record **members; /* all of the key, also terminating ones */
    size_t member_count, member_capacity;
    uint64_t arrival;
    bool dirty;
    bool followed; /* when it was refreshed last, pods followed its plan */

    /* gang_members.c: from the members. */
    struct gang_slot *slots;
    uint32_t size;       /* 0: not known yet */
    uint32_t slot_count; /* size; fewer while most pods are missing and none is placed */
    uint32_t present, bound, promised;
    uint32_t strays; /* of those that are bound */
    uint32_t done; /* indices whose pod has succeeded: nobody waits for another; only once begun */
    uint32_t holder, outsiders;        /* gang_outsiders.h: the unit whose pods count; 0: all */
    bool unowned;                      /* holder is 0, and only bare pods count */
    uint32_t placed_size, placed_gpus; /* as which it was placed, by what its pods say; 0: not */
    uint32_t said_size;                /* what pods or owner say; 0: unknown */
    uint32_t gpus_per_pod;
    int32_t priority;
    enum gang_mode mode;
    bool has_master;      /* of the holder's PyTorchJob: its Workers' indices are one more */
    uint64_t pods_digest; /* of the uids that are present */
    unsigned foreign_gates, foreign_uses;
    struct resource_list requests; /* the largest of each, of all pods that are present */
    struct arena *requests_arena;
    char problem[GANG_REASON_BYTES]; /* why nothing can be done; "": nothing is wrong */
    const struct pod_record *problem_pod;
    char reason[GANG_REASON_BYTES]; /* why its pods wait */
    enum gang_phase phase;
    uint64_t kept_until; /* then a lost pod's place is given up; UINT64_MAX: none is kept */

    /* The size, where only the owner knows it. */
    uint32_t asked_size;
    uint32_t owner; /* the unit, a digest of the owner's uid, or OWNER_NONE; 0: not known yet */
    uint64_t ask_at, ask_task;

    /* gang_recovery.c: the plan. */
    struct gang_plan *written;            /* as it stands on pod 0 */
    uint64_t written_digest;              /* of its text; 0: none */
    struct gang_plan *made;               /* newer than what stands there */
    char base_id[GANG_PLAN_ID_BYTES];     /* what stood there when it was made */
    char rejected_id[GANG_PLAN_ID_BYTES]; /* what stands there is given up */
    uint64_t made_digest;                 /* pods_digest of then */
    const struct gang_plan *plan;         /* one of the two, or NULL */

    /* gang_tasks.c: what the leader is about. */
    bool wants_plan, possible; /* possible: the empty cluster would do, as far as is known */
    uint64_t barred_by;        /* arrival of the gang behind which it was told to wait; 0: none */
    uint64_t plan_number;      /* asked for; 0: not */
    enum plan_attempt attempt;
    enum gang_outcome outcome; /* of the last plan */
    bool tried;                /* it did not give a plan */
    uint64_t tried_digest;     /* pods_digest of then */
    uint64_t retry_at, tried_at, tried_frees, asked_frees, waiting_since;
    bool withdrawing, late;
    bool has_service; /* it was made, or is not to be */
    uint64_t service_task, service_at, service_pause;
    uint64_t short_since; /* pods are missing, or gates of others are there; 0: neither */
    uint64_t short_told_at, told_at; /* GangIncomplete, GangWaiting; 0: never */
    struct gang_told told;           /* to its pods */
    uint64_t deadline, looked_frees;
    uint32_t deadline_bound;
    uint64_t smooth_until; /* all was well at the last look; no other is due before; 0: no */
    uint32_t release_from; /* slots before were released since that look */
    uint64_t due;          /* nothing to be done before, unless something changes */
    uint64_t paused_until; /* memory ran out for it: nothing is done before, whatever changes */
};

struct gang_machine {
    struct gang_machine_settings settings;
    struct cluster_state *state;
    struct record_table *table; /* key -> gang */
    struct gang **gangs;        /* by arrival */
    size_t gang_count, gang_capacity;
    uint64_t arrivals, numbers, now;
    uint64_t heard_frees, freed_at; /* something became free, and when that was noticed */
    bool leads, listed[LIST_COUNT], listing[LIST_COUNT];
    bool settled;                  /* the leader has heard what the last one wrote */
    bool fresh_list;               /* the list of pods under way began after gang_machine_lead */
    uint64_t lead_since, planning; /* planning: number of the plan asked for; 0: none */
    struct cluster_view *view;
    uint64_t view_generation;
    struct gang_events events;
    size_t cursor;  /* the gang that is looked at next */
    unsigned tasks; /* given since the last event */
    bool starved;   /* memory ran out, and gang_machine_next has not said so yet */
};

#endif
