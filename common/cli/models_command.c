/* SPDX-License-Identifier: MIT */
#include "cli/inputs/catalogues.h"
#include "cli/output.h"
#include "report/catalogue_report.h"
#include "workload/model_source.h"

static const struct command_help help = {
    .id = COMMAND_MODELS,
    .name = "parplan models",
    .synopsis = "[--model NAME|FILE]",
    .text = "The model presets, or one model with its exact parameter counts."
            "\vActive parameters are all minus those of unused experts, embeddings included.",
    .example = "parplan models --model llama3-70b",
};

static int report_all(const struct model_catalogue *models, const struct command_options *options,
                      struct command_io *io, struct error_info *err)
{
    if (options->format == FORMAT_TEXT)
        return models_report_text(models, &io->style, &io->out, err);
    return output_document(models_report_json(models, err), options->format, io, err);
}

static int report_one(const struct model_catalogue *models, const struct command_options *options,
                      struct command_io *io, struct error_info *err)
{
    CLEANUP(model_spec)
    struct model_spec *model = model_source_open(options->model, models, err);
    if (!model)
        return -1;
    if (options->format == FORMAT_TEXT)
        return model_report_text(model, &io->style, &io->out, err);
    return output_document(model_report_json(model, err), options->format, io, err);
}

int models_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    if (catalogues_open(&catalogues, options.data_directory, NULL, err) < 0)
        return -1;
    return options.model ? report_one(catalogues.models, &options, io, err)
                         : report_all(catalogues.models, &options, io, err);
}
