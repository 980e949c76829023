/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/reading/object_text.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static char *read_and_write(const char *quoted, enum object_kind kind, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    if (!text)
        return NULL;
    CLEANUP(json_value)
    struct json_value *object = object_text_parse(text, strlen(text), kind, NULL, err);
    if (!object)
        return NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, (size_t)1 << 20);
    if (json_value_write(object, JSON_STYLE_COMPACT, &out, err) < 0)
        return NULL;
    return text_buffer_take(&out);
}

static void leaves_out_what_no_record_needs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{'kind':'Node','metadata':{'managedFields':[{'a':'}]'}],'name':'x'}}",
         "{'metadata':{'name':'x'}}"},
        {"{'status':{'a':1,'images' : [ {'names':['b\\\\']} ] }, 'spec' : { } }",
         "{'status':{},'spec':{}}"},
        {"{'metadata':{'labels':{'images':'kept','managedFields':'kept'}}}",
         "{'metadata':{'labels':{'images':'kept','managedFields':'kept'}}}"},
        {"{'metadata':{'annotations':{'a':'b','parplan.io/topology':'t','c':'d'}}}",
         "{'metadata':{'annotations':{'parplan.io/topology':'t'}}}"},
        {"{'metadata':{'name':'managedFields'}}", "{'metadata':{'name':'managedFields'}}"},
        {"{'metadata':['managedFields',[1,2,3,4]]}", "{'metadata':['managedFields',[1,2,3,4]]}"},
        {"{'status':{'conditions':[{'type':'Ready','reason':{}},{'a':[]},7,{'b':1,'status':'True'}]"
         ","
         "'allocatable':{'cpu':'1'},'capacity':{}}}",
         "{'status':{'conditions':[{'type':'Ready'},{},7,{'status':'True'}],"
         "'allocatable':{'cpu':'1'}}}"},
        {"{'spec':{'taints':{'key':[{}]},'podCIDRs':['a']}}", "{'spec':{'taints':{'key':[{}]}}}"},
        {"[{'spec':1}]", "[{'spec':1}]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *written = read_and_write(rows[i].text, OBJECT_NODE, &err);
        CLEANUP_MEMORY char *want = quoted_json("%s", rows[i].want);
        if (!written)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_non_null(want);
        assert_string_equal(written, want);
    }
}

