/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/resource_list.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)

/* Reads JSON; -1 with err. */
static int read_text(const char *text, struct arena *arena, struct resource_list *ret,
                     struct error_info *err)
{
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text, strlen(text), "test", err);
    return object ? resource_list_read(object, arena, ret, err) : -1;
}

/* "cpu=1500 memory=1024 nvidia.com/gpu=8", zeros left out. */
static void write_list(const struct resource_list *list, char *out, size_t bytes)
{
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage", "pods"};
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < RESOURCE_KIND_COUNT; i++)
        if (list->amounts[i] > 0)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s=%llu", used ? " " : "",
                                     names[i], (unsigned long long)list->amounts[i]);
    for (unsigned i = 0; i < list->other_count; i++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s=%llu", used ? " " : "",
                                 list->others[i].name, (unsigned long long)list->others[i].amount);
}

static void reads_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{}", ""},
        {"null", ""},
        {"{\"cpu\":\"1500m\",\"memory\":\"1Ki\",\"pods\":\"110\",\"ephemeral-storage\":\"1k\"}",
         "cpu=1500 memory=1024 ephemeral-storage=1000 pods=110"},
        {"{\"cpu\":2,\"memory\":1024}", "cpu=2000 memory=1024"},
        {"{\"cpu\":0.5}", "cpu=500"},
        {"{\"rdma/hca\":\"4\",\"nvidia.com/gpu\":\"8\",\"hugepages-2Mi\":\"0\"}",
         "nvidia.com/gpu=8 rdma/hca=4"},
        {"{\"memory\":\"99999999999E\"}", "memory=9223372036854775807"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list;
        struct error_info err = {.kind = ERROR_NONE};
        char written[256];
        assert_non_null(arena);
        assert_int_equal(read_text(rows[i].text, arena, &list, &err), 0);
        write_list(&list, written, sizeof(written));
        assert_string_equal(written, rows[i].want);
    }
}

static void refuses_bad_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[]", "the resources are no object"},
        {"{\"cpu\":\"fast\"}", "cpu: 'fast' is no quantity; a number is needed, with a suffix such "
                               "as m, k, M, G, Ki, Mi, Gi or none"},
        {"{\"cpu\":true}", "cpu: a quantity is needed"},
        {"{\"cpu\":null}", "cpu: a quantity is needed"},
        {"{\"nvidia.com/gpu\":[]}", "nvidia.com/gpu: a quantity is needed"},
        {"{\"memory\":\"-1\"}", "memory: '-1' is below zero"},
        {"{\"memory\":-1}", "memory: '-1' is below zero"},
        {"{\"\":\"1\"}", "a resource has no name"},
        {"{\"a\\u001b\":\"x\"}", "a?: 'x' is no quantity; a number is needed, with a suffix such "
                                 "as m, k, M, G, Ki, Mi, Gi or none"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list = {.other_count = 99};
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(read_text(rows[i].text, arena, &list, &err), -1);
        assert_string_equal(err.text, rows[i].want);
        assert_int_equal(list.other_count, 99);
    }
}

/* {"a0.b/c":"1","a1.b/c":"1",…,more} */
static void read_many(unsigned count, const char *name, const char *more, struct arena *arena,
                      struct resource_list *ret)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, ARENA_BYTES);
    text_buffer_add_text(&text, "{");
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(&text, "%s\"a%u.b/%s\":\"1\"", i ? "," : "", i, name);
    text_buffer_add(&text, "%s}", more);
    assert_non_null(arena);
    assert_int_equal(read_text(text_buffer_text(&text), arena, ret, NULL), 0);
}

static void assert_sorted(const struct resource_list *list)
{
    for (unsigned i = 1; i < list->other_count; i++)
        assert_true(strcmp(list->others[i - 1].name, list->others[i].name) < 0);
}

static void keeps_gpus_of_many_kinds(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        const char *name;
        unsigned others, huge_pages;
        bool left_out;
    } rows[] = {
        {61, "c", 64, 2, false},  {62, "c", 64, 2, true},     {5000, "c", 64, 2, true},
        {63, "gpu", 64, 0, true}, {5000, "gpu", 64, 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list list, sum;
        read_many(rows[i].count, rows[i].name,
                  ",\"amd.com/gpu\":\"4\",\"nvidia.com/gpu\":\"8\",\"hugepages-2Mi\":\"2\"", arena,
                  &list);
        assert_int_equal(list.other_count, rows[i].others);
        assert_int_equal(list.left_out, rows[i].left_out);
        assert_true(resource_list_amount(&list, "nvidia.com/gpu") == 8);
        assert_true(resource_list_amount(&list, "amd.com/gpu") == 4);
        assert_true(resource_list_amount(&list, "hugepages-2Mi") == rows[i].huge_pages);
        assert_sorted(&list);
        assert_int_equal(resource_list_add(&list, &list, arena, &sum), 0);
        assert_int_equal(sum.other_count, rows[i].others);
        assert_int_equal(sum.left_out, rows[i].left_out);
    }
}

static void keeps_gpus_of_two_long_lists(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct resource_list left, right, sum;
    read_many(64, "c", "", arena, &left);
    read_many(63, "d", ",\"nvidia.com/gpu\":\"8\"", arena, &right);
    assert_false(left.left_out || right.left_out);
    assert_int_equal(resource_list_add(&left, &right, arena, &sum), 0);
    assert_int_equal(sum.other_count, 64);
    assert_true(sum.left_out);
    assert_true(resource_list_amount(&sum, "nvidia.com/gpu") == 8);
    assert_sorted(&sum);
    assert_int_equal(resource_list_maximum(&sum, &right, arena, &sum), 0);
    assert_true(sum.left_out);
    assert_true(resource_list_amount(&sum, "nvidia.com/gpu") == 8);
}

