/* SPDX-License-Identifier: MIT */
/*
 * objective: the map that a plan wants, and what it costs: objective=golden, cost or auto.
 *
 * golden: what the rule weighs (traffic_of_rule): TP nearest, then CP and EP, PP, replicas last.
 * cost: the fewest exposed seconds of communication (mapping_cost.h). Needs a model.
 * auto: golden, unless the cost's map saves more than OBJECTIVE_MARGIN of golden's seconds.
 *
 * Where that map breaks the policy's spans, and one that keeps the limited groups nearest does
 * not, it is that one.
 *
 * The bound is of the seconds where a model says how many bytes go where, else of the rule's
 * weights.
 */
#ifndef MAPPING_OBJECTIVE_H
#define MAPPING_OBJECTIVE_H

#include "mapping/mapping_cost.h"
#include "planner/plan_search.h"

#define OBJECTIVE_MARGIN 0.05

/* How the nodes are chosen and searched; all 0: as the planner thinks best. */
struct mapping_wishes {
    bool identity;              /* keep the cluster's node order, or node_order */
    const unsigned *node_order; /* with identity: all node indices, as they are to stand */
    bool exact;                 /* prove the optimum, of small cases */
    uint64_t budget;            /* exchanges; 0: mapping_search.h's */
    const struct node_pin *pins;
    size_t pin_count;
};

struct objective_result {
    enum job_objective objective; /* golden or cost: which one the map is of */
    struct mapping_cost cost;
    struct traffic traffic; /* and what a byte of it takes, when cost.seconds_known */
    struct link_seconds seconds;
    struct mapping_quality quality; /* seconds, when cost.seconds_known */
    double golden_seconds;          /* under auto and cost: what golden's map would take; else 0 */
};

/* The map of one plan; request->model may be NULL. locality: no degrees. */
struct rank_map *objective_map(const struct plan_request *request, const struct plan *plan,
                               uint64_t world, bool locality, const struct mapping_wishes *wishes,
                               struct objective_result *ret, struct error_info *err);

/* Links of the dimension's groups that leave what the policy's spans names; *ret_unknown: of those
 * not counted, what goes where nobody knows the switches. */
uint64_t objective_links_out(const struct policy *policy, const struct mapping_cost *cost,
                             enum span_dimension dimension, uint64_t *ret_unknown);

/* order=auto: of the orders that the framework can be told and its assertions allow
 * (rank_order_check), the one whose map costs least; of equals the framework's own. */
int objective_choose_order(const struct plan_request *request, struct plan *plan, uint64_t world,
                           struct error_info *err);

#endif
