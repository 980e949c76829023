/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/gang_identity.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define NONE GANG_INDEX_NONE

struct pod {
    const char *labels, *annotations, *owner, *environment, *spec;
};

struct want {
    const char *key, *found_by;
    uint32_t size, index;
    enum gang_size_from size_from;
    const char *size_owner;
    const char *problem; /* a part of it */
};

/* The tree must outlive the identity: size_owner lies there. */
static struct json_value *make_tree(const struct pod *pod)
{
    CLEANUP_MEMORY char *text = quoted_json(
        "{'metadata':{'name':'p-3','namespace':'ml','labels':{%s},'annotations':{%s},"
        "'ownerReferences':[%s]},'spec':{%s%s'containers':[{'env':[%s],'resources':{'limits':"
        "{'nvidia.com/gpu':'8'}}}]}}",
        pod->labels ? pod->labels : "", pod->annotations ? pod->annotations : "",
        pod->owner ? pod->owner : "", pod->spec ? pod->spec : "", pod->spec ? "," : "",
        pod->environment ? pod->environment : "");
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(text);
    struct json_value *tree = json_value_parse(text, strlen(text), "test", &err);
    assert_non_null(tree);
    return tree;
}

static void expect_text(size_t row, const char *got, const char *want)
{
    if ((got == NULL) != (want == NULL) || (got && strcmp(got, want) != 0))
        fail_msg("row %zu: %s, not %s", row, got ? got : "NULL", want ? want : "NULL");
}

static void expect_identity(size_t row, const struct pod *pod, const struct want *want)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP(json_value) struct json_value *tree = make_tree(pod);
    struct gang_identity got;
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(arena);
    assert_int_equal(gang_identity_read(tree, true, arena, &got, &err), 0);
    expect_text(row, got.key, want->key);
    if (want->found_by)
        expect_text(row, got.found_by, want->found_by);
    if (want->problem) {
        if (!got.problem || !strstr(got.problem, want->problem))
            fail_msg("row %zu: %s, not %s", row, got.problem, want->problem);
        return;
    }
    expect_text(row, got.problem, NULL);
    if (got.size != want->size || got.index != want->index || got.size_from != want->size_from)
        fail_msg("row %zu: size %u index %u from %d", row, got.size, got.index, got.size_from);
    expect_text(row, got.size_owner, want->size_owner);
}

#define JOB "'batch.kubernetes.io/job-name':'j','batch.kubernetes.io/job-completion-index':'3'"
#define AUTO "'parplan.io/gang':'auto',"

