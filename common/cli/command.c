/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "base/yaml_fields.h"
#include <string.h>

const struct command commands[] = {
    {"topology", "GPUs, NVLink, NICs and switches of a node, a cluster or this machine",
     topology_command},
    {"plan", "how to split a training job, whether it fits, how long a step takes, and why",
     plan_command},
    {"sweep", "a scan of plans to measure: what TP and PP buy, and whether predictions hold",
     sweep_command},
    {"roles", "several models in one job, as RLHF has: a plan for each, on shared or own nodes",
     roles_command},
    {"check", "what the policy says of one plan, and whether it fits", check_command},
    {"policy", "the policy in force, and the same as Kubernetes admission policies",
     policy_command},
    {"map", "which rank sits on which node, GPU and NIC", map_command},
    {"env", "the variables that each task gets", env_command},
    {"mfu", "whether a measured run is as fast as it should be, and where a gap may sit",
     mfu_command},
    {"calibrate", "figures of this site from nccl-tests and measured steps", calibrate_command},
    {"flags", "a plan as the arguments or the configuration of what starts the training",
     flags_command},
    {"models", "the model presets, and exact parameter counts", models_command},
    {"gpus", "the GPUs and node presets that are known", gpus_command},
    {"doctor", "what is wrong with the installation on this machine, and what to do",
     doctor_command},
    {"validate", "how far step times and memory lie from published runs", validate_command},
};
const size_t command_count = COUNT_OF(commands);

static int usage(struct command_io *io)
{
    text_buffer_add_text(&io->out, "usage: parplan COMMAND [OPTION…]\n\n");
    for (size_t i = 0; i < command_count; i++)
        text_buffer_add(&io->out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    text_buffer_add_text(&io->out, "\n`parplan COMMAND --help` lists the options. For example:\n\n"
                                   "  parplan plan --model llama3-70b --cluster dgx-h100:64\n"
                                   "  parplan map --plan tp=8,pp=4,dp=2 --cluster dgx-h100:8\n");
    return EXIT_DONE;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name, struct error_info *err)
{
    const char *known[COUNT_OF(commands)];
    for (size_t i = 0; i < command_count; i++)
        known[i] = commands[i].name;
    const char *nearest = name_nearest(name, known, command_count);
    if (nearest)
        return error_set(err, "%s is no command; did you mean `parplan %s`?", name, nearest);
    return error_set(err, "%s is no command; `parplan --help` lists them", name);
}

int command_run(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    static char help_option[] = "--help";
    if (argc < 2) {
        usage(io);
        io->out_is_complaint = true;
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        text_buffer_add_text(&io->out, "parplan " PARPLAN_VERSION "\n");
        return EXIT_DONE;
    }
    bool asks_help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || (asks_help && argc < 3))
        return usage(io);
    const struct command *command = find_command(asks_help ? argv[2] : word);
    if (!command)
        return unknown_command(asks_help ? argv[2] : word, err);
    if (asks_help)
        return command->run(2, (char *[]){argv[0], help_option, NULL}, io, err);
    return command->run(argc - 1, argv + 1, io, err);
}

enum exit_status command_status(int returned, const struct error_info *err)
{
    if (returned >= 0)
        return (enum exit_status)returned;
    return err->kind == ERROR_INPUT ? EXIT_USAGE : EXIT_FAILED;
}
