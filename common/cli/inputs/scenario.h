/* SPDX-License-Identifier: MIT */
/*
 * scenario: everything that plan, check, map and env need, made from the options in one
 * way: data files, admins' policy, cluster, job and model, as one plan_request.
 */
#ifndef CLI_INPUTS_SCENARIO_H
#define CLI_INPUTS_SCENARIO_H

#include "cli/command_options.h"
#include "cli/inputs/catalogues.h"
#include "mapping/placement.h"
#include "planner/plan_search.h"
#include "report/plan_report.h"
#include "workload/admin_config.h"
#include "workload/training_spec.h"

struct scenario {
    struct catalogues catalogues;
    struct admin_config *config;
    struct policy_subject subject;
    struct policy policy; /* of the partition, QOS, account and user that are named */
    struct cluster_topology *cluster;
    struct model_spec *model; /* NULL: none was named */
    struct plan_request request;
    struct training_spec training;
    const struct framework_profile *framework;
    uint64_t world;
    unsigned gpus_per_node;
};

/* On failure nothing is left to free. */
int scenario_open(struct scenario *scenario, const struct command_options *options,
                  struct error_info *err);
void scenario_done(struct scenario *scenario);

/* The admins' file that --config names, or the default one (path NULL). */
struct admin_config *scenario_open_config(const char *path, struct error_info *err);

/* Refuses a scenario without a model, naming how to give one. */
int scenario_need_model(const struct scenario *scenario, struct error_info *err);

/* The same for that many of the cluster's nodes. */
int scenario_resize(struct scenario *scenario, unsigned nodes, struct error_info *err);

/* plan_search() of one of the scenario's requests, with the policy's word on the order too, and
 * with the scope that a verdict comes from. */
struct plan_list *scenario_search(const struct scenario *scenario,
                                  const struct plan_request *request, struct error_info *err);

/* Says in the verdict's text which scope of the admins' file it comes from. */
void scenario_name_scope(const struct scenario *scenario, struct policy_verdict *verdict);

/* For a placement that has no degrees: what require_plan says of it, as srun does. A warning
 * stays in the verdict. */
void scenario_check_required(const struct scenario *scenario, struct placement *placement);

/* What the plan reports want to know. */
struct plan_report scenario_report(const struct scenario *scenario, const struct plan_list *list);

DEFINE_CLEANUP_DONE(scenario);

#endif
