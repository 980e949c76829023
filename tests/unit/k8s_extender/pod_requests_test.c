/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "k8s_extender/objects/pod_requests.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define LONG_ARENA_BYTES ((size_t)64 << 20) /* what a record has */

static int read_requests(const char *quoted, struct arena *arena, struct resource_list *ret,
                         struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    if (!text)
        return error_set_memory(err);
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text, strlen(text), "test", err);
    return object ? pod_requests_read(object, arena, ret, err) : -1;
}

/* One container each: R asks, L limits, with restartPolicy Always: S. */
#define R(list) "{'name':'c','resources':{'requests':{" list "}}}"
#define L(list) "{'name':'c','resources':{'limits':{" list "}}}"
#define S(list) "{'name':'s','restartPolicy':'Always','resources':{'requests':{" list "}}}"
#define POD(containers, more) "{'spec':{'containers':[" containers "]" more "}}"
#define INIT(list) ",'initContainers':[" list "]"

static void counts_as_the_scheduler_does(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        uint64_t cpu, memory, gpus;
    } rows[] = {
        {"{}", 0, 0, 0},
        {POD(R("'cpu':'1'") "," R("'cpu':'500m','memory':'1Ki'"), ""), 1500, 1024, 0},
        {POD(L("'nvidia.com/gpu':'8','cpu':'2'"), ""), 2000, 0, 8},
        {POD("{'resources':{'requests':{'cpu':'1'},'limits':{'cpu':'4','nvidia.com/gpu':'2'}}}",
             ""),
         1000, 0, 2},
        {POD("{'resources':{'requests':{'cpu':'0'},'limits':{'cpu':'4'}}}", ""), 0, 0, 0},
        {POD(R("'cpu':'1'"), INIT(R("'cpu':'3'"))), 3000, 0, 0},
        {POD(R("'cpu':'4'"), INIT(R("'cpu':'3'") "," R("'memory':'2Ki'"))), 4000, 2048, 0},
        {POD(R("'cpu':'1'"), INIT(S("'cpu':'2'"))), 3000, 0, 0},
        /* a step runs beside the sidecars before it, not those after it */
        {POD(R("'cpu':'1'"), INIT(S("'cpu':'2'") "," R("'cpu':'5'"))), 7000, 0, 0},
        {POD(R("'cpu':'1'"), INIT(R("'cpu':'5'") "," S("'cpu':'2'"))), 5000, 0, 0},
        {POD(R("'cpu':'1'"), INIT(S("'cpu':'2'") "," S("'cpu':'3'") "," R("'cpu':'1'"))), 6000, 0,
         0},
        {POD(R("'cpu':'1'"), ",'overhead':{'cpu':'250m','memory':'1Mi'}"), 1250, 1 << 20, 0},
        {POD(R("'cpu':'1'"), INIT(R("'cpu':'9'")) ",'overhead':{'cpu':'1'}"), 10000, 0, 0},
        {POD(R("'cpu':'1','nvidia.com/gpu':'4'"),
             ",'resources':{'requests':{'cpu':'6','nvidia.com/gpu':'1','hugepages-2Mi':'4Mi'}}"),
         6000, 0, 4},
        {POD(R("'cpu':'1'"), ",'resources':{'limits':{'memory':'8Ki'}}"), 1000, 8192, 0},
        {POD(R("'cpu':'1'"), INIT(R("'nvidia.com/gpu':'8'"))), 1000, 0, 8},
        {"{'spec':{'containers':[" R("'cpu':'1'") "]},'status':{'containerStatuses':[{'name':'c',"
                                                  "'allocatedResources':{'cpu':'3'},'resources':"
                                                  "{'requests':{'memory':'4Ki'}}}]}}",
         3000, 4096, 0},
        {"{'spec':{'containers':[" R(
             "'cpu':'5'") "]},'status':{'containerStatuses':[{'name':'c',"
                          "'allocatedResources':{'cpu':'3'}},{'name':'d','allocatedResources':"
                          "{'cpu':'9'}}]}}",
         5000, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list;
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        if (read_requests(rows[i].pod, arena, &list, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        if (list.amounts[RESOURCE_CPU] != rows[i].cpu ||
            list.amounts[RESOURCE_MEMORY] != rows[i].memory ||
            resource_list_gpus(&list, NULL) != rows[i].gpus)
            fail_msg("row %zu: cpu %llu memory %llu gpus %llu", i,
                     (unsigned long long)list.amounts[RESOURCE_CPU],
                     (unsigned long long)list.amounts[RESOURCE_MEMORY],
                     (unsigned long long)resource_list_gpus(&list, NULL));
        assert_true(list.amounts[RESOURCE_PODS] == 1);
    }
}

#define RESIZED(condition, status)                                                                 \
    "{'spec':{'containers':[" R(                                                                   \
        "'cpu':'400','memory':'9Ki','nvidia.com/gpu':'8'") "]},'status':{'conditions':["           \
                                                           "{'type':'Ready','reason':'Infeasible'" \
                                                           "}" condition "],'containerStatuses':[" \
                                                           "{'name':'c'" status "}]}}"
#define PENDING(reason) ",{'type':'PodResizePending','status':'True','reason':'" reason "'}"
#define GIVEN ",'resources':{'requests':{'cpu':'2','memory':'3Ki'}}"

static void counts_what_a_resize_can_give(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        uint64_t cpu, memory;
    } rows[] = {
        {RESIZED("", GIVEN), 400000, 9216},
        {RESIZED(PENDING("Deferred"), GIVEN), 400000, 9216},
        {RESIZED(PENDING("Infeasible"), GIVEN), 2000, 3072},
        {RESIZED(PENDING("Infeasible"), GIVEN ",'allocatedResources':{'cpu':'3'}"), 3000, 3072},
        {RESIZED(PENDING("Infeasible"), ""), 400000, 9216},
        /* an init container that ends is never resized */
        {"{'spec':{'containers':[" R("'nvidia.com/gpu':'8'") "],'initContainers':[" R(
             "'cpu':'7'") "]},'status':{'conditions':[{}" PENDING("Infeasible") "],"
                                                                                "'initContainerStat"
                                                                                "uses':[{'name':'"
                                                                                "c'" GIVEN "}]}}",
         7000, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list;
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(read_requests(rows[i].pod, arena, &list, &err), 0);
        if (list.amounts[RESOURCE_CPU] != rows[i].cpu ||
            list.amounts[RESOURCE_MEMORY] != rows[i].memory)
            fail_msg("row %zu: cpu %llu memory %llu", i,
                     (unsigned long long)list.amounts[RESOURCE_CPU],
                     (unsigned long long)list.amounts[RESOURCE_MEMORY]);
        assert_true(resource_list_gpus(&list, NULL) == 8);
    }
}

static void takes_huge_pages_of_the_pod(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct resource_list list;
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(arena);
    assert_int_equal(
        read_requests(POD(R("'hugepages-2Mi':'2Mi'"),
                          ",'resources':{'requests':{'hugepages-2Mi':'4Mi','other/thing':'3'}}"),
                      arena, &list, &err),
        0);
    assert_true(resource_list_amount(&list, "hugepages-2Mi") == 4 << 20);
    assert_true(resource_list_amount(&list, "other/thing") == 0);
}

static void refuses_with_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *want;
    } rows[] = {
        {"{'spec':{'containers':{}}}", "containers is an object where a list is needed"},
        {"{'spec':{'containers':[5]}}", "containers[0]: a container is no object"},
        {"{'spec':{'containers':[{},{'resources':[]}]}}",
         "containers[1]: resources is a list where an object is needed"},
        {POD(R("'cpu':'-1'"), ""), "containers[0]: requests: cpu: '-1' is below zero"},
        {POD(L("'cpu':[]"), ""), "containers[0]: limits: cpu: a quantity is needed"},
        {POD(R(""), INIT(R("'memory':{}"))),
         "initContainers[0]: requests: memory: a quantity is needed"},
        {POD(R(""), ",'overhead':{'cpu':true}"), "overhead: cpu: a quantity is needed"},
        {POD(R(""), ",'resources':{'requests':[]}"), "spec: requests: the resources are no object"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list;
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(read_requests(rows[i].pod, arena, &list, &err), -1);
        assert_string_equal(err.text, rows[i].want);
    }
}

/* So many containers, each with a resource of its own, and last one with 8 GPUs. */
static int read_many(const char *list_name, unsigned containers, struct arena *arena,
                     struct resource_list *ret, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, ARENA_BYTES);
    text_buffer_add(&text, "{\"spec\":{\"%s\":[", list_name);
    for (unsigned i = 0; i < containers; i++)
        text_buffer_add(&text, "{\"resources\":{\"requests\":{\"r/%u\":\"1\",\"cpu\":\"1\"}}},", i);
    text_buffer_add_text(&text, "{\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"8\"}}}]}}");
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text_buffer_text(&text), text.length, "test", err);
    return object ? pod_requests_read(object, arena, ret, err) : -1;
}

