/* SPDX-License-Identifier: MIT */
#include "cli/inputs/scenario.h"
#include "cli/output.h"
#include "report/launchers/launch_report.h"
#include <string.h>

/* How far down the list of plans to look for one that the launcher can express. */
#define PLANS_TRIED 1000u
#define NOTES_MAXIMUM 40u
#define NOTE_BYTES ((size_t)2048)

static const struct command_help help = {
    .id = COMMAND_FLAGS,
    .name = "parplan flags",
    .synopsis = "--model MODEL --cluster CLUSTER [--launcher NAME]",
    .text = "A plan as what starts the training must be told: arguments, configuration and "
            "environment, as a piece of a shell script or as JSON."
            "\vA plan that the launcher cannot express is refused. Exit status: 0 written, 2 bad "
            "input or "
            "cannot be expressed, 3 nothing fits, 4 refused by policy.",
    .example = "parplan flags --model llama3-70b --cluster dgx-h100:64 --launcher megatron-lm",
};

struct flags {
    struct scenario *scenario;
    const struct command_options *options;
    const struct launcher *launcher;
    const struct plan_list *list;
    const struct gpu_model *gpu;
    struct plan ordered; /* the chosen one in the order that order=auto found */
    const bool *implied; /* of each key: the launcher's, not the user's */
    const char *notes[NOTES_MAXIMUM];
    size_t note_count;
    struct text_buffer note; /* of this command */
};

/* Given or bounded: the user's word, that the launcher's limits judge. */
static bool is_said(const struct job_spec *job, unsigned key)
{
    const struct job_bound *bounds = job->bounds[key];
    return job->values[key].given || bounds[JOB_LEAST].given || bounds[JOB_MOST].given;
}

/* Keys for which the launcher leaves no choice, unless they are given. */
static int set_implied(const struct launcher *launcher, struct job_spec *job,
                       bool ret_implied[JOB_KEY_COUNT], struct error_info *err)
{
    if (!launcher->implied)
        return 0;
    CLEANUP(job_spec) struct job_spec *implied = job_spec_create(err);
    if (!implied || job_spec_parse_option(implied, launcher->implied, "--launcher", err) < 0)
        return -1;
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        const struct job_value *value = &implied->values[i];
        if (!value->given || is_said(job, i))
            continue;
        if (job_spec_set(job, job_key_info((enum job_key)i)->name, value->text, value->where, err) <
            0)
            return -1;
        ret_implied[i] = true;
    }
    return 0;
}

/* The launcher, and what it says of the job before anything is planned. */
static const struct launcher *choose_launcher(const struct command_options *options,
                                              bool ret_implied[JOB_KEY_COUNT],
                                              struct error_info *err)
{
    struct job_spec *job = options->job;
    const char *framework = job_spec_text(job, JOB_FRAMEWORK);
    const struct launcher *launcher = NULL;
    if (options->launcher)
        launcher = launcher_find(options->launcher, err);
    else
        launcher = launcher_of_framework(framework ? framework : "megatron-core");
    if (!launcher)
        return NULL;
    if (!framework && job_spec_set(job, "framework", launcher->framework, "--launcher", err) < 0)
        return NULL;
    return set_implied(launcher, job, ret_implied, err) < 0 ? NULL : launcher;
}

/* The GPU of the cluster's kinds that needs most of the environment: one before Blackwell. */
static const struct gpu_model *oldest_gpu(const struct scenario *scenario)
{
    const struct gpu_model *found = NULL;
    for (size_t i = 0; i < scenario->cluster->kind_count; i++) {
        const struct node_topology *node = scenario->cluster->kinds[i];
        const struct node_gpu *gpu = node->gpu_count > 0 ? &node->gpus[0] : NULL;
        if (!gpu || !gpu->model)
            return NULL;
        const struct gpu_model *model =
            gpu_catalogue_find(scenario->catalogues.gpus, gpu->model, gpu->memory_bytes);
        if (!model)
            return NULL;
        if (!found || gpu_is_blackwell(found))
            found = model;
    }
    return found;
}

