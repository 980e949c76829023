/* SPDX-License-Identifier: MIT */
/*
 * launch_flags: what a launched command says of its parallelism, in its own flags and in the
 * configuration files that they name (Megatron-LM, NeMo and Megatron-Bridge, torchtitan, DeepSpeed,
 * accelerate; torchrun's and accelerate's own counts). Which flags and keys: data/launch_keys.yaml.
 * What is found goes into the job_spec with its flag, or its file and line, as the place it came
 * from, so that a conflict with an option is refused like any other. Where a flag and a file say
 * something else, the flag counts, as in those programs.
 *
 * "--flag 8", "--flag=8" and "flag=8", "++flag=8" (Hydra's overrides) are understood. Not looked
 * into: shell text inside one argument, scripts, the environment (torchtitan's CONFIG_FILE), files
 * that files include (Hydra's defaults), launchers' flags behind the script's name.
 */
#ifndef WORKLOAD_LAUNCH_FLAGS_H
#define WORKLOAD_LAUNCH_FLAGS_H

#include "workload/launch/launch_rule.h"

#define LAUNCH_ARGUMENTS_MAXIMUM 4096u
#define LAUNCH_FILES_MAXIMUM 8u /* further ones are not read */

/* As text_file_read (base/text_file.h), which left edges give. */
typedef char *(*launch_read_fn)(const char *path, size_t maximum_bytes, size_t *ret_bytes,
                                struct error_info *err);

struct launch_command {
    const char *const *arguments; /* the program and what follows */
    size_t count;
    launch_read_fn read; /* NULL: files are noticed and not read */
};

/* spec gets the settings, *counts the rest; notices gets one sentence for people about everything
 * that was recognised ("tp=8 (--tensor-model-parallel-size), pp=4 (conf.toml:12)") and about files
 * that cannot be read, which may be there only in the step's container, or stays empty. */
int launch_command_read(const struct launch_command *command, struct job_spec *spec,
                        struct launch_counts *counts, struct text_buffer *notices,
                        struct error_info *err);

/* launch_command_read of the arguments alone. */
int launch_flags_read(const char *const *arguments, size_t count, struct job_spec *spec,
                      struct text_buffer *notices, struct error_info *err);

/* Helper daemons that mpirun and friends start through srun: orted, prted, hydra_pmi_proxy… */
bool launch_command_is_daemon(const char *command);

#endif
