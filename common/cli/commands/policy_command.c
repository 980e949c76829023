/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "cli/inputs/cluster_choice.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/kubernetes/admission_manifest.h"
#include "report/policy/policy_rules.h"
#include <string.h>

static const struct command_help help = {
    .id = COMMAND_POLICY,
    .name = "parplan policy",
    .synopsis = "[--config FILE] [--partition NAME] [--kubernetes [--cluster CLUSTER]]",
    .text = "The admins' policy: what it says in general, and for whom it says something else. "
            "With --kubernetes the same as ValidatingAdmissionPolicies, which refuse a job at "
            "`kubectl apply`."
            "\vpolicy.partitions are namespaces on Kubernetes; QOS, accounts and users are "
            "Slurm's. --cluster tells how many GPUs an NVLink domain has, for tp_within: "
            "nvlink_domain.",
    .example = "parplan policy --kubernetes --config parplan.yaml | kubectl apply -f -",
};

static const char *const usual_schedulers[] = {"default-scheduler", "parplan"};

/* GPUs of the largest NVLink domain: more fits nowhere; 0: somewhere they are not known. */
static unsigned largest_domain(const struct cluster_topology *cluster)
{
    unsigned node = cluster_gpus_per_node(cluster), largest = cluster->nvlink_domain_gpus;
    if (!cluster->nvlink_known || cluster->open_nodes > 0)
        return 0;
    for (size_t i = 0; i < cluster->domain_count; i++)
        if (cluster->domain_nodes[i] * node > largest)
            largest = cluster->domain_nodes[i] * node;
    return largest;
}

/* *ret NULL: no option and no line of the file names one that can be looked at here. */
static int open_cluster(const struct command_options *options, const struct admin_config *config,
                        struct cluster_topology **ret, struct error_info *err)
{
    const char *own =
        config->cluster && strcmp(config->cluster, "slurm") != 0 ? config->cluster : NULL;
    if (!options->cluster && !options->node && !options->fabric && !own)
        return 0;
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    if (catalogues_open(&catalogues, options->data_directory, NULL, err) < 0)
        return -1;
    *ret = cluster_choice_open(options, own, &catalogues, err);
    return *ret ? 0 : -1;
}

static int write_manifest(const struct command_options *options, const struct admin_config *config,
                          struct command_io *io, struct error_info *err)
{
    size_t bytes;
    struct cluster_topology *found = NULL;
    if (options->format != FORMAT_TEXT && options->format != FORMAT_YAML)
        return error_set(err, "--kubernetes writes YAML; leave --format out");
    if (options->partition || options->qos || options->account || options->user)
        return error_set(err, "--kubernetes writes the whole policy, partitions as namespaces; "
                              "leave --partition, --qos, --account and --user out");
    if (open_cluster(options, config, &found, err) < 0)
        return -1;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = found;
    const char *template = data_file_text(ADMISSION_TEMPLATE, &bytes, err);
    if (!template)
        return -1;
    bool given = options->scheduler_count > 0;
    const struct admission_request request = {
        .config = config,
        .source = config->source,
        .namespace = options->namespace ? options->namespace : ADMISSION_NAMESPACE,
        .schedulers = given ? options->scheduler : usual_schedulers,
        .scheduler_count = given ? options->scheduler_count : COUNT_OF(usual_schedulers),
        .cluster = cluster ? cluster->name : NULL,
        .nvlink_domain_gpus = cluster ? largest_domain(cluster) : 0,
    };
    return admission_manifest_write(&request, template, bytes, &io->out, err);
}

static int write_rules(const struct command_options *options, const struct admin_config *config,
                       struct command_io *io, struct error_info *err)
{
    const struct policy_rules rules = {config,
                                       {{[SCOPE_PARTITION] = options->partition,
                                         [SCOPE_QOS] = options->qos,
                                         [SCOPE_ACCOUNT] = options->account,
                                         [SCOPE_USER] = options->user}}};
    if (options->format != FORMAT_TEXT)
        return output_document(policy_rules_json(&rules), options->format, io, err);
    policy_rules_text(&rules, &io->style, &io->out);
    return 0;
}

int policy_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP(admin_config) struct admin_config *config = scenario_open_config(options.config, err);
    if (!config)
        return -1;
    int written = options.kubernetes ? write_manifest(&options, config, io, err)
                                     : write_rules(&options, config, io, err);
    return written < 0 ? -1 : EXIT_DONE;
}
