/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/launch/launch_numbering.h"
#include <string.h>

#define ARGUMENTS 8

static const struct {
    const char *arguments[ARGUMENTS];
    enum launch_numbering numbering;
    const char *argument;
} cases[] = {
    {{"python", "train.py"}, NUMBERING_UNKNOWN, NULL},
    {{NULL}, NUMBERING_UNKNOWN, NULL},
    {{"torchrun", "train.py"}, NUMBERING_LAUNCHER, "torchrun"},
    {{"/opt/bin/torchrun", "-m", "x"}, NUMBERING_LAUNCHER, "/opt/bin/torchrun"},
    {{"python", "-m", "torch.distributed.run", "x.py"},
     NUMBERING_LAUNCHER,
     "torch.distributed.run"},
    {{"python", "train.py", "torchrun"}, NUMBERING_UNKNOWN, NULL},
    {{"accelerate", "launch", "x.py"}, NUMBERING_LAUNCHER, "accelerate"},
    {{"mpirun", "-np", "8", "./a.out"}, NUMBERING_MPI, "mpirun"},
    {{"python", "tools/train.py", "--launcher", "slurm"}, NUMBERING_PROCID, "--launcher"},
    {{"python", "tools/train.py", "--launcher=slurm"}, NUMBERING_PROCID, "--launcher=slurm"},
    {{"python", "tools/train.py", "--launcher", "pytorch"}, NUMBERING_UNKNOWN, NULL},
    {{"python", "tools/train.py", "--launcher"}, NUMBERING_UNKNOWN, NULL},
    {{"python", "gpt.py", "trainer.num_nodes=4"}, NUMBERING_PROCID, "trainer.num_nodes=4"},
    {{"python", "main.py", "fit", "--trainer.num_nodes", "4"},
     NUMBERING_PROCID,
     "--trainer.num_nodes"},
    {{"torchrun", "gpt.py", "trainer.num_nodes=4"}, NUMBERING_LAUNCHER, "torchrun"},
};

static void tells_who_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *argument = "?";
        size_t count = 0;
        while (count < ARGUMENTS && cases[i].arguments[count])
            count++;
        enum launch_numbering numbering =
            launch_command_numbering(cases[i].arguments, count, &argument);
        if (numbering != cases[i].numbering)
            fail_msg("case %zu: %d", i, (int)numbering);
        if (cases[i].argument)
            assert_string_equal(argument, cases[i].argument);
        else
            assert_null(argument);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_who_numbers),
    };
    return unit_test_main("workload/launch_numbering", tests, COUNT_OF(tests));
}
