/* SPDX-License-Identifier: MIT */
/*
 * launch_numbering: whether a launched program takes SLURM_PROCID for its rank and does not look
 * at RANK, as far as the command's arguments tell. What a program does by itself (JAX's detection
 * of Slurm, MPI without mpirun, Lightning in a script without its flags) no argument says. Pure;
 * nothing is allocated.
 *
 * Sources: Lightning's SLURMEnvironment (lightning/fabric/plugins/environments/slurm.py: rank is
 * SLURM_PROCID), for NeMo's trainer.num_nodes, Lightning's CLI and LitGPT; OpenMMLab's
 * init_dist(launcher="slurm") (mmengine/dist/utils.py: SLURM_PROCID); MaxText: jax.distributed
 * (jax/_src/clusters/slurm_cluster.py); torch/distributed/run.py.
 */
#ifndef WORKLOAD_LAUNCH_LAUNCH_NUMBERING_H
#define WORKLOAD_LAUNCH_LAUNCH_NUMBERING_H

#include <stddef.h>

/* The argument that says so (of a program's path the last part); NULL: none does, or a launcher
 * stands before it (torchrun, accelerate, deepspeed, mpirun and the like), which numbers the
 * ranks itself. Programs and launchers count up to the first argument that ends in .py. */
const char *launch_numbered_by_slurm(const char *const *arguments, size_t count);

#endif