static void keeps_little_of_a_plain_pod(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{'metadata':{'name':'x','labels':{'a':'b'}},'spec':{'volumes':[{}],'containers':[{'name':"
         "'c','env':[{}],'resources':{'requests':{'env':'1'}}}]}}",
         "{'metadata':{'name':'x'},'spec':{'containers':[{'name':'c',"
         "'resources':{'requests':{'env':'1'}}}]}}"},
        {"{'metadata':{'labels':{'parplan.io/gang':'g'}},'spec':{'tolerations':[{}]}}",
         "{'metadata':{'labels':{'parplan.io/gang':'g'}},'spec':{'tolerations':[{}]}}"},
        {"{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'args':[1,2],'resources':{'"
         "limits'"
         ":{'amd.com/gpu':'1'}}}]}}",
         "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'args':[1,2],'resources':{'"
         "limits'"
         ":{'amd.com/gpu':'1'}}}]}}"},
        {"{'metadata':{'annotations':{'a':'/gpu'}},'spec':{'containers':[{'lifecycle':{'a':{}},"
         "'command':['a']}]}}",
         "{'metadata':{'annotations':{'a':'/gpu'}},'spec':{'containers':[{'command':['a']}]}}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *written = read_and_write(rows[i].text, OBJECT_POD, &err);
        CLEANUP_MEMORY char *want = quoted_json("%s", rows[i].want);
        assert_true(written && want);
        assert_string_equal(written, want);
    }
}

/* Each reader has its fields, at the depths where it looks for them. */
static void keeps_what_gangs_need(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"'imagePullSecrets':[{},{}],'schedulingGates':[{'name':'g','x':{}}]",
         "'schedulingGates':[{'name':'g'}]"},
        {"'containers':[{'name':'c','image':'i','env':[{'name':'A','value':'x'},{'name':"
         "'PET_NNODES','value':'4'},7,{'value':{},'name':'PET_NODE_RANK','valueFrom':{'fieldRef':{"
         "'apiVersion':'v1','fieldPath':'p'},'secretKeyRef':{}}}],'ports':[{'hostPort':1,'name':'p'"
         "}],'volumeMounts':[{}]}]",
         "'containers':[{'name':'c','env':[{'name':'PET_NNODES','value':'4'},{'value':{},'name':"
         "'PET_NODE_RANK','valueFrom':{'fieldRef':{'fieldPath':'p'}}}],'ports':[{'hostPort':1}]}]"},
        {"'initContainers':[{'restartPolicy':'Always','args':['a'],'resources':{'limits':{'a':'1'},"
         "'requests':{},'claims':[{}]}}]",
         "'initContainers':[{'restartPolicy':'Always','args':['a'],'resources':{'limits':{'a':'1'},"
         "'requests':{}}}]"},
        {"'affinity':{'nodeAffinity':{'" REQUIRED "':{'a':[{}]},'preferred':[{}]},'podAffinity':{"
         "'" REQUIRED "':[{'a':[{}]}]},'podAntiAffinity':{'preferred':[{}]}}",
         "'affinity':{'nodeAffinity':{'" REQUIRED "':{'a':[{}]}},'podAffinity':{"
         "'" REQUIRED "':[{}]},'podAntiAffinity':{}}"},
        {"'tolerations':[{'key':'k','tolerationSeconds':3,'operator':'o','value':'v','effect':'e'}"
         "]",
         "'tolerations':[{'key':'k','operator':'o','value':'v','effect':'e'}]"},
        {"'volumes':[{'name':'v','ephemeral':{'a':{}}},{'persistentVolumeClaim':{'claimName':'c'}},"
         "{"
         "'csi':{}}],'topologySpreadConstraints':[{'whenUnsatisfiable':'w','labelSelector':{}}]",
         "'volumes':[{'ephemeral':{}},{'persistentVolumeClaim':{}},{}],"
         "'topologySpreadConstraints':[{'whenUnsatisfiable':'w'}]"},
        {"'resourceClaims':[{'name':'c'}],'schedulingGroup':{'podGroupName':'g','x':1},'overhead':{"
         "'cpu':'1'},'nodeSelector':{'a':'b'},'priority':3,'hostname':'h','subdomain':'s'",
         "'resourceClaims':[{}],'schedulingGroup':{'podGroupName':'g'},'overhead':{"
         "'cpu':'1'},'nodeSelector':{'a':'b'},'priority':3,'hostname':'h','subdomain':'s'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *quoted = quoted_json(
            "{'metadata':{'annotations':{'parplan.io/tp':'8'}},'spec':{%s}}", rows[i].text);
        CLEANUP_MEMORY char *want = quoted_json(
            "{'metadata':{'annotations':{'parplan.io/tp':'8'}},'spec':{%s}}", rows[i].want);
        CLEANUP_MEMORY char *written = quoted ? read_and_write(quoted, OBJECT_POD, &err) : NULL;
        assert_true(written && want);
        assert_string_equal(written, want);
    }
}

/* Text of a GPU pod with so many elements in one list. */
static char *pod_with(const char *list, const char *element, size_t count)
{
    struct text_buffer text;
    text_buffer_init(&text, (size_t)8 << 20);
    text_buffer_add(&text,
                    "{\"metadata\":{\"name\":\"x\",\"labels\":{\"parplan.io/gang\":\"g\"}},"
                    "\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"a/gpu\":1}}}],"
                    "\"%s\":[",
                    list);
    for (size_t i = 0; i < count; i++)
        text_buffer_add(&text, "%s%s", i > 0 ? "," : "", element);
    text_buffer_add_text(&text, "]}}");
    return text_buffer_take(&text);
}

static struct json_value *parse_pod_with(const char *list, const char *element, size_t count,
                                         bool *ret_cut, struct error_info *err)
{
    CLEANUP_MEMORY char *text = pod_with(list, element, count);
    return text ? object_text_parse(text, strlen(text), OBJECT_POD, ret_cut, err) : NULL;
}

static void bounds_the_values(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    bool cut = true;
    CLEANUP(json_value)
    struct json_value *dropped = parse_pod_with("imagePullSecrets", "{}", 400000, &cut, &err);
    assert_non_null(dropped);
    assert_false(cut);
    assert_int_equal(json_value_count(json_value_get(dropped, "spec")), 1);
    CLEANUP(json_value)
    struct json_value *reduced = parse_pod_with("tolerations", "{}", 400000, &cut, &err);
    assert_non_null(reduced);
    assert_true(cut);
    assert_null(json_value_get(json_value_get(reduced, "metadata"), "labels"));
    assert_int_equal(
        json_value_count(json_value_get(json_value_get(reduced, "spec"), "containers")), 1);
    assert_null(parse_pod_with("schedulingGates", "{}", 25000, &cut, &err));
    assert_non_null(strstr(err.text, "a pod: 50009 values are too many in what is read of it"));
}

static void keeps_what_is_asked_about_a_pod(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text =
        quoted_json("{'Pod':{'a':[{}],'metadata':{'name':'x','labels':{'parplan.io/gang':'g'}}},"
                    "'NodeNameToMetaVictims':{'n':{'Pods':[{'UID':'u'}]}}}");
    CLEANUP_MEMORY char *want =
        quoted_json("{'Pod':{'metadata':{'name':'x','labels':{'parplan.io/gang':'g'}}},"
                    "'NodeNameToMetaVictims':{'n':{'Pods':[{'UID':'u'}]}}}");
    CLEANUP(json_value)
    struct json_value *tree =
        text ? object_text_parse_arguments(text, strlen(text), "a question", &err) : NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 4096);
    assert_true(tree && want && json_value_write(tree, JSON_STYLE_COMPACT, &out, &err) == 0);
    assert_string_equal(text_buffer_text(&out), want);
}

