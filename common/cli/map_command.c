/* SPDX-License-Identifier: MIT */
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "mapping/mapping_cost.h"
#include "mapping/placement.h"
#include "report/devices/map_devices.h"

static const struct command_help help = {
    .id = COMMAND_MAP,
    .name = "parplan map",
    .synopsis = "--plan KEY=VALUE,... --cluster CLUSTER",
    .text = "Which rank sits on which node, GPU and NIC, with its coordinates."
            "\vWith --model the planner chooses what --plan does not give, and the cost is in "
            "bytes. With neither, nodes and GPUs come in the order of the fabric. "
            "Exit status: 0 mapped, 3 nothing fits, 4 refused by policy.",
    .example = "parplan map --plan tp=8,pp=4,dp=2 --cluster dgx-h100:8",
};

static void write_text(const struct map_report *report, const struct command_options *options,
                       struct command_io *io)
{
    if (options->format == FORMAT_HOSTFILE)
        map_report_hostfile(report, &io->out);
    else if (options->format == FORMAT_RANKFILE)
        map_report_rankfile(report, &io->out);
    else
        map_report_text(report, &io->style, &io->out);
}

static int report_map(const struct scenario *scenario, const struct command_options *options,
                      const struct placement *placement, struct command_io *io,
                      struct error_info *err)
{
    struct traffic traffic;
    struct mapping_cost cost;
    if (scenario->model)
        traffic_of_plan(&placement->plan, scenario->model, scenario->framework, &scenario->training,
                        &traffic);
    mapping_cost_compute(placement->map, scenario->model ? &traffic : NULL, &cost);
    CLEANUP_DONE(text_buffer) struct text_buffer rails;
    text_buffer_init(&rails, TEXT_BUFFER_REPORT_MAXIMUM);
    map_rail_note(placement->map, &rails);
    if (text_buffer_failed(&rails))
        return error_set_memory(err);
    const struct map_report report = {
        .map = placement->map,
        .cost = &cost,
        .policy_note = placement->verdict.result == POLICY_WARNED ? placement->verdict.text : NULL,
        .rail_note = rails.length > 0 ? text_buffer_text(&rails) : NULL,
        .every_rank = options->every_rank,
        .add_devices = options->every_rank ? map_devices_add : NULL,
    };
    if (options->format != FORMAT_JSON && options->format != FORMAT_YAML) {
        write_text(&report, options, io);
        return EXIT_DONE;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer json;
    text_buffer_init(&json, TEXT_BUFFER_REPORT_MAXIMUM);
    map_report_json(&report, &json);
    return output_json_text(&json, options->format, io, err) < 0 ? -1 : EXIT_DONE;
}

int map_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    CLEANUP_DONE(placement) struct placement placement = {.list = NULL};
    if (scenario_open(&scenario, &options, err) < 0 ||
        placement_create(&scenario.request, false, &placement, err) < 0)
        return -1;
    scenario_check_required(&scenario, &placement);
    if (placement.outcome == PLACEMENT_DONE)
        return report_map(&scenario, &options, &placement, io, err);
    placement_refusal(&placement, err);
    return placement.outcome == PLACEMENT_DENIED ? EXIT_REFUSED : EXIT_NO_FIT;
}
