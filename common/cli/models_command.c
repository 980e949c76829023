/* SPDX-License-Identifier: MIT */
#include "cli/inputs/catalogues.h"
#include "cli/output.h"
#include "planner/search/model_plan.h"
#include "report/catalogue_report.h"
#include "report/models/stage_report.h"
#include "workload/job/job_bounds.h"
#include "workload/model_source.h"

static const struct command_help help = {
    .id = COMMAND_MODELS,
    .name = "parplan models",
    .synopsis = "[--model NAME|FILE [--plan KEY=VALUE,...]]",
    .text = "The model presets, or one model with its exact parameter counts; with --plan also "
            "what each pipeline stage and one of its ranks hold."
            "\vActive parameters are all minus those of unused experts, embeddings included.",
    .example = "parplan models --model llama3-70b --plan tp=8,pp=4",
};

static int report_all(const struct model_catalogue *models, const struct command_options *options,
                      struct command_io *io, struct error_info *err)
{
    if (options->format == FORMAT_TEXT)
        return models_report_text(models, &io->style, &io->out, err);
    return output_document(models_report_json(models, err), options->format, io, err);
}

static bool has_plan(const struct job_spec *job)
{
    for (unsigned key = 0; key < JOB_KEY_COUNT; key++)
        if (key != JOB_MODEL &&
            (job->values[key].given || job_bounds_given(job, (enum job_key)key)))
            return true;
    return false;
}

/* What the counts of stages need. The model's own stay valid as long as this. */
struct model_view {
    struct plan plan;
    struct model_parameters parameters;
    struct training_spec training;
    struct plan_shape shape;
};

static int view_open(struct model_view *view, const struct model_spec *model,
                     const struct job_spec *job, struct error_info *err)
{
    if (model_plan_from_job(model, job, &view->plan, err) < 0 ||
        model_parameters_count(model, &view->parameters, err) < 0 ||
        training_spec_from_job(job, degrees_world(&view->plan.degrees), &view->training, err) < 0)
        return -1;
    training_spec_adapt(&view->training, model, &view->parameters);
    view->shape = (struct plan_shape){.plan = &view->plan,
                                      .model = model,
                                      .parameters = &view->parameters,
                                      .training = &view->training};
    return 0;
}

static int report_one(const struct model_catalogue *models, const struct command_options *options,
                      struct command_io *io, struct error_info *err)
{
    const char *name = job_spec_text(options->job, JOB_MODEL);
    CLEANUP(model_spec) struct model_spec *model = model_source_open(name, models, err);
    struct model_view view;
    bool planned = has_plan(options->job);
    if (!model || (planned && view_open(&view, model, options->job, err) < 0))
        return -1;
    if (options->format == FORMAT_TEXT)
        return model_report_text(model, &io->style, &io->out, err) < 0 ? -1
               : planned ? stage_report_text(&view.shape, &io->style, &io->out, err)
                         : 0;
    CLEANUP(json_value) struct json_value *document = model_report_json(model, err);
    if (!document || (planned && stage_report_add(&view.shape, document, err) < 0))
        return -1;
    return output_document(move_pointer(document), options->format, io, err);
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
    if (options.model && job_spec_set(options.job, "model", options.model, "--model", err) < 0)
        return -1;
    if (options.job->values[JOB_MODEL].given)
        return report_one(catalogues.models, &options, io, err);
    if (has_plan(options.job))
        return error_set(err,
                         "which model? give --model with --plan (`parplan models` lists them)");
    return report_all(catalogues.models, &options, io, err);
}
