/* SPDX-License-Identifier: MIT */
#include "spank_plugin/srun_context.h"
#include "base/parse_number.h"
#include "spank_plugin/plugin_log.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/step_plan.h"
#include "spank_plugin/step_report.h"
#include "workload/launch_flags.h"
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

void srun_context_begin(void)
{
    /* Before srun copies its environment for the step: an outer step's plan, or one set by
     * hand, is not this step's. */
    unsetenv(WIRE_PLAN_VARIABLE);
}

/* What applies to this command: the option, else the admins' default. */
struct wanted {
    struct admin_config *config;
    const char *option; /* NULL: parplan is not in use */
    bool strict;        /* the option is this command's own */
};

static void wanted_done(struct wanted *wanted) { admin_config_free(wanted->config); }

DEFINE_CLEANUP_DONE(wanted);

static int find_wanted(struct wanted *ret, struct error_info *err)
{
    const struct plugin_options *options = plugin_options();
    struct wanted wanted = {.strict = options->given && !options->inherited};
    if (options->given && !strcmp(options->parplan, "off")) {
        *ret = wanted;
        return 0;
    }
    struct error_info trouble = options->argument_error;
    if (trouble.kind == ERROR_NONE)
        wanted.config = admin_config_load(options->config_path, options->config_owner, &trouble);
    if (!wanted.config) {
        *ret = wanted;
        if (!options->given)
            return 0; /* nobody asked for us: a broken file of ours must not stop a job */
        *err = trouble;
        return -1;
    }
    wanted.option = options->given ? options->parplan : wanted.config->default_parplan;
    if (!wanted.config->enabled && options->given) {
        *ret = wanted;
        return error_set(err,
                         "parplan is switched off by %s (enabled: false); run without --parplan",
                         wanted.config->source);
    }
    if (!wanted.config->enabled || (wanted.option && !strcmp(wanted.option, "off")))
        wanted.option = NULL;
    *ret = wanted;
    return 0;
}

static int check_options(struct error_info *err)
{
    CLEANUP_DONE(wanted) struct wanted wanted = {.config = NULL};
    if (find_wanted(&wanted, err) < 0)
        return -1;
    if (!wanted.option)
        return 0;
    if (plugin_options()->oversized)
        return error_set(err,
                         "--parplan: longer than %u bytes; put the keys into a job file and "
                         "give its path",
                         JOB_OPTION_MAXIMUM_BYTES);
    struct job_spec *job = step_option_parse(wanted.option, err);
    job_spec_free(job);
    return job ? 0 : -1;
}

int srun_context_check_options(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    return check_options(&err) == 0 ? 0 : plugin_refuse(&err);
}

/* The batch script's, the interactive and the extern step run the callbacks too. */
static bool is_special_step(uint32_t step) { return step >= SLURM_MAX_NORMAL_STEP_ID; }

/* Why a step gets no plan: `misfit` is its layout, which an inherited option lets pass. */
struct refusal {
    struct error_info err;
    bool misfit;
};

static int refuse_heterogeneous(struct refusal *refusal)
{
    const char *size = getenv("SLURM_HET_SIZE");
    uint64_t components = 0;
    refusal->misfit = true;
    if (size && parse_unsigned(size, 0, UINT32_MAX, &components, NULL) == 0 && components > 1)
        return error_set(&refusal->err,
                         "heterogeneous jobs (%s components) cannot be planned: ranks need one "
                         "layout; run one srun per component, or without --parplan",
                         size);
    refusal->misfit = false;
    return 0;
}

static int ship(const struct wire_plan *wire, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, WIRE_PLAN_MAXIMUM_BYTES + 1);
    if (wire_plan_encode(wire, &text, err) < 0)
        return -1;
    if (setenv(WIRE_PLAN_VARIABLE, text_buffer_text(&text), 1) != 0)
        return error_set_memory(err);
    return 0;
}

static int plan_and_ship(const struct wanted *wanted, const struct step_facts *facts,
                         char **command, size_t command_count, struct refusal *refusal)
{
    const struct step_plan_request request = {
        .facts = facts,
        .config = wanted->config,
        .option = wanted->option,
        .partition = getenv("SLURM_JOB_PARTITION"),
        .command = (const char *const *)command,
        .command_count = command_count,
    };
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    if (step_plan_create(&request, &plan, &refusal->misfit, &refusal->err) < 0)
        return -1;
    if (plugin_options()->report_given &&
        step_report_write(&plan, plugin_options()->report, &refusal->err) < 0)
        return -1;
    step_report_line(&plan);
    return ship(plan.wire, &refusal->err);
}

static int plan_step(spank_t spank, const struct wanted *wanted, uint32_t step,
                     struct refusal *refusal)
{
    uint32_t job = 0;
    int command_count = 0;
    char **command = NULL;
    if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ARGV, &command_count, &command) != ESPANK_SUCCESS)
        return error_set_system(&refusal->err, "Slurm does not name the job and its command");
    if (command_count > 0 && launch_command_is_daemon(command[0]))
        return 0; /* mpirun's helpers number their own ranks */
    if (refuse_heterogeneous(refusal) < 0)
        return -1;
    CLEANUP_DONE(step_facts) struct step_facts facts = {.nodes = NULL};
    if (step_facts_read(job, step, &facts, &refusal->err) < 0)
        return -1;
    return plan_and_ship(wanted, &facts, command, (size_t)command_count, refusal);
}

int srun_context_plan(spank_t spank)
{
    struct refusal refusal = {.misfit = false};
    CLEANUP_DONE(wanted) struct wanted wanted = {.config = NULL};
    uint32_t step = 0;
    if (find_wanted(&wanted, &refusal.err) < 0)
        return plugin_refuse(&refusal.err);
    if (!wanted.option || spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
        is_special_step(step) || plan_step(spank, &wanted, step, &refusal) == 0)
        return 0;
    if (wanted.strict || !refusal.misfit)
        return plugin_refuse(&refusal.err);
    plugin_notice("this step runs without a plan: %s", refusal.err.text);
    return 0;
}
