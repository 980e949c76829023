/* SPDX-License-Identifier: MIT */
#include "cli/inputs/catalogues.h"
#include "cli/output.h"
#include "report/catalogue_report.h"

static const struct command_help help = {
    .id = COMMAND_GPUS,
    .name = "parplan gpus",
    .synopsis = "[--gpu NAME]",
    .text = "The GPUs and node presets that parplan knows, or one GPU with its figures and "
            "their source."
            "\vPeaks are dense, links are one direction.",
    .example = "parplan gpus --gpu h100-sxm",
};

static int report_one(const struct gpu_catalogue *gpus, const struct command_options *options,
                      struct command_io *io, struct error_info *err)
{
    const struct gpu_model *gpu = gpu_catalogue_find(gpus, options->gpu, 0);
    if (!gpu)
        return error_set(err,
                         "--gpu: %s is not in the catalogue; `parplan gpus` lists what is, "
                         "--data DIR adds a gpus.yaml of yours",
                         options->gpu);
    if (options->format != FORMAT_TEXT)
        return output_document(gpu_report_json(gpu, err), options->format, io, err);
    gpu_report_text(gpu, &io->style, &io->out);
    return 0;
}

int gpus_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(catalogues) struct catalogues catalogues = {.gpus = NULL};
    if (catalogues_open(&catalogues, options.data_directory, NULL, err) < 0)
        return -1;
    if (options.gpu)
        return report_one(catalogues.gpus, &options, io, err);
    if (options.format != FORMAT_TEXT)
        return output_document(gpus_report_json(catalogues.gpus, catalogues.presets, err),
                               options.format, io, err);
    gpus_report_text(catalogues.gpus, catalogues.presets, &io->style, &io->out);
    return EXIT_DONE;
}