static void bounds_names(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct resource_list list;
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(arena);
    char text[RESOURCE_NAME_MAXIMUM_BYTES + 20] = "{\"";
    memset(text + 2, 'a', RESOURCE_NAME_MAXIMUM_BYTES + 1);
    memcpy(text + 2 + RESOURCE_NAME_MAXIMUM_BYTES + 1, "\":\"1\"}", 7);
    assert_int_equal(read_text(text, arena, &list, &err), -1);
    assert_non_null(strstr(err.text, "more than 317 bytes"));
    memcpy(text + 2 + RESOURCE_NAME_MAXIMUM_BYTES, "\":\"1\"}", 7);
    assert_int_equal(read_text(text, arena, &list, &err), 0);
}

static void adds_and_takes_the_larger(void **state)
{
    (void)state;
    static const struct {
        const char *left, *right, *sum, *maximum;
    } rows[] = {
        {"{}", "{}", "", ""},
        {"{\"cpu\":\"1\"}", "{}", "cpu=1000", "cpu=1000"},
        {"{\"cpu\":\"1\",\"b\":\"2\"}", "{\"cpu\":\"2\",\"a\":\"1\",\"b\":\"3\",\"c\":\"4\"}",
         "cpu=3000 a=1 b=5 c=4", "cpu=2000 a=1 b=3 c=4"},
        {"{\"a\":\"9E\",\"b\":\"9E\"}", "{\"a\":\"9E\",\"b\":\"1\"}",
         "a=18000000000000000000 b=9000000000000000001",
         "a=9000000000000000000 b=9000000000000000000"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct resource_list left, right, got;
        char written[256];
        assert_non_null(arena);
        assert_int_equal(read_text(rows[i].left, arena, &left, NULL), 0);
        assert_int_equal(read_text(rows[i].right, arena, &right, NULL), 0);
        assert_int_equal(resource_list_add(&left, &right, arena, &got), 0);
        write_list(&got, written, sizeof(written));
        assert_string_equal(written, rows[i].sum);
        assert_int_equal(resource_list_maximum(&right, &left, arena, &got), 0);
        write_list(&got, written, sizeof(written));
        assert_string_equal(written, rows[i].maximum);
    }
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    assert_non_null(arena);
    struct resource_list full = {.amounts = {UINT64_MAX, 1, 0, 0}}, got;
    assert_int_equal(resource_list_add(&full, &full, arena, &got), 0);
    assert_true(got.amounts[RESOURCE_CPU] == UINT64_MAX && got.amounts[RESOURCE_MEMORY] == 2);
}

static void finds_amounts_and_gpus(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct resource_list list;
    const char *name = "untouched";
    assert_non_null(arena);
    assert_int_equal(read_text("{\"cpu\":\"1\",\"nvidia.com/gpu\":\"8\",\"amd.com/gpu\":\"4\","
                               "\"nvidia.com/mig-1g.10gb\":\"7\",\"nvidia.com/gpu.shared\":\"9\"}",
                               arena, &list, NULL),
                     0);
    assert_true(resource_list_amount(&list, "cpu") == 1000);
    assert_true(resource_list_amount(&list, "memory") == 0);
    assert_true(resource_list_amount(&list, "nvidia.com/gpu") == 8);
    assert_true(resource_list_amount(&list, "nvidia.com/gpu.shared") == 9);
    assert_true(resource_list_amount(&list, "zzz") == 0);
    assert_true(resource_list_amount(&list, "aaa") == 0);
    assert_true(resource_list_gpus(&list, &name) == 12);
    assert_string_equal(name, "amd.com/gpu");
    struct resource_list none = {.others = NULL};
    assert_true(resource_list_gpus(&none, &name) == 0);
    assert_null(name);
    assert_false(resource_is_gpu("/gpu"));
    assert_false(resource_is_gpu("gpu"));
    assert_true(resource_is_gpu("gpu.intel.com/gpu"));
    assert_false(resource_is_gpu("koordinator.sh/gpu"));
}

static int read_and_copy(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct resource_list list;
    if (!arena)
        return error_set_memory(err);
    if (read_text("{\"cpu\":1.5,\"nvidia.com/gpu\":\"8\"}", arena, &list, err) < 0)
        return -1;
    return resource_list_add(&list, &list, arena, &list) < 0 ? error_set_memory(err) : 0;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(read_and_copy, NULL);
}

static void writes_amounts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t amount;
        bool up;
        const char *text;
    } cases[] = {
        {"cpu", 500000, true, "500"},
        {"cpu", 1500, false, "1500m"},
        {"pods", 110, false, "110"},
        {"rdma/hca", 8, false, "8"},
        {"memory", 9999, true, "9999"},
        {"memory", UINT64_C(64) << 30, true, "64Gi"},
        {"memory", (UINT64_C(64) << 30) - 1, false, "63Gi"},
        {"memory", (UINT64_C(64) << 30) + 1, true, "65Gi"},
        {"ephemeral-storage", UINT64_MAX, false, "16383Pi"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[RESOURCE_AMOUNT_TEXT_BYTES];
        resource_amount_text(cases[i].name, cases[i].amount, cases[i].up, text);
        assert_string_equal(text, cases[i].text);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_amounts),
    cmocka_unit_test(reads_lists),
    cmocka_unit_test(refuses_bad_lists),
    cmocka_unit_test(keeps_gpus_of_many_kinds),
    cmocka_unit_test(keeps_gpus_of_two_long_lists),
    cmocka_unit_test(bounds_names),
    cmocka_unit_test(adds_and_takes_the_larger),
    cmocka_unit_test(finds_amounts_and_gpus),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("k8s_extender/resource_list", tests, COUNT_OF(tests)); }
