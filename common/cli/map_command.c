/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "cli/inputs/mapping_options.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "mapping/evaluation/launcher_layout.h"
#include "mapping/evaluation/mapping_evaluation.h"
#include "mapping/evaluation/mapping_file.h"
#include "mapping/placement.h"
#include "report/devices/map_devices.h"
#include "report/evaluation/evaluation_report.h"
#include "report/map_report.h"
#include "report/pictures/map/map_picture.h"

static const struct command_help help = {
    .id = COMMAND_MAP,
    .name = "parplan map",
    .synopsis = "--plan KEY=VALUE,... --cluster CLUSTER",
    .text = "Which rank sits on which node, GPU and NIC, with its coordinates."
            "\vWith --model the planner chooses what --plan does not give, and the cost is in "
            "bytes. With neither, nodes and GPUs come in the order of the fabric. "
            "--evaluate says what another mapping of the same ranks costs. "
            "Exit status: 0 mapped, 3 nothing fits, 4 refused by policy.",
    .example = "parplan map --plan tp=8,pp=4,dp=2 --cluster dgx-h100:8",
};

static void write_text(const struct map_report *report, const struct command_options *options,
                       struct command_io *io)
{
    if (options->format == FORMAT_HOSTFILE) {
        map_report_hostfile(report, &io->out);
    } else if (options->format == FORMAT_RANKFILE) {
        map_report_rankfile(report, &io->out);
    } else if (options->format == FORMAT_SVG) {
        map_picture(report->map, &report->outlook->cost, report->policy_note, &io->out);
    } else {
        map_report_text(report, &io->style, &io->out);
        if (report->evaluation)
            evaluation_report_text(report->evaluation, &report->outlook->cost, &io->style,
                                   &io->out);
    }
}

static struct rank_places *read_places(const char *source, const struct rank_map *map,
                                       struct error_info *err)
{
    size_t bytes;
    bool is_word = launcher_layout_is_word(source);
    CLEANUP(rank_places)
    struct rank_places *places = is_word ? launcher_layout_create(source, map, err) : NULL;
    CLEANUP_MEMORY
    char *text = is_word ? NULL : text_file_read(source, MAPPING_FILE_MAXIMUM_BYTES, &bytes, err);
    if (!text && !places)
        return error_null(error_prefix(err, "--evaluate"));
    return text ? mapping_file_parse(text, bytes, source, map->cluster, map->world, err)
                : move_pointer(places);
}

/* In bytes and seconds with a model, else in pairs. */
static void score(const struct scenario *scenario, const struct objective_result *outlook,
                  const struct rank_map *map, const struct rank_places *places, const char *name,
                  struct mapping_evaluation *ret)
{
    bool known = outlook->cost.seconds_known;
    mapping_evaluation_compute(map, places, known ? &outlook->traffic : NULL,
                               known ? &outlook->seconds : NULL,
                               scenario->request.policy->tp_within, name, ret);
}

/* report->evaluation becomes ret. *ret_name is the source's name as it may be shown. */
static int evaluate(const struct scenario *scenario, const char *source, struct map_report *report,
                    struct mapping_evaluation *ret, char **ret_name, struct error_info *err)
{
    CLEANUP(rank_places) struct rank_places *places = read_places(source, report->map, err);
    if (!places)
        return -1;
    *ret_name = memory_copy_text(source);
    if (!*ret_name)
        return error_set_memory(err);
    error_clean_text(*ret_name);
    report->evaluation = ret;
    score(scenario, report->outlook, report->map, places, *ret_name, ret);
    return 0;
}

static int write_report(const struct map_report *report, const struct command_options *options,
                        struct command_io *io, struct error_info *err)
{
    if (options->format != FORMAT_JSON && options->format != FORMAT_YAML) {
        write_text(report, options, io);
        return EXIT_DONE;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer json;
    text_buffer_init(&json, TEXT_BUFFER_REPORT_MAXIMUM);
    map_report_json(report, &json);
    return output_json_text(&json, options->format, io, err) < 0 ? -1 : EXIT_DONE;
}

static int report_map(const struct scenario *scenario, const struct command_options *options,
                      const struct placement *placement, struct command_io *io,
                      struct error_info *err)
{
    struct mapping_evaluation evaluation;
    CLEANUP_MEMORY char *name = NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer rails;
    text_buffer_init(&rails, TEXT_BUFFER_REPORT_MAXIMUM);
    map_rail_note(placement->map, &rails);
    if (text_buffer_failed(&rails))
        return error_set_memory(err);
    struct map_report report = {
        .map = placement->map,
        .outlook = &placement->outlook,
        .policy_note = placement->verdict.result == POLICY_WARNED ? placement->verdict.text : NULL,
        .rail_note = rails.length > 0 ? text_buffer_text(&rails) : NULL,
        .every_rank = options->every_rank,
        .add_devices = options->every_rank ? map_devices_add : NULL,
    };
    if (options->evaluate &&
        evaluate(scenario, options->evaluate, &report, &evaluation, &name, err) < 0)
        return -1;
    return write_report(&report, options, io, err);
}

/* What a launcher reads has no room for a comparison. */
static int check_options(const struct command_options *options, struct error_info *err)
{
    if (!options->evaluate || (options->format != FORMAT_HOSTFILE &&
                               options->format != FORMAT_RANKFILE && options->format != FORMAT_SVG))
        return 0;
    return error_set(err, "--evaluate: --format %s has no room for it; use text, json or yaml",
                     options->format_word);
}

int map_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    CLEANUP_DONE(placement) struct placement placement = {.list = NULL};
    CLEANUP_DONE(mapping_options) struct mapping_options mapping = {.pins = NULL};
    if (check_options(&options, err) < 0 || scenario_open(&scenario, &options, err) < 0 ||
        mapping_options_read(&options, scenario.cluster, scenario.world / scenario.gpus_per_node,
                             &mapping, err) < 0 ||
        placement_create(&scenario.request, &mapping.wishes, &placement, err) < 0)
        return -1;
    scenario_check_required(&scenario, &placement);
    if (placement.outcome == PLACEMENT_DONE)
        return report_map(&scenario, &options, &placement, io, err);
    placement_refusal(&placement, err);
    return placement.outcome == PLACEMENT_DENIED ? EXIT_REFUSED : EXIT_NO_FIT;
}
