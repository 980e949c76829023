/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/reading/object_text.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <string.h>

static char *read_and_write(const char *quoted, enum object_kind kind, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    if (!text)
        return NULL;
    CLEANUP(json_value)
    struct json_value *object = object_text_parse(text, strlen(text), kind, err);
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
        {"{'metadata':{'managedFields':[{'a':'}]'}],'name':'x'}}",
         "{'metadata':{'managedFields':null,'name':'x'}}"},
        {"{'status':{'a':1,'images' : [ {'names':['b\\\\']} ] }}",
         "{'status':{'a':1,'images':null}}"},
        {"{'metadata':{'labels':{'images':'kept','managedFields':'kept'}}}",
         "{'metadata':{'labels':{'images':'kept','managedFields':'kept'}}}"},
        {"{'images':['kept']}", "{'images':['kept']}"},
        {"{'metadata':{'name':'managedFields'}}", "{'metadata':{'name':'managedFields'}}"},
        {"{'metadata':['managedFields',[1,2,3,4]]}", "{'metadata':['managedFields',[1,2,3,4]]}"},
        {"{'spec':{'volumes':[{'csi':{'driver':'d','volumeAttributes':{'\\u0000':'','\\ufffd':''}}"
         "}]}}",
         "{'spec':{'volumes':[{'csi':{'driver':'d','volumeAttributes':null}}]}}"},
        {"{'status':{'images':[]}}", "{'status':{'images':[]}}"},
        {"{'status':{'images':'longer'}}", "{'status':{'images':null}}"},
        {"{'status':{'images':12345,'b':2}}", "{'status':{'images':null,'b':2}}"},
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
         "{'metadata':{'name':'x','labels':null},'spec':{'volumes':null,'containers':[{'name':'c',"
         "'env':null,'resources':{'requests':{'env':'1'}}}]}}"},
        {"{'metadata':{'labels':{'parplan.io/gang':'g'}},'spec':{'tolerations':[{}]}}",
         "{'metadata':{'labels':{'parplan.io/gang':'g'}},'spec':{'tolerations':[{}]}}"},
        {"{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'env':[1,2],'resources':{'limits'"
         ":{'amd.com/gpu':'1'}}}]}}",
         "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'env':[1,2],'resources':{'limits'"
         ":{'amd.com/gpu':'1'}}}]}}"},
        {"{'metadata':{'annotations':{'a':'/gpu'}},'spec':{'containers':[{'lifecycle':{'a':{}},"
         "'command':['a']}]}}",
         "{'metadata':{'annotations':{'a':'/gpu'}},'spec':{'containers':[{'lifecycle':null,"
         "'command':['a']}]}}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *written = read_and_write(rows[i].text, OBJECT_POD, &err);
        CLEANUP_MEMORY char *want = quoted_json("%s", rows[i].want);
        assert_true(written && want);
        assert_string_equal(written, want);
    }
}

static void replaces_escaped_nuls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{'a':'x\\u0000y'}", "x\xef\xbf\xbdy"},
        {"{'a':'\\u0000\\u0000'}", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"{'a':'\\\\u0000'}", "\\u0000"},
        {"{'a':'\\u00001'}", "\xef\xbf\xbd"
                             "1"},
        {"{'a':'\\u0001'}", "\x01"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *text = quoted_json("%s", rows[i].text);
        assert_non_null(text);
        CLEANUP(json_value)
        struct json_value *object = object_text_parse(text, strlen(text), OBJECT_POD, &err);
        assert_non_null(object);
        assert_string_equal(json_value_text(json_value_get(object, "a")), rows[i].want);
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
    assert_null(object_text_parse("{}", OBJECT_TEXT_MAXIMUM_BYTES + 1, OBJECT_NODE, &err));
    assert_string_equal(err.text,
                        "a node: 12582913 bytes are too many; at most 12582912 are possible");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(leaves_out_what_no_record_needs),
    cmocka_unit_test(keeps_little_of_a_plain_pod),
    cmocka_unit_test(replaces_escaped_nuls),
    cmocka_unit_test(refuses_what_is_no_json),
    cmocka_unit_test(bounds_the_bytes),
};

int main(void) { return unit_test_main("k8s_extender/object_text", tests, COUNT_OF(tests)); }
