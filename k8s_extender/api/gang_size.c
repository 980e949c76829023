/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_size.h"
#include "k8s_extender/api/request_text.h"
#include "k8s_extender/objects/reading/object_text.h"
#include "k8s_extender/objects/resource_list.h"

#include <pthread.h>
#include <string.h>

#define ARENA_MAXIMUM_BYTES ((size_t)64 << 10)
#define COUNT_MAXIMUM ((uint64_t)1 << 31) /* of one field of an object */

/* Where an object is to be found: the rows of one `from` are tried in this order. */
struct size_source {
    enum gang_size_from from;
    const char *prefix, *kind, *word;
};

static const struct size_source sources[] = {
    {GANG_SIZE_OF_JOB, "/apis/batch/v1", "jobs", "Job"},
    {GANG_SIZE_OF_POD_GROUP, "/apis/scheduling.x-k8s.io/v1alpha1", "podgroups", "PodGroup"},
    {GANG_SIZE_OF_POD_GROUP, "/apis/scheduling.k8s.io/v1beta1", "podgroups", "PodGroup"},
    {GANG_SIZE_OF_POD_GROUP, "/apis/scheduling.k8s.io/v1alpha3", "podgroups", "PodGroup"},
    {GANG_SIZE_OF_POD_GROUP, "/apis/scheduling.k8s.io/v1alpha2", "podgroups", "PodGroup"},
    {GANG_SIZE_OF_JOBSET, "/apis/jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet"},
    {GANG_SIZE_OF_PYTORCHJOB, "/apis/kubeflow.org/v1", "pytorchjobs", "PyTorchJob"},
    {GANG_SIZE_OF_VOLCANO, "/apis/scheduling.volcano.sh/v1beta1", "podgroups", "PodGroup"},
    {GANG_SIZE_OF_KOORDINATOR, "/apis/scheduling.sigs.k8s.io/v1alpha1", "podgroups", "PodGroup"},
};

/* --- reading --------------------------------------------------------------------------------- */

/* The number below the keys, `otherwise` where there is none; a value that is no count becomes one
 * beyond every maximum. */
static uint64_t number_at(const struct json_value *value, const char *const *keys, size_t count,
                          uint64_t otherwise)
{
    for (size_t i = 0; i < count; i++)
        value = json_value_get(value, keys[i]);
    if (json_value_kind(value) == JSON_NULL)
        return otherwise;
    uint64_t number = COUNT_MAXIMUM;
    json_value_unsigned(value, COUNT_MAXIMUM, &number);
    return number;
}

#define NUMBER_AT(value, otherwise, ...)                                                           \
    number_at(value, (const char *const[]){__VA_ARGS__},                                           \
              COUNT_OF(((const char *const[]){__VA_ARGS__})), otherwise)

static bool is_indexed(const struct json_value *job_spec)
{
    const char *mode = json_value_text(json_value_get(job_spec, "completionMode"));
    return mode && strcmp(mode, "Indexed") == 0;
}

static uint64_t read_job(const struct json_value *object, const char *name, struct gang_size *ret)
{
    const struct json_value *spec = json_value_get(object, "spec");
    uint64_t parallelism = NUMBER_AT(spec, 1, "parallelism");
    uint64_t completions = NUMBER_AT(spec, parallelism, "completions");
    if (is_indexed(spec) && completions != parallelism) {
        snprintf(ret->problem, sizeof(ret->problem),
                 "Job %s runs %llu of its %llu pods at a time; a gang runs whole: set parallelism "
                 "and completions to the same number",
                 name, (unsigned long long)parallelism, (unsigned long long)completions);
        return 0;
    }
    return parallelism;
}

static bool names_gpu(const struct json_value *resources)
{
    for (size_t i = 0; i < json_value_count(resources); i++) {
        const char *key = json_value_key(json_value_at(resources, i));
        if (key && resource_is_gpu(key))
            return true;
    }
    return false;
}

static bool asks_gpus(const struct json_value *pod_spec)
{
    const struct json_value *containers = json_value_get(pod_spec, "containers");
    for (size_t i = 0; i < json_value_count(containers); i++) {
        const struct json_value *resources =
            json_value_get(json_value_at(containers, i), "resources");
        if (names_gpu(json_value_get(resources, "limits")) ||
            names_gpu(json_value_get(resources, "requests")))
            return true;
    }
    return false;
}

static bool job_asks_gpus(const struct json_value *job)
{
    const struct json_value *spec = json_value_get(json_value_get(job, "template"), "spec");
    return asks_gpus(json_value_get(json_value_get(spec, "template"), "spec"));
}

static uint64_t pods_of_job(const struct json_value *job)
{
    return NUMBER_AT(job, 1, "template", "spec", "parallelism");
}

static const char *name_of_job(const struct json_value *job)
{
    const char *name = json_value_text(json_value_get(job, "name"));
    return name ? name : "?";
}

