/* SPDX-License-Identifier: MIT */
#include "cli/command_options.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include "base/yaml_fields.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOB_FILE_MAXIMUM_BYTES ((size_t)1 << 20)
#define FORMAT_LIST_BYTES ((size_t)256)
#define KEY_BASE 256 /* above every character: these options have no short form */

enum option_kind {
    OPTION_HEADING, /* a line of --help */
    OPTION_TEXT,    /* const char * */
    OPTION_TEXTS,   /* const char * [OPTION_MAXIMUM_REPEATS], and a size_t behind: how many */
    OPTION_FLAG,    /* bool */
    OPTION_NUMBER,  /* uint64_t from minimum to maximum */
    OPTION_FORMAT,
    OPTION_JOB_ITEMS, /* key=value[,…] into the job */
    OPTION_JOB_FILE,
    OPTION_HELP
};

#define BIT(id) (1u << (id))
#define ALL (BIT(COMMAND_COUNT) - 1u)
#define POLICED                                                                                    \
    (BIT(COMMAND_PLAN) | BIT(COMMAND_CHECK) | BIT(COMMAND_MAP) | BIT(COMMAND_ENV) |                \
     BIT(COMMAND_SWEEP) | BIT(COMMAND_FLAGS) | BIT(COMMAND_ROLES))
#define PLANNING (POLICED | BIT(COMMAND_MFU))
#define COUNTING (PLANNING | BIT(COMMAND_MODELS))
#define PRINTING (ALL & ~BIT(COMMAND_COLLECT))
#define PLACES (PLANNING | BIT(COMMAND_TOPOLOGY) | BIT(COMMAND_CALIBRATE) | BIT(COMMAND_POLICY))
#define SCOPED (POLICED | BIT(COMMAND_POLICY))
#define COSTED (PLANNING | BIT(COMMAND_VALIDATE))

struct option_rule {
    const char *name;
    const char *argument;
    const char *help;
    unsigned used_by;
    enum option_kind kind;
    size_t offset;
    uint64_t minimum, maximum;
};

#define AT(field) offsetof(struct command_options, field)

