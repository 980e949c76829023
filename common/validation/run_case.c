/* SPDX-License-Identifier: MIT */
#include "validation/run_case.h"

#include "planner/memory_model.h"
#include "planner/step_time.h"
#include "topology/preset_catalogue.h"
#include <stdio.h>

#define CLUSTER_TEXT_BYTES 128
#define LONGEST_STEP_SECONDS 1e7 /* four months */
#define KEYS_TEXT_BYTES 160
#define HARDWARE_FLOPS 96.0
#define FLOPS_PER_PUBLISHED_PARAMETER 8.0

struct run_case {
    struct published_run run;
    struct cluster_topology *preset; /* owned */
    struct node_topology node;       /* the preset's, with the row's network */
    struct node_nic nic;             /* the row's, standing for all */
    const struct node_topology *kinds[1];
    struct cluster_topology cluster; /* borrows from `preset` */
    unsigned domain_nodes;           /* of a whole NVLink domain of the preset's */
    struct framework_profile profile;
    const struct framework_profile *catalogue_profile;
    const struct efficiency_architecture *catalogue_architecture;
    const struct efficiency_framework *catalogue_framework;
    struct framework_catalogue frameworks;
    struct job_spec *job;
    struct plan_request request;
    struct plan_context context;
};

void run_case_free(struct run_case *run_case)
{
    if (!run_case)
        return;
    plan_context_done(&run_case->context);
    job_spec_free(run_case->job);
    cluster_topology_free(run_case->preset);
    memory_free(run_case);
}

static int open_cluster(struct run_case *run_case, const struct run_catalogues *catalogues,
                        struct error_info *err)
{
    const struct published_run *run = &run_case->run;
    const struct node_preset *preset = preset_catalogue_find(catalogues->presets, run->preset);
    if (!preset)
        return error_set(err, "%s: no such node preset", run->preset);
    unsigned all = preset->gpu_count, used = run->gpus_per_node;
    used = used > 0 && used < all ? used : all;
    char text[CLUSTER_TEXT_BYTES];
    snprintf(text, sizeof(text), "%s:%u", run->preset, (run->gpus + used - 1) / used);
    run_case->preset =
        cluster_topology_from_preset(text, catalogues->presets, catalogues->gpus, err);
    if (!run_case->preset)
        return -1;
    run_case->node = *run_case->preset->kinds[0];
    run_case->node.gpu_nic_bytes_per_second = run->network_bytes_per_second;
    run_case->nic =
        (struct node_nic){.name = run->nic_name, .role = NIC_RAIL, .is_ethernet = run->is_ethernet};
    run_case->node.nics = &run_case->nic;
    run_case->node.nic_count = 1;
    run_case->kinds[0] = &run_case->node;
    run_case->cluster = *run_case->preset;
    run_case->cluster.kinds = run_case->kinds;
    run_case->request.gpus_per_node = used;
    run_case->domain_nodes = preset->nvlink_domain_nodes;
    return 0;
}

static int open_framework(struct run_case *run_case, const struct run_catalogues *catalogues,
                          struct error_info *err)
{
    const struct published_run *run = &run_case->run;
    const struct framework_profile *profile =
        framework_catalogue_find(catalogues->frameworks, run->framework, err);
    if (!profile)
        return -1;
    run_case->profile = *profile;
    run_case->catalogue_profile = profile;
    if (run->sequence_parallel_given)
        run_case->profile.sequence_parallel = run->sequence_parallel;
    run_case->frameworks = (struct framework_catalogue){.profiles = &run_case->profile, .count = 1};
    return 0;
}

static int open_job(struct run_case *run_case, struct error_info *err)
{
    const struct published_run *run = &run_case->run;
    char keys[KEYS_TEXT_BYTES];
    snprintf(keys, sizeof(keys), "sequence_length=%u,global_batch=%u,precision=%s",
             run->sequence_length, run->global_batch, precision_name(run->plan.precision));
    run_case->job = job_spec_create(err);
    if (!run_case->job || job_spec_parse_option(run_case->job, keys, run->id, err) < 0)
        return -1;
    return job_spec_set(run_case->job, "framework", run_case->profile.name, run->id, err);
}

static int open_context(struct run_case *run_case, const struct run_catalogues *catalogues,
                        struct error_info *err)
{
    run_case->request = (struct plan_request){
        .model = &run_case->run.model,
        .cluster = &run_case->cluster,
        .gpus = catalogues->gpus,
        .frameworks = &run_case->frameworks,
        .job = run_case->job,
        .world = run_case->run.gpus,
        .gpus_per_node = run_case->request.gpus_per_node,
        .efficiencies = catalogues->efficiencies,
    };
    return plan_context_init(&run_case->context, &run_case->request, err);
}

/* An export variant of a GPU has the preset's everything but NVLink. */
static void apply_nvlink(struct run_case *run_case)
{
    double rate = run_case->run.nvlink_bytes_per_second;
    double preset = run_case->node.gpu_nvlink_bytes_per_second;
    if (rate <= 0 || preset <= 0)
        return;
    run_case->context.nvlink_bytes_per_second *= rate / preset;
    run_case->context.pair_bytes_per_second *= rate / preset;
}

