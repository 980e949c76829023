/* SPDX-License-Identifier: MIT */
/*
 * policy: what the admins allow. One function gives the verdict, its code and its words;
 * every caller (parplan check, srun, slurmstepd, slurmctld, the extender) prints those.
 */
#ifndef WORKLOAD_POLICY_H
#define WORKLOAD_POLICY_H

#include "workload/parallelism.h"
#include "workload/rank_order.h"
#include <stddef.h>

/* node: one TP group, one node. nvlink_domain: one TP group, one known NVLink domain, which
 * may span nodes. off: no bound but max_tp. */
enum tp_within { TP_WITHIN_NODE, TP_WITHIN_NVLINK_DOMAIN, TP_WITHIN_OFF, TP_WITHIN_COUNT };
enum policy_action { POLICY_DENY, POLICY_WARN, POLICY_FIX, POLICY_ACTION_COUNT };
enum policy_unknown { UNKNOWN_WARN, UNKNOWN_DENY, UNKNOWN_ALLOW, POLICY_UNKNOWN_COUNT };
enum policy_require { REQUIRE_OFF, REQUIRE_WARN, REQUIRE_DENY, POLICY_REQUIRE_COUNT };
enum policy_mismatch { MISMATCH_WARN, MISMATCH_DENY, POLICY_MISMATCH_COUNT };
/* How far a group may reach; each is stricter than the one before. leaf: one lowest switch. */
enum policy_span { SPAN_OFF, SPAN_LEAF, SPAN_NVLINK_DOMAIN, SPAN_NODE, POLICY_SPAN_COUNT };
/* The groups that spans limits: all but TP's, which tp_within does. ETP lies inside EP's reach. */
enum span_dimension { SPAN_CP, SPAN_EP, SPAN_DP, SPAN_PP, SPAN_DIMENSION_COUNT };

struct policy {
    enum tp_within tp_within;
    unsigned max_tp; /* 0: no limit */
    enum policy_action on_violation;
    enum policy_require require_plan;
    enum policy_unknown on_unknown_topology;
    unsigned orders; /* bit of each enum rank_order that is allowed; 0: all */
    enum policy_mismatch on_mismatch;
    unsigned spans[SPAN_DIMENSION_COUNT]; /* enum policy_span */
};

extern const struct policy policy_default; /* node, no limit, deny, off, warn, all, warn, off */

/* The place the job would run in, as far as it is known. */
struct policy_place {
    const char *where;           /* "cluster dgx-h100:2", "partition gpu": for the text */
    unsigned gpus_per_node;      /* that the job uses there; 0: unknown */
    unsigned nvlink_domain_gpus; /* smallest domain offered, may span nodes; 0: unknown */
    bool nvlink_known;
    unsigned sound_gpus; /* of a node with the fault, which one TP group can use; 0: none */
    const char *fault;   /* "dgx-b200: GPU 2 lost NVLink …"; NULL: none is known */
    /* What a cluster tells beyond sizes (cluster_topology.h has the same). */
    unsigned nodes;      /* that the job takes; 0: unknown, and nothing of the rest is known */
    unsigned open_nodes; /* whose NVLink leaves them, and nobody says which nodes share it */
    const unsigned *domain_nodes; /* of each NVLink domain that joins several nodes */
    size_t domain_count;
    /* [k], k <= gpus_per_node: GPUs of a node that groups of k cover, each group in one NVLink
     * domain of it; NULL: its domains are all of nvlink_domain_gpus. */
    const unsigned char *nvlink_cover;
};

enum policy_code {
    POLICY_OK,
    POLICY_TP_EXCEEDS_NODE,    /* "tp-within-node" */
    POLICY_TP_SPLITS_NODE,     /* "tp-splits-node": groups would lie on two nodes in part */
    POLICY_TP_EXCEEDS_DOMAIN,  /* "tp-within-nvlink-domain" */
    POLICY_TP_EXCEEDS_MAXIMUM, /* "max-tp" */
    POLICY_TOPOLOGY_UNKNOWN,   /* "unknown-topology" */
    POLICY_PLAN_REQUIRED,      /* "require-plan" */
    POLICY_TP_NEEDS_SOUND,     /* "tp-degraded-node" */
    POLICY_ORDER_NOT_ALLOWED,  /* "order" */
    POLICY_NODE_MISMATCH,      /* "node-mismatch" */
    POLICY_SPANS,              /* "spans": a group reaches too far */
    POLICY_SPAN_SPLITS,        /* "span-splits-node": it would lie on two nodes in part */
    POLICY_CODE_COUNT
};

