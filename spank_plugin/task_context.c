/* SPDX-License-Identifier: MIT */
#include "spank_plugin/task_context.h"
#include "base/parse_number.h"
#include "mapping/rank_environment.h"
#include "spank_plugin/node/plugin_order.h"
#include "spank_plugin/node/task_cpus.h"
#include "spank_plugin/plan_variable.h"
#include "spank_plugin/plugin_log.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/policy/step_policy.h"
#include "spank_plugin/task_node.h"
#include "workload/admin_config.h"
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VALUE_BYTES 4096
#define PORT_FIRST_UNPRIVILEGED 1024

/* Made by task_context_prepare in slurmstepd, inherited by every task's fork. */
static struct admin_config *config;
static struct error_info config_error;

/* The step as Slurm tells it: what the wire plan must agree with. */
struct task_facts {
    uint32_t job, step, node, nodes, tasks_on_node, local_task, process, tasks;
};

static bool has_plan(spank_t spank)
{
    char first[2];
    spank_err_t answer = spank_getenv(spank, WIRE_PLAN_VARIABLE, first, sizeof(first));
    return answer == ESPANK_SUCCESS || answer == ESPANK_NOSPACE;
}

static bool is_special_step(spank_t spank)
{
    uint32_t step = 0;
    return spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
           step >= SLURM_MAX_NORMAL_STEP_ID;
}

void task_context_prepare(spank_t spank)
{
    const struct plugin_options *options = plugin_options();
    if (is_special_step(spank))
        return;
    admin_config_free(config);
    config = NULL;
    config_error = options->argument_error;
    if (config_error.kind == ERROR_NONE)
        config = admin_config_load(options->config_path, options->config_owner, &config_error);
    if (!has_plan(spank))
        return;
    task_node_prepare(options->cache_path, options->config_owner);
    task_cpus_prepare();
    plugin_order_check();
}

static int read_facts(spank_t spank, struct task_facts *ret, struct error_info *err)
{
    int local = -1;
    const struct {
        spank_item_t item;
        uint32_t *value;
    } items[] = {
        {S_JOB_ID, &ret->job},
        {S_JOB_STEPID, &ret->step},
        {S_JOB_NODEID, &ret->node},
        {S_JOB_NNODES, &ret->nodes},
        {S_JOB_LOCAL_TASK_COUNT, &ret->tasks_on_node},
        {S_JOB_TOTAL_TASK_COUNT, &ret->tasks},
        {S_TASK_GLOBAL_ID, &ret->process},
    };
    for (size_t i = 0; i < COUNT_OF(items); i++)
        if (spank_get_item(spank, items[i].item, items[i].value) != ESPANK_SUCCESS)
            return error_set_system(err, "slurmstepd does not tell the step's layout");
    if (spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS || local < 0)
        return error_set_system(err, "slurmstepd does not tell the task's number");
    ret->local_task = (uint32_t)local;
    return 0;
}

static int check_layout(const struct wire_plan *wire, const struct task_facts *facts,
                        struct error_info *err)
{
    if (wire->node_count == facts->nodes && wire->tasks_per_node == facts->tasks_on_node &&
        (uint64_t)wire->node_count * wire->tasks_per_node == facts->tasks)
        return 0;
    return error_set(err,
                     "the plan in " WIRE_PLAN_VARIABLE " is for %u nodes x %u tasks, this step "
                     "has %u nodes, %u tasks here, %u in all; start the step with srun --parplan, "
                     "and do not set the variable",
                     wire->node_count, wire->tasks_per_node, facts->nodes, facts->tasks_on_node,
                     facts->tasks);
}

/* One line in slurmd's log for each verdict, with its stable code: refusals are logged where
 * they leave, allowed ones here. */
static int take_verdict(const struct task_facts *facts, const char *what,
                        const struct policy_verdict *verdict, struct error_info *err)
{
    if (verdict->result == POLICY_DENIED)
        return error_set(err, "%s", verdict->text);
    if (facts->local_task == 0)
        (plugin_notice)("step %u.%u: %s: %s", facts->job, facts->step, what,
                        verdict->code == POLICY_OK ? "policy ok" : verdict->text);
    return 0;
}

static int check_unplanned(spank_t spank, const struct task_facts *facts, struct error_info *err)
{
    struct policy_verdict verdict;
    step_policy_judge_unplanned(config, spank, &verdict);
    return verdict.code == POLICY_OK ? 0 : take_verdict(facts, "no degrees", &verdict, err);
}

static int check_policy(spank_t spank, const struct wire_plan *wire, const struct task_facts *facts,
                        struct error_info *err)
{
    char degrees[DEGREES_TEXT_BYTES];
    struct policy policy;
    struct policy_verdict verdict, order, spans;
    struct policy_place place = {.gpus_per_node = wire->gpus_per_node};
    if (!config) {
        *err = config_error;
        return -1;
    }
    step_policy_read(config, &spank, &policy);
    if (task_node_compare(wire, &policy, facts->local_task, err) < 0)
        return -1;
    if (wire->locality_only)
        return check_unplanned(spank, facts, err);
    if (task_node_complete_place(spank, &place, err) < 0)
        return -1;
    policy_check(&policy, &wire->degrees, &place, &verdict);
    policy_check_order(&policy, wire->order, &order);
    /* Domains are known here from the node's cache alone; srun judged them where it knew them. */
    if (verdict.code == POLICY_TOPOLOGY_UNKNOWN || order.result > verdict.result)
        verdict = order;
    policy_check_spans(&policy, &wire->degrees, wire->order, &place, &spans);
    if (spans.code != POLICY_TOPOLOGY_UNKNOWN && spans.result > verdict.result)
        verdict = spans;
    degrees_text(&wire->degrees, degrees);
    return take_verdict(facts, degrees, &verdict, err);
}

