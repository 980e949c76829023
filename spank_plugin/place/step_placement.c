/* SPDX-License-Identifier: MIT */
#include "spank_plugin/place/step_placement.h"
#include "base/parse_number.h"
#include "spank_plugin/place/srun_arguments.h"
#include "spank_plugin/place/step_shape.h"
#include "spank_plugin/plugin_log.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/policy/step_policy.h"
#include "workload/launch/launch_numbering.h"
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOSTS_VARIABLE "SLURM_HOSTFILE"
#define JOB_NODES_VARIABLE "SLURM_JOB_NUM_NODES"
#define HOSTS_MAXIMUM_BYTES ((size_t)256 << 20)

static struct {
    const char *const *words; /* srun's command line */
    size_t word_count;
    struct srun_arguments arguments;
    struct node_list *order; /* node of each block; NULL: not planned */
    int hosts;               /* the file that srun reads */
    const char *job_nodes;   /* SLURM_JOB_NUM_NODES as it was: setenv leaves its text where it is */
    struct error_info err;   /* why nothing is planned */
} placement;

/* The C library hands a program's arguments to the constructors of what it loads; a plugin is told
 * of them nowhere else before srun has read its own. */
__attribute__((constructor)) static void remember_arguments(int count, char **arguments)
{
    placement.words = (const char *const *)arguments;
    placement.word_count = count > 0 ? (size_t)count : 0;
}

/* --- programs that number themselves ----------------------------------------------- */

static bool starts_ranks(const char *mpi)
{
    return mpi && strcmp(mpi, "none") != 0 && strcmp(mpi, "list") != 0;
}

const char *step_placement_numbering(void)
{
    const char *given = placement.arguments.values[SRUN_MPI];
    const char *mpi = given ? given : getenv("SLURM_MPI_TYPE");
    size_t command = placement.arguments.command;
    return starts_ranks(mpi) ? "--mpi"
                             : launch_numbered_by_slurm(placement.words + command,
                                                        placement.word_count - command);
}

/* --- the step that is to come ------------------------------------------------------- */

static int read_count(const char *text, const char *name, unsigned *ret, struct error_info *err)
{
    uint64_t number = 0;
    if (text && parse_unsigned(text, 1, STEP_SHAPE_MAXIMUM, &number, err) < 0)
        return error_prefix(err, "place=slurm: %s", name);
    *ret = (unsigned)number;
    return 0;
}

static int read_shape(unsigned spare, struct step_shape *ret, struct error_info *err)
{
    static const char *const names[SHAPE_COUNT] = {"SLURM_NNODES", "SLURM_NTASKS",
                                                   "SLURM_NTASKS_PER_NODE"};
    static const enum srun_argument asked_as[SHAPE_COUNT] = {SRUN_NODES, SRUN_TASKS,
                                                             SRUN_TASKS_PER_NODE};
    struct step_shape asked, job;
    for (size_t i = 0; i < SHAPE_COUNT; i++)
        if (read_count(getenv(names[i]), names[i], &job.counts[i], err) < 0 ||
            read_count(placement.arguments.values[asked_as[i]], names[i], &asked.counts[i], err) <
                0)
            return -1;
    return step_shape_find(&asked, &job, spare, ret, err);
}

static int check_line(struct error_info *err)
{
    if (placement.arguments.values[SRUN_NODE_LIST] || placement.arguments.values[SRUN_RELATIVE] ||
        getenv(HOSTS_VARIABLE))
        return error_set(err, "place=slurm orders the nodes; leave -w, -r and SLURM_HOSTFILE out");
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
    if (placement.arguments.values[SRUN_NODES])
        return error_set(err, "place=slurm: this Slurm takes no -N with it; use -n and "
                              "--ntasks-per-node");
#endif
    return 0;
}

static int add_order(const struct rank_map *map, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *order = node_list_create(err);
    for (size_t block = 0; order && block < map->block_count; block++)
        if (node_list_add(order, map->cluster->nodes[map->block_nodes[block]].name, err) < 0)
            return -1;
    placement.order = move_pointer(order);
    return placement.order ? 0 : -1;
}

static int plan_order(const char *option, uint32_t job, const unsigned *counts,
                      struct error_info *err)
{
    const struct plugin_options *options = plugin_options();
    CLEANUP(admin_config)
    struct admin_config *config =
        admin_config_load(options->config_path, options->config_owner, err);
    CLEANUP_DONE(step_facts) struct step_facts facts = {.job = 0};
    if (!config || step_facts_read_job(job, placement.arguments.values[SRUN_EXCLUDED],
                                       counts[SHAPE_TASKS_PER_NODE], &facts, err) < 0)
        return -1;
    struct policy policy;
    step_policy_read(config, NULL, &policy);
    const struct step_plan_request request = {
        .facts = &facts,
        .config = config,
        .option = option,
        .policy = &policy,
        .command = placement.words + placement.arguments.command,
        .command_count = placement.word_count - placement.arguments.command,
    };
    CLEANUP_DONE(step_plan) struct step_plan plan = {.job = NULL};
    enum step_refusal refusal;
    return step_plan_lay_out(&request, counts[SHAPE_NODES], &plan, &refusal, err) == 0
               ? add_order(plan.placement.map, err)
               : -1;
}

