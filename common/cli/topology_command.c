/* SPDX-License-Identifier: MIT */
#include "cli/cache_file.h"
#include "cli/inputs/catalogues.h"
#include "cli/inputs/cluster_choice.h"
#include "cli/inputs/topology_source.h"
#include "cli/output.h"
#include "cli/topology_file.h"
#include "report/pictures/fabric_picture.h"
#include "report/pictures/node_picture.h"
#include "report/topology_report.h"
#include <string.h>

static const struct command_help help = {
    .id = COMMAND_TOPOLOGY,
    .name = "parplan topology",
    .synopsis = "[--from FILE|slurm | --cluster CLUSTER | --node NODE]",
    .text = "GPUs, NVLink, NICs and switches: of this machine, or of a file or preset."
            " `parplan topology collect` makes one cluster file of many nodes'."
            "\vWhat no source tells is shown as \"?\" (null in JSON), never as none.",
    .example = "parplan topology --from node.xml",
};

static int check_choices(const struct command_options *options, bool narrowed,
                         struct error_info *err)
{
    int choices = (options->from_count > 0) + (options->cluster != NULL) + (options->node != NULL);
    if (choices > 1)
        return error_set(err, "--from, --cluster and --node name different things; keep one");
    if (options->guids && options->from_count == 0)
        return error_set(err, "--guids goes with --from and a listing of switches by GUID");
    if ((options->nvml || options->sysfs) && choices > 0)
        return error_set(err, "--nvml and --sysfs are for this machine; leave out --from, "
                              "--cluster and --node");
    if (options->from_count > 0 && narrowed)
        return error_set(err, "--from is shown whole; --fabric and --nodes go with --node or "
                              "--cluster");
    return 0;
}

static int open_request(struct topology_source *source, const struct command_options *options,
                        const struct catalogues *catalogues, struct error_info *err)
{
    const struct topology_request request = {
        .paths = options->from,
        .path_count = options->from_count,
        .hints = {.guids = options->guids, .label_keys = options->label_keys},
        .gpu = options->gpu,
        .nvml_library = options->nvml,
        .sysfs_root = options->sysfs,
    };
    return topology_source_open(source, &request, catalogues, err);
}

static int open_source(struct topology_source *source, const struct command_options *options,
                       const struct catalogues *catalogues, struct error_info *err)
{
    bool narrowed = options->fabric || options->nodes;
    if (check_choices(options, narrowed, err) < 0)
        return -1;
    if (options->from_count > 0)
        return open_request(source, options, catalogues, err);
    if (options->cluster || narrowed) {
        source->cluster = cluster_choice_open(options, NULL, catalogues, err);
        return source->cluster ? 0 : -1;
    }
    if (!options->node)
        return open_request(source, options, catalogues, err);
    source->node = node_choice_open(options->node, options->gpu, catalogues, err);
    return source->node ? 0 : -1;
}

static void write_text(const struct topology_source *source, const struct command_options *options,
                       struct command_io *io)
{
    const struct topology_report_options report = {.explain = options->explain};
    if (source->node)
        node_report_text(source->node, &report, &io->style, &io->out);
    else if (source->fabric)
        fabric_report_text(source->fabric, &io->style, &io->out);
    else
        cluster_report_text(source->cluster, &report, &io->style, &io->out);
}

static void write_picture(const struct topology_source *source, struct command_io *io)
{
    if (source->node)
        node_picture(source->node, &io->out);
    else if (source->fabric)
        fabric_picture(source->fabric, &io->out);
    else
        cluster_picture(source->cluster, &io->out);
}

/* Nothing is printed: this is for boots and prologs. */
static int write_cache(const struct topology_source *source, const char *path,
                       struct error_info *err)
{
    if (!source->node)
        return error_set(err, "--write-cache is for one node; give --from with a node's file, or "
                              "nothing for this machine");
    return cache_file_write(source->node, path, err);
}

static struct json_value *make_document(const struct topology_source *source,
                                        struct error_info *err)
{
    if (source->node)
        return node_report_json(source->node, err);
    if (source->fabric)
        return fabric_report_json(source->fabric, err);
    return cluster_report_json(source->cluster, err);
}

static bool is_this_machine(const struct command_options *options)
{
    return options->from_count == 0 && !options->cluster && !options->node && !options->sysfs;
}

int topology_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    if (argc > 1 && strcmp(argv[1], "collect") == 0)
        return collect_command(argc - 1, argv + 1, io, err);
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    CLEANUP_DONE(topology_source) struct topology_source source = {.node = NULL};
    if (catalogues_open(&catalogues, options.data_directory, NULL, err) < 0 ||
        open_source(&source, &options, &catalogues, err) < 0)
        return -1;
    if (options.write_cache)
        return write_cache(&source, options.write_cache, err) < 0 ? -1 : EXIT_DONE;
    if (options.format == FORMAT_TEXT) {
        write_text(&source, &options, io);
        return EXIT_DONE;
    }
    if (options.format == FORMAT_SVG) {
        write_picture(&source, io);
        return EXIT_DONE;
    }
    if (options.format == FORMAT_YAML)
        return topology_file_write(&source, is_this_machine(&options), &catalogues, &io->out, err) <
                       0
                   ? -1
                   : EXIT_DONE;
    return output_document(make_document(&source, err), options.format, io, err) < 0 ? -1
                                                                                     : EXIT_DONE;
}
