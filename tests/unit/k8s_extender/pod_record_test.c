/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/pod_record.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const char *const gang_pod =
    "{'metadata':{'name':'train-3-x','namespace':'ml','uid':'u-3','resourceVersion':'17',"
    "'labels':{'parplan.io/gang':'train','batch.kubernetes.io/job-completion-index':'3'},"
    "'annotations':{'parplan.io/tp':'8','parplan.io/size':'16','other':'no'},"
    "'ownerReferences':[{'kind':'Other','name':'o','uid':'1'},"
    "{'kind':'Job','name':'train','uid':'j-1','controller':true}]},"
    "'spec':{'schedulingGates':[{'name':'parplan.io/gang'},{'name':'kueue.x-k8s.io/topology'}],"
    "'priority':1000,'hostname':'train-3','subdomain':'train','schedulerName':'own',"
    "'nodeSelector':{'pool':'gpu'},'tolerations':[{'key':'nvidia.com/gpu','operator':'Exists'},"
    "{'key':'x','operator':'Maybe'}],'affinity':{'nodeAffinity':{"
    "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'matchExpressions':"
    "[{'key':'zone','operator':'In','values':['a','b']}]}]}}},"
    "'containers':[{'name':'side'},{'name':'main','command':['torchrun','--nnodes=16'],"
    "'args':['train.py','--tp','8'],'resources':{'limits':{'cpu':'90','nvidia.com/gpu':'8'}}}]},"
    "'status':{'phase':'Pending'}}";

static struct pod_record *read_pod(const char *quoted, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    return text ? pod_record_parse(text, strlen(text), err) : NULL;
}

static uint32_t created_of(const char *time)
{
    CLEANUP_MEMORY char *text =
        quoted_json("{'metadata':{'name':'p','creationTimestamp':'%s'}}", time);
    assert_non_null(text);
    CLEANUP(pod_record) struct pod_record *pod = pod_record_parse(text, strlen(text), NULL);
    assert_non_null(pod);
    return pod->created;
}

static void knows_which_came_first(void **state)
{
    (void)state;
    static const char *const times[] = {
        "2000-01-01T00:00:00Z", "2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:01Z", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z",
        "2026-01-31T23:00:00Z", "2026-02-01T00:00:00Z", "2026-12-31T00:00:00Z",
        "2027-01-01T00:00:00Z", "2099-12-31T23:59:59Z",
    };
    static const char *const wrong[] = {"", "2026", "2026-01-01T00:00:0", "2026-xx-01T00:00:00Z"};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        assert_true(created_of(times[i]) > 0);
        if (i > 0 && created_of(times[i]) <= created_of(times[i - 1]))
            fail_msg("%s is not after %s", times[i], times[i - 1]);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_int_equal(created_of(wrong[i]), 0);
}

static void keeps_a_gangs_pod(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(pod_record) struct pod_record *pod = read_pod(gang_pod, &err);
    assert_non_null(pod);
    assert_string_equal(pod->namespace, "ml");
    assert_string_equal(pod->name, "train-3-x");
    assert_string_equal(pod->uid, "u-3");
    assert_string_equal(pod->resource_version, "17");
    assert_string_equal(pod->scheduler_name, "own");
    assert_null(pod->node);
    assert_true(pod->gated && !pod->plain && !pod->terminating);
    assert_int_equal(pod->foreign_gates, 1);
    assert_int_equal(pod->priority, 1000);
    assert_int_equal(pod->phase, POD_PENDING);
    assert_true(pod->requests.amounts[RESOURCE_CPU] == 90000);
    assert_string_equal(pod->owner_kind, "Job");
    assert_string_equal(pod->owner_name, "train");
    assert_string_equal(pod->owner_uid, "j-1");
    assert_string_equal(pod->hostname, "train-3");
    assert_string_equal(pod->subdomain, "train");
    assert_string_equal(pod->gang.key, "ml/train");
    assert_string_equal(pod->gang.group, "train");
    assert_int_equal(pod->gang.index, 3);
    assert_int_equal(pod->gang.size, 16);
    assert_null(pod->gang.problem);
    assert_false(pod_record_holds(pod));
}