static const struct option_rule rules[] = {
    {NULL, NULL, "What to plan:", COUNTING, OPTION_HEADING, 0, 0, 0},
    {"model", "NAME|FILE",
     "model: a preset (`parplan models`), a Hugging Face config.json, or a YAML file", COUNTING,
     OPTION_TEXT, AT(model), 0, 0},
    {"plan", "KEY=VALUE,...", "degrees and other keys that are given, as tp=8,pp=4", COUNTING,
     OPTION_JOB_ITEMS, 0, 0, 0},
    {"set", "KEY=VALUE,...", "any other key of the job, as global_batch=1024; may be repeated",
     COUNTING, OPTION_JOB_ITEMS, 0, 0, 0},
    {"job", "FILE", "a job file (parplan.job/1)", COUNTING, OPTION_JOB_FILE, 0, 0, 0},
    {NULL, NULL, "Where it runs:", PLACES, OPTION_HEADING, 0, 0, 0},
    {"from", "FILE",
     "what describes a node, a fabric or a cluster, or `slurm` (the running controller's); "
     "several of one node are merged",
     BIT(COMMAND_TOPOLOGY) | BIT(COMMAND_COLLECT), OPTION_TEXTS, AT(from), 0, 0},
    {"guids", "FILE", "with --from: lines \"host: 0xguid\" for a listing of switches by GUID",
     BIT(COMMAND_TOPOLOGY), OPTION_TEXT, AT(guids), 0, 0},
    {"label-keys", "FILE", "which labels of Kubernetes' nodes count (parplan.labels/1)", PLACES,
     OPTION_TEXT, AT(label_keys), 0, 0},
    {"cluster", "FILE|PRESET:NODES", "a cluster file, or preset nodes as dgx-h100:16", PLACES,
     OPTION_TEXT, AT(cluster), 0, 0},
    {"node", "FILE|PRESET",
     "the kind of every node: a preset (`parplan gpus`) or a file that describes one", PLACES,
     OPTION_TEXT, AT(node), 0, 0},
    {"fabric", "FILE", "the switches between the nodes, as a topology.conf, or `slurm`",
     PLACES | BIT(COMMAND_COLLECT), OPTION_TEXT, AT(fabric), 0, 0},
    {"nodes", "LIST", "only these nodes, as n[001-008], or so many, as 4", PLACES, OPTION_TEXT,
     AT(nodes), 0, 0},
    {"exclude", "LIST", "not these nodes", PLACES, OPTION_TEXT, AT(exclude), 0, 0},
    {"config", "FILE", "the admins' file with the policy; default /etc/parplan/parplan.yaml",
     PLANNING | BIT(COMMAND_DOCTOR) | BIT(COMMAND_POLICY), OPTION_TEXT, AT(config), 0, 0},
    {"slurm-conf", "FILE", "Slurm's configuration; default SLURM_CONF, else /etc/slurm/slurm.conf",
     BIT(COMMAND_DOCTOR), OPTION_TEXT, AT(slurm_conf), 0, 0},
    {"plugstack", "FILE", "its plugstack.conf; default as Slurm says", BIT(COMMAND_DOCTOR),
     OPTION_TEXT, AT(plugstack), 0, 0},
    {"partition", "NAME", "the partition whose policy counts", SCOPED, OPTION_TEXT, AT(partition),
     0, 0},
    {"qos", "NAME", "the QOS whose policy counts", SCOPED, OPTION_TEXT, AT(qos), 0, 0},
    {"account", "NAME", "the account whose policy counts", SCOPED, OPTION_TEXT, AT(account), 0, 0},
    {"user", "NAME", "the user whose policy counts", SCOPED, OPTION_TEXT, AT(user), 0, 0},
    {NULL, NULL, "For Kubernetes:", BIT(COMMAND_POLICY), OPTION_HEADING, 0, 0, 0},
    {"kubernetes", NULL, "the policy as admission policies for the API server (YAML)",
     BIT(COMMAND_POLICY), OPTION_FLAG, AT(kubernetes), 0, 0},
    {"namespace", "NAME", "where parplan's own pods run; default parplan-system",
     BIT(COMMAND_POLICY), OPTION_TEXT, AT(namespace), 0, 0},
    {"scheduler", "NAME",
     "a schedulerName that pods of a gang may have; may be repeated, the usual one first; default "
     "default-scheduler and parplan",
     BIT(COMMAND_POLICY), OPTION_TEXTS, AT(scheduler), 0, 0},
    {"gpu", "NAME", "one GPU, by name or alias; for a node: its GPUs, where no source names them",
     PLACES | BIT(COMMAND_GPUS), OPTION_TEXT, AT(gpu), 0, 0},
    {NULL, NULL, "How many nodes, how long:", BIT(COMMAND_PLAN), OPTION_HEADING, 0, 0, 0},
    {"nodes-range", "FIRST-LAST",
     "plan for each of these node counts, as 12-16; `--nodes 12-16` is the same", BIT(COMMAND_PLAN),
     OPTION_TEXT, AT(nodes_range), 0, 0},
    {"scaling", NULL, "node counts by doubling, from the smallest that fits to the cluster",
     BIT(COMMAND_PLAN), OPTION_FLAG, AT(scaling), 0, 0},
    {"prefer", "WORD", "which count is best: throughput (default) or gpu-hours", BIT(COMMAND_PLAN),
     OPTION_TEXT, AT(prefer), 0, 0},
    {"tokens", "COUNT", "the run's length, as 15T or 300B: days and GPU-hours", BIT(COMMAND_PLAN),
     OPTION_TEXT, AT(tokens), 0, 0},
    {"within", "DAYS", "the fewest nodes that finish the run in that time", BIT(COMMAND_PLAN),
     OPTION_TEXT, AT(within), 0, 0},
    {"price-per-gpu-hour", "PRICE", "what the run costs, in the same money", BIT(COMMAND_PLAN),
     OPTION_TEXT, AT(price), 0, 0},
    {"lock", "FILE",
     "what the job's checkpoints need: written by its first plan, kept by later ones on other "
     "nodes",
     BIT(COMMAND_PLAN), OPTION_TEXT, AT(lock), 0, 0},
    {"slurm", NULL, "what the plan asks of Slurm: a batch script with its srun line",
     BIT(COMMAND_PLAN), OPTION_FLAG, AT(slurm), 0, 0},
    {NULL, NULL, "What was measured:", BIT(COMMAND_MFU), OPTION_HEADING, 0, 0, 0},
    {"step-time", "SECONDS", "of one step, steady ones only", BIT(COMMAND_MFU), OPTION_TEXT,
     AT(step_time), 0, 0},
    {"tokens-per-second", "TOKENS", "of the whole job", BIT(COMMAND_MFU), OPTION_TEXT,
     AT(tokens_per_second), 0, 0},
    {"gpu-tokens-per-second", "TOKENS", "of one GPU", BIT(COMMAND_MFU), OPTION_TEXT,
     AT(gpu_tokens_per_second), 0, 0},
    {"tflops", "TFLOPS", "model FLOPs of one GPU, 10^12 per second", BIT(COMMAND_MFU), OPTION_TEXT,
     AT(tflops), 0, 0},
    {"compare", "GPUS:FIGURE",
     "the same job on another number of GPUs, in the same unit; may be repeated", BIT(COMMAND_MFU),
     OPTION_TEXTS, AT(compare), 0, 0},
    {"profile", "FILE.csv", "a profiler's summary of kernels (Nsight Systems, PyTorch)",
     BIT(COMMAND_MFU), OPTION_TEXT, AT(profile), 0, 0},
    {NULL, NULL, "What starts it:", BIT(COMMAND_FLAGS), OPTION_HEADING, 0, 0, 0},
    {"launcher", "NAME",
     "megatron-lm, megatron-bridge, deepspeed, torchtitan, torchtitan-toml, torchrun-ddp, "
     "torchrun-fsdp, accelerate; default the framework's",
     BIT(COMMAND_FLAGS), OPTION_TEXT, AT(launcher), 0, 0},
    {NULL, NULL, "What to compare with:", BIT(COMMAND_MAP), OPTION_HEADING, 0, 0, 0},
    {"evaluate", "FILE|WORD",
     "a mapping made elsewhere beside ours: a hostfile, a rankfile, `srun --label hostname`, a "
     "JSON map; or slurm:block, slurm:cyclic, slurm:plane=N, mpirun:slot, mpirun:node",
     BIT(COMMAND_MAP), OPTION_TEXT, AT(evaluate), 0, 0},
    {NULL, NULL, "How nodes are chosen:", BIT(COMMAND_MAP), OPTION_HEADING, 0, 0, 0},
    {"pin", "LIST|NODE=K",
     "nodes that must be used (with spare=), or the node of the K-th block of ranks; may be "
     "repeated",
     BIT(COMMAND_MAP), OPTION_TEXTS, AT(pin), 0, 0},
    {"exact", NULL, "the proven optimum, of up to 20 nodes; about a second", BIT(COMMAND_MAP),
     OPTION_FLAG, AT(exact), 0, 0},
    {"budget", "N", "exchanges that the search looks at; default 400000, less on many nodes",
     BIT(COMMAND_MAP), OPTION_NUMBER, AT(budget), 1, 10000000000},
    {NULL, NULL, "Which task:", BIT(COMMAND_ENV), OPTION_HEADING, 0, 0, 0},
    {"rank", "R|all", "the task's number in RANK order; default all", BIT(COMMAND_ENV), OPTION_TEXT,
     AT(rank), 0, 0},
    {"tasks-per-node", "N", "1: one launcher per node, as torchrun; default one per GPU",
     BIT(COMMAND_ENV) | BIT(COMMAND_SWEEP), OPTION_NUMBER, AT(tasks_per_node), 1, 1024},
    {"master-addr", "NAME", "instead of the name of RANK 0's node", BIT(COMMAND_ENV), OPTION_TEXT,
     AT(master_address), 0, 0},
    {"master-port", "PORT", "instead of the default port", BIT(COMMAND_ENV), OPTION_NUMBER,
     AT(master_port), 1, 65535},
    {NULL, NULL, "Of this machine:", BIT(COMMAND_TOPOLOGY), OPTION_HEADING, 0, 0, 0},
    {"nvml", "FILE", "NVIDIA's management library, where it is not in its usual place",
     BIT(COMMAND_TOPOLOGY), OPTION_TEXT, AT(nvml), 0, 0},
    {"sysfs", "DIR", "the directory that has this machine's sys/, as /host in a container",
     BIT(COMMAND_TOPOLOGY), OPTION_TEXT, AT(sysfs), 0, 0},
    {"write-cache", "FILE", "write the node's cache for slurmstepd, as /run/parplan/node.cache",
     BIT(COMMAND_TOPOLOGY), OPTION_TEXT, AT(write_cache), 0, 0},
    {"exclude-degraded", NULL, "leave out nodes with a GPU or NIC that has a problem",
     BIT(COMMAND_COLLECT), OPTION_FLAG, AT(exclude_degraded), 0, 0},
    {"output", "FILE", "write there (also -o), whole or not at all; default standard output",
     BIT(COMMAND_COLLECT) | BIT(COMMAND_CALIBRATE), OPTION_TEXT, AT(output), 0, 0},
    {"runs", "FILE",
     "measured or published runs, as CSV; validate's default: those that come with it",
     BIT(COMMAND_VALIDATE) | BIT(COMMAND_CALIBRATE), OPTION_TEXT, AT(runs), 0, 0},
    {"nccl", "[TEST:]FILE", "what nccl-tests printed, as all_reduce:out.txt; may be repeated",
     BIT(COMMAND_CALIBRATE), OPTION_TEXTS, AT(nccl), 0, 0},
    {"memory", "FILE", "published peaks and failures, as CSV", BIT(COMMAND_VALIDATE), OPTION_TEXT,
     AT(memory), 0, 0},
    {"steps", "N", "training steps of each run of a batch script; default 20", BIT(COMMAND_SWEEP),
     OPTION_NUMBER, AT(steps), 1, 1000000},
    {"roles", "FILE", "the models that the job holds at once (parplan.roles/1)", BIT(COMMAND_ROLES),
     OPTION_TEXT, AT(roles), 0, 0},
    {"ingest", "FILE", "what a scan measured, as CSV: row or degrees, step_time_s",
     BIT(COMMAND_SWEEP), OPTION_TEXT, AT(ingest), 0, 0},
    {NULL, NULL, "What to print:", PRINTING, OPTION_HEADING, 0, 0, 0},
    {"format", "WORD",
     "text, json, yaml (map: svg, hostfile, rankfile; topology: svg; sweep: sbatch, csv)", PRINTING,
     OPTION_FORMAT, 0, 0, 0},
    {"explain", NULL, "every rule, figure and source behind the answer",
     BIT(COMMAND_PLAN) | BIT(COMMAND_TOPOLOGY) | BIT(COMMAND_VALIDATE), OPTION_FLAG, AT(explain), 0,
     0},
    {"top", "K", "how many plans; default 6 (sweep: 4, and one for each class)",
     BIT(COMMAND_PLAN) | BIT(COMMAND_SWEEP), OPTION_NUMBER, AT(top), 1, 1000},
    {"all", NULL, "a row for every rank, however many", BIT(COMMAND_MAP), OPTION_FLAG,
     AT(every_rank), 0, 0},
    {"calibration", "FILE",
     "figures of this site (`parplan calibrate`) instead of the built-in ones", COSTED, OPTION_TEXT,
     AT(calibration), 0, 0},
    {"data", "DIR", "data files (gpus.yaml and others) that replace the compiled-in ones", ALL,
     OPTION_TEXT, AT(data_directory), 0, 0},
    {"help", NULL, "this help", ALL, OPTION_HELP, 0, 0, 0},
};

