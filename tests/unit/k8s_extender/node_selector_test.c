/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/node_selector.h"
#include "k8s_extender/objects/pod_record.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define ARENA_BYTES ((size_t)16 << 20)

static struct node_record *make_node(const char *metadata, const char *spec, const char *status)
{
    CLEANUP_MEMORY char *text = quoted_json(
        "{'metadata':{'name':'n1'%s},'spec':{%s},'status':{%s}}", metadata, spec, status);
    assert_non_null(text);
    struct error_info err = {.kind = ERROR_NONE};
    struct node_record *node = node_record_parse(text, strlen(text), &err);
    assert_non_null(node);
    return node;
}

static struct pod_record *make_pod(const char *spec)
{
    CLEANUP_MEMORY char *text =
        quoted_json("{'metadata':{'name':'p'},'spec':{%s%s'containers':[{'resources':{'limits':"
                    "{'nvidia.com/gpu':'8'}}}]}}",
                    spec, *spec ? "," : "");
    assert_non_null(text);
    struct error_info err = {.kind = ERROR_NONE};
    struct pod_record *pod = pod_record_parse(text, strlen(text), &err);
    assert_non_null(pod);
    return pod;
}

static int read_selector(const char *quoted, struct arena *arena, struct node_selector *ret,
                         struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    if (!text)
        return error_set_memory(err);
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text, strlen(text), "test", err);
    return object ? node_selector_read(object, arena, ret, err) : -1;
}

/* terms: the list of a selector; against node n1 with labels zone=a, count=8, empty="". */
static const struct {
    const char *terms;
    bool want;
} matches[] = {
    {"[{'matchExpressions':[{'key':'zone','operator':'In','values':['b','a']}]}]", true},
    {"[{'matchExpressions':[{'key':'zone','operator':'In','values':['b']}]}]", false},
    {"[{'matchExpressions':[{'key':'none','operator':'In','values':['']}]}]", false},
    {"[{'matchExpressions':[{'key':'empty','operator':'In','values':['']}]}]", true},
    {"[{'matchExpressions':[{'key':'zone','operator':'In'}]}]", false},
    {"[{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['b']}]}]", true},
    {"[{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a']}]}]", false},
    {"[{'matchExpressions':[{'key':'none','operator':'NotIn','values':['a']}]}]", true},
    {"[{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]", true},
    {"[{'matchExpressions':[{'key':'empty','operator':'Exists'}]}]", true},
    {"[{'matchExpressions':[{'key':'none','operator':'Exists'}]}]", false},
    {"[{'matchExpressions':[{'key':'none','operator':'DoesNotExist'}]}]", true},
    {"[{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}]", false},
    {"[{'matchExpressions':[{'key':'count','operator':'Gt','values':['7']}]}]", true},
    {"[{'matchExpressions':[{'key':'count','operator':'Gt','values':['8']}]}]", false},
    {"[{'matchExpressions':[{'key':'count','operator':'Lt','values':['9']}]}]", true},
    {"[{'matchExpressions':[{'key':'count','operator':'Lt','values':['-9']}]}]", false},
    {"[{'matchExpressions':[{'key':'count','operator':'Gt','values':['x']}]}]", false},
    {"[{'matchExpressions':[{'key':'count','operator':'Gt','values':['1','2']}]}]", false},
    {"[{'matchExpressions':[{'key':'zone','operator':'Gt','values':['1']}]}]", false},
    {"[{'matchExpressions':[{'key':'none','operator':'Lt','values':['1']}]}]", false},
    {"[{'matchExpressions':[{'key':'zone','operator':'Like','values':['a']}]}]", false},
    {"[{'matchExpressions':[{'key':'zone'}]}]", false},
    {"[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]}]", true},
    {"[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n2']}]}]", false},
    {"[{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n2']}]}]", true},
    {"[{'matchFields':[{'key':'metadata.name','operator':'Exists'}]}]", false},
    {"[{'matchFields':[{'key':'metadata.uid','operator':'NotIn','values':['x']}]}]", false},
    {"[{'matchExpressions':[{'key':'zone','operator':'Exists'}],"
     "'matchFields':[{'key':'metadata.name','operator':'In','values':['n2']}]}]",
     false},
    {"[{'matchExpressions':[{'key':'zone','operator':'Exists'},"
     "{'key':'none','operator':'Exists'}]}]",
     false},
    {"[{'matchExpressions':[{'key':'none','operator':'Exists'}]},"
     "{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]",
     true},
    {"[{}]", false},
    {"[{},{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]", true},
    {"[]", false},
    {"null", false},
};

