/* SPDX-License-Identifier: MIT */
/*
 * planner_fixture: everything plan_search needs, from three texts.
 */
#ifndef TESTS_SUPPORT_PLANNER_FIXTURE_H
#define TESTS_SUPPORT_PLANNER_FIXTURE_H

#include "planner/efficiency_catalogue.h"
#include "planner/plan_context.h"
#include "planner/plan_search.h"
#include "topology/preset_catalogue.h"

struct planner_fixture {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct framework_catalogue *frameworks;
    struct model_catalogue *models;
    struct efficiency_catalogue *efficiencies;
    struct cluster_topology *cluster;
    struct job_spec *job;
    struct policy policy;
    struct plan_request request; /* complete; change what a test is about */
};

/* model: a preset; cluster: "dgx-h100:16"; keys: "tp=8,global_batch=512" or NULL. */
int planner_fixture_init(struct planner_fixture *fixture, const char *model, const char *cluster,
                         const char *keys, struct error_info *err);
void planner_fixture_done(struct planner_fixture *fixture);

DEFINE_CLEANUP_DONE(planner_fixture);

#endif