static const char *const command_names[COMMAND_COUNT] = {
    [COMMAND_TOPOLOGY] = "topology",
    [COMMAND_PLAN] = "plan",
    [COMMAND_CHECK] = "check",
    [COMMAND_POLICY] = "policy",
    [COMMAND_MAP] = "map",
    [COMMAND_ENV] = "env",
    [COMMAND_FLAGS] = "flags",
    [COMMAND_MODELS] = "models",
    [COMMAND_GPUS] = "gpus",
    [COMMAND_COLLECT] = "topology collect",
    [COMMAND_VALIDATE] = "validate",
    [COMMAND_MFU] = "mfu",
    [COMMAND_SWEEP] = "sweep",
    [COMMAND_ROLES] = "roles",
    [COMMAND_CALIBRATE] = "calibrate",
    [COMMAND_DOCTOR] = "doctor",
};

static const struct {
    const char *word;
    unsigned used_by;
} formats[OUTPUT_FORMAT_COUNT] = {
    [FORMAT_TEXT] = {"text", PRINTING},
    [FORMAT_JSON] = {"json", PRINTING},
    [FORMAT_YAML] = {"yaml", PRINTING},
    [FORMAT_HOSTFILE] = {"hostfile", BIT(COMMAND_MAP)},
    [FORMAT_RANKFILE] = {"rankfile", BIT(COMMAND_MAP)},
    [FORMAT_SVG] = {"svg", BIT(COMMAND_TOPOLOGY) | BIT(COMMAND_MAP)},
    [FORMAT_SBATCH] = {"sbatch", BIT(COMMAND_SWEEP)},
    [FORMAT_CSV] = {"csv", BIT(COMMAND_SWEEP)},
};