static void matches_as_the_scheduler_does(void **state)
{
    (void)state;
    CLEANUP(node_record)
    struct node_record *node = make_node(",'labels':{'zone':'a','count':'8','empty':''}", "", "");
    for (size_t i = 0; i < COUNT_OF(matches); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        CLEANUP_MEMORY char *text = quoted_json("{'nodeSelectorTerms':%s}", matches[i].terms);
        struct node_selector selector;
        struct error_info err = {.kind = ERROR_NONE};
        assert_true(arena && text);
        if (read_selector(text, arena, &selector, &err) < 0)
            fail_msg("%s: %s", matches[i].terms, err.text);
        if (node_selector_matches(&selector, node) != matches[i].want)
            fail_msg("%s", matches[i].terms);
    }
}

static void refuses_bad_selectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[]", "a node selector is no object"},
        {"{'nodeSelectorTerms':{}}", "nodeSelectorTerms is an object where a list is needed"},
        {"{'nodeSelectorTerms':[{'matchFields':7}]}",
         "matchFields is a number where a list is needed"},
        {"{'nodeSelectorTerms':[{'matchExpressions':[{'key':[]}]}]}",
         "key is a list where a text is needed"},
        {"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'In','values':[1]}]}]}",
         "a value is no text"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct node_selector selector = {.term_count = 99};
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(read_selector(rows[i].text, arena, &selector, &err), -1);
        assert_string_equal(err.text, rows[i].want);
        assert_int_equal(selector.term_count, 99);
    }
}

