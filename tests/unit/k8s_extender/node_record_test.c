/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/node_record.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const char *const node_text =
    "{'kind':'Node','metadata':{'name':'gpu-01','uid':'u-1','labels':{'zone':'b','rack':'r1'},"
    "'annotations':{'parplan.io/topology':'{}','other':'x'},'managedFields':[{'a':1}]},"
    "'spec':{'taints':[{'key':'nvidia.com/gpu','value':'yes','effect':'NoSchedule'},"
    "{'key':'soft','effect':'PreferNoSchedule'},{'key':'later','effect':'NoIdea'},"
    "{'key':'gone','effect':'NoExecute'}],'unschedulable':true},"
    "'status':{'allocatable':{'cpu':'95500m','memory':'1Ti','pods':'110','nvidia.com/gpu':'8'},"
    "'conditions':[{'type':'DiskPressure','status':'False'},{'type':'Ready','status':'True'}],"
    "'images':[{'names':['a'],'sizeBytes':5}]}}";

static struct node_record *read_node(const char *quoted, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    return text ? node_record_parse(text, strlen(text), err) : NULL;
}

static void keeps_what_counts(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_record) struct node_record *node = read_node(node_text, &err);
    assert_non_null(node);
    assert_string_equal(node->name, "gpu-01");
    assert_string_equal(node->uid, "u-1");
    assert_int_equal(node->labels.count, 2);
    assert_string_equal(label_set_find(&node->labels, "rack"), "r1");
    assert_string_equal(node->topology, "{}");
    assert_true(node->allocatable.amounts[RESOURCE_CPU] == 95500);
    assert_true(resource_list_gpus(&node->allocatable, NULL) == 8);
    assert_int_equal(node->taint_count, 3);
    assert_string_equal(node->taints[0].value, "yes");
    assert_int_equal(node->taints[1].effect, TAINT_PREFER_NO_SCHEDULE);
    assert_string_equal(node->taints[1].value, "");
    assert_string_equal(node->taints[2].key, "gone");
    assert_true(node->ready && node->unschedulable && !node->deleting);
}

static void takes_the_least(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{'metadata':{'name':'n'}}",
        "{'metadata':{'name':'n','labels':null,'annotations':null},'spec':null,'status':null}",
        ("{'metadata':{'name':'n'},'spec':{'taints':null},'status':{'conditions':[],"
         "'allocatable':{}}}"),
        "{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}",
        "{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready'}]}}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_record) struct node_record *node = read_node(texts[i], &err);
        assert_non_null(node);
        assert_string_equal(node->uid, "");
        assert_null(node->topology);
        assert_int_equal(node->labels.count, 0);
        assert_int_equal(node->taint_count, 0);
        assert_false(node->ready || node->unschedulable || node->deleting);
    }
}

static void refuses_with_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[]", "a node is no object"},
        {"{}", "a node has no metadata.name"},
        {"{'metadata':7}", "a node: metadata is a number where an object is needed"},
        {"{'metadata':{'name':[]}}", "a node: name is a list where a text is needed"},
        {"{'metadata':{'name':''}}", "'' is no name of a node"},
        {"{'metadata':{'name':'a b'}}", "'a b' is no name of a node"},
        {"{'metadata':{'name':'a\\u001b[31m'}}", "'a?[31m' is no name of a node"},
        {"{'metadata':{'name':'n','labels':[]}}", "node n: labels: an object of texts is needed"},
        {"{'metadata':{'name':'n','labels':{'a':1}}}", "node n: labels: 'a' is no text"},
        {"{'metadata':{'name':'n','annotations':{'parplan.io/topology':{}}}}",
         "node n: parplan.io/topology is an object where a text is needed"},
        {"{'metadata':{'name':'n'},'spec':{'unschedulable':'yes'}}",
         "node n: unschedulable is a text where true or false is needed"},
        {"{'metadata':{'name':'n'},'spec':{'taints':[{'key':1}]}}",
         "node n: taints: key is a number where a text is needed"},
        {"{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'x'}}}",
         "node n: allocatable: cpu: 'x' is no quantity; a number is needed, with a suffix such as "
         "m, k, M, G, Ki, Mi, Gi or none"},
        {"{'metadata':{'name':'n'},'status':{'conditions':[{'type':0}]}}",
         "node n: conditions: type is a number where a text is needed"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(read_node(rows[i].text, &err));
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.text, rows[i].want);
    }
}

/* The node of the first test with one piece replaced. */
static uint64_t digest_with(const char *old, const char *new)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", node_text);
    CLEANUP_MEMORY char *from = quoted_json("%s", old);
    CLEANUP_MEMORY char *to = quoted_json("%s", new);
    assert_true(text && from && to);
    const char *at = strstr(text, from);
    assert_non_null(at);
    CLEANUP_MEMORY char *changed =
        quoted_json("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_non_null(changed);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_record)
    struct node_record *node = node_record_parse(changed, strlen(changed), &err);
    assert_non_null(node);
    return node->digest;
}

static void digests_what_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *old, *new;
        bool same;
    } rows[] = {
        {"'kind':'Node',", "", true},
        {"'sizeBytes':5", "'sizeBytes':6", true},
        {"'zone':'b','rack':'r1'", "'rack':'r1','zone':'b'", true},
        {"'other':'x'", "'other':'y'", true},
        {"'cpu':'95500m'", "'cpu':'95.5'", true},
        {"gpu-01", "gpu-02", false},
        {"u-1", "u-2", false},
        {"'rack':'r1'", "'rack':'r2'", false},
        {"'rack':'r1'", "'rac':'kr1'", false},
        {"'parplan.io/topology':'{}'", "'parplan.io/topology':'{ }'", false},
        {"'parplan.io/topology':'{}',", "", false},
        {"'nvidia.com/gpu':'8'", "'nvidia.com/gpu':'7'", false},
        {"'cpu':'95500m'", "'cpu':'95501m'", false},
        {"'key':'gone'", "'key':'gonf'", false},
        {"'key':'gone','effect':'NoExecute'", "'key':'gone','effect':'NoSchedule'", false},
        {"'type':'Ready','status':'True'", "'type':'Ready','status':'False'", false},
        {"'unschedulable':true", "'unschedulable':false", false},
        {"'uid':'u-1'", "'uid':'u-1','deletionTimestamp':'2026-11-30T00:00:00Z'", false},
    };
    uint64_t digest = digest_with("", "");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if ((digest_with(rows[i].old, rows[i].new) == digest) != rows[i].same)
            fail_msg("%s to %s", rows[i].old, rows[i].new);
}

/* Records share their texts, and each gives back only its own references. */
static void shares_texts(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_record) struct node_record *one = read_node(node_text, &err);
    struct node_record *two = read_node(node_text, &err);
    assert_true(one && two);
    assert_ptr_equal(one->labels.labels[0].key, two->labels.labels[0].key);
    assert_ptr_equal(one->topology, two->topology);
    node_record_free(two);
    assert_string_equal(one->labels.labels[0].key, "rack");
    assert_string_equal(one->taints[0].key, "nvidia.com/gpu");
    node_record_free(NULL);
}

static int read_once(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP_MEMORY char *text = quoted_json("%s", node_text);
    if (!text)
        return error_set_memory(err);
    CLEANUP(node_record) struct node_record *node = node_record_parse(text, strlen(text), err);
    return node ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(read_once, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_what_counts),     cmocka_unit_test(takes_the_least),
    cmocka_unit_test(refuses_with_one_line), cmocka_unit_test(digests_what_is_kept),
    cmocka_unit_test(shares_texts),          cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/node_record", tests, COUNT_OF(tests)); }
