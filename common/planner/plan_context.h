/* SPDX-License-Identifier: MIT */
/*
 * plan_context: a request with everything looked up that every configuration needs: counted
 * parameters, GPU, rates, profile, efficiencies. Made once per search, then read only.
 *
 * A cluster of several node kinds is planned for its slowest and its smallest GPU.
 */
#ifndef PLANNER_PLAN_CONTEXT_H
#define PLANNER_PLAN_CONTEXT_H

#include "planner/group_span.h"
#include "planner/plan_search.h"
#include "planner/sizes/plan_shape.h"
#include "workload/training_spec.h"

/* Structs and arrays come last: what is near the start is reached by shorter code. */
struct plan_context {
    const struct plan_request *request;
    const struct model_spec *model;
    const struct framework_profile *profile;
    const struct node_topology *node; /* of the slowest kind */
    const char *kind_name;            /* its name */
    const struct gpu_model *gpu;      /* NULL: not in the catalogue, no times */
    const struct efficiency_catalogue *efficiencies;
    const struct efficiency_architecture *architecture;
    const struct efficiency_framework *framework;
    struct efficiency_catalogue *own_efficiencies; /* NULL: the request's */
    uint64_t world;
    enum rank_order order;
    enum precision precision;
    uint64_t capacity_bytes; /* smallest GPU; 0: unknown */
    /* Of a node, as the job says, else its description; 0: unknown. */
    uint64_t host_memory_bytes, host_nvme_bytes;

    /* Rates, one direction, with their measured shares; 0: none or unknown. */
    double peak_flops_per_second;      /* dense, of the precision */
    double gemm_flops_per_second;      /* large GEMM of the precision */
    double attention_flops_per_second; /* 16 bit peak: attention is not done in FP8 */
    double memory_bytes_per_second;
    double nvlink_bytes_per_second; /* ring over a whole domain */
    double pair_bytes_per_second;   /* between two GPUs of it */
    double pcie_bytes_per_second;
    double network_bytes_per_second;
    bool network_assumed;
    const struct efficiency_network *network; /* the kind of network between the nodes */

    struct model_parameters parameters;
    struct training_spec training;
    struct cluster_shape shape;
    struct policy policy;
    struct policy_place place;

    double attention_scores; /* scores per head and sequence that causal attention needs */
    double model_flops;      /* of a step: model FLOPs, as step_time.h defines them */

    double uplink_bytes_per_second[FABRIC_MAXIMUM_TIERS]; /* one GPU's, below that tier */
    /* What is left of it for one GPU when all talk over that tier; index tier_count: unknown. */
    double tier_bytes_per_second[FABRIC_MAXIMUM_TIERS + 1];
};

/* ret belongs to the caller, also after a failure (plan_context_done either way). */
int plan_context_init(struct plan_context *ret, const struct plan_request *request,
                      struct error_info *err);
void plan_context_done(struct plan_context *context);
/* The rates anew, after efficiencies changed under the context (which calibration does). */
void plan_context_rates(struct plan_context *context);

/* The plan's sizes for this model and run; points into both. */
struct plan_shape plan_context_shape(const struct plan_context *context, const struct plan *plan);

DEFINE_CLEANUP_DONE(plan_context);

#endif
