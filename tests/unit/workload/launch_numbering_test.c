/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/launch/launch_numbering.h"
#include <string.h>

#define ARGUMENTS 8

static const struct {
    const char *arguments[ARGUMENTS];
    const char *argument;
} cases[] = {
    {{"python", "train.py"}, NULL},
    {{NULL}, NULL},
    {{""}, NULL},
    {{" "}, NULL},
    {{"python3", "-m", "MaxText.train", "base.yml"}, "MaxText.train"},
    {{"python3", "-m", "MaxText.trainer"}, NULL},
    {{"python3", "-m", "xMaxText.train"}, NULL},
    {{"/opt/bin/litgpt", "pretrain"}, "litgpt"},
    {{"python", "train.py", "litgpt"}, NULL},
    {{"torchrun", "train.py", "--launcher=slurm"}, NULL},
    {{"/opt/bin/torchrun", "-m", "litgpt"}, NULL},
    {{"python", "-m", "torch.distributed.run", "x.py", "trainer.num_nodes=2"}, NULL},
    {{"python", "train.py", "torchrun", "--launcher=slurm"}, "--launcher=slurm"},
    {{"accelerate", "launch", "x.py", "--launcher", "slurm"}, NULL},
    {{"mpirun", "-np", "8", "litgpt"}, NULL},
    {{"python", "tools/train.py", "--launcher", "slurm"}, "--launcher"},
    {{"python", "tools/train.py", "--launcher", "pytorch"}, NULL},
    {{"python", "tools/train.py", "--launcher"}, NULL},
    {{"python", "gpt.py", "trainer.num_nodes=4"}, "trainer.num_nodes=4"},
    {{"python", "gpt.py", "++trainer.num_nodes=4"}, "++trainer.num_nodes=4"},
    {{"python", "main.py", "fit", "--trainer.num_nodes", "4"}, "--trainer.num_nodes"},
};

static void tells_who_takes_slurms_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t count = 0;
        while (count < ARGUMENTS && cases[i].arguments[count])
            count++;
        const char *argument = launch_numbered_by_slurm(cases[i].arguments, count);
        if (strcmp(argument ? argument : "", cases[i].argument ? cases[i].argument : "") != 0)
            fail_msg("case %zu: %s", i, argument ? argument : "nothing");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_who_takes_slurms_numbers),
    };
    return unit_test_main("workload/launch_numbering", tests, COUNT_OF(tests));
}
