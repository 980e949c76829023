/* SPDX-License-Identifier: MIT */
/*
 * step_plan: from the option and the step's facts to the plan that goes on the wire. Runs in
 * srun as the user; asks Slurm nothing.
 */
#ifndef SPANK_PLUGIN_STEP_PLAN_H
#define SPANK_PLUGIN_STEP_PLAN_H

#include "mapping/placement.h"
#include "mapping/wire_plan.h"
#include "spank_plugin/step_facts.h"
#include "workload/admin_config.h"

struct step_plan_request {
    const struct step_facts *facts;
    const struct admin_config *config;
    const char *option;         /* --parplan's value: auto, FILE or keys */
    const char *partition;      /* or NULL */
    const char *const *command; /* the launched program and its arguments */
    size_t command_count;
};

struct step_plan {
    struct job_spec *job;
    struct model_spec *model; /* NULL without one */
    struct cluster_topology *cluster;
    struct gpu_catalogue *gpus;
    struct framework_catalogue *frameworks;
    struct plan_request request; /* what was asked; points at the members above */
    struct placement placement;
    struct wire_plan *wire;
    char *notices; /* what the command's own flags say, or "" */
};

/* The option alone, before anything is allocated: syntax, and a job file's content. The
 * result is what step_plan_create reads again. */
struct job_spec *step_option_parse(const char *option, struct error_info *err);

/* A refusal is an error like any other. *ret_misfit: the step's layout is the reason (uneven
 * tasks, degrees that do not multiply to its ranks, nothing fits), not the option itself or
 * the policy; an inherited option lets such a step pass. */
int step_plan_create(const struct step_plan_request *request, struct step_plan *ret,
                     bool *ret_misfit, struct error_info *err);
void step_plan_done(struct step_plan *plan);

DEFINE_CLEANUP_DONE(step_plan);

#endif
