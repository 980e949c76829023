/* SPDX-License-Identifier: MIT */
#include "cli/inputs/scenario.h"
#include "cli/inputs/cluster_choice.h"
#include "cli/inputs/input_remedy.h"
#include "planner/explanation/plan_explain.h"
#include "workload/admin/policy_origin.h"
#include "workload/model_source.h"
#include <unistd.h>

/* The default file must be root's; a file that the user names may be their own. */
struct admin_config *scenario_open_config(const char *path, struct error_info *err)
{
    struct admin_config *config = admin_config_load(path, path ? geteuid() : 0, err);
    if (!config && path)
        input_remedy_add(path,
                         "give a file that begins with 'schema: parplan.config/1', or leave "
                         "--config out",
                         err);
    return config;
}

static int open_model(struct scenario *scenario, const struct command_options *options,
                      struct error_info *err)
{
    struct job_spec *job = options->job;
    if (options->model && job_spec_set(job, "model", options->model, "--model", err) < 0)
        return -1;
    if (!job->values[JOB_MODEL].given)
        return 0;
    scenario->model =
        model_source_open(job->values[JOB_MODEL].text, scenario->catalogues.models, err);
    return scenario->model ? 0 : -1;
}

static int count_gpus(struct scenario *scenario, const struct job_spec *job, struct error_info *err)
{
    scenario->gpus_per_node = cluster_gpus_per_node(scenario->cluster);
    if (scenario->gpus_per_node == 0)
        return error_set(err, "%s: a node without GPUs; name the nodes that have some with --nodes",
                         scenario->cluster->name);
    uint64_t spare = job_spec_number(job, JOB_SPARE, 0);
    if (spare >= scenario->cluster->node_count)
        return error_set(err, "spare=%llu leaves none of the %zu nodes; use a smaller spare",
                         (unsigned long long)spare, scenario->cluster->node_count);
    scenario->world = (scenario->cluster->node_count - spare) * scenario->gpus_per_node;
    return 0;
}

static int open_parts(struct scenario *scenario, const struct command_options *options,
                      struct error_info *err)
{
    if (job_spec_check_available(options->job, err) < 0 ||
        catalogues_open(&scenario->catalogues, options->data_directory, options->calibration, err) <
            0)
        return -1;
    scenario->config = scenario_open_config(options->config, err);
    if (!scenario->config)
        return -1;
    scenario->cluster =
        cluster_choice_open(options, scenario->config->cluster, &scenario->catalogues, err);
    if (!scenario->cluster || open_model(scenario, options, err) < 0 ||
        count_gpus(scenario, options->job, err) < 0)
        return -1;
    scenario->framework = framework_catalogue_find(scenario->catalogues.frameworks,
                                                   options->job->values[JOB_FRAMEWORK].text, err);
    if (!scenario->framework)
        return -1;
    return training_spec_from_job(options->job, scenario->world, &scenario->training, err);
}

int scenario_open(struct scenario *scenario, const struct command_options *options,
                  struct error_info *err)
{
    *scenario = (struct scenario){.config = NULL};
    if (open_parts(scenario, options, err) < 0) {
        scenario_done(scenario);
        return -1;
    }
    scenario->subject = (struct policy_subject){{[SCOPE_PARTITION] = options->partition,
                                                 [SCOPE_QOS] = options->qos,
                                                 [SCOPE_ACCOUNT] = options->account,
                                                 [SCOPE_USER] = options->user}};
    admin_config_policy(scenario->config, &scenario->subject, &scenario->policy);
    scenario->request = (struct plan_request){
        .model = scenario->model,
        .cluster = scenario->cluster,
        .gpus = scenario->catalogues.gpus,
        .frameworks = scenario->catalogues.frameworks,
        .job = options->job,
        .policy = &scenario->policy,
        .world = scenario->world,
        .gpus_per_node = scenario->gpus_per_node,
        .top = (unsigned)options->top,
        .efficiencies = scenario->catalogues.efficiencies,
        .explain = plan_explain,
    };
    return 0;
}

void scenario_done(struct scenario *scenario)
{
    model_spec_free(scenario->model);
    cluster_topology_free(scenario->cluster);
    admin_config_free(scenario->config);
    catalogues_done(&scenario->catalogues);
    *scenario = (struct scenario){.config = NULL};
}

int scenario_need_model(const struct scenario *scenario, struct error_info *err)
{
    if (scenario->model)
        return 0;
    return error_set(err, "which model? give --model NAME (`parplan models` lists the presets), a "
                          "config.json or a YAML file");
}

int scenario_resize(struct scenario *scenario, unsigned nodes, struct error_info *err)
{
    scenario->world = (uint64_t)nodes * scenario->gpus_per_node;
    scenario->request.world = scenario->world;
    return training_spec_from_job(scenario->request.job, scenario->world, &scenario->training, err);
}

void scenario_name_scope(const struct scenario *scenario, struct policy_verdict *verdict)
{
    policy_origin_add(&scenario->config->policy, &scenario->config->scopes, &scenario->subject,
                      verdict);
}

/* An order that is left open is the map's to choose. */
static void check_order(const struct plan_request *request, struct plan_list *list)
{
    struct policy_verdict order;
    if (job_spec_order_is_open(request->job))
        return;
    policy_check_order(request->policy, job_spec_order(request->job), &order);
    if (order.result > list->policy.result)
        list->policy = order;
}

struct plan_list *scenario_search(const struct scenario *scenario,
                                  const struct plan_request *request, struct error_info *err)
{
    struct plan_list *list = plan_search(request, err);
    if (!list)
        return NULL;
    check_order(request, list);
    scenario_name_scope(scenario, &list->policy);
    return list;
}

void scenario_check_required(const struct scenario *scenario, struct placement *placement)
{
    struct policy_verdict verdict;
    if (placement->outcome != PLACEMENT_DONE || !placement->map->locality_only)
        return;
    policy_check_undeclared(scenario->request.policy, NULL, &verdict);
    placement->verdict = verdict;
    if (verdict.result == POLICY_DENIED)
        placement->outcome = PLACEMENT_DENIED;
}

struct plan_report scenario_report(const struct scenario *scenario, const struct plan_list *list)
{
    return (struct plan_report){
        .request = &scenario->request,
        .training = &scenario->training,
        .framework = scenario->framework->name,
        .world = scenario->world,
        .gpus_per_node = scenario->gpus_per_node,
        .list = list,
    };
}
