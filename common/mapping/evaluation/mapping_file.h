/* SPDX-License-Identifier: MIT */
/*
 * mapping_file: reads where another launcher puts the ranks. The first line that says something
 * tells the format, and every line must have it ('#' starts a comment):
 *
 *   n001                         Slurm's SLURM_HOSTFILE: line i is RANK i; "n001*8" and commas
 *                                as Slurm reads them (slurm_read_hostfile)
 *   n001 slots=8                 Open MPI's hostfile (also max_slots=, which says nothing here)
 *   n001:8                       MPICH's; slots are filled in the order of the lines, and there
 *                                may be more of them than ranks
 *   rank 0=n001 slot=0           Open MPI's rankfile, in any order. Slots are CPUs: only their
 *                                spelling is looked at ("0:1", "1-2", "0,4", "p3")
 *   3: n002                      `srun --label hostname`, in any order
 *   {"schema": "parplan.map/1"   `parplan map --format json`: ranks[] with rank, node, gpu
 *
 * Where no GPU is told (all but the last), the k-th rank on a node has GPU k.
 * Limits: 64 MiB, lines of 64 KiB, WORLD_MAXIMUM ranks. Pure.
 */
#ifndef MAPPING_MAPPING_FILE_H
#define MAPPING_MAPPING_FILE_H

#include "base/error.h"
#include "mapping/evaluation/rank_places.h"
#include "topology/cluster_topology.h"

#define MAPPING_FILE_MAXIMUM_BYTES FABRIC_TEXT_MAXIMUM_BYTES

/* world: the ranks of the plan, which the file must have. Refused: nodes that the cluster has
 * not, more ranks on a node than GPUs, a GPU twice, a rank twice or missing. */
struct rank_places *mapping_file_parse(const char *text, size_t bytes, const char *source,
                                       const struct cluster_topology *cluster, uint64_t world,
                                       struct error_info *err);

#endif
