/* SPDX-License-Identifier: MIT */
/*
 * traffic: who sends how many bytes per step, as flows: the pairs of one kind of group
 * (solver/group_pairs.h) with the bytes of a pair, made from what
 * planner/sizes/communication_volume.h says a plan exchanges. Reductions and gathers go round
 * rings, activations along chains (both directions of a boundary count), routed tokens between
 * all ranks of an EP group. Layers and parameters are the mean over the stages, so that the sum
 * over all ranks is the job's.
 *
 * Tables show five dimensions: TP holds ETP's gathers too. DP holds the dense parameters'
 * reductions and gathers over D c, the experts' over EDP, and those over the replicas; each is a
 * flow of its own, so a shard group's traffic weighs on it alone.
 */
#ifndef MAPPING_TRAFFIC_H
#define MAPPING_TRAFFIC_H

#include "mapping/solver/group_pairs.h"
#include "planner/plan_search.h"
#include "workload/training_spec.h"

enum traffic_dimension {
    TRAFFIC_TP,
    TRAFFIC_CP,
    TRAFFIC_EP,
    TRAFFIC_PP,
    TRAFFIC_DP,
    TRAFFIC_DIMENSION_COUNT
};

#define TRAFFIC_FLOWS_MAXIMUM 10u

struct traffic_flow {
    enum traffic_dimension dimension;
    enum group_dimension group;
    enum pair_pattern pattern;
    bool is_message;   /* a message from one rank to another, not a collective */
    double pair_bytes; /* per step, of one pair of neighbours, both directions */
    double exposed;    /* the share that the step waits for: 1 - the profile's overlap */
};

struct traffic {
    struct traffic_flow flows[TRAFFIC_FLOWS_MAXIMUM];
    unsigned flow_count;
};

const char *traffic_dimension_name(enum traffic_dimension dimension);

/* No flows when the model's parameters leave 64 bits. */
void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, const struct training_spec *training,
                     struct traffic *ret);

/* Weights instead of bytes, for the rule "what talks most sits nearest" (objective=golden, and
 * where no model says how many bytes there are): TP before CP and EP, before shard groups that
 * gather parameters, before PP, before replicas. */
void traffic_of_rule(const struct plan *plan, struct traffic *ret);

/* Bytes per step that one rank sends in a dimension, in the mean: rings and all-to-all all that
 * leave it, chains what crosses one boundary. */
double traffic_rank_bytes(const struct traffic *traffic, const struct degrees *degrees,
                          enum traffic_dimension dimension);

#endif
