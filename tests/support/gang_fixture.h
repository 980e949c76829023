/* SPDX-License-Identifier: MIT */
/*
 * gang_fixture: a gang's problem on a preset cluster, with everything that a plan of it needs.
 */
#ifndef TESTS_SUPPORT_GANG_FIXTURE_H
#define TESTS_SUPPORT_GANG_FIXTURE_H

#include "k8s_extender/placement/gang_plan.h"

#define GANG_FIXTURE_LABELS 16u
#define GANG_FIXTURE_ARGUMENTS 16u

struct gang_fixture {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct framework_catalogue *frameworks;
    struct model_catalogue *models;
    struct efficiency_catalogue *efficiencies;
    struct admin_config *config;
    struct gang_plan_sources sources;
    struct cluster_topology *cluster;
    struct cluster_view view; /* by hand: never to be freed as one */
    struct gang_candidate *candidates;
    uint32_t *fixed; /* by pod; gang_fixture_fix fills it */
    struct label labels[GANG_FIXTURE_LABELS];
    const char *arguments[GANG_FIXTURE_ARGUMENTS];
    struct gang_problem problem;
    struct arena *arena;
};

/* cluster: "dgx-h100:16", or a parplan.cluster/1 file's text; policy: the lines below "policy:" of
 * parplan.yaml, or NULL. All nodes are candidates, with as many places as their GPUs allow. */
int gang_fixture_init(struct gang_fixture *fixture, const char *cluster, const char *policy,
                      uint32_t pods, uint32_t gpus_per_pod, struct error_info *err);
void gang_fixture_done(struct gang_fixture *fixture);
/* "tp=8 pp=4 parplan=auto,model=x": annotations parplan.io/tp …; replaces those before. */
int gang_fixture_annotate(struct gang_fixture *fixture, const char *annotations,
                          struct error_info *err);
/* "torchrun --nnodes 16 train.py": the container's command. */
int gang_fixture_command(struct gang_fixture *fixture, const char *command, struct error_info *err);
/* Makes a replan of the problem: its pods on the plan's nodes. Then fixed[pod] may be changed. */
int gang_fixture_fix(struct gang_fixture *fixture, const struct gang_plan *plan,
                     struct error_info *err);
struct gang_plan *gang_fixture_plan(const struct gang_fixture *fixture, struct error_info *err);
/* Index of a node of that name, or VIEW_NODE_NONE. */
uint32_t gang_fixture_node(const struct gang_fixture *fixture, const char *name);

DEFINE_CLEANUP_DONE(gang_fixture);

#endif