static void bounds_the_pod_that_is_asked_about(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *object = pod_with("tolerations", "{}", 400000);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)8 << 20);
    text_buffer_add(&text, "{\"Pod\":%s,\"More\":[", object);
    for (unsigned i = 0; i < OBJECT_MAXIMUM_VALUES; i++)
        text_buffer_add_text(&text, "1,");
    text_buffer_add_text(&text, "1]}");
    CLEANUP(json_value)
    struct json_value *tree =
        object_text_parse_arguments(text_buffer_text(&text), text.length, "a question", &err);
    assert_non_null(tree);
    const struct json_value *spec = json_value_get(json_value_get(tree, "Pod"), "spec");
    assert_int_equal(json_value_count(spec), 1);
    assert_int_equal(json_value_count(json_value_get(tree, "More")), OBJECT_MAXIMUM_VALUES + 1);
}

static void replaces_escaped_nuls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{'metadata':{'uid':'x\\u0000y'}}", "x\xef\xbf\xbdy"},
        {"{'metadata':{'uid':'\\u0000\\u0000'}}", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"{'metadata':{'uid':'\\\\u0000'}}", "\\u0000"},
        {"{'metadata':{'uid':'\\u00001'}}", "\xef\xbf\xbd"
                                            "1"},
        {"{'metadata':{'uid':'\\u0001'}}", "\x01"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *text = quoted_json("%s", rows[i].text);
        assert_non_null(text);
        CLEANUP(json_value)
        struct json_value *object = object_text_parse(text, strlen(text), OBJECT_POD, NULL, &err);
        assert_non_null(object);
        assert_string_equal(
            json_value_text(json_value_get(json_value_get(object, "metadata"), "uid")),
            rows[i].want);
    }
}

static void refuses_what_is_no_json(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "'",
        "'\\",
        "{'metadata':{'managedFields':",
        "{'metadata':{'managedFields':[[[",
        "{'metadata':{'managedFields':'",
        "{'metadata':{'managedFields':'\\",
        "{'metadata':{'managedFields'",
        "{'metadata':{'managedFields':}}",
        "{'metadata':{'a':'\\u0000",
        "}}}}{'a':1}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *written = read_and_write(texts[i], OBJECT_POD, &err);
        if (written)
            fail_msg("%s became %s", texts[i], written);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_int_equal(strncmp(err.text, "a pod: byte ", 12), 0);
    }
}

static void bounds_the_bytes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(object_text_parse("{}", OBJECT_TEXT_MAXIMUM_BYTES + 1, OBJECT_NODE, NULL, &err));
    assert_string_equal(err.text,
                        "a node: 12582913 bytes are too many; at most 12582912 are possible");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(leaves_out_what_no_record_needs),
    cmocka_unit_test(keeps_little_of_a_plain_pod),
    cmocka_unit_test(keeps_what_gangs_need),
    cmocka_unit_test(bounds_the_values),
    cmocka_unit_test(keeps_what_is_asked_about_a_pod),
    cmocka_unit_test(bounds_the_pod_that_is_asked_about),
    cmocka_unit_test(replaces_escaped_nuls),
    cmocka_unit_test(refuses_what_is_no_json),
    cmocka_unit_test(bounds_the_bytes),
};

int main(void) { return unit_test_main("k8s_extender/object_text", tests, COUNT_OF(tests)); }
