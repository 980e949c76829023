/* SPDX-License-Identifier: MIT */
/*
 * command_options: every option of every sub-command, as one table: its name, its help, the
 * commands that have it, and where its value goes. Parsed by argp; what argp refuses is said
 * in one line with the nearest known option.
 */
#ifndef CLI_COMMAND_OPTIONS_H
#define CLI_COMMAND_OPTIONS_H

#include "cli/command.h"
#include "workload/job_spec.h"

enum command_id {
    COMMAND_TOPOLOGY,
    COMMAND_PLAN,
    COMMAND_CHECK,
    COMMAND_POLICY,
    COMMAND_MAP,
    COMMAND_ENV,
    COMMAND_FLAGS,
    COMMAND_MODELS,
    COMMAND_GPUS,
    COMMAND_COLLECT,
    COMMAND_VALIDATE,
    COMMAND_SWEEP,
    COMMAND_ROLES,
    COMMAND_MFU,
    COMMAND_CALIBRATE,
    COMMAND_DOCTOR,
    COMMAND_COUNT
};

#define OPTION_MAXIMUM_REPEATS 8u

enum output_format {
    FORMAT_TEXT,
    FORMAT_JSON,
    FORMAT_YAML,
    FORMAT_HOSTFILE,
    FORMAT_RANKFILE,
    FORMAT_SVG,
    FORMAT_SBATCH,
    FORMAT_CSV,
    OUTPUT_FORMAT_COUNT
};

struct command_options {
    enum output_format format;
    const char *format_word; /* as given, or NULL */
    const char *data_directory;
    bool explain;
    bool every_rank;
    const char *from[OPTION_MAXIMUM_REPEATS]; /* in their order; from_count of them */
    size_t from_count;
    const char *guids, *label_keys;
    const char *nvml, *sysfs;
    const char *write_cache;
    const char *cluster, *node, *fabric, *nodes, *exclude;
    bool exact;
    uint64_t budget;                         /* 0: not given */
    const char *pin[OPTION_MAXIMUM_REPEATS]; /* pin_count of them */
    size_t pin_count;
    const char *model;
    const char *config, *partition, *qos, *account, *user;
    const char *slurm_conf, *plugstack;
    bool kubernetes;
    const char *namespace;
    const char *scheduler[OPTION_MAXIMUM_REPEATS]; /* scheduler_count of them */
    size_t scheduler_count;
    const char *gpu;
    uint64_t top; /* 0: not given */
    const char *nodes_range, *prefer;
    bool range_is_nodes; /* nodes_range was given as --nodes */
    bool scaling;
    const char *lock;
    bool slurm;
    const char *tokens, *within, *price;
    const char *rank;
    const char *evaluate;
    const char *launcher;
    uint64_t tasks_per_node; /* 0: one per GPU */
    uint64_t master_port;    /* 0: the default one */
    const char *master_address;
    const char *output;
    const char *runs, *memory;
    const char *ingest;
    const char *roles;
    uint64_t steps; /* 0: not given */
    bool exclude_degraded;
    const char *step_time, *tokens_per_second, *gpu_tokens_per_second, *tflops;
    const char *compare[OPTION_MAXIMUM_REPEATS]; /* compare_count of them */
    size_t compare_count;
    const char *profile;
    const char *nccl[OPTION_MAXIMUM_REPEATS]; /* nccl_count of them */
    size_t nccl_count;
    const char *calibration;
    char **words; /* of a command that takes them: what is no option */
    size_t word_count;
    struct job_spec *job; /* --model, --job, --set and --plan together */
};

/* What a command says of itself in --help. */
struct command_help {
    enum command_id id;
    const char *name;     /* "parplan plan" */
    const char *synopsis; /* "--model M --cluster C [OPTION…]" */
    const char *text;     /* what it does; after "\v" what comes below the options */
    const char *example;  /* a whole command line, for messages */
    bool takes_words;     /* FILE… beside options */
};

/* Parsed options; *ret_help is true when --help was asked for (its text is in io->out) and
 * nothing more is to be done. argv stays the options' memory. */
int command_options_parse(struct command_options *options, const struct command_help *help,
                          int argc, char **argv, struct command_io *io, bool *ret_help,
                          struct error_info *err);
void command_options_done(struct command_options *options);

/* The option at that position of the table, NULL after the last: for tests and docs. */
const char *command_option_name(size_t index);
bool command_option_used_by(size_t index, enum command_id id);

DEFINE_CLEANUP_DONE(command_options);

#endif