static void keeps_what_places_it(void **state)
{
    (void)state;
    static const char *const words[] = {"torchrun", "--nnodes=16", "train.py", "--tp", "8"};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(pod_record) struct pod_record *pod = read_pod(gang_pod, &err);
    assert_non_null(pod);
    assert_int_equal(pod->annotations.count, 2);
    assert_string_equal(pod_record_annotation(pod, "parplan.io/tp"), "8");
    assert_null(pod_record_annotation(pod, "other"));
    assert_string_equal(label_set_find(&pod->node_labels, "pool"), "gpu");
    assert_int_equal(pod->affinity.term_count, 1);
    const struct selector_requirement *requirement = &pod->affinity.terms[0].requirements[0];
    assert_int_equal(pod->affinity.terms[0].requirement_count, 1);
    assert_string_equal(requirement->key, "zone");
    assert_int_equal(requirement->value_count, 2);
    assert_string_equal(requirement->values[1], "b");
    assert_int_equal(pod->toleration_count, 1);
    assert_string_equal(pod->tolerations[0].key, "nvidia.com/gpu");
    assert_true(pod->tolerations[0].exists && pod->tolerations[0].every_effect);
    assert_int_equal(pod->argument_count, COUNT_OF(words));
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_string_equal(pod->arguments[i], words[i]);
    assert_int_equal(pod->foreign, 0);
}

static void keeps_little_of_a_plain_pod(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(pod_record)
    struct pod_record *pod =
        read_pod("{'metadata':{'name':'web-1','uid':'u','annotations':{'parplan.io/tp':'8'},"
                 "'deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'nodeName':'n1','hostname':"
                 "'h','nodeSelector':{'a':'b'},'containers':[{'resources':{'requests':{'cpu':'2'}}"
                 "}]},'status':{'phase':'Running'}}",
                 &err);
    assert_non_null(pod);
    assert_true(pod->plain && pod->terminating);
    assert_string_equal(pod->namespace, "default");
    assert_string_equal(pod->node, "n1");
    assert_string_equal(pod->scheduler_name, "default-scheduler");
    assert_true(pod->requests.amounts[RESOURCE_CPU] == 2000);
    assert_true(pod->requests.amounts[RESOURCE_PODS] == 1);
    assert_null(pod->hostname);
    assert_null(pod->gang.key);
    assert_int_equal(pod->gang.index, GANG_INDEX_NONE);
    assert_int_equal(pod->annotations.count, 0);
    assert_int_equal(pod->node_labels.count, 0);
    assert_true(pod_record_holds(pod));
}

