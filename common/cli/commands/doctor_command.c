/* SPDX-License-Identifier: MIT */
#include "cli/doctor/cluster_checks.h"
#include "cli/doctor/config_checks.h"
#include "cli/doctor/doctor_report.h"
#include "cli/doctor/node_checks.h"
#include "cli/doctor/plugin_checks.h"
#include "cli/doctor/plugstack_checks.h"
#include "cli/doctor/policy_checks.h"
#include "cli/doctor/slurm_checks.h"
#include "cli/inputs/catalogues.h"
#include "cli/inputs/topology_source.h"
#include "cli/output.h"

static const struct command_help help = {
    .id = COMMAND_DOCTOR,
    .name = "parplan doctor",
    .synopsis = "[--slurm-conf FILE] [--plugstack FILE] [--config FILE]",
    .text = "Looks at the installation on this machine: Slurm, the plugin in it, the admins' "
            "file, the node's cache, the topology. For each point: ok, a warning or a fault, and "
            "what to do."
            "\vChanges nothing. Exit status 1 where there is a fault.",
    .example = "parplan doctor --format json",
};

/* Where no cache tells, the node itself is looked at. *ret NULL: it cannot be told. */
static int look_at_node(const struct catalogues *catalogues, struct node_topology **ret,
                        struct error_info *err)
{
    static const struct topology_request request = {.path_count = 0};
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP_DONE(topology_source) struct topology_source source = {.node = NULL};
    if (topology_source_open(&source, &request, catalogues, &why) == 0)
        *ret = move_pointer(source.node);
    return why.kind == ERROR_MEMORY ? error_set_memory(err) : 0;
}

static int check_node(const struct doctor_facts *facts, const struct catalogues *catalogues,
                      struct findings *findings, struct error_info *err)
{
    struct node_topology *found = NULL;
    if (check_node_cache(facts, &found, findings, err) < 0)
        return -1;
    if (!found && facts->nodes && is_compute_node(facts) &&
        look_at_node(catalogues, &found, err) < 0)
        return -1;
    CLEANUP(node_topology) struct node_topology *node = found;
    check_node_gpus(facts, node, catalogues->gpus, findings);
    return 0;
}

/* The admins' file, and what it says of the cluster and its users. */
static int check_admins_file(const struct doctor_facts *facts, const struct catalogues *catalogues,
                             bool *ret_requires_plan, struct findings *findings,
                             struct error_info *err)
{
    struct admin_config *read = NULL;
    if (check_config(facts, &read, findings, err) < 0)
        return -1;
    CLEANUP(admin_config) struct admin_config *config = read;
    if (!config)
        return 0;
    *ret_requires_plan = config_requires_plan(config);
    if (check_cluster(facts, config, catalogues->presets, catalogues->gpus, findings, err) < 0 ||
        check_defaults(facts, config, findings, err) < 0)
        return -1;
    return check_scopes(facts, config, findings, err);
}

static int check_all(const struct doctor_facts *facts, const struct catalogues *catalogues,
                     struct findings *findings, struct error_info *err)
{
    bool requires_plan = false;
    check_slurm_version(facts, findings);
    check_controller(facts, findings);
    check_plugstack(facts, findings);
    check_plugin(facts, findings);
    if (check_admins_file(facts, catalogues, &requires_plan, findings, err) < 0)
        return -1;
    check_job_submit(facts, requires_plan, findings);
    check_slurm_settings(facts, findings);
    return check_topology(facts, findings, err) < 0 ? -1
                                                    : check_node(facts, catalogues, findings, err);
}

int doctor_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    if (catalogues_open(&catalogues, options.data_directory, NULL, err) < 0)
        return -1;
    const struct doctor_request request = {
        .slurm_conf = options.slurm_conf, .plugstack = options.plugstack, .config = options.config};
    CLEANUP_DONE(doctor_facts) struct doctor_facts facts = {.slurm_conf = NULL};
    struct findings findings = {.count = 0};
    if (doctor_facts_read(&request, &facts, err) < 0 ||
        check_all(&facts, &catalogues, &findings, err) < 0)
        return -1;
    if (options.format != FORMAT_TEXT) {
        if (output_document(doctor_report_json(&findings, facts.host), options.format, io, err) < 0)
            return -1;
    } else {
        doctor_report_text(&findings, &io->style, &io->out);
    }
    return findings_count(&findings, FINDING_FAULT) ? EXIT_FAILED : EXIT_DONE;
}