static struct launch_plan launch_of(const struct flags *flags, const struct plan *plan)
{
    const struct job_value *values = flags->options->job->values;
    return (struct launch_plan){
        .plan = plan,
        .model = flags->scenario->model,
        .training = &flags->scenario->training,
        .profile = flags->scenario->framework,
        .gpu = flags->gpu,
        .world = flags->scenario->world,
        .gpus_per_node = flags->scenario->gpus_per_node,
        .capacity_factor =
            values[JOB_CAPACITY_FACTOR].given ? values[JOB_CAPACITY_FACTOR].text : NULL,
        .experts_padded = values[JOB_CAPACITY_FACTOR].given && !values[JOB_IMBALANCE].given,
    };
}

static void add_note(struct flags *flags, const char *note)
{
    if (flags->note_count < NOTES_MAXIMUM)
        flags->notes[flags->note_count++] = note;
}

static void note_later_plan(struct flags *flags, size_t index, const struct error_info *first)
{
    if (index == 0)
        return;
    text_buffer_add(&flags->note, "This is plan %zu of the list; the first cannot be expressed: %s",
                    index + 1, first->text);
    add_note(flags, text_buffer_text(&flags->note));
}

/* The best plan that the launcher can express; -1 with what it lacks for the best of all. */
static int choose_plan(struct flags *flags, struct launch_plan *ret, struct error_info *err)
{
    struct error_info first = {.kind = ERROR_NONE};
    for (size_t i = 0; i < flags->list->plan_count; i++) {
        struct error_info local = {.kind = ERROR_NONE};
        struct launch_plan launch = launch_of(flags, &flags->list->plans[i]);
        if (launcher_check(flags->launcher, &launch, &local) == 0) {
            note_later_plan(flags, i, &first);
            *ret = launch;
            return 0;
        }
        if (i == 0 || local.kind != ERROR_INPUT)
            first = local;
        if (local.kind != ERROR_INPUT)
            break;
    }
    if (err)
        *err = first;
    return -1;
}

/* order=auto: the cheaper numbering, if the launcher can be told it. */
static int choose_order(struct flags *flags, struct launch_plan *launch, struct error_info *err)
{
    const struct plan_request *request = &flags->scenario->request;
    if (!job_spec_order_is_open(request->job))
        return 0;
    flags->ordered = *launch->plan;
    if (objective_choose_order(request, &flags->ordered, flags->scenario->world, err) < 0)
        return -1;
    struct launch_plan ordered = launch_of(flags, &flags->ordered);
    if (launcher_check(flags->launcher, &ordered, NULL) == 0)
        *launch = ordered;
    return 0;
}

/* Plans for another framework than the launcher's are the user's word, and said so. */
static void add_profile_note(struct flags *flags)
{
    const char *profile = flags->scenario->framework->name;
    const struct launcher *launcher = flags->launcher;
    if (strcmp(profile, launcher->framework) != 0 &&
        (!launcher->also || strcmp(profile, launcher->also) != 0))
        add_note(flags, "Memory and time were planned for another framework than this launcher's.");
}

static int write_flags(struct flags *flags, struct command_io *io, struct error_info *err)
{
    struct launch_plan launch;
    if (choose_plan(flags, &launch, err) < 0 || choose_order(flags, &launch, err) < 0)
        return -1;
    if (text_buffer_failed(&flags->note))
        return error_set_memory(err);
    add_profile_note(flags);
    for (size_t i = 0; i < flags->list->note_count; i++)
        add_note(flags, flags->list->notes[i]);
    CLEANUP(launch_settings)
    struct launch_settings *settings = launch_settings_create(flags->launcher, &launch, err);
    if (!settings)
        return -1;
    const struct launch_report report = {
        .launch = &launch,
        .settings = settings,
        .cluster = flags->scenario->cluster->name,
        .notes = flags->notes,
        .note_count = flags->note_count,
    };
    int failed =
        flags->options->format == FORMAT_TEXT
            ? launch_report_text(&report, &io->out, err)
            : output_document(launch_report_json(&report), flags->options->format, io, err);
    return failed < 0 ? -1 : EXIT_DONE;
}

