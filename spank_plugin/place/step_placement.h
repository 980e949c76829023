/* SPDX-License-Identifier: MIT */
/*
 * step_placement: which task of a step sits on which node, for programs that number themselves by
 * SLURM_PROCID (MPI, JAX's and Lightning's own detection). In srun only.
 *
 * place=slurm: srun takes the order of nodes from a list of hosts (SLURM_HOSTFILE), which it reads
 * after the plugins' init and before their init_post_opt. So inside an allocation, where the nodes
 * are known, init plans the step, writes each block's node as many times as it has tasks into a
 * file in memory, and names that file; the counts of nodes and tasks in srun's environment follow.
 * srun's later callbacks plan again over the step as it came out, in its order. A step that did
 * not come out as planned is refused; one with a permutation that its ranks do not have never runs.
 * Spare nodes are those that the list leaves out; nodes that the job has lost are among them.
 */
#ifndef SPANK_PLUGIN_PLACE_STEP_PLACEMENT_H
#define SPANK_PLUGIN_PLACE_STEP_PLACEMENT_H

#include "spank_plugin/step_plan.h"

/* In init, once the options are registered. Does nothing to a srun without place=slurm, to one that
 * allocates its nodes itself, or to the one inside salloc that runs the shell. What goes wrong is
 * kept for the check. */
void step_placement_prepare(void);
/* In init_post_opt: no task sees the list of hosts. */
void step_placement_release(void);

/* What says that the program numbers itself by SLURM_PROCID: "--mpi=pmi2", a program that is known
 * for it; or NULL. */
const char *step_placement_numbering(void);

/* With place=slurm: the step's blocks lie as they were to. Else 0, and a notice where ranks are
 * numbered by SLURM_PROCID all the same. */
int step_placement_check(const struct step_plan *plan, const struct step_facts *facts,
                         struct error_info *err);

#endif
