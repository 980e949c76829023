/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include "base/tables/csv_table.h"
#include "cli/command_options.h"
#include "cli/inputs/catalogues.h"
#include "cli/output.h"
#include "report/measured/validation_report.h"

static const struct command_help help = {
    .id = COMMAND_VALIDATE,
    .name = "parplan validate",
    .synopsis = "[--runs FILE.csv] [--memory FILE.csv]",
    .text = "How far the planner's step times and memory lie from published runs: those that come "
            "with it, or tables of the same columns."
            "\vColumns and what is counted: docs/accuracy.md.",
    .example = "parplan validate --runs my_runs.csv",
};

static struct csv_table *open_builtin(const char *name, struct error_info *err)
{
    size_t bytes = 0;
    const char *text = data_file_text(name, &bytes, err);
    return text ? csv_table_parse(text, bytes, name, err) : NULL;
}

struct table_kind {
    const char *name; /* of the compiled-in table */
    enum published_table kind;
};

static const struct table_kind runs_kind = {"published_runs.csv", PUBLISHED_RUNS};
static const struct table_kind memory_kind = {"published_memory.csv", PUBLISHED_MEMORY};

/* A table that is named, or the compiled-in one where none is; else *ret stays NULL. */
static int open_table(const char *path, bool builtin, const struct table_kind *kind,
                      struct csv_table **ret, struct error_info *err)
{
    if (!path && !builtin)
        return 0;
    CLEANUP(csv_table)
    struct csv_table *table = path ? csv_table_load(path, err) : open_builtin(kind->name, err);
    if (!table || published_runs_check(table, kind->kind, err) < 0)
        return -1;
    *ret = move_pointer(table);
    return 0;
}

static int report(const struct validation_request *request, const struct command_options *options,
                  struct command_io *io, struct error_info *err)
{
    CLEANUP(validation) struct validation *validation = validation_run(request, err);
    if (!validation)
        return -1;
    if (options->format != FORMAT_TEXT)
        return output_document(validation_report_json(validation), options->format, io, err);
    validation_report_text(validation, options->explain, &io->style, &io->out);
    return EXIT_DONE;
}

static int validate(const struct command_options *options, struct command_io *io,
                    struct error_info *err)
{
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    struct csv_table *opened_runs = NULL, *opened_memory = NULL;
    bool builtin = !options->runs && !options->memory;
    int status = open_table(options->runs, builtin, &runs_kind, &opened_runs, err);
    if (status == 0)
        status = open_table(options->memory, builtin, &memory_kind, &opened_memory, err);
    CLEANUP(csv_table) struct csv_table *runs = opened_runs;
    CLEANUP(csv_table) struct csv_table *memory = opened_memory;
    CLEANUP(publication_catalogue)
    struct publication_catalogue *publications =
        status == 0 ? publication_catalogue_builtin(err) : NULL;
    if (!publications ||
        catalogues_open(&catalogues, options->data_directory, options->calibration, err) < 0)
        return -1;
    const struct validation_request request = {
        .runs = runs,
        .memory = memory,
        .publications = publications,
        .models = catalogues.models,
        .catalogues = {catalogues.gpus, catalogues.presets, catalogues.frameworks,
                       catalogues.efficiencies},
        .leave_one_out = true,
    };
    return report(&request, options, io, err);
}

int validate_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    return validate(&options, io, err);
}