struct parse_context {
    struct command_options *options;
    const struct command_help *help;
    bool help_wanted;
    struct error_info *err;
};

static int set_text(const struct option_rule *rule, char *value, struct command_options *options,
                    struct error_info *err)
{
    const char **target = (const char **)((char *)options + rule->offset);
    if (value[0] == '\0')
        return error_set(err, "--%s: the value is empty; give %s", rule->name, rule->argument);
    if (*target && strcmp(*target, value) != 0)
        return error_set(err, "--%s is given twice, as %s and as %s; keep one", rule->name, *target,
                         value);
    *target = value;
    return 0;
}

static int add_text(const struct option_rule *rule, char *value, struct command_options *options,
                    struct error_info *err)
{
    const char **texts = (const char **)((char *)options + rule->offset);
    size_t *count = (size_t *)(texts + OPTION_MAXIMUM_REPEATS);
    if (value[0] == '\0')
        return error_set(err, "--%s: the value is empty; give %s", rule->name, rule->argument);
    if (*count == OPTION_MAXIMUM_REPEATS)
        return error_set(err, "--%s is given more than %u times", rule->name,
                         OPTION_MAXIMUM_REPEATS);
    texts[(*count)++] = value;
    return 0;
}

static int set_number(const struct option_rule *rule, const char *value,
                      struct command_options *options, struct error_info *err)
{
    uint64_t *target = (uint64_t *)((char *)options + rule->offset);
    if (parse_unsigned(value, rule->minimum, rule->maximum, target, err) < 0)
        return error_prefix(err, "--%s", rule->name);
    return 0;
}

