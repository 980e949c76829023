/* SPDX-License-Identifier: MIT */
/*
 * The entry points that Slurm calls, and nothing else: each goes to the file of its context.
 * They return 0 or -1 only (a positive value means "failed, but run" to Slurm before 25.05),
 * and -1 only where Slurm turns it into a clear refusal: option callback, local
 * init_post_opt, local_user_init, task_init. Anywhere else on a node it would drain it.
 */
#include "spank_plugin/place/step_placement.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/srun_context.h"
#include "spank_plugin/task_context.h"
#include <slurm/spank.h>
#include <stdlib.h>
#include <unistd.h>

SPANK_PLUGIN(parplan, 1)

int slurm_spank_init(spank_t spank, int argument_count, char **arguments)
{
    if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR)
        srun_context_begin();
    plugin_options_register(spank, argument_count, arguments);
    if (spank_context() == S_CTX_LOCAL)
        step_placement_prepare();
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argument_count, char **arguments)
{
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
        return srun_context_check_options();
    case S_CTX_REMOTE:
        task_context_prepare(spank); /* as root, before any container: never fails here */
        return 0;
    default:
        return 0;
    }
}

int slurm_spank_local_user_init(spank_t spank, int argument_count, char **arguments)
{
    (void)argument_count;
    (void)arguments;
    return srun_context_plan(spank);
}

int slurm_spank_task_init(spank_t spank, int argument_count, char **arguments)
{
    (void)argument_count;
    (void)arguments;
    if (task_context_apply(spank) == 0)
        return 0;
    /* As Slurm ends a task whose plugin failed, without its two lines for each of them, and
     * also where plugstack.conf says optional. */
    _exit(EXIT_FAILURE);
}
