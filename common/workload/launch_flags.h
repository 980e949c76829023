/* SPDX-License-Identifier: MIT */
/*
 * launch_flags: parallel degrees in the launched command's own flags (Megatron-LM, NeMo,
 * DeepSpeed, torchtitan, accelerate). What is found goes into the job_spec with its flag as
 * the place it came from, so that a conflict with an option is refused like any other.
 * Flags that name a file or hide degrees in one are noticed, not read.
 *
 * "--flag 8", "--flag=8" and "flag=8" (NeMo's overrides) are understood; shell text inside
 * one argument is not looked into.
 */
#ifndef WORKLOAD_LAUNCH_FLAGS_H
#define WORKLOAD_LAUNCH_FLAGS_H

#include "base/text_buffer.h"
#include "workload/job_spec.h"

#define LAUNCH_ARGUMENTS_MAXIMUM 4096u

/* spec gets the degrees; notices gets one sentence for people about everything that was
 * recognised ("the command sets tp=8 (--tensor-model-parallel-size)"), or stays empty. */
int launch_flags_read(const char *const *arguments, size_t count, struct job_spec *spec,
                      struct text_buffer *notices, struct error_info *err);

/* Helper daemons that mpirun and friends start through srun: orted, prted, hydra_pmi_proxy… */
bool launch_command_is_daemon(const char *command);

#endif
