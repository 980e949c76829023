/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/measured/mfu_report.h"
#include <string.h>

#define FIGURE_MINIMUM 1e-9
#define FIGURE_MAXIMUM 1e18
#define FIGURE_TEXT_BYTES 64

static const struct command_help help = {
    .id = COMMAND_MFU,
    .name = "parplan mfu",
    .synopsis = "--model MODEL --cluster CLUSTER --plan KEY=VALUE,... --step-time SECONDS",
    .text = "Is a measured run as fast as it should be? Its MFU, what published runs reach, what "
            "the planner predicts for the same configuration, and where a gap may sit."
            "\vOne of --step-time, --tokens-per-second, --gpu-tokens-per-second and --tflops is "
            "needed. Policy does not count: the run has run.",
    .example = "parplan mfu --model llama3-70b --cluster dgx-h100:8 --plan tp=4,pp=4 "
               "--set global_batch=128,sequence_length=8192 --step-time 14.72",
};

struct figure_option {
    const char *name;
    size_t offset;
    enum measure measure;
};

#define FIGURE(name_, field_, measure_)                                                            \
    {                                                                                              \
        name_, offsetof(struct command_options, field_), measure_                                  \
    }

static const struct figure_option figures[] = {
    FIGURE("--step-time", step_time, MEASURE_STEP_SECONDS),
    FIGURE("--tokens-per-second", tokens_per_second, MEASURE_TOKENS_PER_SECOND),
    FIGURE("--gpu-tokens-per-second", gpu_tokens_per_second, MEASURE_GPU_TOKENS_PER_SECOND),
    FIGURE("--tflops", tflops, MEASURE_GPU_TFLOPS),
};

static int read_figure(const char *where, const char *text, double *ret, struct error_info *err)
{
    if (parse_real(text, FIGURE_MINIMUM, FIGURE_MAXIMUM, ret, err) < 0)
        return error_prefix(err, "%s", where);
    return 0;
}

static int read_measurement(const struct command_options *options, struct mfu_request *request,
                            struct error_info *err)
{
    const char *first = NULL;
    for (size_t i = 0; i < COUNT_OF(figures); i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)options + figures[i].offset);
        if (!text)
            continue;
        if (first)
            return error_set(err, "%s and %s are both given; one measurement is enough, keep one",
                             first, figures[i].name);
        first = figures[i].name;
        request->measure = figures[i].measure;
        if (read_figure(first, text, &request->value, err) < 0)
            return -1;
    }
    if (!first)
        return error_set(err, "what was measured? give --step-time SECONDS, --tokens-per-second "
                              "TOKENS, --gpu-tokens-per-second TOKENS or --tflops TFLOPS");
    return 0;
}

/* "32:1.9": GPUs and a figure in the measurement's unit. */
static int read_other(const char *text, struct other_run *ret, struct error_info *err)
{
    char gpus[FIGURE_TEXT_BYTES];
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof(gpus))
        return error_set(err,
                         "--compare: %s is not GPUS:FIGURE, as 32:1.9, with the figure in the "
                         "measurement's unit",
                         text);
    memcpy(gpus, text, (size_t)(colon - text));
    gpus[colon - text] = '\0';
    if (parse_unsigned(gpus, 1, WORLD_MAXIMUM, &ret->gpus, err) < 0)
        return error_prefix(err, "--compare");
    return read_figure("--compare", colon + 1, &ret->value, err);
}

static int report_analysis(const struct scenario *scenario, const struct command_options *options,
                           const struct mfu_request *request, struct command_io *io,
                           struct error_info *err)
{
    CLEANUP(mfu_analysis) struct mfu_analysis *analysis = mfu_analysis_create(request, err);
    if (!analysis)
        return -1;
    const struct mfu_report report = {.plan = scenario_report(scenario, analysis->list),
                                      .analysis = analysis};
    if (options->format != FORMAT_TEXT)
        return output_document(mfu_report_json(&report), options->format, io, err);
    mfu_report_text(&report, &io->style, &io->out);
    return EXIT_DONE;
}

static int analyse(const struct command_options *options, struct command_io *io,
                   struct error_info *err)
{
    struct kernel_profile profile;
    struct other_run others[OPTION_MAXIMUM_REPEATS];
    struct mfu_request request = {.others = others, .other_count = options->compare_count};
    if (read_measurement(options, &request, err) < 0)
        return -1;
    for (size_t i = 0; i < options->compare_count; i++)
        if (read_other(options->compare[i], &others[i], err) < 0)
            return -1;
    if (options->profile) {
        if (kernel_profile_load(options->profile, &profile, err) < 0)
            return -1;
        request.profile = &profile;
    }
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (scenario_open(&scenario, options, err) < 0 || scenario_need_model(&scenario, err) < 0)
        return -1;
    request.plan = &scenario.request;
    request.references = scenario.catalogues.mfu_references;
    return report_analysis(&scenario, options, &request, io, err);
}

int mfu_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    return analyse(&options, io, err);
}