/* "text, json and yaml": what the command writes. */
static void list_formats(enum command_id id, struct text_buffer *out)
{
    const char *words[OUTPUT_FORMAT_COUNT];
    unsigned count = 0;
    for (unsigned i = 0; i < OUTPUT_FORMAT_COUNT; i++)
        if (formats[i].used_by & BIT(id))
            words[count++] = formats[i].word;
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(out, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", words[i]);
}

static int set_format(char *value, const struct parse_context *context)
{
    enum command_id id = context->help->id;
    if (value[0] == '\0')
        return error_set(context->err, "--format: the value is empty; give text, json or yaml");
    for (unsigned i = 0; i < OUTPUT_FORMAT_COUNT; i++) {
        if (!(formats[i].used_by & BIT(id)) || strcmp(value, formats[i].word) != 0)
            continue;
        context->options->format = (enum output_format)i;
        context->options->format_word = value;
        return 0;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer list;
    text_buffer_init(&list, FORMAT_LIST_BYTES);
    list_formats(id, &list);
    if (text_buffer_failed(&list))
        return error_set_memory(context->err);
    return error_set(context->err, "--format: `parplan %s` does not write %s; it writes %s",
                     command_names[id], value, text_buffer_text(&list));
}

static int read_job_file(const char *path, struct job_spec *job, struct error_info *err)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(path, JOB_FILE_MAXIMUM_BYTES, &bytes, err);
    return text ? job_spec_parse_yaml(job, text, bytes, path, err) : -1;
}

static int set_job_items(const struct option_rule *rule, const char *value,
                         struct command_options *options, struct error_info *err)
{
    const char *where = strcmp(rule->name, "plan") == 0 ? "--plan" : "--set";
    return job_spec_parse_option(options->job, value, where, err);
}

static int apply(const struct option_rule *rule, char *value, struct parse_context *context)
{
    struct command_options *options = context->options;
    switch (rule->kind) {
    case OPTION_TEXT:
        return set_text(rule, value, options, context->err);
    case OPTION_TEXTS:
        return add_text(rule, value, options, context->err);
    case OPTION_FLAG:
        *(bool *)((char *)options + rule->offset) = true;
        return 0;
    case OPTION_NUMBER:
        return set_number(rule, value, options, context->err);
    case OPTION_FORMAT:
        return set_format(value, context);
    case OPTION_JOB_ITEMS:
        return set_job_items(rule, value, options, context->err);
    case OPTION_JOB_FILE:
        return read_job_file(value, options->job, context->err);
    case OPTION_HELP:
        context->help_wanted = true;
        return 0;
    case OPTION_HEADING:
        break;
    }
    return 0;
}

/* What is no option stands behind all options by now. */
static error_t take_words(struct argp_state *state)
{
    const struct parse_context *context = state->input;
    if (!context->help->takes_words)
        return ARGP_ERR_UNKNOWN;
    context->options->words = state->argv + state->next;
    context->options->word_count = (size_t)(state->argc - state->next);
    return 0;
}

static error_t parse_one(int key, char *value, struct argp_state *state)
{
    if (key == ARGP_KEY_ARGS)
        return take_words(state);
    int index = key - KEY_BASE;
    if (index < 0 || (size_t)index >= COUNT_OF(rules))
        return ARGP_ERR_UNKNOWN;
    return apply(&rules[index], value, state->input) < 0 ? EINVAL : 0;
}

/* The rows of the table that this command has, as argp wants them. */
static void fill_argp_options(enum command_id id, struct argp_option out[COUNT_OF(rules) + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        const struct option_rule *rule = &rules[i];
        if (!(rule->used_by & BIT(id)))
            continue;
        out[count++] = (struct argp_option){
            .name = rule->name,
            .key = rule->kind == OPTION_HEADING ? 0 : KEY_BASE + (int)i,
            .arg = rule->argument,
            .doc = rule->help,
        };
    }
    out[count] = (struct argp_option){.name = NULL};
}

static int write_help(const struct argp *argp, const struct command_help *help,
                      struct command_io *io, struct error_info *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return error_set_memory(err);
    char name[64];
    snprintf(name, sizeof(name), "%s", help->name);
    argp_help(argp, stream, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
    bool failed = fclose(stream) != 0;
    if (!failed)
        text_buffer_add_bytes(&io->out, text, bytes);
    free(text); /* open_memstream's own */
    return failed ? error_set_memory(err) : 0;
}

/* By whole name, or by a beginning that only one option has, as getopt allows. */
static const struct option_rule *find_rule(const char *name, size_t length)
{
    const struct option_rule *found = NULL;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (!rules[i].name || strncmp(rules[i].name, name, length) != 0)
            continue;
        if (rules[i].name[length] == '\0')
            return &rules[i];
        if (found)
            return NULL;
        found = &rules[i];
    }
    return found;
}

static int unknown_option(const struct command_help *help, const char *name, size_t length,
                          struct error_info *err)
{
    const char *known[COUNT_OF(rules)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (rules[i].name && (rules[i].used_by & BIT(help->id)))
            known[count++] = rules[i].name;
    }
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), name);
    const char *nearest = name_nearest(word, known, count);
    if (nearest)
        return error_set(err, "unknown option --%s; did you mean --%s?", word, nearest);
    return error_set(err, "unknown option --%s; `%s --help` lists the options", word, help->name);
}