enum policy_result { POLICY_ALLOWED, POLICY_WARNED, POLICY_DENIED };

#define POLICY_TEXT_BYTES 512

struct policy_verdict {
    enum policy_result result;
    enum policy_code code;
    unsigned part;                /* of spans' codes: enum span_dimension; else 0 */
    char text[POLICY_TEXT_BYTES]; /* "policy tp-within-node: tp=16 needs 16 GPUs in one node, …" */
};

const char *policy_code_name(enum policy_code code); /* stable: "tp-within-node" */

/* The verdict on given, complete degrees (the larger of tp and etp is what counts): of all that
 * speaks against them the worst, and of equals the first. tp=1 is always allowed, with a warning
 * where a node's GPUs have all lost their NVLink: CUDA may not start there. on_violation: fix
 * changes only degrees that parplan chose (it never chooses more than policy_largest_tp): given
 * ones are denied, and the text says so. tp_within node also warns (POLICY_TP_EXCEEDS_DOMAIN) where
 * NVLink is known not to join the GPUs of every TP group: pairs of A6000 and PCIe boxes allow tp=8,
 * slowly. tp_within nvlink_domain: a group may take whole nodes of one domain, or a whole part of a
 * node, nothing between, and the domains must hold all groups of the job.
 * GPUs that have lost NVLink or are cut into instances hold no TP group; tp_within: off makes
 * that a warning. What a text advises is allowed there. */
void policy_check(const struct policy *policy, const struct degrees *degrees,
                  const struct policy_place *place, struct policy_verdict *ret);
/* The verdict on a finished map: `links_out` neighbour links of TP groups leave what tp_within
 * names (a fragmented allocation can cut a group that its sizes allow). Where it is not known
 * which nodes share their NVLink, on_unknown_topology says what that means. */
void policy_check_split(const struct policy *policy, unsigned tp, uint64_t links_out,
                        const struct policy_place *place, struct policy_verdict *ret);
/* The verdict on the rank order alone (orders). */
void policy_check_order(const struct policy *policy, enum rank_order order,
                        struct policy_verdict *ret);
/* The verdict on the reach of the other groups (spans), from arithmetic alone. A degree of 0 is
 * not known yet and counts as 1: what is said then holds whatever it becomes. In RANK order a
 * group of k whose ranks lie s apart (rank_order.h) fills blocks of s k ranks, and a node takes
 * whole blocks only where s k divides its GPUs. Domains of several nodes are permuted by the
 * mapping, so that here only groups on more nodes than a domain has are refused; those, and
 * leaves, are judged by policy_check_reach. */
void policy_check_spans(const struct policy *policy, const struct degrees *degrees,
                        enum rank_order order, const struct policy_place *place,
                        struct policy_verdict *ret);
/* Whether a planner may choose those degrees by itself; given: bit of each dimension whose degree
 * is not its choice. */
bool policy_spans_allow(const struct policy *policy, const struct degrees *degrees,
                        enum rank_order order, const struct policy_place *place, unsigned given);
/* The verdict on a finished map: `links_out` neighbour links of the dimension's groups, of `size`
 * ranks each, leave what spans names, or `links_unknown` go where nobody knows the switches. */
void policy_check_reach(const struct policy *policy, enum span_dimension dimension, unsigned size,
                        uint64_t links_out, uint64_t links_unknown,
                        const struct policy_place *place, struct policy_verdict *ret);
/* For a job without any degrees: what require_plan says (POLICY_PLAN_REQUIRED). */
void policy_check_undeclared(const struct policy *policy, const char *where,
                             struct policy_verdict *ret);
/* For a node that is not what was planned for: what on_mismatch says (POLICY_NODE_MISMATCH).
 * what: the difference in words, "8 rails are planned and 7 here are up"; "": none. */
void policy_check_mismatch(const struct policy *policy, const char *what,
                           struct policy_verdict *ret);
/* The largest TP that the policy allows there (0: unlimited): the planner's own bound, also
 * under on_violation: warn. Unknown topology: 1 under deny, else the node. */
unsigned policy_largest_tp(const struct policy *policy, const struct policy_place *place);

#endif
