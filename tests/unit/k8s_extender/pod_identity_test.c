/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "k8s_extender/objects/pod_record.h"
#include "k8s_extender/server/pod_identity.h"
#include "tests/support/unit_test.h"
#include <string.h>

#define REST "\"spec\":{\"containers\":[]}"
#define META "\"name\":\"p\",\"namespace\":\"d\""

static void finds_what_a_tree_finds(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{" META ",\"uid\":\"u-1\",\"resourceVersion\":\"42\"}," REST "}",
        " { " REST " ,\n\"metadata\" : { \"resourceVersion\" : \"42\" , \"uid\"\t:\"u-1\"," META
        " } } ",
        /* the same words elsewhere, as keys, values and inside of texts */
        "{\"metadata\":{" META ",\"labels\":{\"uid\":\"x\",\"metadata\":\"y\"},\"uid\":\"u-1\","
        "\"annotations\":{\"a\":\"{\\\"uid\\\":\\\"z\\\",\\\\\"},\"resourceVersion\":\"42\","
        "\"ownerReferences\":[{\"uid\":\"o\",\"resourceVersion\":\"7\"}],\"generateName\":\"uid\"}"
        "," REST ",\"status\":{\"metadata\":{\"uid\":\"s\"},\"x\":[[{\"uid\":\"w\"}]]}}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct pod_identity identity;
        CLEANUP(pod_record)
        struct pod_record *pod = pod_record_parse(texts[i], strlen(texts[i]), &err);
        if (!pod || !pod_identity_scan(texts[i], strlen(texts[i]), &identity))
            fail_msg("%s: %s", texts[i], err.text);
        assert_string_equal(identity.uid, "u-1");
        assert_string_equal(identity.version, "42");
        assert_string_equal(pod->uid, identity.uid);
        assert_string_equal(pod->resource_version, identity.version);
    }
}

static void leaves_the_rest_to_the_tree(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "}",
        "[]",
        "{}",
        "{\"metadata\":{\"uid\":\"u\"}}",
        "{\"metadata\":{\"uid\":\"\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"uid\":7,\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":null}}",
        "{\"metadata\":{\"uid\":\"u\\u0031\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"uid\":\"u\",\"ui\\u0064\":\"v\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"uid\":\"u\",\"uid\":\"v\",\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"},\"metadata\":{}}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"},\"metadat\\u0061\":{}}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"},\"metadata\":null}",
        "{\"metadata\":[{\"uid\":\"u\",\"resourceVersion\":\"1\"}]}",
        "{\"spec\":{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"}}}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"}",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1",
        "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\\",
        ("{\"metadata\":{\"resourceVersion\":\"1\",\"uid\":\""
         "0123456789012345678901234567890123456789012345678901234567890123\"}}"),
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct pod_identity identity = {.uid = "before"};
        if (pod_identity_scan(texts[i], strlen(texts[i]), &identity))
            fail_msg("%s: found %s, %s", texts[i], identity.uid, identity.version);
        assert_string_equal(identity.uid, "before");
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_a_tree_finds),
    cmocka_unit_test(leaves_the_rest_to_the_tree),
};

int main(void) { return unit_test_main("k8s_extender/pod_identity", tests, COUNT_OF(tests)); }