/* What is wrong with one word that starts with "--"; 0 when nothing is. */
static int diagnose_option(const struct command_help *help, const char *word, const char *next,
                           bool *ret_takes_next, struct error_info *err)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_rule *rule = find_rule(name, length);
    if (!rule)
        return unknown_option(help, name, length, err);
    if (!(rule->used_by & BIT(help->id)))
        return error_set(err, "`%s` has no option --%s; `%s --help` lists its options", help->name,
                         rule->name, help->name);
    if (!rule->argument && equals)
        return error_set(err, "--%s takes no value", rule->name);
    if (rule->argument && !equals && !next)
        return error_set(err, "--%s needs a value: --%s %s", rule->name, rule->name,
                         rule->argument);
    *ret_takes_next = rule->argument && !equals;
    return 0;
}

/* argp and getopt say in several lines, or not at all, what we say in one. */
static int diagnose(const struct command_help *help, int argc, char **argv, struct error_info *err)
{
    for (int i = 1; i < argc; i++) {
        bool takes_next = false;
        if (strncmp(argv[i], "--", 2) == 0 && argv[i][2] != '\0') {
            if (diagnose_option(help, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &takes_next,
                                err) < 0)
                return -1;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0' && argv[i][1] != '-') {
            return error_set(err, "unknown option %s; `%s --help` lists the options", argv[i],
                             help->name);
        } else if (!help->takes_words) {
            return error_set(err,
                             "unexpected word %s; options come as --name value, for example %s",
                             argv[i], help->example);
        }
        i += takes_next ? 1 : 0;
    }
    return error_set(err, "bad usage; `%s --help` lists the options", help->name);
}

