/* SPDX-License-Identifier: MIT */
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/plan_explanation.h"

static const struct command_help help = {
    .id = COMMAND_PLAN,
    .name = "parplan plan",
    .synopsis = "--model MODEL --cluster CLUSTER",
    .text = "How to split a training job over a cluster: which degrees, does it fit, how long a "
            "step takes, and why."
            "\vExit status: 0 planned, 3 nothing fits, 4 refused by policy.",
    .example = "parplan plan --model llama3-70b --cluster dgx-h100:64",
};

static void write_text(const struct plan_report *report, const struct command_options *options,
                       struct command_io *io)
{
    if (options->explain)
        plan_explanation_text(report, &io->style, &io->out);
    else
        plan_report_text(report, &io->style, &io->out);
}

static int report_plans(const struct scenario *scenario, const struct command_options *options,
                        struct command_io *io, struct error_info *err)
{
    CLEANUP(plan_list) struct plan_list *list = plan_search(&scenario->request, err);
    if (!list)
        return -1;
    const struct plan_report report = scenario_report(scenario, list);
    bool denied = list->policy.result == POLICY_DENIED;
    if (options->format != FORMAT_TEXT) {
        if (output_document(plan_report_json(&report), options->format, io, err) < 0)
            return -1;
    } else if (!denied) {
        write_text(&report, options, io);
    }
    if (denied) {
        error_set(err, "%s", list->policy.text);
        return EXIT_REFUSED;
    }
    return list->plan_count > 0 ? EXIT_DONE : EXIT_NO_FIT;
}

int plan_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (scenario_open(&scenario, &options, err) < 0 || scenario_need_model(&scenario, err) < 0)
        return -1;
    return report_plans(&scenario, &options, io, err);
}
