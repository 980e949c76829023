/* SPDX-License-Identifier: MIT */
#include "cli/inputs/plan_lock.h"
#include "cli/inputs/run_options.h"
#include "cli/output.h"
#include "planner/explanation/method_comparison.h"
#include "report/comparison/choice_report.h"
#include "report/launchers/slurm_request.h"
#include "report/scaling/scaling_report.h"

static const struct command_help help = {
    .id = COMMAND_PLAN,
    .name = "parplan plan",
    .synopsis = "--model MODEL --cluster CLUSTER",
    .text = "How to split a training job over a cluster: which degrees, does it fit, how long a "
            "step takes, and why; on how many nodes, and how long a whole run takes."
            "\vExit status: 0 planned, 3 nothing fits, 4 refused by policy.",
    .example = "parplan plan --model llama3-70b --cluster dgx-h100:64",
};

/* What was asked, and the counts of nodes where those were asked for. */
struct planning {
    const struct command_options *options;
    const struct run_options *run;
    const struct node_scaling *scaling; /* or NULL */
    const struct plan_lock *lock;
};

static struct scaling_report counts_report(const struct planning *planning)
{
    return (struct scaling_report){&planning->run->scaling, planning->scaling};
}

static void write_text(const struct plan_report *report, const struct planning *planning,
                       struct command_io *io)
{
    const struct scaling_report counts = counts_report(planning);
    if (planning->scaling)
        scaling_report_text(&counts, &io->style, &io->out);
    if (planning->options->explain)
        choice_report_text(report, &io->style, &io->out);
    else
        plan_report_text(report, &io->style, &io->out);
    if (!planning->scaling && report->list->plan_count > 0)
        run_report_text(&planning->run->scaling.run, &report->list->plans[0], report->world,
                        &io->style, &io->out);
}

static int write_document(const struct plan_report *report, const struct planning *planning,
                          struct command_io *io, struct error_info *err)
{
    const struct plan *best = report->list->plan_count > 0 ? report->list->plans : NULL;
    const struct scaling_report counts = counts_report(planning);
    struct json_value *document = plan_report_json(report);
    if (planning->scaling)
        scaling_report_json(&counts, document);
    run_report_json(&planning->run->scaling.run, best, report->world, document);
    if (planning->options->slurm && best && slurm_request_json(report, document, err) < 0) {
        json_value_free(document);
        return -1;
    }
    return output_document(document, planning->options->format, io, err);
}

static int write_report(const struct plan_report *report, const struct planning *planning,
                        struct command_io *io, struct error_info *err)
{
    if (planning->options->format != FORMAT_TEXT)
        return write_document(report, planning, io, err);
    if (planning->options->slurm && report->list->plan_count > 0)
        return slurm_request_text(report, &io->out, err);
    write_text(report, planning, io);
    return 0;
}

static int exit_status_of(const struct plan_list *list, const struct planning *planning)
{
    bool in_time = !planning->scaling || planning->scaling->recommended ||
                   planning->run->scaling.run.within_days <= 0;
    return list->plan_count > 0 && in_time ? EXIT_DONE : EXIT_NO_FIT;
}

/* The lock comes before the report: a run that loses it to another one has no plan to show. */
static int finish_plans(const struct plan_report *report, const struct planning *planning,
                        struct command_io *io, struct error_info *err)
{
    int status = exit_status_of(report->list, planning);
    if (status == EXIT_DONE && plan_lock_write(planning->lock, report, err) < 0)
        return -1;
    if (write_report(report, planning, io, err) < 0)
        return -1;
    plan_lock_close(planning->lock, report, err);
    return status;
}

static int refuse_plans(const struct plan_report *report, const struct planning *planning,
                        struct command_io *io, struct error_info *err)
{
    if (planning->options->format != FORMAT_TEXT && write_report(report, planning, io, err) < 0)
        return -1;
    error_set(err, "%s", report->list->policy.text);
    return EXIT_REFUSED;
}

static int report_plans(const struct scenario *scenario, const struct planning *planning,
                        struct command_io *io, struct error_info *err)
{
    if (plan_lock_check(planning->lock, scenario->request.job, scenario->world,
                        scenario->gpus_per_node, err) < 0)
        return -1;
    CLEANUP(plan_list)
    struct plan_list *list = scenario_search(scenario, &scenario->request, err);
    if (!list)
        return plan_lock_explain(planning->lock, err);
    bool denied = list->policy.result == POLICY_DENIED;
    CLEANUP(method_comparison) struct method_comparison *methods = NULL;
    if (planning->options->explain && !denied) {
        methods = method_comparison_create(&scenario->request,
                                           list->plan_count > 0 ? list->plans : NULL, err);
        if (!methods)
            return -1;
    }
    struct plan_report report = scenario_report(scenario, list);
    report.methods = methods;
    return denied ? refuse_plans(&report, planning, io, err)
                  : finish_plans(&report, planning, io, err);
}

/* The plan in full is that of the recommended count, else of the largest asked for; where that is
 * impossible in itself the table still says why the others are. */
static int report_counts(struct scenario *scenario, struct planning *planning,
                         struct command_io *io, struct error_info *err)
{
    CLEANUP(node_scaling)
    struct node_scaling *scaling = node_scaling_create(&planning->run->scaling, err);
    if (!scaling)
        return -1;
    unsigned nodes =
        scaling->recommended ? scaling->recommended->nodes : planning->run->scaling.last;
    planning->scaling = scaling;
    if (scenario_resize(scenario, nodes, err) < 0)
        return -1;
    int result = report_plans(scenario, planning, io, err);
    bool text = planning->options->format == FORMAT_TEXT;
    if (result >= 0 || scaling->recommended || err->kind != ERROR_INPUT || !text)
        return result;
    const struct scaling_report counts = counts_report(planning);
    scaling_report_text(&counts, &io->style, &io->out);
    return EXIT_NO_FIT;
}

int plan_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    run_options_take_nodes(&options);
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    struct plan_lock lock;
    struct run_options run;
    if (plan_lock_open(options.lock, options.job, &lock, err) < 0 ||
        scenario_open(&scenario, &options, err) < 0 || scenario_need_model(&scenario, err) < 0 ||
        run_options_read(&options, &scenario, &run, err) < 0)
        return -1;
    struct planning planning = {.options = &options, .run = &run, .lock = &lock};
    return run.counts ? report_counts(&scenario, &planning, io, err)
                      : report_plans(&scenario, &planning, io, err);
}