/* The pods' indexes count through all Jobs, in equal parts. */
static bool check_parts(const struct json_value *jobs, const struct json_value *first,
                        const char *name, struct gang_size *ret)
{
    uint64_t all = 0, asking = 0;
    bool equal = true;
    for (size_t i = 0; i < json_value_count(jobs); i++) {
        const struct json_value *job = json_value_at(jobs, i);
        uint64_t replicas = NUMBER_AT(job, 1, "replicas");
        all += replicas;
        asking += job_asks_gpus(job) ? replicas : 0;
        equal &= !job_asks_gpus(job) || pods_of_job(job) == pods_of_job(first);
    }
    if (all <= 1 || (all == asking && equal))
        return true;
    snprintf(
        ret->problem, sizeof(ret->problem),
        "JobSet %.100s: a gang counts through all its Jobs, of which %llu of %llu ask for GPUs%s; "
        "make a gang of one replicatedJob: label parplan.io/gang: %.64s-%.64s on its pods",
        name, (unsigned long long)asking, (unsigned long long)all,
        equal ? "" : ", not all with as many pods", name, name_of_job(first));
    return false;
}

static uint64_t read_jobs(const struct json_value *jobs, const char *name, struct gang_size *ret)
{
    const struct json_value *first = NULL;
    uint64_t pods = 0;
    for (size_t i = 0; i < json_value_count(jobs) && pods <= COUNT_MAXIMUM; i++) {
        const struct json_value *job = json_value_at(jobs, i);
        if (!job_asks_gpus(job))
            continue;
        first = first ? first : job;
        pods += NUMBER_AT(job, 1, "replicas") * pods_of_job(job);
    }
    if (pods == 0)
        snprintf(ret->problem, sizeof(ret->problem),
                 "JobSet %s: no replicatedJob of it asks for GPUs", name);
    else if (!check_parts(jobs, first, name, ret))
        return 0;
    return pods;
}

static uint64_t read_jobset(const struct json_value *object, const char *name,
                            struct gang_size *ret)
{
    const struct json_value *jobs =
        json_value_get(json_value_get(object, "spec"), "replicatedJobs");
    const char *slash = strchr(name, '/');
    if (!slash)
        return read_jobs(jobs, name, ret);
    for (size_t i = 0; i < json_value_count(jobs); i++) {
        const struct json_value *job = json_value_at(jobs, i);
        if (strcmp(name_of_job(job), slash + 1) == 0)
            return NUMBER_AT(job, 1, "replicas") * pods_of_job(job);
    }
    snprintf(ret->problem, sizeof(ret->problem), "JobSet %.*s has no replicatedJob %.100s",
             (int)(slash - name), name, slash + 1);
    return 0;
}

static uint64_t read_pytorchjob(const struct json_value *object, const char *name,
                                struct gang_size *ret)
{
    const struct json_value *specs =
        json_value_get(json_value_get(object, "spec"), "pytorchReplicaSpecs");
    uint64_t pods = 0;
    for (size_t i = 0; i < json_value_count(specs) && pods <= COUNT_MAXIMUM; i++)
        pods += NUMBER_AT(json_value_at(specs, i), 1, "replicas");
    if (pods == 0)
        snprintf(ret->problem, sizeof(ret->problem), "PyTorchJob %s has no pytorchReplicaSpecs",
                 name);
    return pods;
}

static uint64_t read_pod_group(const struct json_value *object, const char *name,
                               struct gang_size *ret)
{
    uint64_t pods = NUMBER_AT(object, 0, "spec", "minMember");
    if (pods == 0)
        pods = NUMBER_AT(object, 0, "spec", "schedulingPolicy", "gang", "minCount");
    if (pods == 0)
        snprintf(ret->problem, sizeof(ret->problem),
                 "PodGroup %s has neither minMember nor schedulingPolicy.gang.minCount; set it to "
                 "the number of pods",
                 name);
    return pods;
}

typedef uint64_t (*read_fn)(const struct json_value *object, const char *name,
                            struct gang_size *ret);

static const read_fn readers[] = {
    [GANG_SIZE_OF_JOB] = read_job,           [GANG_SIZE_OF_POD_GROUP] = read_pod_group,
    [GANG_SIZE_OF_JOBSET] = read_jobset,     [GANG_SIZE_OF_PYTORCHJOB] = read_pytorchjob,
    [GANG_SIZE_OF_VOLCANO] = read_pod_group, [GANG_SIZE_OF_KOORDINATOR] = read_pod_group,
};

void gang_size_read(enum gang_size_from from, const char *name, const struct json_value *object,
                    struct gang_size *ret)
{
    *ret = (struct gang_size){.pods = 0};
    bool known = (size_t)from < COUNT_OF(readers) && readers[from];
    uint64_t pods = known ? readers[from](object, name, ret) : 0;
    if (pods > GANG_MAXIMUM_PODS)
        snprintf(ret->problem, sizeof(ret->problem), "%s: its number of pods is none from 1 to %u",
                 name, GANG_MAXIMUM_PODS);
    else if (pods > 0)
        ret->pods = (uint32_t)pods;
    else if (ret->problem[0] == '\0')
        snprintf(ret->problem, sizeof(ret->problem), "%s: it says no number of pods above 0", name);
    error_clean_text(ret->problem);
}