/* Jobs wider than an NVLink domain over nodes take a power of two of its GPUs, as schedulers'
 * segments do (64 of 72), so that groups do not straddle it, and no domain is left in part. */
static void apply_segment(struct run_case *run_case)
{
    struct cluster_shape *shape = &run_case->context.shape;
    unsigned domain = run_case->domain_nodes * shape->gpus_per_node;
    if (run_case->domain_nodes <= 1 || run_case->run.gpus <= domain)
        return;
    unsigned segment = shape->gpus_per_node;
    while (segment * 2 <= domain)
        segment *= 2;
    shape->domain_gpus = segment;
}

struct run_case *run_case_create(const struct published_run *run,
                                 const struct run_catalogues *catalogues, struct error_info *err)
{
    CLEANUP(run_case) struct run_case *run_case = memory_allocate(sizeof(*run_case));
    if (!run_case)
        return error_null(error_set_memory(err));
    run_case->run = *run;
    if (open_framework(run_case, catalogues, err) < 0 ||
        open_cluster(run_case, catalogues, err) < 0 || open_job(run_case, err) < 0 ||
        open_context(run_case, catalogues, err) < 0)
        return NULL;
    run_case->catalogue_architecture = run_case->context.architecture;
    run_case->catalogue_framework = run_case->context.framework;
    apply_nvlink(run_case);
    apply_segment(run_case);
    return move_pointer(run_case);
}

const struct published_run *run_case_run(const struct run_case *run_case) { return &run_case->run; }

const struct plan_context *run_case_context(const struct run_case *run_case)
{
    return &run_case->context;
}

const struct efficiency_architecture *
run_case_catalogue_architecture(const struct run_case *run_case)
{
    return run_case->catalogue_architecture;
}

const struct efficiency_framework *run_case_catalogue_framework(const struct run_case *run_case)
{
    return run_case->catalogue_framework;
}

void run_case_use(struct run_case *run_case, const struct efficiency_architecture *architecture,
                  const struct efficiency_framework *framework,
                  const struct framework_profile *profile)
{
    run_case->context.architecture = architecture;
    run_case->context.framework = framework;
    run_case->profile.overlap_dp = profile->overlap_dp;
    run_case->profile.overlap_gather = profile->overlap_gather;
    run_case->profile.overlap_tp = profile->overlap_tp;
    run_case->profile.overlap_pp = profile->overlap_pp;
    run_case->profile.overlap_cp = profile->overlap_cp;
    run_case->profile.overlap_ep = profile->overlap_ep;
}

void run_case_use_catalogue(struct run_case *run_case)
{
    run_case_use(run_case, run_case->catalogue_architecture, run_case->catalogue_framework,
                 run_case->catalogue_profile);
}

void run_case_predicted_time(struct run_case *run_case, struct time_estimate *ret)
{
    plan_context_rates(&run_case->context);
    apply_nvlink(run_case);
    step_time_of(&run_case->context, &run_case->run.plan, ret);
}

double run_case_predicted_seconds(struct run_case *run_case)
{
    struct time_estimate time;
    run_case_predicted_time(run_case, &time);
    return time.step_seconds;
}

/* Of a step, as the publication counted. */
static double published_flops(const struct run_case *run_case)
{
    const struct published_run *run = &run_case->run;
    const struct model_spec *model = &run->model;
    double tokens = (double)run->global_batch * run->sequence_length;
    double h = model->hidden, s = run->sequence_length, l = model->layers, v = model->vocabulary;
    if (run->flops_kind == FLOPS_EIGHT_PER_PARAMETER)
        return FLOPS_PER_PUBLISHED_PARAMETER * run->parameters * tokens;
    if (run->flops_kind == FLOPS_HARDWARE)
        return HARDWARE_FLOPS * tokens * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    return run_case->context.model_flops;
}

double run_case_measured_seconds(const struct run_case *run_case)
{
    const struct published_run *run = &run_case->run;
    double gpus = run->gpus, seconds = run->step_seconds;
    if (seconds <= 0 && run->tokens_per_second > 0)
        seconds =
            (double)run->global_batch * run->sequence_length / (run->tokens_per_second * gpus);
    if (seconds <= 0 && run->flops_per_second > 0)
        seconds = published_flops(run_case) / (run->flops_per_second * gpus);
    double most = run_case->context.peak_flops_per_second * gpus;
    bool possible = seconds > 0 && seconds < LONGEST_STEP_SECONDS &&
                    run_case->context.model_flops / seconds < most;
    return possible ? seconds : 0;
}

void run_case_predicted_memory(struct run_case *run_case, struct memory_estimate *ret)
{
    memory_estimate_plan(&run_case->context, &run_case->run.plan, ret);
}

double run_case_comparable_bytes(const struct run_case *run_case,
                                 const struct memory_estimate *estimate)
{
    double total = (double)estimate->total_bytes;
    if (run_case->run.memory_allocated)
        total -= (double)estimate->parts[MEMORY_FRAMEWORK];
    return total;
}
