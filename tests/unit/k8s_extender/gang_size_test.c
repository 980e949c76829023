/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_size.h"
#include "tests/support/api_peer.h"
#include "tests/support/fake_api.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define GPU_POD                                                                                    \
    "{\"spec\":{\"containers\":[{\"name\":\"side\"},"                                              \
    "{\"resources\":{\"limits\":{\"cpu\":\"1\",\"nvidia.com/gpu\":8}}}]}}"
#define CPU_POD "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}"

#define SET(jobs) "{\"spec\":{\"replicatedJobs\":[" jobs "]}}"
#define WORKERS(name, replicas, pods)                                                              \
    "{\"name\":\"" name "\",\"replicas\":" replicas                                                \
    ",\"template\":{\"spec\":{\"parallelism\":" pods ",\"template\":" GPU_POD "}}}"
#define DRIVEN                                                                                     \
    SET("{\"name\":\"driver\",\"template\":{\"spec\":{\"template\":" CPU_POD                       \
        "}}}," WORKERS("w", "2", "4"))

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
    {GANG_SIZE_OF_JOBSET, DRIVEN, 0,
     "JobSet x: a gang counts through all its Jobs, of which 2 of 3 ask for GPUs; make a gang of "
     "one "
     "replicatedJob: label parplan.io/gang: x-w on its pods"},
    {GANG_SIZE_OF_JOBSET, SET(WORKERS("w", "2", "4")), 8, NULL},
    {GANG_SIZE_OF_JOBSET, SET(WORKERS("w", "1", "4")), 4, NULL},
    {GANG_SIZE_OF_JOBSET, SET(WORKERS("w", "2", "4") "," WORKERS("v", "1", "4")), 12, NULL},
    {GANG_SIZE_OF_JOBSET, SET(WORKERS("w", "2", "4") "," WORKERS("v", "1", "5")), 0,
     "of which 3 of 3 ask for GPUs, not all with as many pods"},
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

static void expect_size(size_t i, const struct row *row, const char *name)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(row->object, strlen(row->object), "row", &err);
    if (!object)
        fail_msg("row %zu: %s", i, err.text);
    struct gang_size size;
    gang_size_read(row->from, name, object, &size);
    if (size.pods != row->pods ||
        (row->problem ? !strstr(size.problem, row->problem) : size.problem[0] != '\0'))
        fail_msg("row %zu: %u, '%s'", i, size.pods, size.problem);
}

static void reads_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_size(i, &rows[i], "x");
}

static void reads_one_replicated_job(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct row row;
    } jobs[] = {
        {"x/w", {GANG_SIZE_OF_JOBSET, DRIVEN, 8, NULL}},
        {"x/driver", {GANG_SIZE_OF_JOBSET, DRIVEN, 1, NULL}},
        {"x/y", {GANG_SIZE_OF_JOBSET, DRIVEN, 0, "JobSet x has no replicatedJob y"}},
    };
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        expect_size(i, &jobs[i].row, jobs[i].name);
}

#define EMPTY_COUNT 60000u

static void answer_with_empties(void *context, struct fake_exchange *exchange)
{
    static char body[3 * EMPTY_COUNT + 100];
    size_t bytes = (size_t)snprintf(body, sizeof(body), "{\"spec\":{\"parallelism\":4},\"a\":[{}");
    for (unsigned i = 1; i < EMPTY_COUNT; i++, bytes += 3)
        memcpy(body + bytes, ",{}", 3);
    memcpy(body + bytes, "]}", 3);
    ++*(unsigned *)context;
    fake_api_answer(exchange, 200, "", body);
}

