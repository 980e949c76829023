/* SPDX-License-Identifier: MIT */
/*
 * step_shape: how many nodes a step that is still to come will have, and how many tasks on each,
 * from its options and from those of its job. Pure.
 */
#ifndef SPANK_PLUGIN_PLACE_STEP_SHAPE_H
#define SPANK_PLUGIN_PLACE_STEP_SHAPE_H

#include "base/error.h"

#define STEP_SHAPE_MAXIMUM 2097152u /* tasks: workload/parallelism.h's WORLD_MAXIMUM */

enum shape_count { SHAPE_NODES, SHAPE_TASKS, SHAPE_TASKS_PER_NODE, SHAPE_COUNT };

struct step_shape {
    unsigned counts[SHAPE_COUNT]; /* 0: not given; at most STEP_SHAPE_MAXIMUM */
};

/* `asked` on srun's line, `job` in its environment; job->nodes is not 0. A step takes all nodes of
 * its job but `spare`, fewer where it names fewer nodes or tasks. Its tasks per node are those on
 * its line, else the job's, else 1. Refused: tasks that do not fill nodes, more nodes than there
 * are. All counts of *ret are set. */
int step_shape_find(const struct step_shape *asked, const struct step_shape *job, unsigned spare,
                    struct step_shape *ret, struct error_info *err);

#endif
