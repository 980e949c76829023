/* SPDX-License-Identifier: MIT */
/*
 * srun_arguments: what stands on srun's own command line, read before Slurm tells a plugin any of
 * it. Only what place=slurm and numbering by SLURM_PROCID need to know; the last of a repeated
 * option counts, as for Slurm.
 *
 * Where srun's options end is told by srun's table of options without a value (Slurm 22.05 to
 * 26.05, src/common/slurm_opt.c). Of an option that is not known, of another plugin, the next word
 * counts as its value unless it begins with "-". Whoever uses what is found here checks the step
 * that comes of it: a misread line may refuse a step and never misplaces one.
 */
#ifndef SPANK_PLUGIN_PLACE_SRUN_ARGUMENTS_H
#define SPANK_PLUGIN_PLACE_SRUN_ARGUMENTS_H

#include <stddef.h>

#define SRUN_ARGUMENTS_MAXIMUM 4096u

enum srun_argument {
    SRUN_NODES,
    SRUN_TASKS,
    SRUN_TASKS_PER_NODE,
    SRUN_EXCLUDED,
    SRUN_NODE_LIST,
    SRUN_MPI,
    SRUN_PARPLAN,
    SRUN_INTERACTIVE, /* srun inside salloc, that runs the shell */
    SRUN_RELATIVE,
    SRUN_ARGUMENT_COUNT
};

struct srun_arguments {
    const char *values[SRUN_ARGUMENT_COUNT]; /* in the command line; NULL: not given; "auto": given
                                              * without a value */
    size_t command;                          /* index of the program; count: there is none */
};

void srun_arguments_parse(const char *const *arguments, size_t count, struct srun_arguments *ret);

#endif
