/* SPDX-License-Identifier: MIT */
/*
 * launch_numbering: who numbers the ranks of a launched command, as far as its arguments tell. What
 * a program does by itself (JAX's detection of Slurm, MPI without mpirun, Lightning in a script
 * without its flags) no argument says: NUMBERING_UNKNOWN. Pure; nothing is allocated.
 *
 * Sources: Lightning's SLURMEnvironment (lightning/fabric/plugins/environments/slurm.py: rank is
 * SLURM_PROCID where SLURM_NTASKS is set and no torchrun is around it); OpenMMLab's
 * init_dist(launcher="slurm") (mmengine/dist/utils.py: SLURM_PROCID); torch/distributed/run.py.
 */
#ifndef WORKLOAD_LAUNCH_LAUNCH_NUMBERING_H
#define WORKLOAD_LAUNCH_LAUNCH_NUMBERING_H

#include <stddef.h>

enum launch_numbering {
    NUMBERING_UNKNOWN,
    NUMBERING_LAUNCHER, /* torchrun and the like: RANK, from the node's rank and the process */
    NUMBERING_PROCID,   /* the program takes SLURM_PROCID and does not look at RANK */
    NUMBERING_MPI       /* mpirun and the like: ranks of an MPI of its own */
};

/* *ret_argument: the argument that says so; NULL for NUMBERING_UNKNOWN. A launcher before the
 * script wins over what the script's flags say, as RANK then is the launcher's. */
enum launch_numbering launch_command_numbering(const char *const *arguments, size_t count,
                                               const char **ret_argument);

#endif
