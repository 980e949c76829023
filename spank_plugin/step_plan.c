/* SPDX-License-Identifier: MIT */
#include "spank_plugin/step_plan.h"
#include "base/text_file.h"
#include "spank_plugin/master_address.h"
#include "spank_plugin/node/step_wire_facts.h"
#include "spank_plugin/step_cluster.h"
#include "workload/job/option_kind.h"
#include "workload/model_source.h"
#include <stdio.h>
#include <string.h>

#define JOB_FILE_MAXIMUM_BYTES ((size_t)1 << 20)
#define NOTICES_MAXIMUM_BYTES ((size_t)4096)

static int unreadable(const char *path, struct error_info *err)
{
    const char *remedy =
        path[0] == '/'
            ? ""
            : UNPACKED_TEXT("; give an absolute path where the step starts in another folder");
    if (!err)
        return -1;
    char reason[ERROR_TEXT_BYTES];
    snprintf(reason, sizeof(reason), "%s", err->text);
    return error_set(err, "--parplan: %.900s%s", reason, remedy);
}

static int read_option(struct job_spec *job, const char *option, struct error_info *err)
{
    if (!option_names_file(option))
        return job_spec_parse_option(job, option, "--parplan", err);
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(option, JOB_FILE_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return unreadable(option, err);
    return job_spec_parse_yaml(job, text, bytes, option, err);
}

bool step_option_is_placed(const struct job_spec *job)
{
    return job_spec_number(job, JOB_PLACE, PLACE_ENV) == PLACE_SLURM;
}

struct job_spec *step_option_parse(const char *option, struct error_info *err)
{
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    if (!job || read_option(job, option, err) < 0)
        return NULL;
    if (job_spec_number(job, JOB_SPARE, 0) > 0 && !step_option_is_placed(job))
        return error_null(error_set(err,
                                    "%s: a step has tasks on all its nodes; use place=slurm with "
                                    "spare, or give srun the nodes that are to work",
                                    job->values[JOB_SPARE].where));
    if (job_spec_order_is_open(job))
        return error_null(error_set(err,
                                    "%s: order=auto leaves open how the program numbers its ranks; "
                                    "use the order that `parplan flags` told it",
                                    job->values[JOB_ORDER].where));
    if (job_spec_check_available(job, err) < 0)
        return NULL;
    return move_pointer(job);
}

static struct model_spec *open_named_model(const struct job_spec *job, struct error_info *err)
{
    const struct job_value *name = &job->values[JOB_MODEL];
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(err);
    struct model_spec *model = catalogue ? model_source_open(name->text, catalogue, err) : NULL;
    if (!model)
        error_prefix(err, "%s", name->where);
    return model;
}

int step_option_check(const char *option, bool in_job, struct error_info *err)
{
    CLEANUP(job_spec) struct job_spec *job = step_option_parse(option, err);
    if (!job)
        return -1;
    if (step_option_is_placed(job) && !in_job)
        return error_set(err,
                         "%s: place=slurm orders nodes that are known: start srun inside salloc or "
                         "sbatch, or use place=env",
                         job->values[JOB_PLACE].where);
    if (!job->values[JOB_MODEL].given)
        return 0;
    CLEANUP(model_spec) struct model_spec *model = open_named_model(job, err);
    return model ? 0 : -1;
}

static int read_command(const struct step_plan_request *request, struct step_plan *plan,
                        struct error_info *err)
{
    const struct launch_command command = {
        .arguments = request->command, .count = request->command_count, .read = text_file_read};
    CLEANUP_DONE(text_buffer) struct text_buffer notices;
    text_buffer_init(&notices, NOTICES_MAXIMUM_BYTES);
    if (launch_command_read(&command, plan->job, &plan->counts, &notices, err) < 0)
        return -1;
    plan->notices = memory_copy_text(text_buffer_text(&notices));
    return plan->notices ? 0 : error_set_memory(err);
}

static int unknown_gpus(const struct step_facts *facts, const char *model, struct error_info *err)
{
    if (facts->gpu_type[0])
        return error_set(err,
                         "model=%s cannot be planned: no preset has %u GPUs of type %s in a node; "
                         "describe the nodes in a cluster file and name it under cluster: in "
                         "parplan.yaml, or give degrees (tp=8,pp=4) without a model",
                         model, facts->node_gpus, facts->gpu_type);
    return error_set(err,
                     "model=%s cannot be planned: the GPU kind of the nodes is unknown; name it in "
                     "gres.conf (gres/gpu type, as gpu:h100:8) or under cluster: in parplan.yaml, "
                     "or give degrees (tp=8,pp=4) without a model",
                     model);
}

static int open_model(const struct step_plan_request *request, struct step_plan *plan,
                      struct error_info *err)
{
    if (!plan->job->values[JOB_MODEL].given)
        return 0;
    plan->model = open_named_model(plan->job, err);
    if (!plan->model)
        return -1;
    if (!step_cluster_knows_gpus(plan->cluster, plan->gpus))
        return unknown_gpus(request->facts, plan->job->values[JOB_MODEL].text, err);
    return 0;
}

static int open_catalogues(const struct step_plan_request *request, struct step_plan *plan,
                           struct error_info *err)
{
    plan->gpus = gpu_catalogue_builtin(err);
    if (!plan->gpus)
        return -1;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(err);
    if (!presets)
        return -1;
    plan->cluster =
        step_cluster_create(request->facts, request->config->cluster, presets, plan->gpus, err);
    if (!plan->cluster)
        return -1;
    plan->frameworks = framework_catalogue_builtin(err);
    return plan->frameworks ? 0 : -1;
}

/* GPUs of each node that the step's ranks use: one per task, or with one task per node all
 * that the step has there. */
static unsigned ranks_per_node(const struct step_facts *facts)
{
    if (facts->tasks_per_node > 1 || facts->gpus_per_node == 0)
        return facts->tasks_per_node;
    return facts->gpus_per_node;
}

/* Without GPUs, one task on a node may be any number of ranks. */
static int check_counts(const struct step_facts *facts, const struct launch_counts *counts,
                        struct error_info *err)
{
    const struct launch_step step = {
        .nodes = node_list_count(facts->nodes),
        .ranks_per_node = ranks_per_node(facts),
        .tasks_per_node = facts->tasks_per_node,
    };
    if (facts->tasks_per_node == 1 && facts->gpus_per_node == 0)
        return 0;
    return launch_counts_check(counts, &step, err);
}

static int place_ranks(const struct step_plan_request *request, size_t nodes, bool ordered,
                       struct step_plan *plan, enum step_refusal *ret_refusal,
                       struct error_info *err)
{
    unsigned per_node = ranks_per_node(request->facts);
    plan->request = (struct plan_request){
        .model = plan->model,
        .cluster = plan->cluster,
        .gpus = plan->gpus,
        .frameworks = plan->frameworks,
        .job = plan->job,
        .policy = request->policy,
        .policy_where = per_node < request->facts->node_gpus ? "a node of this step" : NULL,
        .world = (uint64_t)per_node * nodes,
        .gpus_per_node = per_node,
    };
    const struct mapping_wishes wishes = {.identity = ordered,
                                          .node_order = request->facts->block_nodes};
    *ret_refusal = REFUSED_LAYOUT;
    if (check_counts(request->facts, &plan->counts, err) < 0)
        return -1;
    if (placement_create(&plan->request, &wishes, &plan->placement, err) < 0)
        return -1;
    if (plan->placement.outcome == PLACEMENT_DENIED)
        *ret_refusal = REFUSED_POLICY;
    if (plan->placement.outcome != PLACEMENT_DONE)
        return placement_refusal(&plan->placement, err);
    *ret_refusal = REFUSED_INPUT;
    return 0;
}

static int make_wire(const struct step_plan_request *request, bool ordered, struct step_plan *plan,
                     struct error_info *err)
{
    char master[WIRE_PLAN_MASTER_BYTES];
    master_address_find(request->facts, rank_map_master(plan->placement.map),
                        request->config->master_addr, master, sizeof(master));
    plan->wire =
        wire_plan_create(plan->placement.map, request->facts->tasks_per_node, master, ordered, err);
    if (!plan->wire)
        return -1;
    struct wire_facts facts;
    step_wire_facts(plan, request->facts, &facts);
    return wire_plan_set_facts(plan->wire, &facts, err);
}

static int check_layout(const struct step_facts *facts, struct error_info *err)
{
    if (!facts->tasks_per_node)
        return error_set(err,
                         "tasks are uneven: %s; ranks need as many tasks on every node: use "
                         "--ntasks-per-node",
                         facts->uneven);
    if (facts->tasks_per_node > 1 && facts->gpus_per_node > 0 &&
        facts->gpus_per_node < facts->tasks_per_node)
        return error_set(err,
                         "%s has %u GPU%s for %u tasks; ranks need one each: use "
                         "--gpus-per-node=%u, or --ntasks-per-node=%u",
                         node_list_name(facts->nodes, facts->fewest_gpus), facts->gpus_per_node,
                         facts->gpus_per_node == 1 ? "" : "s", facts->tasks_per_node,
                         facts->tasks_per_node, facts->gpus_per_node);
    return 0;
}

/* What numbers itself by SLURM_PROCID must find the RANKs there, whoever laid them so. */
static int check_numbering(const struct step_plan_request *request, struct error_info *err)
{
    if (request->facts->block_nodes)
        return 0;
    return error_set(err,
                     "%s: ranks are numbered by SLURM_PROCID, and this step has no block of them "
                     "on each node; use -m block",
                     request->numbering ? request->numbering : "place=slurm");
}

static int open_inputs(const struct step_plan_request *request, struct step_plan *plan,
                       enum step_refusal *ret_refusal, struct error_info *err)
{
    *ret_refusal = REFUSED_LAYOUT;
    if (check_layout(request->facts, err) < 0)
        return -1;
    *ret_refusal = REFUSED_INPUT;
    plan->job = step_option_parse(request->option, err);
    return plan->job && read_command(request, plan, err) == 0 &&
                   open_catalogues(request, plan, err) == 0 && open_model(request, plan, err) == 0
               ? 0
               : -1;
}

int step_plan_lay_out(const struct step_plan_request *request, size_t nodes, struct step_plan *ret,
                      enum step_refusal *ret_refusal, struct error_info *err)
{
    struct step_plan plan = {.job = NULL};
    if (open_inputs(request, &plan, ret_refusal, err) < 0 ||
        place_ranks(request, nodes, false, &plan, ret_refusal, err) < 0) {
        step_plan_done(&plan);
        return -1;
    }
    *ret = plan;
    return 0;
}

static int lay_as_it_is(const struct step_plan_request *request, struct step_plan *plan,
                        enum step_refusal *ret_refusal, struct error_info *err)
{
    bool ordered = request->numbering || step_option_is_placed(plan->job);
    *ret_refusal = REFUSED_LAYOUT;
    if (ordered && check_numbering(request, err) < 0)
        return -1;
    if (place_ranks(request, node_list_count(request->facts->nodes), ordered, plan, ret_refusal,
                    err) < 0 ||
        make_wire(request, ordered, plan, err) < 0)
        return -1;
    const char *launcher = plan->counts.of[LAUNCH_NODE_ORDER].where;
    if (!launcher || plan->wire->locality_only || (plan->wire->facts.slurm_ranks && !ordered))
        return 0; /* torchrun's c10d numbers nodes by name */
    *ret_refusal = REFUSED_LAYOUT;
    return error_set(err, "%s", launcher);
}

int step_plan_create(const struct step_plan_request *request, struct step_plan *ret,
                     enum step_refusal *ret_refusal, struct error_info *err)
{
    struct step_plan plan = {.job = NULL};
    if (open_inputs(request, &plan, ret_refusal, err) < 0 ||
        lay_as_it_is(request, &plan, ret_refusal, err) < 0) {
        step_plan_done(&plan);
        return -1;
    }
    *ret = plan;
    return 0;
}

void step_plan_done(struct step_plan *plan)
{
    wire_plan_free(plan->wire);
    placement_done(&plan->placement);
    framework_catalogue_free(plan->frameworks);
    cluster_topology_free(plan->cluster);
    gpu_catalogue_free(plan->gpus);
    model_spec_free(plan->model);
    job_spec_free(plan->job);
    memory_free(plan->notices);
    *plan = (struct step_plan){.job = NULL};
}
