/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_size.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GPU_POD                                                                                    \
    "{\"spec\":{\"containers\":[{\"name\":\"side\"},"                                              \
    "{\"resources\":{\"limits\":{\"cpu\":\"1\",\"nvidia.com/gpu\":8}}}]}}"
#define CPU_POD "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}"

struct row {
    enum gang_size_from from;
    const char *object;
    unsigned pods;
    const char *problem; /* a part of it; NULL: none */
};

static const struct row rows[] = {
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":16}}", 16, NULL},
    {GANG_SIZE_OF_JOB, "{\"spec\":{}}", 1, NULL},
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":4,\"completions\":16}}", 4, NULL},
    {GANG_SIZE_OF_JOB,
     "{\"spec\":{\"completionMode\":\"Indexed\",\"parallelism\":16,\"completions\":16}}", 16, NULL},
    {GANG_SIZE_OF_JOB,
     "{\"spec\":{\"completionMode\":\"Indexed\",\"parallelism\":4,\"completions\":16}}", 0,
     "Job x runs 4 of its 16 pods at a time"},
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":0}}", 0, "says no number of pods"},
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":99999999}}", 0, "none from 1 to 16384"},
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":\"x\"}}", 0, "none from 1 to 16384"},
    {GANG_SIZE_OF_JOB, "{\"spec\":{\"parallelism\":-3}}", 0, "none from 1 to 16384"},
    {GANG_SIZE_OF_POD_GROUP, "{\"spec\":{\"minMember\":8}}", 8, NULL},
    {GANG_SIZE_OF_POD_GROUP, "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":9}}}}", 9,
     NULL},
    {GANG_SIZE_OF_POD_GROUP, "{\"spec\":{\"schedulingPolicy\":{\"basic\":{}}}}", 0,
     "PodGroup x has neither minMember nor"},
    {GANG_SIZE_OF_VOLCANO, "{\"spec\":{\"minMember\":3}}", 3, NULL},
    {GANG_SIZE_OF_KOORDINATOR, "{\"spec\":{\"minMember\":5}}", 5, NULL},
    {GANG_SIZE_OF_JOBSET,
     "{\"spec\":{\"replicatedJobs\":[{\"name\":\"driver\",\"template\":{\"spec\":{"
     "\"template\":" CPU_POD "}}},{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{"
     "\"parallelism\":4,\"template\":" GPU_POD "}}}]}}",
     8, NULL},
    {GANG_SIZE_OF_JOBSET,
     "{\"spec\":{\"replicatedJobs\":[{\"template\":{\"spec\":{\"template\":" CPU_POD "}}}]}}", 0,
     "no replicatedJob of it asks for GPUs"},
    {GANG_SIZE_OF_JOBSET,
     "{\"spec\":{\"replicatedJobs\":[{\"replicas\":2000000000,\"template\":{\"spec\":"
     "{\"parallelism\":2000000000,\"template\":" GPU_POD "}}}]}}",
     0, "none from 1 to 16384"},
    {GANG_SIZE_OF_PYTORCHJOB,
     "{\"spec\":{\"pytorchReplicaSpecs\":{\"Master\":{},\"Worker\":{\"replicas\":15}}}}", 16, NULL},
    {GANG_SIZE_OF_PYTORCHJOB, "{\"spec\":{}}", 0, "PyTorchJob x has no pytorchReplicaSpecs"},
    {GANG_SIZE_GIVEN, "{\"spec\":{}}", 0, "says no number of pods"},
};

static void reads_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(json_value)
        struct json_value *object =
            json_value_parse(rows[i].object, strlen(rows[i].object), "row", &err);
        if (!object)
            fail_msg("row %zu: %s", i, err.text);
        struct gang_size size;
        gang_size_read(rows[i].from, "x", object, &size);
        if (size.pods != rows[i].pods ||
            (rows[i].problem ? !strstr(size.problem, rows[i].problem) : size.problem[0] != '\0'))
            fail_msg("row %zu: %u, '%s'", i, size.pods, size.problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sizes),
    };
    return unit_test_main("k8s_extender/gang_size", tests, COUNT_OF(tests));
}
