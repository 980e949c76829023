/* SPDX-License-Identifier: MIT */
#include "spank_plugin/srun_context.h"
#include "base/parse_number.h"
#include "mapping/rank_environment.h"
#include "spank_plugin/place/step_placement.h"
#include "spank_plugin/plan_variable.h"
#include "spank_plugin/plugin_log.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/policy/step_policy.h"
#include "spank_plugin/step_cluster.h"
#include "spank_plugin/step_plan.h"
#include "spank_plugin/step_report.h"
#include "workload/launch_flags.h"
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

/* The allocation around this command, as its environment tells before srun writes its own
 * step into it; 0: none, or not told. */
static struct {
    uint64_t job, nodes, tasks;
} allocation;

static uint64_t number_in_environment(const char *name)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    if (text)
        parse_unsigned(text, 1, UINT32_MAX, &number, NULL);
    return number;
}

void srun_context_begin(void)
{
    const char *name;
    bool users;
    allocation.job = number_in_environment("SLURM_JOB_ID");
    allocation.nodes = number_in_environment("SLURM_JOB_NUM_NODES");
    allocation.tasks = number_in_environment("SLURM_NTASKS");
    /* Before srun copies its environment for the step: a plan, or the ranks, of an outer step
     * are not this step's. */
    unsetenv(WIRE_PLAN_VARIABLE);
    if (getenv("PARPLAN_PLAN_ID"))
        for (size_t i = 0; (name = rank_environment_name(i, &users)); i++)
            unsetenv(name);
}

/* Who asked for a plan decides what becomes of a step that gets none. */
enum origin {
    ORIGIN_NONE,
    ORIGIN_OWN,       /* this command: refuse */
    ORIGIN_INHERITED, /* sbatch or salloc: a smaller helper step passes, all else is refused */
    ORIGIN_DEFAULT    /* the admins' default: only the policy refuses */
};

struct wanted {
    enum origin origin;
    struct admin_config *config; /* NULL: none that can be read, and nobody asked */
    const char *option;          /* NULL: no plan */
};

static void wanted_done(struct wanted *wanted) { admin_config_free(wanted->config); }

DEFINE_CLEANUP_DONE(wanted);

static bool is_off(const char *option) { return strcmp(option, "off") == 0; }

static int load_config(struct wanted *wanted, struct error_info *err)
{
    const struct plugin_options *options = plugin_options();
    bool asked = options->given && !is_off(options->parplan);
    struct error_info trouble = options->argument_error;
    if (trouble.kind == ERROR_NONE)
        wanted->config = admin_config_load(options->config_path, options->config_owner, &trouble);
    if (wanted->config || !asked)
        return 0; /* a broken file of ours must not stop a job that did not ask for us */
    *err = trouble;
    return -1;
}

static void choose_option(struct wanted *wanted)
{
    const struct plugin_options *options = plugin_options();
    if (options->given) {
        wanted->origin = options->inherited ? ORIGIN_INHERITED : ORIGIN_OWN;
        wanted->option = options->parplan;
    } else if (wanted->config && wanted->config->enabled && wanted->config->default_parplan) {
        wanted->origin = ORIGIN_DEFAULT;
        wanted->option = wanted->config->default_parplan;
    }
    if (wanted->option && is_off(wanted->option))
        wanted->option = NULL;
}

static int find_wanted(struct wanted *wanted, struct error_info *err)
{
    if (load_config(wanted, err) < 0)
        return -1;
    choose_option(wanted);
    if (wanted->option && wanted->config && !wanted->config->enabled)
        return error_set(err,
                         "parplan is switched off by %s (enabled: false); run without --parplan, "
                         "or with --parplan=off where the job has it",
                         wanted->config->source);
    return 0;
}

static int check_report(const struct wanted *wanted, struct error_info *err)
{
    const struct plugin_options *options = plugin_options();
    if (!options->report_given)
        return 0;
    if (!wanted->option)
        return error_set(err, "--parplan-report: there is no plan to report; use --parplan too");
    return spank_context() == S_CTX_LOCAL ? step_report_check(options->report, err) : 0;
}

