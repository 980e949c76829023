/* SPDX-License-Identifier: MIT */
#include "spank_plugin/place/step_shape.h"
#include "base/cleanup.h"
#include <stdint.h>

/* 0: it does not come out even, or nobody says. */
static unsigned share(unsigned tasks, unsigned nodes)
{
    return nodes > 0 && tasks % nodes == 0 ? tasks / nodes : 0;
}

static unsigned tasks_on_node(const unsigned *asked, const unsigned *job, unsigned usable)
{
    const unsigned choices[] = {
        asked[SHAPE_TASKS_PER_NODE],
        share(asked[SHAPE_TASKS], asked[SHAPE_NODES]),
        job[SHAPE_TASKS_PER_NODE],
        share(asked[SHAPE_TASKS], usable),
        share(job[SHAPE_TASKS], job[SHAPE_NODES]),
    };
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        if (choices[i])
            return choices[i];
    return 1;
}

int step_shape_find(const struct step_shape *asked, const struct step_shape *job, unsigned spare,
                    struct step_shape *ret, struct error_info *err)
{
    unsigned has = job->counts[SHAPE_NODES], usable = has > spare ? has - spare : 0;
    unsigned per_node = tasks_on_node(asked->counts, job->counts, usable);
    unsigned tasks = asked->counts[SHAPE_TASKS];
    unsigned nodes = asked->counts[SHAPE_NODES] ? asked->counts[SHAPE_NODES]
                     : tasks                    ? tasks / per_node
                                                : usable;
    if (usable == 0)
        return error_set(err, "place=slurm: spare=%u leaves none of the job's %u nodes; use less",
                         spare, has);
    uint64_t filled = (uint64_t)nodes * per_node;
    if (nodes == 0 || nodes > usable || filled > STEP_SHAPE_MAXIMUM || (tasks && tasks != filled))
        return error_set(err,
                         "place=slurm: %u tasks on %u nodes with %u each, and the job has %u nodes "
                         "with spare=%u; use --ntasks-per-node with -n or -N",
                         tasks ? tasks : (unsigned)filled, nodes, per_node, has, spare);
    *ret = (struct step_shape){{nodes, (unsigned)filled, per_node}};
    return 0;
}