static void knows_phases(void **state)
{
    (void)state;
    static const struct {
        const char *status, *node;
        enum pod_phase phase;
        bool holds;
    } rows[] = {
        {"{}", "'n'", POD_PENDING, true},
        {"{'phase':'Pending'}", "null", POD_PENDING, false},
        {"{'phase':'Pending'}", "''", POD_PENDING, false},
        {"{'phase':'Running'}", "'n'", POD_RUNNING, true},
        {"{'phase':'Unknown'}", "'n'", POD_RUNNING, true},
        {"{'phase':'Succeeded'}", "'n'", POD_SUCCEEDED, false},
        {"{'phase':'Failed'}", "'n'", POD_FAILED, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *text =
            quoted_json("{'metadata':{'generateName':'p-'},'spec':{'nodeName':%s},'status':%s}",
                        rows[i].node, rows[i].status);
        assert_non_null(text);
        CLEANUP(pod_record) struct pod_record *pod = pod_record_parse(text, strlen(text), &err);
        assert_non_null(pod);
        assert_string_equal(pod->name, "p-");
        assert_int_equal(pod->phase, rows[i].phase);
        assert_int_equal(pod_record_holds(pod), rows[i].holds);
    }
}

#define GPU_CONTAINER "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}%s}]"

/* A pod of gang g that asks for a GPU; more in its spec and in its container. */
static struct pod_record *read_with(const char *spec, const char *container, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json(
        "{'metadata':{'name':'p','labels':{'parplan.io/gang':'g'},'annotations':"
        "{'parplan.io/size':'4','parplan.io/index':'1'}},'spec':{%s%s" GPU_CONTAINER "}}",
        spec, *spec ? "," : "", container);
    return text ? pod_record_parse(text, strlen(text), err) : NULL;
}

static void names_what_only_the_scheduler_judges(void **state)
{
    (void)state;
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"
    static const struct {
        const char *spec, *container;
        unsigned want;
    } rows[] = {
        {"", "", 0},
        {"'volumes':[{'emptyDir':{}},{'persistentVolumeClaim':{'claimName':'c'}}]", "",
         POD_USES_VOLUME_TOPOLOGY},
        {"'volumes':[{'ephemeral':{}}]", "", POD_USES_VOLUME_TOPOLOGY},
        {"'volumes':[{'emptyDir':{}}]", "", 0},
        {"'topologySpreadConstraints':[{'whenUnsatisfiable':'ScheduleAnyway'}]", "", 0},
        {"'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule'}]", "",
         POD_USES_SPREAD},
        {"'affinity':{'podAffinity':{" REQUIRED ":[{}]}}", "", POD_USES_POD_AFFINITY},
        {"'affinity':{'podAntiAffinity':{" REQUIRED ":[{}]}}", "", POD_USES_POD_AFFINITY},
        {"'affinity':{'podAntiAffinity':{" REQUIRED ":[]}}", "", 0},
        {"'resourceClaims':[{'name':'gpu'}]", "", POD_USES_CLAIMS},
        {"", ",'ports':[{'containerPort':80}]", 0},
        {"", ",'ports':[{'containerPort':80},{'hostPort':80}]", POD_USES_HOST_PORTS},
        {"'initContainers':[{'ports':[{'hostPort':80}]}],'resourceClaims':[{}]", "",
         POD_USES_HOST_PORTS | POD_USES_CLAIMS},
        {"'volumes':7,'affinity':{},'resourceClaims':'x'", "", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(pod_record)
        struct pod_record *pod = read_with(rows[i].spec, rows[i].container, &err);
        assert_non_null(pod);
        assert_int_equal(pod->foreign, rows[i].want);
    }
}

/* What users write without bounds makes no pod unreadable: its GPUs still count. */
static void counts_pods_that_cannot_be_placed(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *container, *problem;
    } rows[] = {
        {"'hostname':5", "", "hostname is a number where a text is needed"},
        {"'nodeSelector':{'a':1}", "", "nodeSelector: 'a' is no text"},
        {"'affinity':7", "", "affinity: affinity is a number where an object is needed"},
        {"'affinity':{'nodeAffinity':{" REQUIRED ":[]}}", "",
         "affinity: a node selector is no object"},
        {"'tolerations':{}", "", "tolerations is an object where a list is needed"},
        {"'tolerations':[{'key':{}}]", "", "tolerations: key is an object where a text is needed"},
        {"", ",'command':'x'", "command is a text where a list is needed"},
        {"", ",'args':['a',['\\u0007']]", "a word of the command is no text"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(pod_record)
        struct pod_record *pod = read_with(rows[i].spec, rows[i].container, &err);
        assert_non_null(pod);
        assert_true(resource_list_gpus(&pod->requests, NULL) == 1);
        assert_string_equal(pod->gang.problem, rows[i].problem);
        assert_int_equal(pod->argument_count, 0);
        assert_int_equal(pod->toleration_count, 0);
        assert_int_equal(pod->affinity.term_count, 0);
    }
}

static void refuses_with_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"7", "a pod is no object"},
        {"{}", "a pod has no metadata.name"},
        {"{'metadata':[]}", "a pod: metadata is a list where an object is needed"},
        {"{'metadata':{'name':true}}", "a pod: name is true or false where a text is needed"},
        {"{'metadata':{'name':'a/b'}}", "'a/b' is no name of a pod"},
        {"{'metadata':{'name':'a\\n'}}", "'a?' is no name of a pod"},
        {"{'metadata':{'name':'a','namespace':'b c'}}", "'b c' is no name of a namespace"},
        {"{'metadata':{'name':'a','uid':1}}",
         "pod default/a: uid is a number where a text is needed"},
        {"{'metadata':{'name':'a','namespace':'n'},'spec':[]}",
         "pod n/a: spec is a list where an object is needed"},
        {"{'metadata':{'name':'a'},'spec':{'nodeName':{}}}",
         "pod default/a: nodeName is an object where a text is needed"},
        {"{'metadata':{'name':'a'},'spec':{'priority':1e20}}",
         "pod default/a: priority is no whole number of 32 bits"},
        {"{'metadata':{'name':'a'},'spec':{'schedulingGates':'x'}}",
         "pod default/a: schedulingGates is a text where a list is needed"},
        {"{'metadata':{'name':'a'},'status':{'phase':7}}",
         "pod default/a: phase is a number where a text is needed"},
        {"{'metadata':{'name':'a'},'spec':{'containers':[{'resources':{'limits':{'cpu':'1x'}}}]}}",
         "pod default/a: containers[0]: limits: cpu: '1x' is no quantity; a number is needed, with "
         "a suffix such as m, k, M, G, Ki, Mi, Gi or none"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(read_pod(rows[i].text, &err));
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.text, rows[i].want);
    }
}

