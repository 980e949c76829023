/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/pod_patch.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define PIN "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n7\"]}"
#define TERMS_BEGIN                                                                                \
    "{\"metadata\":{},\"spec\":{\"affinity\":{\"nodeAffinity\":"                                   \
    "{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
#define TERMS_END "]}}}}}"

static const char *const zones[] = {"a", "b"};
static const char *const pinned[] = {"n7"};
static const struct selector_requirement in_zone = {
    .key = "zone", .operator= SELECTOR_IN, .values = zones, .value_count = 2};
static const struct selector_requirement mixed[] = {
    {.key = "metadata.name",
     .operator= SELECTOR_NOT_IN,
     .of_field = true,
     .values = zones,
     .value_count = 1},
    {.key = "gpu", .operator= SELECTOR_EXISTS },
     {
         .key = "old",
         .operator= SELECTOR_DOES_NOT_EXIST },
         {.key = "size", .operator= SELECTOR_GREATER, .values = zones, .value_count = 1},
         {.key = "age", .operator= SELECTOR_LESS, .values = zones, .value_count = 1},
         {.key = "arch", .operator= SELECTOR_NOT_IN, .values = zones, .value_count = 1},
    };
static const struct selector_requirement pin = {.key = "metadata.name",
                                                .operator= SELECTOR_IN,
                                                .of_field = true,
                                                .values = pinned,
                                                .value_count = 1};
static const struct selector_term terms_two[] = {{&in_zone, 1}, {mixed, 6}};
static const struct selector_term terms_empty[] = {{NULL, 0}, {&in_zone, 1}};
static const struct selector_term terms_pinned[] = {{&pin, 1}};
static const struct label set_labels[] = {{"parplan.io/node", "n7"}, {"parplan.io/plan-id", NULL}};

struct row {
    struct pod_change change;
    const char *body;
};

static const struct row rows[] = {
    {{.namespace = "a", .pod = "p"}, "{\"metadata\":{}}"},
    {{.namespace = "a", .pod = "p", .uid = "u-1"}, "{\"metadata\":{\"uid\":\"u-1\"}}"},
    {{.namespace = "a", .pod = "p", .uid = "u-1", .resource_version = "7"},
     "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}"},
    {{.namespace = "a", .pod = "p", .uid = "u-1", .annotations = {set_labels, 2}},
     "{\"metadata\":{\"uid\":\"u-1\",\"annotations\":{\"parplan.io/node\":\"n7\","
     "\"parplan.io/plan-id\":null}}}"},
    {{.namespace = "a", .pod = "p", .remove_gate = "parplan.io/gang"},
     "{\"metadata\":{},\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\","
     "\"name\":\"parplan.io/gang\"}]}}"},
    {{.namespace = "a", .pod = "p", .node = "n7"},
     TERMS_BEGIN "{\"matchFields\":[" PIN "]}" TERMS_END},
    {{.namespace = "a", .pod = "p", .node = "n7", .affinity = {terms_two, 2}},
     TERMS_BEGIN
     "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}],"
     "\"matchFields\":[" PIN "]},"
     "{\"matchExpressions\":[{\"key\":\"gpu\",\"operator\":\"Exists\"},"
     "{\"key\":\"old\",\"operator\":\"DoesNotExist\"},"
     "{\"key\":\"size\",\"operator\":\"Gt\",\"values\":[\"a\"]},"
     "{\"key\":\"age\",\"operator\":\"Lt\",\"values\":[\"a\"]},"
     "{\"key\":\"arch\",\"operator\":\"NotIn\",\"values\":[\"a\"]}],"
     "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"NotIn\",\"values\":[\"a\"]}," PIN
     "]}" TERMS_END},
    {{.namespace = "a", .pod = "p", .node = "n7", .affinity = {terms_empty, 2}},
     TERMS_BEGIN
     "{},{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}],"
     "\"matchFields\":[" PIN "]}" TERMS_END},
    {{.namespace = "a", .pod = "p", .node = "n7", .affinity = {terms_pinned, 1}},
     TERMS_BEGIN "{\"matchFields\":[" PIN "]}" TERMS_END},
};

static void writes_the_patch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct api_request request;
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        assert_non_null(arena);
        if (pod_patch_request(&rows[i].change, arena, &request, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        assert_string_equal(request.method, "PATCH");
        assert_string_equal(request.path, "/api/v1/namespaces/a/pods/p");
        assert_string_equal(request.content_type, "application/strategic-merge-patch+json");
        assert_string_equal(request.body, rows[i].body);
        assert_int_equal(request.body_bytes, strlen(rows[i].body));
    }
}

static int patch_once(void *context, struct error_info *err)
{
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    return arena ? pod_patch_request(context, arena, &request, err) : error_set_memory(err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct pod_change change = rows[6].change;
    unit_test_expect_clean_failures(patch_once, &change);
}

static void writes_delete_and_binding(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    assert_non_null(arena);
    assert_int_equal(pod_delete_request("a b", "p/../q", "u-1", NULL, arena, &request, &err), 0);
    assert_string_equal(request.method, "DELETE");
    assert_string_equal(request.path, "/api/v1/namespaces/a%20b/pods/p%2F..%2Fq");
    assert_string_equal(request.body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                      "\"preconditions\":{\"uid\":\"u-1\"}}");
    assert_int_equal(pod_delete_request("a", "p", "u-1", "", arena, &request, &err), 0);
    assert_null(strstr(request.body, "resourceVersion"));
    assert_int_equal(pod_delete_request("a", "p", "u-1", "42", arena, &request, &err), 0);
    assert_string_equal(request.body,
                        "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                        "\"preconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"42\"}}");
    assert_int_equal(pod_bind_request("a", "p", "u-1", "n7", arena, &request, &err), 0);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.path, "/api/v1/namespaces/a/pods/p/binding");
    assert_string_equal(request.body,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\","
                        "\"namespace\":\"a\",\"uid\":\"u-1\"},\"target\":{\"apiVersion\":\"v1\","
                        "\"kind\":\"Node\",\"name\":\"n7\"}}");
}

static void too_large_a_patch_is_refused(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct api_request request = {.method = "unchanged"};
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES * 8);
    char *large = arena ? arena_allocate(arena, 2 * ARENA_BYTES) : NULL;
    assert_non_null(large);
    memset(large, 'x', 2 * ARENA_BYTES - 1);
    const struct label label = {"k", large};
    const struct pod_change change = {.namespace = "a", .pod = "p", .annotations = {&label, 1}};
    assert_int_equal(pod_patch_request(&change, arena, &request, &err), -1);
    assert_string_equal(request.method, "unchanged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_patch),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(writes_delete_and_binding),
        cmocka_unit_test(too_large_a_patch_is_refused),
    };
    return unit_test_main("k8s_extender/pod_patch", tests, COUNT_OF(tests));
}
