/* SPDX-License-Identifier: MIT */
#include "base/tables/csv_table.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/scan/scan_report.h"
#include "report/scan/scan_runs.h"
#include "report/scan/scan_script.h"
#include <string.h>

#define DEFAULT_STEPS 20u

static const struct command_help help = {
    .id = COMMAND_SWEEP,
    .name = "parplan sweep",
    .synopsis = "--model MODEL --cluster CLUSTER [--format sbatch -- COMMAND…]",
    .text = "A scan experiment: a few plans on the same GPUs with the same global batch, the "
            "planner's best and what shows whether TP and PP pay; as a table, as a batch script "
            "that runs them, and with --ingest what they measured against what was predicted."
            "\vExit status: 0 done, 3 nothing fits, 4 refused by policy.",
    .example = "parplan sweep --model llama3-70b --cluster dgx-h100:8 --format sbatch -- "
               "./train.sh",
    .takes_words = true,
};

/* argp has moved the words behind the options; those that did not stand behind "--" are
 * mistakes, since the command's own options may have our names. */
static int check_words(const struct command_options *options, size_t words_behind_dashes,
                       struct error_info *err)
{
    bool script = options->format == FORMAT_SBATCH;
    if (options->word_count != words_behind_dashes)
        return error_set(err,
                         "unexpected word %s; the command stands behind \"--\", for example "
                         "%s",
                         options->words[0], help.example);
    if (!script && options->word_count > 0)
        return error_set(err, "a command is for --format sbatch alone; add it, or leave out %s",
                         options->words[0]);
    if (script && options->ingest)
        return error_set(err, "--ingest reads what a scan measured, --format sbatch makes one; "
                              "keep one");
    if (options->format == FORMAT_CSV && !options->ingest)
        return error_set(err, "--format csv writes measured runs; give them with --ingest FILE");
    return 0;
}

static const char *preset_of(const struct scenario *scenario)
{
    const struct cluster_topology *cluster = scenario->cluster;
    const char *name = cluster->kind_count == 1 ? cluster->kinds[0]->name : NULL;
    bool known = name && preset_catalogue_find(scenario->catalogues.presets, name);
    return known ? name : NULL;
}

static int write_script(const struct scan_report *report, const struct command_options *options,
                        struct command_io *io, struct error_info *err)
{
    unsigned all = report->plan->gpus_per_node;
    const struct scan_script script = {
        .plan = report->plan,
        .grid = report->grid,
        .tasks_per_node = options->tasks_per_node > 0 ? (unsigned)options->tasks_per_node : all,
        .steps = options->steps > 0 ? (unsigned)options->steps : DEFAULT_STEPS,
        .words = options->words,
        .word_count = options->word_count,
    };
    if (script.tasks_per_node != 1 && script.tasks_per_node != all)
        return error_set(err,
                         "--tasks-per-node: 1 for a launcher as torchrun, or %u, one for each "
                         "GPU of a node, not %u",
                         all, script.tasks_per_node);
    return scan_script_write(&script, &io->out, err);
}

static int write_answer(const struct scan_report *report, const struct scenario *scenario,
                        const struct command_options *options, struct command_io *io,
                        struct error_info *err)
{
    switch (options->format) {
    case FORMAT_SBATCH:
        return write_script(report, options, io, err);
    case FORMAT_CSV:
        return scan_runs_write(report, preset_of(scenario), &io->out, err);
    case FORMAT_TEXT:
        scan_report_text(report, &io->style, &io->out);
        return 0;
    default:
        return output_document(scan_report_json(report), options->format, io, err);
    }
}

/* Nothing fits, or policy says no: what a document or people are told all the same. */
static int report_refusal(const struct scan_report *report, const struct command_options *options,
                          struct command_io *io, struct error_info *err)
{
    const struct plan_list *list = report->grid->list;
    bool denied = list->policy.result == POLICY_DENIED;
    if (options->format == FORMAT_JSON || options->format == FORMAT_YAML) {
        if (output_document(scan_report_json(report), options->format, io, err) < 0)
            return -1;
    } else if (options->format == FORMAT_TEXT && !denied) {
        scan_report_text(report, &io->style, &io->out);
    } else if (!denied) {
        error_set(err, "nothing fits; `parplan plan` with the same options says what would help");
    }
    if (denied)
        error_set(err, "%s", list->policy.text);
    return denied ? EXIT_REFUSED : EXIT_NO_FIT;
}

static int open_result(const char *path, const struct scan_grid *grid, struct scan_result **ret,
                       struct error_info *err)
{
    if (!path)
        return 0;
    CLEANUP(csv_table) struct csv_table *table = csv_table_load(path, err);
    *ret = table ? scan_result_read(grid, table, err) : NULL;
    return *ret ? 0 : -1;
}

static int scan(const struct scenario *scenario, const struct command_options *options,
                struct command_io *io, struct error_info *err)
{
    unsigned wanted = options->top > 0 ? (unsigned)options->top : SCAN_DEFAULT_CANDIDATES;
    CLEANUP(scan_grid)
    struct scan_grid *grid = scan_grid_create(&scenario->request, wanted, err);
    if (!grid)
        return -1;
    const struct plan_report plan = scenario_report(scenario, grid->list);
    struct scan_report report = {.plan = &plan, .grid = grid};
    if (grid->row_count == 0)
        return report_refusal(&report, options, io, err);
    struct scan_result *opened = NULL;
    int status = open_result(options->ingest, grid, &opened, err);
    CLEANUP(scan_result) struct scan_result *result = opened;
    report.result = result;
    if (status < 0 || write_answer(&report, scenario, options, io, err) < 0)
        return -1;
    return EXIT_DONE;
}

/* Before argp moves the words about. */
static size_t words_behind_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (size_t)(argc - i - 1);
    return 0;
}

int sweep_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    size_t behind = words_behind_dashes(argc, argv);
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (check_words(&options, behind, err) < 0 || scenario_open(&scenario, &options, err) < 0 ||
        scenario_need_model(&scenario, err) < 0)
        return -1;
    return scan(&scenario, &options, io, err);
}
