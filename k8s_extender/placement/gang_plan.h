/* SPDX-License-Identifier: MIT */
/*
 * gang_plan: which node each pod of a gang gets, and what its ranks are: from a gang_problem (a
 * copy of everything that counts, so that planning needs no lock) through the planner and the
 * mapping of common/. Pure: the same problem gives the same plan.
 *
 * Pod i holds RANKs i * gpus_per_pod and following, on GPUs of one node. A plan also exists as text
 * (gang_plan_encode), which stands in annotation parplan.io/plan of pod 0: from it everything is
 * rebuilt after a restart.
 */
#ifndef K8S_EXTENDER_PLACEMENT_GANG_PLAN_H
#define K8S_EXTENDER_PLACEMENT_GANG_PLAN_H

#include "k8s_extender/objects/gang_identity.h"
#include "k8s_extender/objects/label_set.h"
#include "k8s_extender/objects/resource_list.h"
#include "k8s_extender/placement/cluster_view.h"
#include "planner/efficiency_catalogue.h"
#include "workload/admin_config.h"
#include "workload/framework_profile.h"
#include "workload/model_source.h"
#include "workload/parallelism.h"
#include "workload/rank_order.h"

#define GANG_PLAN_ID_BYTES 17u /* 16 hexadecimal digits */
#define GANG_PLAN_TEXT_MAXIMUM                                                                     \
    ((size_t)192 << 10) /* an object's annotations are 256 KiB at most                             \
                         */
#define GANG_REASON_BYTES 1024u

struct gang_candidate {
    uint32_t node;  /* index into view->cluster->nodes */
    uint32_t slots; /* pods of this gang that have room there, those fixed there included; > 0 */
};

/* Why a GPU node is no candidate, for the sentence of GANG_NO_FIT; each node is counted once, under
 * the first that applies. */
enum gang_turned_away {
    AWAY_NOT_READY,
    AWAY_CORDONED,
    AWAY_NOT_SELECTED, /* by the pods' nodeSelector or affinity */
    AWAY_TAINTED,
    AWAY_FEW_GPUS, /* even if it were empty */
    AWAY_SMALL,    /* likewise, of CPU, memory, pods or another resource */
    AWAY_FULL,     /* GPUs in use */
    AWAY_PROMISED, /* GPUs reserved for other gangs */
    AWAY_SHORT,    /* of CPU, memory, pods or another resource */
    AWAY_COUNT
};

struct gang_problem {
    const char *key;       /* "namespace/group" */
    const char *namespace; /* the policy's scope: as a partition */
    uint32_t pods;
    uint32_t gpus_per_pod;                   /* > 0 */
    struct cluster_view *view;               /* one reference of the problem's own */
    const struct gang_candidate *candidates; /* ascending by node */
    size_t candidate_count;
    /* The same if no other pod were there: where the first ones do not do these are tried too, to
     * tell what cannot be now from what can never be. NULL: that is not asked. */
    const struct gang_candidate *empty;
    size_t empty_count;
    uint32_t turned_away[AWAY_COUNT]; /* nodes; all 0: not counted */
    /* Of AWAY_SMALL and AWAY_SHORT: what the first such node lacks, and the most that one has. */
    struct resource_lack lacks[AWAY_COUNT];
    uint64_t could_hold;    /* pods, if the cluster were empty; 0: not known */
    const uint32_t *fixed;  /* for each pod its node, or VIEW_NODE_NONE; NULL: all are free */
    struct degrees degrees; /* fixed != NULL: those of the plan that the fixed pods follow … */
    enum rank_order order;  /* … and its rank order */
    bool has_degrees;       /* false: that plan had none (locality only) */
    bool relax;             /* fixed != NULL: a TP group may leave its NVLink domain */
    bool anew; /* the fixed pods follow no plan (they were bound by hand): degrees and order are
                * chosen as for free pods, and then the others' nodes around the fixed ones */
    struct label_set inputs;      /* annotations parplan.io/…, of the first pod that has any
                                   * (pod_inputs.h); others are skipped */
    const char *const *arguments; /* the container's command, for launch_flags */
    size_t argument_count;
    uint64_t number; /* of the request, given back in the answer */
    struct arena *arena;
};

void gang_problem_free(struct gang_problem *problem); /* and its reference to the view */

enum gang_outcome {
    GANG_PLANNED,
    GANG_NO_FIT,   /* not now: too few nodes, or nothing fits in memory */
    GANG_DENIED,   /* by policy */
    GANG_BAD_INPUT /* annotations or flags that cannot be */
};

struct gang_plan {
    enum gang_outcome outcome;
    char reason[GANG_REASON_BYTES]; /* one sentence: why not; or what was chosen and why */
    bool fits_empty;                /* GANG_NO_FIT: with the problem's `empty` it would fit */
    bool no_spare;                  /* GANG_NO_FIT of a replan: there is room, but a TP group's
                                     * NVLink domain has none */
    char id[GANG_PLAN_ID_BYTES];    /* of key, degrees, order and nodes */
    uint32_t pods, gpus_per_pod;
    bool has_degrees; /* false: neither model nor degrees were given; nodes in fabric order */
    struct degrees degrees;
    enum rank_order order;
    const char *const *nodes; /* for each pod */
    struct arena *arena;
};

struct gang_plan_sources {
    const struct admin_config *config;
    const struct gpu_catalogue *gpus;
    const struct framework_catalogue *frameworks;
    const struct model_catalogue *models;
    const struct efficiency_catalogue *efficiencies; /* NULL: the compiled-in ones, parsed anew */
};

/* Fails only for memory: all else is an outcome. */
struct gang_plan *gang_plan_create(const struct gang_problem *problem,
                                   const struct gang_plan_sources *sources, struct error_info *err);
void gang_plan_free(struct gang_plan *plan);

/* Coordinates of the pod's first RANK. */
void gang_plan_coordinates(const struct gang_plan *plan, uint32_t pod,
                           struct rank_coordinates *ret);
/* Pods of one TP group, 1 when a pod holds whole groups. The groups are runs of so many pods. */
uint32_t gang_plan_group_pods(const struct gang_plan *plan);

/* "v1 id=… pods=16 gpus=8 order=tp-cp-ep-dp-pp tp=8 … nodes=n[001-016],…" GANG_PLANNED only. */
int gang_plan_encode(const struct gang_plan *plan, struct text_buffer *out);
/* Hostile input: refused are an unknown version, degrees that do not multiply to the ranks, another
 * number of nodes than pods, an id that is not the content's; key as in the problem. */
struct gang_plan *gang_plan_decode(const char *text, size_t bytes, const char *key,
                                   struct error_info *err);

DEFINE_CLEANUP(gang_plan);
DEFINE_CLEANUP(gang_problem);

#endif