int command_options_parse(struct command_options *options, const struct command_help *help,
                          int argc, char **argv, struct command_io *io, bool *ret_help,
                          struct error_info *err)
{
    struct error_info local = {.kind = ERROR_NONE};
    *options = (struct command_options){.format = FORMAT_TEXT, .job = job_spec_create(&local)};
    struct argp_option argp_options[COUNT_OF(rules) + 1];
    fill_argp_options(help->id, argp_options);
    const struct argp argp = {.options = argp_options,
                              .parser = parse_one,
                              .args_doc = help->synopsis,
                              .doc = help->text};
    struct parse_context context = {.options = options, .help = help, .err = &local};
    int failed =
        !options->job || argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT,
                                    NULL, &context) != 0;
    if (!failed && context.help_wanted)
        failed = write_help(&argp, help, io, &local) < 0;
    if (!failed) {
        *ret_help = context.help_wanted;
        return 0;
    }
    if (local.kind == ERROR_NONE)
        diagnose(help, argc, argv, &local);
    command_options_done(options);
    if (err)
        *err = local;
    return -1;
}

void command_options_done(struct command_options *options)
{
    job_spec_free(options->job);
    options->job = NULL;
}

const char *command_option_name(size_t index)
{
    size_t seen = 0;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (rules[i].name && seen++ == index)
            return rules[i].name;
    }
    return NULL;
}

bool command_option_used_by(size_t index, enum command_id id)
{
    const char *name = command_option_name(index);
    for (size_t i = 0; name && i < COUNT_OF(rules); i++) {
        if (rules[i].name == name)
            return rules[i].used_by & BIT(id);
    }
    return false;
}
