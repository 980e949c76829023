/* SPDX-License-Identifier: MIT */
#include "workload/launch/launch_numbering.h"
#include "base/cleanup.h"
#include "base/text_buffer.h"
#include <string.h>

#define NUMBERING_ARGUMENTS_MAXIMUM 4096u

static const char launchers[] =
    " mpirun mpiexec mpiexec.hydra orterun prterun torchrun torch.distributed.run "
    "torch.distributed.launch accelerate accelerate-launch deepspeed ";

static const char programs[] = " MaxText.train maxtext.train litgpt ";

/* How an argument of such a program begins. */
static const char *const starts[] = {
    "--launcher=slurm", "trainer.num_nodes=", "++trainer.num_nodes=", "--trainer.num_nodes"};

static bool begins_as_known(const char *argument)
{
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        if (!strncmp(argument, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static bool is_script(const char *argument)
{
    size_t length = strlen(argument);
    return length > 3 && !strcmp(argument + length - 3, ".py");
}

const char *launch_numbered_by_slurm(const char *const *arguments, size_t count)
{
    bool script = false;
    if (count > NUMBERING_ARGUMENTS_MAXIMUM)
        count = NUMBERING_ARGUMENTS_MAXIMUM;
    for (size_t i = 0; i < count; i++) {
        const char *argument = arguments[i], *slash = strrchr(argument, '/');
        const char *name = slash ? slash + 1 : argument;
        if (!script && text_lists(launchers, name))
            return NULL;
        if (!script && text_lists(programs, name))
            return name;
        if (begins_as_known(argument) || (i + 1 < count && !strcmp(argument, "--launcher") &&
                                          !strcmp(arguments[i + 1], "slurm")))
            return argument;
        script = script || is_script(argument);
    }
    return NULL;
}
