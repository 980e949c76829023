/* SPDX-License-Identifier: MIT */
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "mapping/placement.h"

static const struct command_help help = {
    .id = COMMAND_CHECK,
    .name = "parplan check",
    .synopsis = "--plan KEY=VALUE,... --cluster CLUSTER [--model MODEL]",
    .text = "What the policy says of one plan, and whether it fits."
            "\vExit status: 0 allowed and fits, 3 does not fit, 4 refused by policy (tested "
            "first). Without --model only the policy is tested.",
    .example = "parplan check --model llama3-70b --plan tp=8,pp=4 --cluster dgx-h100:16",
};

static int check_fit(const struct scenario *scenario, const struct command_options *options,
                     struct command_io *io, struct error_info *err)
{
    struct plan_request request = scenario->request;
    request.top = 1;
    CLEANUP(plan_list) struct plan_list *list = scenario_search(scenario, &request, err);
    if (!list)
        return -1;
    const struct plan_report report = scenario_report(scenario, list);
    bool denied = list->policy.result == POLICY_DENIED;
    if (options->format != FORMAT_TEXT) {
        if (output_document(check_report_json(&report), options->format, io, err) < 0)
            return -1;
    } else if (!denied) {
        check_report_text(&report, &io->style, &io->out);
    }
    if (denied) {
        error_set(err, "%s", list->policy.text);
        return EXIT_REFUSED;
    }
    return list->plan_count > 0 ? EXIT_DONE : EXIT_NO_FIT;
}

static int check_policy_only(const struct scenario *scenario, const struct command_options *options,
                             struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(placement) struct placement placement = {.list = NULL};
    if (placement_create(&scenario->request, NULL, &placement, err) < 0)
        return -1;
    scenario_name_scope(scenario, &placement.verdict);
    if (options->format != FORMAT_TEXT) {
        struct json_value *document =
            policy_report_json(&placement.plan.degrees, &placement.verdict);
        if (output_document(document, options->format, io, err) < 0)
            return -1;
    } else if (placement.outcome == PLACEMENT_DONE) {
        policy_report_text(&placement.plan.degrees, &placement.verdict, &io->style, &io->out);
    }
    if (placement.outcome == PLACEMENT_DONE)
        return EXIT_DONE;
    placement_refusal(&placement, err);
    return EXIT_REFUSED;
}

int check_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (scenario_open(&scenario, &options, err) < 0)
        return -1;
    if (!job_spec_has_degrees(options.job))
        return error_set(err, "which plan? give --plan with its degrees, as --plan tp=8,pp=4");
    return scenario.model ? check_fit(&scenario, &options, io, err)
                          : check_policy_only(&scenario, &options, io, err);
}
