/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/roles/role_report.h"
#include "workload/job/role_list.h"
#include "workload/model_source.h"

#define WHERE_BYTES 160

static const struct command_help help = {
    .id = COMMAND_ROLES,
    .name = "parplan roles",
    .synopsis = "--roles FILE --cluster CLUSTER [--set KEY=VALUE,...]",
    .text = "Several models in one job, as RLHF has: actor and critic are trained, reference and "
            "reward model are frozen. A plan for each, on nodes of its own or beside another."
            "\vThe file (parplan.roles/1): docs/files.md. Exit status: 0 all fit, 3 one does not, "
            "4 refused by policy.",
    .example = "parplan roles --roles rlhf.yaml --cluster dgx-h100:8",
};

/* What the file's roles are planned from. */
struct role_inputs {
    const struct role_list *list;
    struct role_request *requests; /* owned, as all below it */
    struct job_spec **jobs;
    struct model_spec **models;
};

static void role_inputs_done(struct role_inputs *inputs)
{
    for (size_t i = 0; inputs->list && i < inputs->list->count; i++) {
        if (inputs->jobs)
            job_spec_free(inputs->jobs[i]);
        if (inputs->models)
            model_spec_free(inputs->models[i]);
    }
    memory_free(inputs->jobs);
    memory_free(inputs->models);
    memory_free(inputs->requests);
}

DEFINE_CLEANUP_DONE(role_inputs);

static int reserve(struct role_inputs *inputs, struct error_info *err)
{
    size_t count = inputs->list->count;
    inputs->requests = memory_allocate_array(count, sizeof(*inputs->requests));
    inputs->jobs = memory_allocate_array(count, sizeof(struct job_spec *));
    inputs->models = memory_allocate_array(count, sizeof(struct model_spec *));
    return inputs->requests && inputs->jobs && inputs->models ? 0 : error_set_memory(err);
}

/* The role's keys over the command's. */
static int open_job(struct role_inputs *inputs, size_t i, const struct command_options *options,
                    struct error_info *err)
{
    const struct role *role = &inputs->list->roles[i];
    char where[WHERE_BYTES];
    snprintf(where, sizeof(where), "%.64s: role %.64s", options->roles, role->name);
    struct job_spec *job = inputs->jobs[i] = job_spec_create(err);
    if (!job || (role->keys && job_spec_parse_option(job, role->keys, where, err) < 0))
        return -1;
    for (unsigned key = 0; key < JOB_KEY_COUNT; key++) {
        const struct job_value *value = &options->job->values[key];
        if (value->given && !job->values[key].given && key != JOB_MODEL &&
            job_spec_set(job, job_key_info((enum job_key)key)->name, value->text, value->where,
                         err) < 0)
            return -1;
    }
    return job_spec_check_available(job, err);
}

static int open_role(struct role_inputs *inputs, size_t i, const struct scenario *scenario,
                     const struct command_options *options, struct error_info *err)
{
    const struct role *role = &inputs->list->roles[i];
    uint64_t all = scenario->world / scenario->gpus_per_node;
    uint64_t nodes = inputs->list->roles[role->home].nodes;
    if (open_job(inputs, i, options, err) < 0)
        return -1;
    inputs->models[i] = model_source_open(role->model, scenario->catalogues.models, err);
    if (!inputs->models[i])
        return -1;
    struct role_request *request = &inputs->requests[i];
    *request = (struct role_request){role->name, scenario->request, role->home};
    request->plan.model = inputs->models[i];
    request->plan.job = inputs->jobs[i];
    request->plan.world = (nodes > 0 ? nodes : all) * scenario->gpus_per_node;
    request->plan.top = 1;
    request->plan.explain = NULL;
    request->plan.brief = true;
    return 0;
}

static int check_nodes(const struct role_list *list, const struct scenario *scenario,
                       const char *path, struct error_info *err)
{
    uint64_t wanted = 0, all = scenario->world / scenario->gpus_per_node;
    for (size_t i = 0; i < list->count; i++)
        wanted += list->roles[i].nodes;
    if (wanted <= all)
        return 0;
    return error_set(err,
                     "%s: the roles have %llu nodes together, %s has %llu; give fewer, or "
                     "put roles beside others (with)",
                     path, (unsigned long long)wanted, scenario->cluster->name,
                     (unsigned long long)all);
}

static int plan_and_report(const struct role_inputs *inputs, const struct scenario *scenario,
                           const struct command_options *options, struct command_io *io,
                           struct error_info *err)
{
    CLEANUP(role_plans)
    struct role_plans *plans = role_plans_create(inputs->requests, inputs->list->count, err);
    if (!plans)
        return -1;
    const struct role_report report = {inputs->list, inputs->requests, plans,
                                       scenario->cluster->name, scenario->gpus_per_node};
    if (options->format != FORMAT_TEXT) {
        if (output_document(role_report_json(&report), options->format, io, err) < 0)
            return -1;
    } else {
        role_report_text(&report, &io->style, &io->out);
    }
    for (size_t i = 0; i < plans->count; i++)
        if (plans->results[i].list->policy.result == POLICY_DENIED) {
            error_set(err, "role %s: %s", inputs->requests[i].name,
                      plans->results[i].list->policy.text);
            return EXIT_REFUSED;
        }
    return role_report_fits(&report) ? EXIT_DONE : EXIT_NO_FIT;
}

static int roles(const struct command_options *options, struct command_io *io,
                 struct error_info *err)
{
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (!options->roles)
        return error_set(err, "which roles? give --roles FILE, as %s", help.example);
    if (options->model || options->job->values[JOB_MODEL].given)
        return error_set(err, "every role of %s has its own model; leave --model out",
                         options->roles);
    CLEANUP(role_list) struct role_list *list = role_list_load(options->roles, err);
    if (!list || scenario_open(&scenario, options, err) < 0 ||
        check_nodes(list, &scenario, options->roles, err) < 0)
        return -1;
    CLEANUP_DONE(role_inputs) struct role_inputs inputs = {.list = list};
    if (reserve(&inputs, err) < 0)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (open_role(&inputs, i, &scenario, options, err) < 0)
            return -1;
    return plan_and_report(&inputs, &scenario, options, io, err);
}

int roles_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    return roles(&options, io, err);
}