/* A user wrote it: it is a problem of that gang, not an error that is tried again. */
static void bounds_the_values_of_an_owner(void **state)
{
    (void)state;
    char url[FAKE_API_URL_BYTES];
    unsigned asked = 0;
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_size size;
    UNIT_TEST_SKIP_TORTURE();
    struct fake_api *api = fake_api_start(answer_with_empties, &asked);
    assert_non_null(api);
    fake_api_url(api, url);
    const struct api_config config = {.server = url, .user_agent = "test", .namespace = "default"};
    CLEANUP(api_client) struct api_client *client = api_client_create(&config, &err);
    assert_non_null(client);
    int result = gang_size_ask(client, GANG_SIZE_OF_JOB, "a", "train", &size, &err);
    fake_api_stop(api);
    assert_int_equal(result, 0);
    assert_int_equal(asked, 1);
    assert_int_equal(size.pods, 0);
    assert_string_equal(size.problem,
                        "train: Job: byte 75025: the text has too many values; at most "
                        "50000 are taken; set annotation parplan.io/size");
}

static void answer_sizes(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    if (strstr(exchange->request, "/jobs/good "))
        fake_api_answer(exchange, 200, "", "{\"spec\":{\"parallelism\":4}}");
    else if (strstr(exchange->request, "/jobs/gone "))
        fake_api_answer(exchange, 404, "",
                        "{\"kind\":\"Status\",\"code\":404,\"details\":{\"name\":\"gone\"}}");
    else if (strstr(exchange->request, "/jobs/closed "))
        fake_api_answer(exchange, 403, "", "{\"kind\":\"Status\",\"message\":\"not yours\"}");
    else if (strstr(exchange->request, "/jobs/busy "))
        fake_api_answer(exchange, 503, "", "");
    else if (strstr(exchange->request, "/jobsets/set "))
        fake_api_answer(exchange, 200, "",
                        "{\"spec\":{\"replicatedJobs\":[{\"name\":\"w\",\"replicas\":3}]}}");
    else if (strstr(exchange->request, "v1alpha3/namespaces/a/podgroups/p "))
        fake_api_answer(exchange, 200, "",
                        "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":6}}}}");
    else
        fake_api_answer(exchange, 404, "", "404 page not found\n");
}

static void sizes_are_asked_for(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        enum gang_size_from from;
        const char *name;
        int result;
        unsigned pods;
        const char *words;
    } asked[] = {
        {GANG_SIZE_OF_JOB, "good", 0, 4, ""},
        {GANG_SIZE_OF_JOB, "gone", 0, 0, "Job a/gone is not there"},
        {GANG_SIZE_OF_JOB, "closed", 0, 0, "403: not yours"},
        {GANG_SIZE_OF_JOB, "busy", -1, 0, "Job a/busy: 503"},
        {GANG_SIZE_OF_POD_GROUP, "p", 0, 6, ""},
        {GANG_SIZE_OF_POD_GROUP, "q", 0, 0, "PodGroup a/q: the cluster has no such kind"},
        {GANG_SIZE_OF_JOBSET, "s", 0, 0,
         "JobSet a/s: the cluster has no such kind (/apis/jobset.x-k8s.io/v1alpha2)"},
        {GANG_SIZE_OF_JOBSET, "set/w", 0, 3, ""},
        {GANG_SIZE_OF_JOBSET, "set/v", 0, 0, "JobSet set has no replicatedJob v"},
        {GANG_SIZE_GIVEN, "g", 0, 0, "nobody knows"},
    };
    struct api_peer peer = {.answer = answer_sizes};
    struct error_info none = {.kind = ERROR_NONE};
    api_peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &none);
    assert_non_null(client);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct gang_size size = {.pods = 0};
        int result = gang_size_ask(client, asked[i].from, "a", asked[i].name, &size, &err);
        const char *words = result < 0 ? err.text : size.problem;
        if (result != asked[i].result || size.pods != asked[i].pods ||
            !strstr(words, asked[i].words))
            fail_msg("row %zu: %d %u '%s'", i, result, size.pods, words);
    }
    api_peer_stop(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(reads_one_replicated_job),
        cmocka_unit_test(bounds_the_values_of_an_owner),
        cmocka_unit_test(sizes_are_asked_for),
    };
    return unit_test_main("k8s_extender/gang_size", tests, COUNT_OF(tests));
}
