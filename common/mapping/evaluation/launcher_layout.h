/* SPDX-License-Identifier: MIT */
/*
 * launcher_layout: where launchers put ranks when nobody tells them, on the nodes that a map of
 * ours uses, in the cluster's order, as many on each:
 *
 *   slurm:block, mpirun:slot    a node is filled before the next (-m block, --map-by slot)
 *   slurm:cyclic, mpirun:node   one rank a node, round and round (-m cyclic, --map-by node)
 *   slurm:plane=N               N ranks a node, round and round (-m plane=N)
 *
 * All of them deal N ranks a turn: Slurm's src/common/slurm_step_layout.c; Open MPI's mpirun(1),
 * --map-by. An N that does not divide the ranks of a node is refused: Slurm then fills some nodes
 * beyond --ntasks-per-node as long as they have CPUs (22.05: 32 tasks of 4 nodes with plane=3
 * lie 9, 8, 8, 7).
 */
#ifndef MAPPING_LAUNCHER_LAYOUT_H
#define MAPPING_LAUNCHER_LAYOUT_H

#include "base/error.h"
#include "mapping/evaluation/rank_places.h"
#include "mapping/rank_map.h"

/* Starts with "slurm:" or "mpirun:": such a text is no file's name. */
bool launcher_layout_is_word(const char *text);
struct rank_places *launcher_layout_create(const char *word, const struct rank_map *ours,
                                           struct error_info *err);

#endif