static void says_when_a_pod_is_in_a_gang(void **state)
{
    (void)state;
    static const struct {
        struct pod pod;
        struct want want;
    } rows[] = {
        /* nothing is said: none, whatever the framework */
        {{.labels = JOB}, {.index = NONE}},
        {{.spec = "'schedulingGroup':{'podGroupName':'g'}"}, {.index = NONE}},
        {{.labels = JOB,
          .annotations = "'parplan.io/node':'n1','parplan.io/plan':'x',"
                         "'parplan.io/master-addr':'y','parplan.io/tp-rank':'0'"},
         {.index = NONE}},
        /* it is kept out */
        {{.labels = "'parplan.io/gang':'off'," JOB, .annotations = "'parplan.io/tp':'8'"},
         {.index = NONE}},
        {{.labels = "'parplan.io/gang':'false'," JOB}, {.index = NONE}},
        /* it is kept out and waits */
        {{.labels = "'parplan.io/gang':'off'," JOB,
          .spec = "'schedulingGates':[{'name':'parplan.io/gang'}]"},
         {.key = "ml/j",
          .problem = "label parplan.io/gang keeps the pod out of gangs, and the gate "
                     "parplan.io/gang holds it for one; take one of them out of the template"}},
        {{.labels = "'parplan.io/gang':'false'",
          .spec = "'schedulingGates':[{'name':'parplan.io/gang'}]"},
         {.key = "ml/p-3", .problem = "keeps the pod out of gangs"}},
        /* the label names it */
        {{.labels = "'parplan.io/gang':'mine'," JOB},
         {"ml/mine", "label parplan.io/gang", 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        /* it names nothing, or an input is there */
        {{.labels = AUTO JOB},
         {"ml/j", "batch.kubernetes.io/job-name", 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = "'parplan.io/gang':'true'," JOB},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = "'parplan.io/gang':''," JOB},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = JOB, .annotations = "'parplan.io/tp':'8'"},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = JOB, .spec = "'schedulingGates':[{'name':'other'},{'name':'parplan.io/gang'}]"},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = JOB, .spec = "'schedulingGates':[{'name':'other'},{},7]"}, {.index = NONE}},
        /* no group at all */
        {{.annotations = "'parplan.io/tp':'8'"},
         {.key = "ml/p-3", .problem = "the pod belongs to no group that is known here"}},
        {{.labels = "'parplan.io/gang':'a b'"},
         {.key = "ml/p-3", .problem = "'a b' of label parplan.io/gang is no name of a group"}},
        {{.annotations = "'parplan.io/tp':'8','scheduling.k8s.io/group-name':'a/\\u001b'"},
         {.key = "ml/p-3", .problem = "'a/?' of scheduling.k8s.io/group-name is no name"}},
        {{.labels = "'parplan.io/gang':7", .annotations = "'parplan.io/size':[]"},
         {.key = "ml/p-3", .problem = "the pod belongs to no group"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_identity(i, &rows[i].pod, &rows[i].want);
}

#define SET_LABELS                                                                                 \
    AUTO "'jobset.sigs.k8s.io/jobset-uid':'u-1','jobset.sigs.k8s.io/jobset-name':'s'," JOB
#define OWNER(kind) "{'kind':'" kind "','name':'o','uid':'o-1','controller':true}"

static void knows_the_frameworks(void **state)
{
    (void)state;
    static const struct {
        struct pod pod;
        struct want want;
    } rows[] = {
        {{.labels = AUTO JOB, .spec = "'schedulingGroup':{'podGroupName':'g'}"},
         {"ml/g", "spec.schedulingGroup.podGroupName", 0, 3, GANG_SIZE_OF_POD_GROUP, "g", NULL}},
        {{.labels = AUTO "'scheduling.x-k8s.io/pod-group':'g'," JOB},
         {"ml/g", "scheduling.x-k8s.io/pod-group", 0, 3, GANG_SIZE_OF_POD_GROUP, "g", NULL}},
        {{.labels = AUTO "'pod-group.scheduling.sigs.k8s.io':'g'",
          .annotations = "'gang.scheduling.koordinator.sh/network-topology-index':'5'"},
         {"ml/g", NULL, 0, 5, GANG_SIZE_OF_KOORDINATOR, "g", NULL}},
        {{.labels = AUTO "'volcano.sh/task-index':'2'",
          .annotations = "'scheduling.k8s.io/group-name':'g'"},
         {"ml/g", "scheduling.k8s.io/group-name", 0, 2, GANG_SIZE_OF_VOLCANO, "g", NULL}},
        {{.labels = SET_LABELS},
         {"ml/u-1", "jobset.sigs.k8s.io/jobset-uid", 0, 3, GANG_SIZE_OF_JOBSET, "s", NULL}},
        {{.labels = AUTO "'jobset.sigs.k8s.io/jobset-name':'s'," JOB},
         {"ml/s", NULL, 0, 3, GANG_SIZE_OF_JOBSET, "s", NULL}},
        {{.labels = AUTO "'leaderworkerset.sigs.k8s.io/group-key':'k',"
                         "'leaderworkerset.sigs.k8s.io/worker-index':'4',"
                         "'apps.kubernetes.io/pod-index':'9'",
          .annotations = "'leaderworkerset.sigs.k8s.io/size':'8'",
          .owner = OWNER("StatefulSet")},
         {"ml/k", NULL, 8, 4, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = AUTO "'leaderworkerset.sigs.k8s.io/group-key':'k',"
                         "'leaderworkerset.sigs.k8s.io/worker-index':'4'"},
         {.key = "ml/k", .problem = "nothing says how many pods the gang has"}},
        {{.labels = AUTO "'training.kubeflow.org/job-name':'t','training.kubeflow.org/"
                         "replica-index':'2','training.kubeflow.org/replica-type':'worker'",
          .owner = OWNER("PyTorchJob")},
         {"ml/t", NULL, 0, 2, GANG_SIZE_OF_PYTORCHJOB, "t", NULL}},
        {{.labels = AUTO "'training.kubeflow.org/job-name':'t','training.kubeflow.org/"
                         "replica-index':'2'",
          .owner = OWNER("MPIJob")},
         {.key = "ml/t", .problem = "nothing says how many pods the gang has"}},
        {{.labels = AUTO "'job-name':'old'",
          .annotations = "'batch.kubernetes.io/job-completion-index':'1'"},
         {"ml/old", "job-name", 0, 1, GANG_SIZE_OF_JOB, "old", NULL}},
        {{.labels = AUTO "'a':'b'",
          .annotations = "'parplan.io/size':'4'",
          .owner = OWNER("StatefulSet")},
         {"ml/o-1", "metadata.ownerReferences", 4, 3, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = AUTO "'apps.kubernetes.io/pod-index':'1'",
          .annotations = "'parplan.io/size':'4'",
          .owner = OWNER("StatefulSet")},
         {"ml/o-1", NULL, 4, 1, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = AUTO "'a':'b'",
          .annotations = "'parplan.io/size':'4'",
          .owner = OWNER("ReplicaSet")},
         {.key = "ml/o-1", .problem = "nothing says which pod of the gang this is"}},
        {{.labels = AUTO "'batch.kubernetes.io/job-name':'j'"},
         {.key = "ml/j", .problem = "use an Indexed Job (completionMode: Indexed)"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_identity(i, &rows[i].pod, &rows[i].want);
}

static void reads_sizes_and_indexes(void **state)
{
    (void)state;
    static const struct {
        struct pod pod;
        struct want want;
    } rows[] = {
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'16'"},
         {"ml/j", NULL, 16, 3, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'16','parplan.io/index':'7'"},
         {"ml/j", NULL, 16, 7, GANG_SIZE_GIVEN, NULL, NULL}},
        /* a label is no annotation, and may be changed under a plan */
        {{.labels = AUTO "'parplan.io/size':'9','parplan.io/index':'5'," JOB},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
        {{.labels = AUTO "'parplan.io/size':'9','parplan.io/index':'5'," JOB,
          .annotations = "'parplan.io/size':'16','parplan.io/index':'7'"},
         {"ml/j", NULL, 16, 7, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = "'parplan.io/gang':'g'"}, {.key = "ml/g", .problem = "how many pods"}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'0'"},
         {.key = "ml/j", .problem = "parplan.io/size: '0' is not a whole number from 1 to 16384"}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'16385'"},
         {.key = "ml/j", .problem = "parplan.io/size: '16385' is not"}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'a\\u0007b'"},
         {.key = "ml/j", .problem = "parplan.io/size: 'a?b' is not"}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/index':'-1'"},
         {.key = "ml/j", .problem = "parplan.io/index: '-1' is not a whole number"}},
        {{.labels = AUTO JOB, .annotations = "'parplan.io/size':'3'"},
         {.key = "ml/j", .problem = "index 3 is beyond the gang's 3 pods, which count from 0"}},
        /* a PyTorchJob's operator writes what torchrun reads */
        {{.labels = AUTO "'training.kubeflow.org/job-name':'t','training.kubeflow.org/"
                         "replica-index':'2','training.kubeflow.org/replica-type':'worker'",
          .environment = "{'name':'PET_NNODES','value':'4'},{'name':'PET_NODE_RANK','value':'3'}"},
         {"ml/t", NULL, 4, 3, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = AUTO "'training.kubeflow.org/job-name':'t','training.kubeflow.org/"
                         "replica-index':'2','training.kubeflow.org/replica-type':'worker'",
          .environment = "{'name':'PET_NNODES','value':'1:4'},"
                         "{'name':'PET_NODE_RANK','value':'9'}"},
         {"ml/t", NULL, 0, 2, GANG_SIZE_OF_PYTORCHJOB, "t", NULL}},
        /* a TrainJob: its Job's pods number themselves */
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'3',"
                               "'jobset.sigs.k8s.io/job-global-index':'2'",
          .environment = "{'name':'PET_NNODES','value':'4'},{'name':'PET_NODE_RANK','valueFrom':"
                         "{'fieldRef':{'fieldPath':'metadata.annotations[\\u0027batch."
                         "kubernetes.io/job-completion-index\\u0027]'}}}"},
         {"ml/u-1", NULL, 4, 3, GANG_SIZE_GIVEN, NULL, NULL}},
        /* a Job's own variable is the program's business */
        {{.labels = AUTO JOB, .environment = "{'name':'PET_NNODES','value':'4'}"},
         {"ml/j", NULL, 0, 3, GANG_SIZE_OF_JOB, "j", NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_identity(i, &rows[i].pod, &rows[i].want);
}

/* A driver of CPUs, two Jobs of other workers, two of these. */
#define ONE_OF(gang)                                                                               \
    "'parplan.io/gang':'" gang "','jobset.sigs.k8s.io/jobset-uid':'u-1',"                          \
    "'jobset.sigs.k8s.io/jobset-name':'s','jobset.sigs.k8s.io/replicatedjob-name':'w'," JOB ","    \
    "'jobset.sigs.k8s.io/global-replicas':'5','jobset.sigs.k8s.io/job-global-index':'4',"          \
    "'jobset.sigs.k8s.io/replicatedjob-replicas':'2','jobset.sigs.k8s.io/job-index':'1'"

static void counts_through_one_job(void)
{
    static const struct {
        struct pod pod;
        struct want want;
    } rows[] = {
        {{.labels = ONE_OF("s-w")}, {"ml/s-w", NULL, 0, NONE, GANG_SIZE_OF_JOBSET, "s/w", NULL}},
        {{.labels = ONE_OF("s-w"), .annotations = "'parplan.io/size':'8'"},
         {"ml/s-w", NULL, 8, 7, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = ONE_OF("w"), .annotations = "'parplan.io/size':'20'"},
         {"ml/w", NULL, 20, 19, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = ONE_OF("s-ww")}, {"ml/s-ww", NULL, 0, NONE, GANG_SIZE_OF_JOBSET, "s", NULL}},
        {{.labels = ONE_OF("t-w")}, {"ml/t-w", NULL, 0, NONE, GANG_SIZE_OF_JOBSET, "s", NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_identity(i, &rows[i].pod, &rows[i].want);
}

static void counts_through_the_jobs_of_a_set(void **state)
{
    (void)state;
    static const struct {
        struct pod pod;
        struct want want;
    } rows[] = {
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'2',"
                               "'jobset.sigs.k8s.io/job-global-index':'1'"},
         {"ml/u-1", NULL, 0, NONE, GANG_SIZE_OF_JOBSET, "s", NULL}},
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'2',"
                               "'jobset.sigs.k8s.io/job-global-index':'1'",
          .annotations = "'parplan.io/size':'8'"},
         {"ml/u-1", NULL, 8, 7, GANG_SIZE_GIVEN, NULL, NULL}},
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'1',"
                               "'jobset.sigs.k8s.io/job-global-index':'0'"},
         {"ml/u-1", NULL, 0, 3, GANG_SIZE_OF_JOBSET, "s", NULL}},
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'2',"
                               "'jobset.sigs.k8s.io/job-global-index':'1'",
          .annotations = "'parplan.io/size':'7'"},
         {.key = "ml/u-1",
          .problem = "the gang's 2 Jobs do not have 7 pods in equal parts; label parplan.io/gang: "
                     "JOBSET-REPLICATEDJOB"}},
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'2',"
                               "'jobset.sigs.k8s.io/job-global-index':'2'"},
         {.key = "ml/u-1", .problem = "jobset.sigs.k8s.io/job-global-index: '2' is not"}},
        {{.labels = SET_LABELS ",'jobset.sigs.k8s.io/global-replicas':'many',"
                               "'jobset.sigs.k8s.io/job-global-index':'0'"},
         {.key = "ml/u-1", .problem = "jobset.sigs.k8s.io/global-replicas: 'many' is not"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_identity(i, &rows[i].pod, &rows[i].want);
    counts_through_one_job();
    const struct gang_identity set = {.index = NONE, .job = 1, .jobs = 2, .completion = 3};
    assert_int_equal(gang_identity_index(&set, 8), 7);
    assert_int_equal(gang_identity_index(&set, 6), NONE);
    assert_int_equal(gang_identity_index(&set, 9), NONE);
    assert_int_equal(gang_identity_index(&set, 0), NONE);
    const struct gang_identity plain = {.index = 5};
    assert_int_equal(gang_identity_index(&plain, 8), 5);
}

/* Who is a Worker, and who only asks for CPUs. */
static void knows_workers_and_launchers(void **state)
{
    (void)state;
    static const struct {
        const char *labels;
        bool asks, worker, native;
        const char *key, *problem;
    } rows[] = {
        {"'parplan.io/gang':'auto','training.kubeflow.org/job-name':'t','training.kubeflow.org/"
         "replica-index':'0','training.kubeflow.org/replica-type':'worker'",
         true, true, false, "ml/t", NULL},
        {"'parplan.io/gang':'auto','training.kubeflow.org/job-name':'t','training.kubeflow.org/"
         "replica-index':'0','training.kubeflow.org/replica-type':'Master'",
         true, false, false, "ml/t", NULL},
        {"'parplan.io/gang':'auto','training.kubeflow.org/job-name':'t'", false, false, false, NULL,
         NULL},
        {"'parplan.io/gang':'g'," JOB, false, false, false, "ml/g", "the pod asks for no GPU"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct pod pod = {.labels = rows[i].labels};
        CLEANUP(json_value) struct json_value *tree = make_tree(&pod);
        struct gang_identity got;
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(gang_identity_read(tree, rows[i].asks, arena, &got, &err), 0);
        expect_text(i, got.key, rows[i].key);
        assert_int_equal(got.worker, rows[i].worker);
        assert_int_equal(got.problem != NULL, rows[i].problem != NULL);
        if (rows[i].problem)
            assert_non_null(strstr(got.problem, rows[i].problem));
    }
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct pod pod = {.labels = "'parplan.io/gang':'g'," JOB,
                      .spec = "'schedulingGroup':{'podGroupName':'native'}"};
    CLEANUP(json_value) struct json_value *tree = make_tree(&pod);
    struct gang_identity got;
    assert_non_null(arena);
    assert_int_equal(gang_identity_read(tree, true, arena, &got, NULL), 0);
    assert_true(got.native);
    assert_string_equal(got.key, "ml/g");
    assert_string_equal(got.size_owner, "native");
}

/* Without GPUs, label auto: none of the gang, but for the gate, which somebody must speak of. */
static void answers_for_its_gate(void **state)
{
    (void)state;
    for (unsigned gated = 0; gated <= 1; gated++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct pod pod = {.labels = AUTO JOB,
                          .spec = gated ? "'schedulingGates':[{'name':'parplan.io/gang'}]" : NULL};
        CLEANUP(json_value) struct json_value *tree = make_tree(&pod);
        struct gang_identity got;
        assert_non_null(arena);
        assert_int_equal(gang_identity_read(tree, false, arena, &got, NULL), 0);
        expect_text(gated, got.key, gated ? "ml/j" : NULL);
        assert_true(gated == 0 || strstr(got.problem, "asks for no GPU"));
    }
}

static void knows_its_outputs(void **state)
{
    (void)state;
    assert_true(gang_annotation_is_output("parplan.io/plan"));
    assert_true(gang_annotation_is_output("parplan.io/node-rank"));
    assert_false(gang_annotation_is_output("parplan.io/tp"));
    assert_false(gang_annotation_is_output("parplan.io/"));
    assert_false(gang_annotation_is_output("plan"));
}

static int read_once(void *context, struct error_info *err)
{
    const struct pod *pod = context;
    CLEANUP_MEMORY char *text =
        quoted_json("{'metadata':{'name':'p','labels':{%s},'annotations':{'parplan.io/size':'x'}}}",
                    pod->labels);
    if (!text)
        return error_set_memory(err);
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    if (!arena)
        return error_set_memory(err);
    struct gang_identity got;
    CLEANUP(json_value) struct json_value *tree = json_value_parse(text, strlen(text), "t", err);
    return tree ? gang_identity_read(tree, true, arena, &got, err) : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    struct pod pod = {.labels = AUTO JOB};
    unit_test_expect_clean_failures(read_once, &pod);
}

static uint32_t unit_of(const struct pod *pod)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP(json_value) struct json_value *tree = make_tree(pod);
    struct gang_identity got;
    assert_non_null(arena);
    assert_int_equal(gang_identity_read(tree, true, arena, &got, NULL), 0);
    return got.unit;
}

/* Jobs of one JobSet count through; two Jobs under one name do not. */
static void knows_whose_index_it_is(void **state)
{
    (void)state;
#define NAMED "'parplan.io/gang':'mine',"
#define OTHER(uid) "{'kind':'Job','name':'o','uid':'" uid "','controller':true}"
#define SET(uid) NAMED "'jobset.sigs.k8s.io/jobset-uid':'" uid "'," JOB
#define WORKERS NAMED "'leaderworkerset.sigs.k8s.io/worker-index':'1',"
#define GROUP(key) WORKERS "'leaderworkerset.sigs.k8s.io/group-key':'" key "'"
    static const struct {
        struct pod one, two;
        bool same;
    } rows[] = {
        {{.labels = NAMED JOB, .owner = OTHER("1")},
         {.labels = NAMED JOB, .owner = OTHER("1")},
         true},
        {{.labels = NAMED JOB, .owner = OTHER("1")},
         {.labels = NAMED JOB, .owner = OTHER("2")},
         false},
        {{.labels = SET("s"), .owner = OTHER("1")},
         {.labels = SET("s"), .owner = OTHER("2")},
         true},
        {{.labels = SET("s"), .owner = OTHER("1")},
         {.labels = SET("t"), .owner = OTHER("1")},
         false},
        {{.labels = GROUP("k"), .owner = OTHER("1")},
         {.labels = GROUP("k"), .owner = OTHER("2")},
         true},
    };
    static const struct pod without[] = {
        {.labels = NAMED JOB},
        {.labels = NAMED JOB, .annotations = "'parplan.io/index':'3'", .owner = OTHER("1")},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(unit_of(&rows[i].one) > 0);
        if ((unit_of(&rows[i].one) == unit_of(&rows[i].two)) != rows[i].same)
            fail_msg("row %zu", i);
    }
    for (size_t i = 0; i < COUNT_OF(without); i++)
        assert_int_equal(unit_of(&without[i]), 0);
}

static void outputs_stand_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < GANG_OUTPUT_COUNT; i++) {
        assert_non_null(gang_output_keys[i]);
        assert_true(i == 0 || strcmp(gang_output_keys[i - 1], gang_output_keys[i]) < 0);
        assert_true(gang_annotation_is_output(gang_output_keys[i]));
    }
    assert_false(gang_annotation_is_output("parplan.io/tp"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_when_a_pod_is_in_a_gang),
    cmocka_unit_test(knows_the_frameworks),
    cmocka_unit_test(reads_sizes_and_indexes),
    cmocka_unit_test(counts_through_the_jobs_of_a_set),
    cmocka_unit_test(knows_workers_and_launchers),
    cmocka_unit_test(outputs_stand_in_order),
    cmocka_unit_test(answers_for_its_gate),
    cmocka_unit_test(knows_its_outputs),
    cmocka_unit_test(knows_whose_index_it_is),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/gang_identity", tests, COUNT_OF(tests)); }