static void counts_gpus_of_long_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        unsigned containers;
        uint64_t cpus;
        bool left_out;
    } rows[] = {
        {"containers", 63, 63, false},     {"containers", 64, 64, true},
        {"containers", 5000, 5000, true},  {"initContainers", 63, 1, false},
        {"initContainers", 5000, 1, true},
    };
    UNIT_TEST_SKIP_TORTURE();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(LONG_ARENA_BYTES);
        struct resource_list list;
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        if (read_many(rows[i].list, rows[i].containers, arena, &list, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        assert_true(resource_list_gpus(&list, NULL) == 8);
        assert_true(list.amounts[RESOURCE_CPU] == rows[i].cpus * 1000);
        assert_int_equal(list.left_out, rows[i].left_out);
    }
}

static void finds_the_container_with_gpus(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *want;
    } rows[] = {
        {"{}", NULL},
        {"{'spec':{'containers':7}}", NULL},
        {"{'spec':{'containers':[{'name':'a','resources':{'limits':{'cpu':'1'}}}]}}", NULL},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b','resources':{'limits':{'amd.com/gpu':"
         "'1'}}},{'name':'c','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}",
         "b"},
        {"{'spec':{'containers':[{'name':'a','resources':{'requests':{'nvidia.com/gpu':'1'}}}]}}",
         "a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_MEMORY char *text = quoted_json("%s", rows[i].pod);
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(text);
        CLEANUP(json_value)
        struct json_value *object = json_value_parse(text, strlen(text), "test", &err);
        assert_non_null(object);
        const char *name =
            json_value_text(json_value_get(pod_requests_gpu_container(object), "name"));
        if (!rows[i].want)
            assert_null(name);
        else
            assert_string_equal(name, rows[i].want);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_what_a_resize_can_give),
    cmocka_unit_test(counts_as_the_scheduler_does),
    cmocka_unit_test(takes_huge_pages_of_the_pod),
    cmocka_unit_test(refuses_with_the_field),
    cmocka_unit_test(counts_gpus_of_long_lists),
    cmocka_unit_test(finds_the_container_with_gpus),
};

int main(void) { return unit_test_main("k8s_extender/pod_requests", tests, COUNT_OF(tests)); }