/* A pod with 65 invented kinds beside its 8 GPUs. */
static struct pod_record *read_inventor(const char *labels)
{
    CLEANUP_DONE(text_buffer) struct text_buffer kinds;
    text_buffer_init(&kinds, 65 * 32);
    for (unsigned i = 0; i < 65; i++)
        text_buffer_add(&kinds, ",'a.b/c%u':'1'", i);
    CLEANUP_MEMORY char *text =
        quoted_json("{'metadata':{'name':'p','labels':{%s}},'spec':{'nodeName':'gpu-00',"
                    "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'8'%s}}}]}}",
                    labels, text_buffer_text(&kinds));
    assert_non_null(text);
    return pod_record_parse(text, strlen(text), NULL);
}

static void counts_a_pod_of_many_kinds(void **state)
{
    (void)state;
    CLEANUP(pod_record) struct pod_record *pod = read_inventor("");
    assert_non_null(pod);
    assert_string_equal(pod->node, "gpu-00");
    assert_true(resource_list_gpus(&pod->requests, NULL) == 8);
    assert_null(pod->gang.problem);
    CLEANUP(pod_record)
    struct pod_record *member = read_inventor(
        "'parplan.io/gang':'g','batch.kubernetes.io/job-completion-index':'0',"
        "'leaderworkerset.sigs.k8s.io/group-key':'g','leaderworkerset.sigs.k8s.io/size':'1'");
    assert_non_null(member);
    assert_non_null(member->gang.problem);
    assert_string_equal(member->gang.problem,
                        "the pod asks for more than 64 kinds of resources beside cpu and memory, a "
                        "pod of a gang may ask for 64; take out those that no node offers");
    assert_true(resource_list_gpus(&member->requests, NULL) == 8);
}

static int read_once(void *context, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", (const char *)context);
    if (!text)
        return error_set_memory(err);
    CLEANUP(pod_record) struct pod_record *pod = pod_record_parse(text, strlen(text), err);
    return pod ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    char plain[] = "{'metadata':{'name':'web'},'spec':{'nodeName':'n','containers':[{'resources':"
                   "{'requests':{'cpu':1}}}]}}";
    char broken[] = "{'metadata':{'name':'p','labels':{'parplan.io/gang':'g'}},'spec':{'affinity':"
                    "7,'containers':[{'resources':{'limits':{'nvidia.com/gpu':1}}}]}}";
    char gang[4096] = "";
    assert_true(strlen(gang_pod) < sizeof(gang));
    memcpy(gang, gang_pod, strlen(gang_pod));
    unit_test_expect_clean_failures(read_once, gang);
    unit_test_expect_clean_failures(read_once, plain);
    unit_test_expect_clean_failures(read_once, broken);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_a_gangs_pod),
    cmocka_unit_test(knows_which_came_first),
    cmocka_unit_test(keeps_what_places_it),
    cmocka_unit_test(keeps_little_of_a_plain_pod),
    cmocka_unit_test(knows_phases),
    cmocka_unit_test(names_what_only_the_scheduler_judges),
    cmocka_unit_test(counts_pods_that_cannot_be_placed),
    cmocka_unit_test(counts_a_pod_of_many_kinds),
    cmocka_unit_test(refuses_with_one_line),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/pod_record", tests, COUNT_OF(tests)); }
