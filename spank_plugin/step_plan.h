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
#include "workload/launch_flags.h"

struct step_plan_request {
    const struct step_facts *facts;
    const struct admin_config *config;
    const char *option;          /* --parplan's value: auto, FILE or keys */
    const struct policy *policy; /* the step's own (admin_config_policy) */
    const char *const *command;  /* the launched program and its arguments */
    size_t command_count;
    /* The program numbers its ranks by SLURM_PROCID, as this says ("--mpi=pmi2"); NULL: it takes
     * RANK. The plan then keeps the order of the facts' blocks, as it does under place=slurm. */
    const char *numbering;
};

struct step_plan {
    struct job_spec *job;
    struct model_spec *model; /* NULL without one */
    struct cluster_topology *cluster;
    struct gpu_catalogue *gpus;
    struct framework_catalogue *frameworks;
    struct plan_request request; /* what was asked; points at the members above */
    struct placement placement;
    struct wire_plan *wire; /* NULL: laid out only */
    char *notices;          /* what the command's own flags and files say, or "" */
    struct launch_counts counts;
};

/* The option alone: syntax, and a job file's content. */
struct job_spec *step_option_parse(const char *option, struct error_info *err);
/* The same and the model that it names, before anything is allocated. in_job: the nodes are known
 * before the step is, as place=slurm needs. */
int step_option_check(const char *option, bool in_job, struct error_info *err);

/* place=slurm */
bool step_option_is_placed(const struct job_spec *job);

/* Why a step gets no plan. */
enum step_refusal {
    REFUSED_INPUT,  /* the option, a file, the machine's description; memory */
    REFUSED_LAYOUT, /* this step: uneven tasks, a product that is not its ranks, nothing fits */
    REFUSED_POLICY
};

/* A refusal is an error like any other; *ret_refusal says of which kind, and is meaningful
 * after a failure only. */
int step_plan_create(const struct step_plan_request *request, struct step_plan *ret,
                     enum step_refusal *ret_refusal, struct error_info *err);
/* The plan alone, laid on `nodes` of the facts' nodes, whichever suit best: what
 * placement.map->block_nodes says is where the blocks are to come. */
int step_plan_lay_out(const struct step_plan_request *request, size_t nodes, struct step_plan *ret,
                      enum step_refusal *ret_refusal, struct error_info *err);
void step_plan_done(struct step_plan *plan);

DEFINE_CLEANUP_DONE(step_plan);

#endif
