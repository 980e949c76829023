/* SPDX-License-Identifier: MIT */
#include "workload/launch/launch_numbering.h"
#include "base/cleanup.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NUMBERING_ARGUMENTS_MAXIMUM 4096u

/* What an argument is compared with: all of it, its last part as a path, or its start. */
enum match { MATCH_PROGRAM, MATCH_START };

struct sign {
    const char *text;
    uint8_t match;     /* enum match */
    uint8_t numbering; /* enum launch_numbering */
};

/* The first that is found counts, so launchers come before the flags of what they launch. */
static const struct sign signs[] = {
    {"mpirun", MATCH_PROGRAM, NUMBERING_MPI},
    {"mpiexec", MATCH_PROGRAM, NUMBERING_MPI},
    {"mpiexec.hydra", MATCH_PROGRAM, NUMBERING_MPI},
    {"orterun", MATCH_PROGRAM, NUMBERING_MPI},
    {"prterun", MATCH_PROGRAM, NUMBERING_MPI},
    {"torchrun", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"torch.distributed.run", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"torch.distributed.launch", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"accelerate", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"accelerate-launch", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"deepspeed", MATCH_PROGRAM, NUMBERING_LAUNCHER},
    {"--launcher=slurm", MATCH_START, NUMBERING_PROCID},
    {"trainer.num_nodes=", MATCH_START, NUMBERING_PROCID},
    {"++trainer.num_nodes=", MATCH_START, NUMBERING_PROCID},
    {"--trainer.num_nodes", MATCH_START, NUMBERING_PROCID},
};

static bool matches(const struct sign *sign, const char *argument)
{
    const char *slash = strrchr(argument, '/');
    if (sign->match == MATCH_PROGRAM)
        return !strcmp(slash ? slash + 1 : argument, sign->text);
    return !strncmp(argument, sign->text, strlen(sign->text));
}

static bool is_script(const char *argument)
{
    size_t length = strlen(argument);
    return length > 3 && !strcmp(argument + length - 3, ".py");
}

/* The first argument that the sign matches; of programs only before the script. */
static const char *find(const struct sign *sign, const char *const *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(sign, arguments[i]))
            return arguments[i];
        if (sign->match == MATCH_PROGRAM && is_script(arguments[i]))
            break;
    }
    return NULL;
}

/* "--launcher slurm" in two arguments. */
static const char *find_launcher(const char *const *arguments, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (!strcmp(arguments[i], "--launcher") && !strcmp(arguments[i + 1], "slurm"))
            return arguments[i];
    return NULL;
}

enum launch_numbering launch_command_numbering(const char *const *arguments, size_t count,
                                               const char **ret_argument)
{
    if (count > NUMBERING_ARGUMENTS_MAXIMUM)
        count = NUMBERING_ARGUMENTS_MAXIMUM;
    for (size_t i = 0; i < COUNT_OF(signs); i++)
        if ((*ret_argument = find(&signs[i], arguments, count)))
            return (enum launch_numbering)signs[i].numbering;
    *ret_argument = find_launcher(arguments, count);
    return *ret_argument ? NUMBERING_PROCID : NUMBERING_UNKNOWN;
}
