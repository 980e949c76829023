/* SPDX-License-Identifier: MIT */
#include "workload/launch_flags.h"
#include <string.h>

enum flag_use {
    FLAG_NUMBER, /* a whole number for the key */
    FLAG_DEGREE, /* the same, where 0 and -1 mean "not set" */
    FLAG_SWITCH, /* no value: sets the key to `word` */
    FLAG_FILE    /* names a file that may hold degrees: noticed only */
};

struct launch_flag {
    const char *flag;
    const char *word; /* a switch's value; of a file the framework */
    uint8_t use;      /* enum flag_use */
    uint8_t key;      /* enum job_key */
};

/* Sources: Megatron-LM megatron/training/arguments.py; NeMo and Megatron-Bridge recipe
 * overrides; torchtitan job_config.py (0.x and 1.x names); DeepSpeed launcher and
 * accelerate launch --help. */
static const struct launch_flag flags[] = {
    {"--tensor-model-parallel-size", NULL, FLAG_NUMBER, JOB_TP},
    {"--pipeline-model-parallel-size", NULL, FLAG_NUMBER, JOB_PP},
    {"--context-parallel-size", NULL, FLAG_NUMBER, JOB_CP},
    {"--expert-model-parallel-size", NULL, FLAG_NUMBER, JOB_EP},
    {"--expert-tensor-parallel-size", NULL, FLAG_NUMBER, JOB_ETP},
    {"--micro-batch-size", NULL, FLAG_NUMBER, JOB_MICRO_BATCH},
    {"--global-batch-size", NULL, FLAG_NUMBER, JOB_GLOBAL_BATCH},
    {"--seq-length", NULL, FLAG_NUMBER, JOB_SEQUENCE_LENGTH},
    {"--use-tp-pp-dp-mapping", "tp-cp-ep-pp-dp", FLAG_SWITCH, JOB_ORDER},
    {"--use-distributed-optimizer", "zero1", FLAG_SWITCH, JOB_SHARDING},
    {"model.tensor_model_parallel_size", NULL, FLAG_NUMBER, JOB_TP},
    {"model.pipeline_model_parallel_size", NULL, FLAG_NUMBER, JOB_PP},
    {"model.context_parallel_size", NULL, FLAG_NUMBER, JOB_CP},
    {"model.expert_model_parallel_size", NULL, FLAG_NUMBER, JOB_EP},
    {"trainer.strategy.tensor_model_parallel_size", NULL, FLAG_NUMBER, JOB_TP},
    {"trainer.strategy.pipeline_model_parallel_size", NULL, FLAG_NUMBER, JOB_PP},
    {"--parallelism.tensor_parallel_degree", NULL, FLAG_NUMBER, JOB_TP},
    {"--parallelism.pipeline_parallel_degree", NULL, FLAG_NUMBER, JOB_PP},
    {"--parallelism.context_parallel_degree", NULL, FLAG_NUMBER, JOB_CP},
    {"--parallelism.expert_parallel_degree", NULL, FLAG_NUMBER, JOB_EP},
    {"--parallelism.data_parallel_shard_degree", NULL, FLAG_DEGREE, JOB_SHARD},
    {"--training.tensor_parallel_degree", NULL, FLAG_NUMBER, JOB_TP},
    {"--experimental.pipeline_parallel_degree", NULL, FLAG_NUMBER, JOB_PP},
    {"--job.config_file", "torchtitan", FLAG_FILE, 0},
    {"--deepspeed_config", "deepspeed", FLAG_FILE, 0},
    {"--deepspeed", "deepspeed", FLAG_FILE, 0},
    {"--config_file", "accelerate", FLAG_FILE, 0},
};

static const char *const daemons[] = {
    "orted",   "prted", "prte", "pmixsrv", "pmi_proxy", "hydra_pmi_proxy", "hydra_bstrap_proxy",
    "mpispawn"};

/* The flag that this argument is, with its inline value ("--x=8") or NULL. */
static const struct launch_flag *find_flag(const char *argument, const char **ret_value)
{
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (strlen(flags[i].flag) == length && !memcmp(flags[i].flag, argument, length)) {
            *ret_value = equals ? equals + 1 : NULL;
            return &flags[i];
        }
    return NULL;
}

static bool degree_is_unset(const char *value)
{
    return !strcmp(value, "0") || !strcmp(value, "-1");
}

static void begin_notice(struct text_buffer *notices)
{
    if (notices->length)
        text_buffer_add_text(notices, ", ");
}

static void notice_file(const struct launch_flag *flag, const char *value,
                        struct text_buffer *notices)
{
    bool is_path = value && value[0] != '-';
    begin_notice(notices);
    text_buffer_add(notices, "%s%s%s (%s: not read)", flag->flag, is_path ? " " : "",
                    is_path ? value : "", flag->word);
}

static int apply_flag(const struct launch_flag *flag, const char *value, struct job_spec *spec,
                      struct text_buffer *notices, struct error_info *err)
{
    if (flag->use == FLAG_FILE) {
        notice_file(flag, value, notices);
        return 0;
    }
    if (flag->use == FLAG_SWITCH)
        value = flag->word;
    if (!value)
        return error_set(err, "%s in the command has no value; give it as %s N", flag->flag,
                         flag->flag);
    if (flag->use == FLAG_DEGREE && degree_is_unset(value))
        return 0;
    begin_notice(notices);
    const char *key = job_key_info((enum job_key)flag->key)->name;
    text_buffer_add(notices, "%s=%s (%s)", key, value, flag->flag);
    return job_spec_set(spec, key, value, flag->flag, err);
}

int launch_flags_read(const char *const *arguments, size_t count, struct job_spec *spec,
                      struct text_buffer *notices, struct error_info *err)
{
    if (count > LAUNCH_ARGUMENTS_MAXIMUM)
        count = LAUNCH_ARGUMENTS_MAXIMUM;
    for (size_t i = 0; i < count; i++) {
        const char *value = NULL;
        const struct launch_flag *flag = find_flag(arguments[i], &value);
        if (!flag)
            continue;
        if (!value && flag->use != FLAG_SWITCH && i + 1 < count)
            value = arguments[i + 1];
        if (apply_flag(flag, value, spec, notices, err) < 0)
            return -1;
    }
    return 0;
}

bool launch_command_is_daemon(const char *command)
{
    const char *slash = strrchr(command, '/');
    const char *name = slash ? slash + 1 : command;
    for (size_t i = 0; i < COUNT_OF(daemons); i++)
        if (!strcmp(name, daemons[i]))
            return true;
    return false;
}