static int check_options(struct error_info *err)
{
    CLEANUP_DONE(wanted) struct wanted wanted = {.origin = ORIGIN_NONE};
    if (!plugin_options()->given && !plugin_options()->report_given)
        return 0; /* nothing that could be refused here: the admins' file is read later */
    if (find_wanted(&wanted, err) < 0 || check_report(&wanted, err) < 0)
        return -1;
    if (!wanted.option || wanted.origin == ORIGIN_DEFAULT)
        return 0;
    if (plugin_options()->oversized)
        return error_set(err,
                         "--parplan: longer than %u bytes; put the keys into a job file and "
                         "give its path",
                         JOB_OPTION_MAXIMUM_BYTES);
    bool in_job = allocation.job != 0 || spank_context() != S_CTX_LOCAL;
    return step_option_check(wanted.option, in_job, err);
}

int srun_context_check_options(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    step_placement_release();
    return check_options(&err) == 0 ? 0 : plugin_refuse(&err);
}

/* One step on its way to a plan. */
struct launch {
    spank_t spank;
    const struct wanted *wanted;
    struct policy policy; /* once the admins' file is read */
    uint32_t job, step;
    struct step_facts facts;
    char **command;
    size_t command_count;
    enum step_refusal refusal;
    struct error_info err;
};

static void launch_done(struct launch *launch) { step_facts_done(&launch->facts); }

DEFINE_CLEANUP_DONE(launch);

/* The batch script's, the interactive and the extern step run the callbacks too. */
static bool is_special_step(uint32_t step) { return step >= SLURM_MAX_NORMAL_STEP_ID; }

static int refuse_heterogeneous(struct launch *launch)
{
    const char *size = getenv("SLURM_HET_SIZE");
    if (number_in_environment("SLURM_HET_SIZE") < 2)
        return 0;
    launch->refusal = REFUSED_LAYOUT;
    return error_set(&launch->err,
                     "heterogeneous jobs (%s components) cannot be planned: ranks need one layout; "
                     "use a job without \":\", or run without --parplan",
                     size);
}

/* "--parplan tp=4 prog" makes tp=4 the program: Slurm takes an optional value only after "=". */
static int refuse_detached_value(struct launch *launch)
{
    const char *first = launch->command_count > 0 ? launch->command[0] : "";
    size_t length = strcspn(first, "=");
    for (unsigned key = 0; first[length] && key < JOB_KEY_COUNT; key++) {
        const char *name = job_key_info((enum job_key)key)->name;
        if (strlen(name) == length && !strncmp(name, first, length))
            return error_set(&launch->err,
                             "--parplan %s: the value stands apart; write --parplan=%s", first,
                             first);
    }
    return 0;
}

/* A plan without degrees numbers ranks and promises nothing: to require_plan it is none. */
static int check_required(struct launch *launch)
{
    struct policy_verdict verdict;
    policy_check_undeclared(&launch->policy, NULL, &verdict);
    if (verdict.result == POLICY_WARNED)
        plugin_notice("warning: %s", verdict.text);
    if (verdict.result != POLICY_DENIED)
        return 0;
    launch->refusal = REFUSED_POLICY;
    return error_set(&launch->err, "%s", verdict.text);
}

/* Nobody asked, and there is nothing to place: "srun hostname" on a site with a default. */
static bool is_silent(const struct launch *launch, const struct step_plan *plan)
{
    return launch->wanted->origin == ORIGIN_DEFAULT && plan->placement.map->locality_only;
}

static int report_and_ship(struct launch *launch, const struct step_plan *plan)
{
    const struct plugin_options *options = plugin_options();
    if (plan->placement.map->locality_only && check_required(launch) < 0)
        return -1;
    if (options->report_given && step_report_write(plan, options->report, &launch->err) < 0)
        return -1;
    if (is_silent(launch, plan))
        return plan_variable_set(launch->job, launch->step, plan->wire, &launch->err);
    step_report_line(plan);
    if (!launch->facts.gpus_per_node && launch->facts.node_gpus)
        plugin_notice("warning: the step asks for no GPUs; use --gres=gpu:%u",
                      launch->facts.node_gpus);
    return plan_variable_set(launch->job, launch->step, plan->wire, &launch->err);
}