/* --- asking ---------------------------------------------------------------------------------- */

/* A 404 of an object names it; that of a kind that is not served is a plain text, or a Status
 * without details. */
static bool is_kind_missing(const struct api_answer *answer)
{
    CLEANUP(json_value)
    struct json_value *status = json_value_parse(answer->body, answer->body_bytes, "Status", NULL);
    return !json_value_text(json_value_get(json_value_get(status, "details"), "name"));
}

static void set_missing(const struct size_source *source, const char *namespace, const char *name,
                        bool kind_missing, struct gang_size *ret)
{
    if (kind_missing)
        snprintf(ret->problem, sizeof(ret->problem),
                 "%s %s/%s: the cluster has no such kind (%s); install it, or set annotation "
                 "parplan.io/size",
                 source->word, namespace, name, source->prefix);
    else
        snprintf(ret->problem, sizeof(ret->problem),
                 "%s %s/%s is not there; create it, or set annotation parplan.io/size",
                 source->word, namespace, name);
}

/* A user wrote the object: what cannot be read is its gang's problem, and of the trees of several
 * workers there is one at a time. */
static int read_answer(const struct size_source *source, const char *name,
                       const struct api_answer *answer, struct gang_size *ret,
                       struct error_info *err)
{
    static pthread_mutex_t trees = PTHREAD_MUTEX_INITIALIZER;
    struct error_info reason = {.kind = ERROR_NONE};
    pthread_mutex_lock(&trees);
    struct json_value *object = json_value_parse_within(
        answer->body, answer->body_bytes, OBJECT_MAXIMUM_VALUES, source->word, &reason);
    if (object)
        gang_size_read(source->from, name, object, ret);
    json_value_free(object);
    pthread_mutex_unlock(&trees);
    if (object)
        return 0;
    if (reason.kind == ERROR_MEMORY)
        return error_set_memory(err);
    snprintf(ret->problem, sizeof(ret->problem), "%.64s: %.256s; set annotation parplan.io/size",
             name, reason.text);
    return 0;
}

/* 1: another row may know more; the problem is this row's. */
static int judge(const struct size_source *source, const char *namespace, const char *name,
                 const struct api_answer *answer, struct gang_size *ret, struct error_info *err)
{
    char words[GANG_SIZE_PROBLEM_BYTES / 2];
    *ret = (struct gang_size){.pods = 0};
    if (answer->status == 404) {
        set_missing(source, namespace, name, is_kind_missing(answer), ret);
        return 1;
    }
    api_answer_words(answer, words, sizeof(words));
    if (answer->status == 429 || answer->status >= 500 || answer->status == 401)
        return error_set_system(err, "%s %s/%s: %s", source->word, namespace, name, words);
    if (answer->status != 200) {
        snprintf(ret->problem, sizeof(ret->problem), "%s %.64s/%.64s: %s", source->word, namespace,
                 name, words);
        return 1;
    }
    return read_answer(source, name, answer, ret, err);
}

static int ask_source(struct api_client *client, const struct size_source *source,
                      const char *namespace, const char *name, struct gang_size *ret,
                      struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_MAXIMUM_BYTES);
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    struct api_request request = {.method = "GET"};
    if (!arena)
        return error_set_memory(err);
    const char *slash = strchr(name, '/');
    const char *object = slash ? arena_format(arena, "%.*s", (int)(slash - name), name) : name;
    if (!object)
        return error_set_memory(err);
    if (request_set_path(&request, arena, source->prefix, namespace, source->kind, object, err) <
            0 ||
        api_client_send(client, &request, &answer, err) < 0)
        return -1;
    return judge(source, namespace, name, &answer, ret, err);
}

int gang_size_ask(struct api_client *client, enum gang_size_from from, const char *namespace,
                  const char *name, struct gang_size *ret, struct error_info *err)
{
    struct gang_size size = {.pods = 0}, best = {.pods = 0};
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        if (sources[i].from != from)
            continue;
        int result = ask_source(client, &sources[i], namespace, name, &size, err);
        if (result < 0)
            return -1;
        /* Of several rows the one whose kind is there speaks. */
        bool is_better = !best.problem[0] || !strstr(size.problem, "no such kind");
        if (result == 0 || is_better)
            best = size;
        if (result == 0)
            break;
    }
    if (best.pods == 0 && !best.problem[0])
        snprintf(best.problem, sizeof(best.problem), "%s: nobody knows its number of pods", name);
    error_clean_text(best.problem);
    *ret = best;
    return 0;
}