/* --- what srun then reads ----------------------------------------------------------- */

static int set_hosts(const unsigned *counts, struct error_info *err)
{
    char value[32];
    CLEANUP_DONE(text_buffer) struct text_buffer hosts;
    text_buffer_init(&hosts, HOSTS_MAXIMUM_BYTES);
    for (unsigned task = 0; task < counts[SHAPE_TASKS]; task++)
        text_buffer_add(&hosts, "%s\n",
                        node_list_name(placement.order, task / counts[SHAPE_TASKS_PER_NODE]));
    placement.hosts = memfd_create("hosts", MFD_CLOEXEC);
    bool failed = text_buffer_failed(&hosts) || placement.hosts < 0 ||
                  write(placement.hosts, hosts.text, hosts.length) != (ssize_t)hosts.length;
    placement.job_nodes = getenv(JOB_NODES_VARIABLE);
    snprintf(value, sizeof(value), "%u", counts[SHAPE_NODES]);
    failed = failed || setenv(JOB_NODES_VARIABLE, value, 1) || setenv("SLURM_NNODES", value, 1);
    snprintf(value, sizeof(value), "%u", counts[SHAPE_TASKS]);
    failed = failed || setenv("SLURM_NTASKS", value, 1);
    snprintf(value, sizeof(value), "/proc/self/fd/%d", placement.hosts);
    failed = failed || setenv(HOSTS_VARIABLE, value, 1);
    return failed ? error_set_memory(err) : 0;
}

static int place_step(const char *option, const struct job_spec *spec, struct error_info *err)
{
    struct step_shape shape;
    uint64_t job = 0;
    return check_line(err) == 0 &&
                   parse_unsigned(getenv("SLURM_JOB_ID"), 1, UINT32_MAX, &job, err) == 0 &&
                   read_shape((unsigned)job_spec_number(spec, JOB_SPARE, 0), &shape, err) == 0 &&
                   plan_order(option, (uint32_t)job, shape.counts, err) == 0
               ? set_hosts(shape.counts, err)
               : -1;
}

void step_placement_prepare(void)
{
    struct srun_arguments *line = &placement.arguments;
    srun_arguments_parse(placement.words, placement.word_count, line);
    const char *own = line->values[SRUN_PARPLAN], *option = own ? own : getenv(INHERITED_OPTION);
    if (!option || line->values[SRUN_INTERACTIVE] || !getenv("SLURM_JOB_ID") ||
        !getenv("SLURM_NNODES"))
        return;
    CLEANUP(job_spec) struct job_spec *spec = step_option_parse(option, NULL);
    if (spec && step_option_is_placed(spec) && place_step(option, spec, &placement.err) < 0)
        step_placement_release();
}

void step_placement_release(void)
{
    if (placement.hosts > 0) {
        unsetenv(HOSTS_VARIABLE);
        close(placement.hosts);
        placement.hosts = 0;
        if (placement.job_nodes)
            setenv(JOB_NODES_VARIABLE, placement.job_nodes, 1);
        else
            unsetenv(JOB_NODES_VARIABLE);
    }
}

/* --- the step as it came out ---------------------------------------------------------- */

static void notice_numbering(void)
{
    const char *numbering = step_placement_numbering();
    if (numbering)
        plugin_notice("%s: ranks are numbered by SLURM_PROCID, and nodes stay in Slurm's order; "
                      "inside salloc or sbatch place=slurm puts them in the plan's",
                      numbering);
}

int step_placement_check(const struct step_plan *plan, const struct step_facts *facts,
                         struct error_info *err)
{
    if (!step_option_is_placed(plan->job)) {
        notice_numbering();
        return 0;
    }
    if (!placement.order) {
        *err = placement.err;
        return err->kind != ERROR_NONE
                   ? -1
                   : error_set(err, "place=slurm is read from --parplan of srun, sbatch or salloc; "
                                    "give it there");
    }
    size_t count = node_list_count(facts->nodes);
    bool same = count == node_list_count(placement.order);
    for (size_t i = 0; same && i < count; i++)
        same = !strcmp(node_list_name(facts->nodes, facts->block_nodes[i]),
                       node_list_name(placement.order, i));
    if (same)
        return 0;
    return error_set(err,
                     "place=slurm: Slurm has not laid the step out as planned, from %s on; "
                     "leave -r, -m and --multi-prog out",
                     node_list_name(placement.order, 0));
}
