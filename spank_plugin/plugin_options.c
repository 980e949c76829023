/* SPDX-License-Identifier: MIT */
#include "spank_plugin/plugin_options.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include "workload/job_spec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plugin_options options;
static unsigned parplan_calls;

static int take_parplan(int value, const char *argument, int remote)
{
    (void)value;
    (void)remote;
    const char *text = argument ? argument : "auto";
    /* sbatch's line over the script's, and the nodes' second call, are Slurm's own. */
    if (options.given && !options.inherited && spank_context() == S_CTX_LOCAL &&
        strcmp(options.parplan, text) != 0)
        error_set(&options.argument_error, "--parplan=%.64s and --parplan=%.64s; give one of them",
                  options.parplan, text);
    options.given = true;
    options.oversized = strlen(text) > JOB_OPTION_MAXIMUM_BYTES;
    snprintf(options.parplan, sizeof(options.parplan), "%s", text);
    parplan_calls++;
    /* Slurm calls once for the inherited value and once more for the command's own. */
    options.inherited = getenv(INHERITED_OPTION) && parplan_calls == 1;
    return 0;
}

static int take_report(int value, const char *argument, int remote)
{
    (void)value;
    (void)remote;
    options.report_given = true;
    bool named = argument && strcmp(argument, "-") != 0;
    snprintf(options.report, sizeof(options.report), "%s", named ? argument : "");
    return 0;
}

/* has_arg 2: the argument is optional. */
static struct spank_option option_table[] = {
    {(char *)"parplan", (char *)"auto|off|FILE|key=value,...",
     (char *)"[parplan] plan ranks: auto, a job file, or keys as model=llama3-8b,tp=8", 2, 0,
     take_parplan},
    {(char *)"parplan-report", (char *)"FILE",
     (char *)"[parplan] write the plan and its reasons to FILE (or stderr)", 2, 0, take_report},
};

/* The value of KEY=VALUE, or NULL: another key. */
static const char *value_of(const char *argument, const char *key)
{
    size_t length = strlen(key);
    return strncmp(argument, key, length) == 0 ? argument + length : NULL;
}

static void take_path(const char *argument, const char *value, const char **ret)
{
    if (value[0] != '/')
        error_set(&options.argument_error, "plugstack.conf: %s is not an absolute path", argument);
    else
        *ret = value;
}

static void read_argument(const char *argument)
{
    const char *config = value_of(argument, "config="), *owner = value_of(argument, "owner=");
    const char *cache = value_of(argument, "cache=");
    uint64_t uid;
    if (config) {
        take_path(argument, config, &options.config_path);
    } else if (cache) {
        take_path(argument, cache, &options.cache_path);
    } else if (owner) {
        if (parse_unsigned(owner, 0, UINT32_MAX, &uid, &options.argument_error) < 0)
            error_prefix(&options.argument_error, "plugstack.conf: owner");
        else
            options.config_owner = (unsigned)uid;
    } else {
        error_set(&options.argument_error,
                  "plugstack.conf: unknown argument \"%s\" of spank_parplan.so; known are "
                  "config=PATH, cache=PATH and owner=UID",
                  argument);
    }
}

void plugin_options_register(spank_t spank, int argument_count, char **arguments)
{
    for (int i = 0; i < argument_count; i++)
        read_argument(arguments[i]);
    for (size_t i = 0; i < COUNT_OF(option_table); i++)
        spank_option_register(spank, &option_table[i]);
}

const struct plugin_options *plugin_options(void) { return &options; }
