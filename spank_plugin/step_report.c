/* SPDX-License-Identifier: MIT */
#include "spank_plugin/step_report.h"
#include "report/map_report.h"
#include "report/plan_explanation.h"
#include "spank_plugin/plugin_log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define REPORT_MAXIMUM_BYTES ((size_t)64 << 20)

static void describe_split(const struct step_plan *plan, struct text_buffer *out)
{
    char degrees[DEGREES_TEXT_BYTES];
    if (plan->placement.map->locality_only) {
        text_buffer_add(out, "no model and no degrees named, so ranks follow the fabric only "
                             "(name them: --parplan=auto,model=llama3-8b,global_batch=512 or "
                             "tp=8,pp=4)");
        return;
    }
    degrees_text(&plan->placement.plan.degrees, degrees);
    text_buffer_add_text(out, degrees);
    if (plan->placement.plan.sharding != SHARDING_NONE)
        text_buffer_add(out, ",sharding=%s", sharding_name(plan->placement.plan.sharding));
    if (plan->placement.plan.micro_batch)
        text_buffer_add(out, ",micro_batch=%u", plan->placement.plan.micro_batch);
}

void step_report_line(const struct step_plan *plan)
{
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, ERROR_TEXT_BYTES);
    text_buffer_add(&line, "plan %s: ", plan->wire->id);
    describe_split(plan, &line);
    const char *master = rank_map_master(plan->placement.map);
    /* In parentheses as in wire_plan.c: each launch has this line. */
    (text_buffer_add)(&line, "; RANK 0 on %s", master);
    if (strcmp(master, plan->wire->master) != 0)
        text_buffer_add(&line, " (%s)", plan->wire->master);
    (text_buffer_add)(&line, " of %u node%s", plan->wire->node_count,
                      plan->wire->node_count == 1 ? "" : "s");
    if (plan->wire->node_count > 1 && !plan->cluster->fabric)
        text_buffer_add_text(&line, ", fabric unknown");
    plugin_notice("%s", text_buffer_text(&line));
    if (plan->notices[0])
        plugin_notice("found in the command: %s", plan->notices);
    if (plan->placement.verdict.result == POLICY_WARNED)
        plugin_notice("warning: %s", plan->placement.verdict.text);
}

/* What a plan with a model was made for; the request was checked when it was planned. */
struct step_training {
    struct training_spec training;
    const struct framework_profile *profile;
};

static bool training_of(const struct step_plan *plan, struct step_training *ret)
{
    if (!plan->placement.list ||
        training_spec_from_job(plan->job, plan->placement.map->world, &ret->training, NULL) < 0)
        return false;
    const struct job_value *framework = &plan->job->values[JOB_FRAMEWORK];
    ret->profile =
        framework_catalogue_find(plan->frameworks, framework->given ? framework->text : NULL, NULL);
    return ret->profile != NULL;
}

static void add_plan(const struct step_plan *plan, const struct step_training *training,
                     const struct text_style *style, struct text_buffer *out)
{
    const struct plan_report report = {
        .request = &plan->request,
        .training = &training->training,
        .framework = training->profile->name,
        .world = plan->placement.map->world,
        .gpus_per_node = plan->placement.map->gpus_per_node,
        .list = plan->placement.list,
    };
    plan_explanation_text(&report, style, out);
}

static void add_map(const struct step_plan *plan, const struct text_style *style,
                    struct text_buffer *out)
{
    const struct map_report report = {
        .map = plan->placement.map,
        .outlook = &plan->placement.outlook,
        .master = plan->wire->master,
        .policy_note =
            plan->placement.verdict.result == POLICY_WARNED ? plan->placement.verdict.text : NULL,
    };
    map_report_text(&report, style, out);
}

static int path_error(const char *path, int reason, struct error_info *err)
{
    return error_set_system(err, "--parplan-report: %s: %s", path[0] ? path : "standard error",
                            reason == ENXIO ? "a pipe that nobody reads"
                                            : error_errno_text(reason));
}

/* O_NONBLOCK: a named pipe without a reader must not hold srun and its nodes. */
static int open_report(const char *path, int flags)
{
    return open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666);
}

int step_report_check(const char *path, struct error_info *err)
{
    if (!path[0])
        return 0;
    CLEANUP_FD int fd = open_report(path, 0);
    return fd >= 0 ? 0 : path_error(path, errno, err);
}

static bool write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            bytes -= (size_t)written;
        }
    }
    return true;
}

static int write_text(const char *path, const struct text_buffer *text, struct error_info *err)
{
    if (text_buffer_failed(text))
        return error_set_memory(err);
    CLEANUP_FD int fd =
        path[0] ? open_report(path, O_TRUNC) : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return path_error(path, errno, err);
    /* Opened: from here on a slow reader is waited for. */
    if (path[0])
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return write_all(fd, text_buffer_text(text), text->length) ? 0 : path_error(path, errno, err);
}

int step_report_write(const struct step_plan *plan, const char *path, struct error_info *err)
{
    const struct text_style style = {.colour = false};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, REPORT_MAXIMUM_BYTES);
    struct step_training training;
    if (training_of(plan, &training))
        add_plan(plan, &training, &style, &text);
    add_map(plan, &style, &text);
    return write_text(path, &text, err);
}