/* So many times the same entry in a list of `name`, within what stands around it. */
static char *many(const char *before, const char *entry, unsigned count, const char *after)
{
    struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    text_buffer_add_text(&text, before);
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(&text, "%s%s", i ? "," : "", entry);
    text_buffer_add_text(&text, after);
    char *all = text_buffer_take(&text);
    text_buffer_done(&text);
    for (char *at = all; at && *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return all;
}

static void bounds_its_lists(void **state)
{
    (void)state;
    static const struct {
        const char *before, *entry, *after;
        unsigned maximum;
        const char *want;
    } rows[] = {
        {"{'nodeSelectorTerms':[", "{}", "]}", NODE_SELECTOR_MAXIMUM_TERMS,
         "nodeSelectorTerms has 65 entries; at most 64 are possible"},
        {"{'nodeSelectorTerms':[{'matchFields':[", "{}", "]}]}", NODE_SELECTOR_MAXIMUM_REQUIREMENTS,
         "more than 256 requirements; at most that many are possible"},
        {"{'nodeSelectorTerms':[{'matchFields':[{},{}]},{'matchExpressions':[", "{}", "]}]}",
         NODE_SELECTOR_MAXIMUM_REQUIREMENTS - 2,
         "more than 256 requirements; at most that many are possible"},
        {"{'nodeSelectorTerms':[{'matchFields':[{'operator':'In','values':[", "''", "]}]}]}",
         NODE_SELECTOR_MAXIMUM_VALUES, "more than 4096 values; at most that many are possible"},
    };
    UNIT_TEST_SKIP_TORTURE();
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (unsigned more = 0; more <= 1; more++) {
            CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
            CLEANUP_MEMORY char *text =
                many(rows[i].before, rows[i].entry, rows[i].maximum + more, rows[i].after);
            struct error_info err = {.kind = ERROR_NONE};
            struct node_selector selector;
            assert_true(arena && text);
            CLEANUP(json_value)
            struct json_value *object = json_value_parse(text, strlen(text), "test", &err);
            assert_non_null(object);
            assert_int_equal(node_selector_read(object, arena, &selector, &err), more ? -1 : 0);
            if (more)
                assert_string_equal(err.text, rows[i].want);
        }
}

#define READY "'conditions':[{'type':'Ready','status':'True'}]"

static const struct {
    const char *metadata, *spec, *status, *pod;
    enum node_unfit want;
} fits[] = {
    {"", "", READY, "", NODE_FITS},
    {"", "", "", "", NODE_NOT_READY},
    {"", "", "'conditions':[{'type':'Ready','status':'Unknown'}]", "", NODE_NOT_READY},
    {",'deletionTimestamp':'2026-01-01T00:00:00Z'", "", READY, "", NODE_GOING},
    {"", "'unschedulable':true", READY, "", NODE_CORDONED},
    {"", "'unschedulable':true", READY,
     "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]", NODE_FITS},
    {"", "'unschedulable':true", READY, "'tolerations':[{'operator':'Exists'}]", NODE_FITS},
    {"", "'unschedulable':true", READY,
     "'tolerations':[{'operator':'Exists','effect':'NoExecute'}]", NODE_CORDONED},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY, "", NODE_TAINTED},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoExecute'}]", READY, "", NODE_TAINTED},
    {"", "'taints':[{'key':'a','value':'b','effect':'PreferNoSchedule'}]", READY, "", NODE_FITS},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','value':'b'}]", NODE_FITS},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','operator':'Equal','value':'b','effect':'NoSchedule'}]", NODE_FITS},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','operator':'Equal','value':'b','effect':'NoExecute'}]",
     NODE_TAINTED},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','value':'c'}]", NODE_TAINTED},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'A','operator':'Exists'}]", NODE_TAINTED},
    {"", "'taints':[{'key':'a','effect':'NoSchedule'}]", READY, "'tolerations':[{'key':'a'}]",
     NODE_FITS},
    {"", "'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','operator':'Exists'}]", NODE_FITS},
    {"", "'taints':[{'key':'a','value':'5','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','operator':'Gt','value':'4'}]", NODE_TAINTED},
    {"", "'taints':[{'key':'a','effect':'NoSchedule'},{'key':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'a','operator':'Exists'}]", NODE_TAINTED},
    {"", "'taints':[{'key':'a','effect':'NoSchedule'},{'key':'b','effect':'NoSchedule'}]", READY,
     "'tolerations':[{'key':'b'},{'key':'a','operator':'Exists'}]", NODE_FITS},
    {",'labels':{'zone':'a'}", "", READY, "'nodeSelector':{'zone':'a'}", NODE_FITS},
    {",'labels':{'zone':'a'}", "", READY, "'nodeSelector':{'zone':'b'}", NODE_NOT_SELECTED},
    {",'labels':{'zone':'a'}", "", READY, "'nodeSelector':{'zone':'a','rack':''}",
     NODE_NOT_SELECTED},
    {"", "", READY,
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
     "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
     "'values':['n1']}]}]}}}",
     NODE_FITS},
    {"", "", READY,
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
     "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
     "'values':['n2']}]}]}}}",
     NODE_NOT_SELECTED},
    {"", "", READY,
     "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':"
     "[{'weight':1,'preference':{}}]}}",
     NODE_FITS},
};

static void says_why_a_node_is_unfit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fits); i++) {
        CLEANUP(node_record)
        struct node_record *node = make_node(fits[i].metadata, fits[i].spec, fits[i].status);
        CLEANUP(pod_record) struct pod_record *pod = make_pod(fits[i].pod);
        enum node_unfit got = node_unfit_for(node, pod);
        if (got != fits[i].want)
            fail_msg("row %zu: %s, not %s", i, node_unfit_words[got],
                     node_unfit_words[fits[i].want]);
    }
    for (size_t i = 0; i < NODE_UNFIT_COUNT; i++)
        assert_non_null(node_unfit_words[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(matches_as_the_scheduler_does),
    cmocka_unit_test(refuses_bad_selectors),
    cmocka_unit_test(bounds_its_lists),
    cmocka_unit_test(says_why_a_node_is_unfit),
};

int main(void) { return unit_test_main("k8s_extender/node_selector", tests, COUNT_OF(tests)); }
