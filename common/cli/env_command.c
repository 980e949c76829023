/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "mapping/placement.h"
#include "mapping/rails/node_rails.h"
#include "mapping/wire_plan.h"
#include "report/environment_report.h"
#include <string.h>

/* Every task's variables are text in memory at once: beyond this, one rank at a time. */
#define TASKS_MAXIMUM 16384u

static const struct command_help help = {
    .id = COMMAND_ENV,
    .name = "parplan env",
    .synopsis = "--plan KEY=VALUE,... --cluster CLUSTER [--rank R]",
    .text =
        "The variables that a task gets (RANK, MASTER_ADDR, PARPLAN_TP_RANK and so on), as lines "
        "for a shell or as JSON."
        "\vThe same as srun --parplan sets for the same nodes, but for MASTER_PORT, which "
        "srun takes from its own step.",
    .example = "parplan env --plan tp=8,pp=4,dp=2 --cluster dgx-h100:8 --rank 0",
};

struct tasks {
    const struct wire_plan *wire;
    const struct rank_map *map;
    const struct command_options *options;
    unsigned port;
    uint64_t first, end; /* numbers in RANK order */
};

static uint64_t tasks_count(const struct wire_plan *wire)
{
    return (uint64_t)wire->node_count * wire->tasks_per_node;
}

static int choose_tasks(struct tasks *tasks, struct error_info *err)
{
    uint64_t count = tasks_count(tasks->wire);
    const char *rank = tasks->options->rank;
    tasks->first = 0;
    tasks->end = count;
    if (!rank || strcmp(rank, "all") == 0) {
        if (count > TASKS_MAXIMUM)
            return error_set(err, "%llu tasks are too many at once (%u); choose one with --rank R",
                             (unsigned long long)count, TASKS_MAXIMUM);
        return 0;
    }
    if (parse_unsigned(rank, 0, count - 1, &tasks->first, err) < 0)
        return error_prefix(err, "--rank");
    tasks->end = tasks->first + 1;
    return 0;
}

static int compute(const struct tasks *tasks, uint64_t number, struct rank_environment *ret,
                   struct environment_report_row *ret_row, struct error_info *err)
{
    const struct wire_plan *wire = tasks->wire;
    unsigned node = wire->block_nodes[number / wire->tasks_per_node];
    const struct cluster_topology *cluster = tasks->map->cluster;
    const struct node_topology *kind = cluster->kinds[cluster->nodes[node].kind];
    CLEANUP_DONE(text_buffer) struct text_buffer nics;
    text_buffer_init(&nics, RANK_ENVIRONMENT_VALUE_BYTES);
    node_rails_write(kind, &nics);
    struct rank_place place;
    rank_map_place(tasks->map, number * (wire->world / tasks_count(wire)), &place);
    const struct rank_task task = {
        .node = node,
        .local_task = (unsigned)(number % wire->tasks_per_node),
        .master_port = tasks->port,
        .nics = text_buffer_failed(&nics) ? NULL : text_buffer_text(&nics),
        .cpus = kind->gpu_count > place.gpu ? kind->gpus[place.gpu].cpus : NULL,
    };
    if (rank_environment_compute(wire, &task, ret, err) < 0)
        return -1;
    *ret_row = (struct environment_report_row){
        .node = cluster->nodes[node].name, .task = number, .environment = ret};
    return 0;
}

static int report_tasks(const struct tasks *tasks, struct command_io *io, struct error_info *err)
{
    struct rank_environment environment;
    struct environment_report_row row;
    bool text = tasks->options->format == FORMAT_TEXT;
    struct json_value *array = NULL;
    CLEANUP(json_value)
    struct json_value *document = text ? NULL : environment_report_json(&array);
    for (uint64_t number = tasks->first; number < tasks->end; number++) {
        if (compute(tasks, number, &environment, &row, err) < 0)
            return -1;
        if (text)
            environment_report_text(&row, &io->out);
        else
            environment_report_json_add(array, &row);
    }
    if (text)
        return EXIT_DONE;
    return output_document(move_pointer(document), tasks->options->format, io, err) < 0 ? -1
                                                                                        : EXIT_DONE;
}

static int report_environment(const struct command_options *options,
                              const struct placement *placement, struct command_io *io,
                              struct error_info *err)
{
    const struct rank_map *map = placement->map;
    uint64_t per_node = options->tasks_per_node ? options->tasks_per_node : map->gpus_per_node;
    if (per_node != 1 && per_node != map->gpus_per_node)
        return error_set(err, "--tasks-per-node: %llu; use %u (one per GPU) or 1 (torchrun)",
                         (unsigned long long)per_node, map->gpus_per_node);
    CLEANUP(wire_plan)
    struct wire_plan *wire =
        wire_plan_create(map, (unsigned)per_node, options->master_address, false, err);
    if (!wire)
        return -1;
    struct tasks tasks = {
        .wire = wire,
        .map = map,
        .options = options,
        .port = options->master_port ? (unsigned)options->master_port : rank_environment_port(0, 0),
    };
    return choose_tasks(&tasks, err) < 0 ? -1 : report_tasks(&tasks, io, err);
}

int env_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    CLEANUP_DONE(placement) struct placement placement = {.list = NULL};
    if (scenario_open(&scenario, &options, err) < 0 ||
        placement_create(&scenario.request, NULL, &placement, err) < 0)
        return -1;
    scenario_check_required(&scenario, &placement);
    if (placement.outcome == PLACEMENT_DONE)
        return report_environment(&options, &placement, io, err);
    placement_refusal(&placement, err);
    return placement.outcome == PLACEMENT_DENIED ? EXIT_REFUSED : EXIT_NO_FIT;
}