static int plan_and_ship(struct launch *launch)
{
    const struct step_plan_request request = {
        .facts = &launch->facts,
        .config = launch->wanted->config,
        .option = launch->wanted->option,
        .policy = &launch->policy,
        .command = (const char *const *)launch->command,
        .command_count = launch->command_count,
        .numbering = step_placement_numbering(),
    };
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    if (step_plan_create(&request, &plan, &launch->refusal, &launch->err) < 0) {
        /* tp=8 in a helper step of one GPU is no violation: that step is not what was planned. */
        if (launch->wanted->origin == ORIGIN_INHERITED && launch->refusal == REFUSED_POLICY)
            launch->refusal = REFUSED_LAYOUT;
        return -1;
    }
    if (step_placement_check(&plan, &launch->facts, &launch->err) < 0) {
        launch->refusal = REFUSED_LAYOUT;
        return -1;
    }
    return report_and_ship(launch, &plan);
}

static bool is_one_rank(const struct step_facts *facts)
{
    return node_list_count(facts->nodes) == 1 && facts->tasks_per_node == 1 &&
           facts->gpus_per_node <= 1;
}

static int plan_step(struct launch *launch)
{
    int count = 0;
    if (spank_get_item(launch->spank, S_JOB_ID, &launch->job) != ESPANK_SUCCESS ||
        spank_get_item(launch->spank, S_JOB_ARGV, &count, &launch->command) != ESPANK_SUCCESS)
        return error_set_system(&launch->err, "Slurm does not name the job and its command");
    launch->command_count = (size_t)count;
    if (count > 0 && launch_command_is_daemon(launch->command[0]))
        return 0; /* mpirun's helpers number their own ranks */
    if (!launch->wanted->option)
        return check_required(launch);
    if (refuse_detached_value(launch) < 0 || refuse_heterogeneous(launch) < 0 ||
        step_facts_read(launch->job, launch->step,
                        !step_cluster_is_file(launch->wanted->config->cluster), &launch->facts,
                        &launch->err) < 0)
        return -1;
    if (launch->wanted->origin == ORIGIN_DEFAULT && is_one_rank(&launch->facts))
        return check_required(launch);
    return plan_and_ship(launch);
}

/* Fewer nodes or ranks than the job has: a helper beside the training step. A job that was given
 * no number of tasks has a rank for each GPU, and so has a step of one task on each node. */
static bool is_smaller_than_job(const struct step_facts *facts)
{
    uint64_t nodes = facts->nodes ? node_list_count(facts->nodes) : 0, ranks = facts->tasks;
    uint64_t wanted = allocation.tasks ? allocation.tasks : nodes * facts->node_gpus;
    if (ranks == nodes && facts->gpus_per_node)
        ranks *= facts->gpus_per_node;
    return nodes < allocation.nodes || ranks < wanted;
}

static bool lets_pass(const struct launch *launch)
{
    if (launch->policy.require_plan == REQUIRE_DENY)
        return false; /* its nodes would not */
    if (launch->wanted->origin == ORIGIN_DEFAULT)
        return launch->refusal != REFUSED_POLICY;
    return launch->wanted->origin == ORIGIN_INHERITED && launch->refusal == REFUSED_LAYOUT &&
           is_smaller_than_job(&launch->facts);
}

/* Slurm 22.05 leaves a step whose local_user_init fails on the controller until its job ends,
 * and later steps wait for it. Where the job goes on after this srun, the step is let go to
 * its nodes, and its tasks refuse to start. */
static int refuse_step(struct launch *launch)
{
    plugin_refuse(&launch->err);
    bool job_goes_on = allocation.job != 0 || launch->step > 0;
    if (job_goes_on && plan_variable_set(launch->job, launch->step, NULL, NULL) == 0)
        return 0;
    return -1;
}

int srun_context_plan(spank_t spank)
{
    CLEANUP_DONE(wanted) struct wanted wanted = {.origin = ORIGIN_NONE};
    CLEANUP_DONE(launch) struct launch launch = {.spank = spank, .wanted = &wanted};
    if (spank_get_item(spank, S_JOB_STEPID, &launch.step) != ESPANK_SUCCESS ||
        is_special_step(launch.step))
        return 0;
    int planned = find_wanted(&wanted, &launch.err);
    if (planned == 0 && !wanted.config)
        return 0;
    if (wanted.config)
        step_policy_read(wanted.config, NULL, &launch.policy);
    if (planned == 0 && plan_step(&launch) == 0)
        return 0;
    if (!lets_pass(&launch))
        return refuse_step(&launch);
    plugin_notice("this step runs without a plan: %s", launch.err.text);
    return 0;
}
