/* SPDX-License-Identifier: MIT */
/*
 * plan_search: from model, cluster and batch to ranked plans. Pure: no I/O, clock,
 * randomness or globals; the same input gives the same bytes.
 *
 * Given keys (tp=8, sharding=zero1, …) are constraints: the search runs over what is left.
 * "Nothing fits" and "refused by policy" are results in the list, not errors; errors are
 * impossible input (degrees whose product is not N, an unknown framework) and memory.
 */
#ifndef PLANNER_PLAN_SEARCH_H
#define PLANNER_PLAN_SEARCH_H

#include "planner/plan.h"
#include "topology/cluster_topology.h"
#include "topology/gpu_catalogue.h"
#include "workload/framework_profile.h"
#include "workload/job_spec.h"
#include "workload/model_spec.h"

#define PLAN_DEFAULT_TOP 6u /* the answer and the five next best */

struct efficiency_catalogue;
struct strategy;

/* Adds to the list why the search decided as it did: plan_explain (explanation/). */
typedef int (*plan_explain_fn)(const struct strategy *strategy, struct plan_list *list,
                               struct error_info *err);

struct plan_request {
    const struct model_spec *model;
    const struct cluster_topology *cluster; /* the nodes of the job */
    const struct gpu_catalogue *gpus;
    const struct framework_catalogue *frameworks;
    const struct job_spec *job;
    const struct policy *policy;
    const char *policy_where; /* for the verdict's text; NULL: the node kind's name */
    uint64_t world;           /* GPUs that take part; 0: all of the cluster but `spare` nodes */
    unsigned gpus_per_node;   /* GPUs used on each node; 0: all */
    uint64_t reserved_bytes;  /* of each GPU: what else stays on it (roles/role_plans.h) */
    unsigned top;             /* plans wanted; 0: PLAN_DEFAULT_TOP */
    const struct efficiency_catalogue *efficiencies; /* NULL: the compiled-in ones, parsed anew */
    plan_explain_fn explain;                         /* NULL: no rules */
    bool brief; /* where nothing fits: what was missed, no remedies */
};

struct plan_list *plan_search(const struct plan_request *request, struct error_info *err);

/* One plan from given degrees without a model: no memory, no time; numbering and policy
 * only. Degrees are completed for `world` ranks. */
int plan_from_degrees(const struct job_spec *job, const struct cluster_topology *cluster,
                      uint64_t world, struct plan *ret, struct error_info *err);

/* shard and replicate of degrees whose dp is known: the given width, else 1 without sharding,
 * dp for ZeRO, and for HSDP the widest group inside one node (cluster may be NULL: dp). Refuses
 * a given width that degrees_set_shard refuses. */
int plan_shard_width(const struct job_spec *job, const struct cluster_topology *cluster,
                     enum sharding sharding, struct degrees *degrees, struct error_info *err);

/* What policy_check needs, for that cluster and GPUs per node in use (0: all of the smallest
 * node) and that many ranks (0: all nodes). ret borrows from the cluster. */
void policy_place_of(const struct cluster_topology *cluster, unsigned gpus_per_node, uint64_t world,
                     const char *where, struct policy_place *ret);

#endif