/* The best of the plans that some launcher can express, of those of its framework at first. */
static const struct plan *find_expressible(const struct flags *flags, const struct plan_list *list,
                                           struct text_buffer *ret_launchers)
{
    for (unsigned any_framework = 0; any_framework < 2; any_framework++)
        for (size_t i = 0; i < list->plan_count; i++) {
            const struct launch_plan launch = launch_of(flags, &list->plans[i]);
            if (launcher_write_able(&launch, any_framework == 0, ret_launchers) > 0)
                return &list->plans[i];
        }
    return NULL;
}

/* What fits without the keys that the launcher alone has set, and what can express it: an empty
 * text where nothing does. */
static int write_other_launchers(struct flags *flags, struct text_buffer *out,
                                 struct error_info *err)
{
    struct job_spec *job = flags->options->job;
    bool open = false;
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++)
        if (flags->implied[i]) {
            job->values[i].given = false;
            open = true;
        }
    if (!open)
        return 0;
    CLEANUP(plan_list) struct plan_list *list = plan_search(&flags->scenario->request, err);
    if (!list)
        return -1;
    CLEANUP_DONE(text_buffer) struct text_buffer launchers;
    text_buffer_init(&launchers, NOTE_BYTES);
    const struct plan *plan = find_expressible(flags, list, &launchers);
    if (text_buffer_failed(&launchers))
        return error_set_memory(err);
    if (!plan)
        return 0;
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    text_buffer_add(out, "%s with %s fits, which --launcher %s cannot express; use --launcher %s",
                    degrees, sharding_name(plan->sharding), flags->launcher->name,
                    text_buffer_text(&launchers));
    return 0;
}

/* The planner's remedy may be a key that the user never gave: then another launcher is. */
static int refuse_fit(struct flags *flags, const struct plan_list *list, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NOTE_BYTES);
    if (write_other_launchers(flags, &text, err) < 0)
        return -1;
    if (text_buffer_failed(&text))
        return error_set_memory(err);
    const struct plan_remedy remedy = {.kind = "launcher", .text = text_buffer_text(&text)};
    struct plan_list shown = *list;
    if (text.length > 0) {
        shown.remedies = &remedy;
        shown.remedy_count = 1;
    }
    const struct placement refused = {.outcome = PLACEMENT_NO_FIT, .list = &shown};
    placement_refusal(&refused, err);
    return EXIT_NO_FIT;
}

static int search(struct flags *flags, struct command_io *io, struct error_info *err)
{
    flags->scenario->request.top = PLANS_TRIED;
    CLEANUP(plan_list)
    struct plan_list *list = scenario_search(flags->scenario, &flags->scenario->request, err);
    if (!list)
        return -1;
    if (list->policy.result == POLICY_DENIED) {
        const struct placement refused = {
            .outcome = PLACEMENT_DENIED, .list = list, .verdict = list->policy};
        placement_refusal(&refused, err);
        return EXIT_REFUSED;
    }
    if (list->plan_count == 0)
        return refuse_fit(flags, list, err);
    flags->list = list;
    return write_flags(flags, io, err);
}

int flags_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    bool implied[JOB_KEY_COUNT] = {false};
    const struct launcher *launcher = choose_launcher(&options, implied, err);
    if (!launcher)
        return -1;
    CLEANUP_DONE(scenario) struct scenario scenario = {.config = NULL};
    if (scenario_open(&scenario, &options, err) < 0 || scenario_need_model(&scenario, err) < 0)
        return -1;
    struct flags flags = {
        .scenario = &scenario,
        .options = &options,
        .launcher = launcher,
        .gpu = oldest_gpu(&scenario),
        .implied = implied,
    };
    text_buffer_init(&flags.note, NOTE_BYTES);
    int status = search(&flags, io, err);
    text_buffer_done(&flags.note);
    return status;
}