static unsigned count_tokens(const char *list)
{
    unsigned count = *list != '\0';
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* Devices that the task sees; 0 where Slurm says nothing. Tokens may be indices, UUIDs or
 * MIG names: they are counted, never read as numbers. */
static unsigned visible_gpus(spank_t spank)
{
    static const char *const lists[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
    char value[VALUE_BYTES];
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (spank_getenv(spank, lists[i], value, sizeof(value)) == ESPANK_SUCCESS)
            return count_tokens(value);
    uint64_t count = 0;
    if (spank_getenv(spank, "SLURM_GPUS_ON_NODE", value, sizeof(value)) == ESPANK_SUCCESS)
        parse_unsigned(value, 0, UINT32_MAX, &count, NULL);
    return (unsigned)count;
}

/* Every step has its own first reserved port where the site has MpiParams=ports=…. */
static unsigned master_port(spank_t spank, const struct task_facts *facts)
{
    char value[VALUE_BYTES];
    uint64_t port = 0;
    if (spank_getenv(spank, "SLURM_STEP_RESV_PORTS", value, sizeof(value)) == ESPANK_SUCCESS) {
        value[strcspn(value, "-,")] = '\0';
        if (parse_unsigned(value, PORT_FIRST_UNPRIVILEGED, UINT16_MAX, &port, NULL) == 0)
            return (unsigned)port;
    }
    return rank_environment_port(facts->job, facts->step);
}

static bool holds(const struct rank_environment *environment, const char *name)
{
    for (unsigned i = 0; i < environment->count; i++)
        if (!strcmp(environment->entries[i].name, name))
            return true;
    return false;
}

static int set_variables(spank_t spank, const struct rank_environment *environment,
                         struct error_info *err)
{
    const char *name;
    bool users;
    for (size_t i = 0; (name = rank_environment_name(i, &users)); i++)
        if (!users && !holds(environment, name))
            spank_unsetenv(spank, name); /* torchrun's from an outer step, or the other way */
    for (unsigned i = 0; i < environment->count; i++) {
        const struct environment_entry *entry = &environment->entries[i];
        spank_err_t answer = spank_setenv(spank, entry->name, entry->value, !entry->users);
        if (answer != ESPANK_SUCCESS && !(entry->users && answer == ESPANK_ENV_EXISTS))
            return error_set_system(err, "Slurm cannot set %s for the task", entry->name);
    }
    return 0;
}

static int apply(spank_t spank, const char *plan, const struct task_facts *facts,
                 struct error_info *err)
{
    CLEANUP(wire_plan) struct wire_plan *wire = wire_plan_decode(plan, err);
    if (!wire)
        return error_prefix(err, WIRE_PLAN_VARIABLE);
    if (check_layout(wire, facts, err) < 0 || check_policy(spank, wire, facts, err) < 0)
        return -1;
    const unsigned visible = visible_gpus(spank);
    struct task_devices devices;
    if (task_node_order_gpus(spank, wire, facts->local_task, err) < 0)
        return -1;
    task_node_devices(wire, facts->local_task, &devices);
    const struct rank_task task = {
        .node = facts->node,
        .local_task = facts->local_task,
        .process = facts->process,
        .visible_gpus = visible,
        .master_port = master_port(spank, facts),
        .hidden_gpus_allowed = config->hidden_gpus_allowed,
        .nics = devices.nics,
        .cpus = devices.cpus,
        .threads = task_cpus_take(spank, devices.cpus, devices.sharers, !config->cpus_unbound),
    };
    struct rank_environment environment;
    if (rank_environment_compute(wire, &task, &environment, err) < 0)
        return -1;
    return set_variables(spank, &environment, err);
}

/* err stays ERROR_NONE where srun has said already why the step must not run. */
static int open_and_apply(spank_t spank, struct task_facts *facts, struct error_info *err)
{
    CLEANUP_MEMORY char *text = memory_allocate(PLAN_VARIABLE_MAXIMUM_BYTES);
    const char *plan = NULL;
    if (read_facts(spank, facts, err) < 0) /* first: they say which task speaks for its node */
        return -1;
    if (!text)
        return error_set_memory(err);
    if (spank_getenv(spank, WIRE_PLAN_VARIABLE, text, PLAN_VARIABLE_MAXIMUM_BYTES) !=
        ESPANK_SUCCESS)
        return error_set(err, WIRE_PLAN_VARIABLE " is longer than %u bytes",
                         PLAN_VARIABLE_MAXIMUM_BYTES - 1);
    if (plan_variable_open(text, facts->job, facts->step, &plan, err) < 0)
        return -1;
    return plan ? apply(spank, plan, facts, err) : -1;
}

/* A broken file of the admins' stops nobody who does not use it. */
static int pass_or_refuse(spank_t spank, struct task_facts *facts, struct error_info *err)
{
    if (!config || read_facts(spank, facts, err) < 0)
        return 0;
    return check_unplanned(spank, facts, err);
}

int task_context_apply(spank_t spank)
{
    if (is_special_step(spank))
        return 0;
    struct error_info err = {.kind = ERROR_NONE};
    struct task_facts facts = {.job = 0};
    int done =
        has_plan(spank) ? open_and_apply(spank, &facts, &err) : pass_or_refuse(spank, &facts, &err);
    spank_unsetenv(spank, WIRE_PLAN_VARIABLE);
    if (done < 0 && err.kind != ERROR_NONE && facts.local_task == 0)
        plugin_refuse(&err); /* one line per node, not one per task */
    return done;
}
