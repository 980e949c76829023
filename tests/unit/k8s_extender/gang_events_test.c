/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "k8s_extender/gang/gang_task.h"
#include "k8s_extender/gang/store/gang_events.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define OWNERS(kind)                                                                               \
    ",\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"x\",\"uid\":\"n\"},{\"kind\":\"" kind     \
    "\",\"name\":\"train\",\"uid\":\"j-1\",\"controller\":true}]"

static const struct {
    const char *labels, *owners;
    const char *kind, *name, *uid; /* who is told too; NULL: nobody */
} rows[] = {
    {"\"parplan.io/gang\":\"g\"", "", NULL, NULL, NULL},
    {"\"parplan.io/gang\":\"g\"", OWNERS("Job"), "Job", "train", "j-1"},
    {"\"parplan.io/gang\":\"auto\",\"training.kubeflow.org/job-name\":\"train\"",
     OWNERS("PyTorchJob"), "PyTorchJob", "train", "j-1"},
    {"\"parplan.io/gang\":\"auto\",\"jobset.sigs.k8s.io/jobset-uid\":\"s-1\","
     "\"jobset.sigs.k8s.io/jobset-name\":\"set\"",
     OWNERS("Job"), "JobSet", "set", "s-1"},
    {"\"parplan.io/gang\":\"auto\",\"jobset.sigs.k8s.io/jobset-name\":\"set\"", OWNERS("Job"),
     "Job", "train", "j-1"}, /* without its uid nobody would find it there */
};

static int tell_row(void *context, struct error_info *err)
{
    size_t row = *(const size_t *)context;
    char text[1024];
    snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"p-0\",\"namespace\":\"a\",\"uid\":\"u-1\","
        "\"resourceVersion\":\"1\",\"labels\":{%s}%s},\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}",
        rows[row].labels, rows[row].owners);
    struct pod_record *pod = pod_record_parse(text, strlen(text), err);
    if (!pod)
        return -1;
    struct gang_events events = {.count = 0};
    struct gang_told told = {.count = 0};
    struct gang_task task = {.arena = arena_create(ARENA_BYTES)};
    gang_events_add(&events, &told, pod, true, "GangWaiting", "it waits");
    int taken = task.arena ? gang_events_take(&events, &task) : -1;
    int result = taken == 1 ? 0 : error_set_memory(err);
    if (taken == 1) {
        assert_string_equal(task.pod, "p-0");
        assert_int_equal(!task.owner_kind, !rows[row].kind);
        assert_int_equal(events.count, 0);
    }
    if (taken == 1 && rows[row].kind) {
        assert_string_equal(task.owner_kind, rows[row].kind);
        assert_string_equal(task.owner_name, rows[row].name);
        assert_string_equal(task.owner_uid, rows[row].uid);
    }
    gang_events_done(&events);
    gang_task_done(&task);
    pod_record_free(pod);
    return result;
}

static void the_owner_is_told_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        unit_test_expect_clean_failures(tell_row, &i);
}

/* Whether there was one; it is taken. */
static bool told_now(struct gang_events *events, struct gang_told *told,
                     const struct pod_record *pod, const char *text)
{
    struct gang_task task = {.arena = arena_create(ARENA_BYTES)};
    assert_non_null(task.arena);
    gang_events_add(events, told, pod, true, "GangRefused", text);
    int taken = gang_events_take(events, &task);
    assert_true(taken >= 0);
    gang_task_done(&task);
    return taken == 1;
}

static void what_others_are_told_pushes_out_nothing(void **state)
{
    (void)state;
    static const char json[] =
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\"},\"spec\":{}}";
    CLEANUP(pod_record) struct pod_record *pod = pod_record_parse(json, strlen(json), NULL);
    assert_non_null(pod);
    struct gang_events events = {.count = 0};
    struct gang_told first = {.count = 0}, second = {.count = 0};
    UNIT_TEST_SKIP_TORTURE();
    assert_true(told_now(&events, &first, pod, "it waits"));
    for (unsigned i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "it waits %u", i);
        assert_true(told_now(&events, &second, pod, text));
    }
    assert_false(told_now(&events, &first, pod, "it waits"));
    assert_true(told_now(&events, &second, pod, "it waits 0"));
    gang_events_done(&events);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_owner_is_told_too),
    cmocka_unit_test(what_others_are_told_pushes_out_nothing),
};

int main(void) { return unit_test_main("k8s_extender/gang_events", tests, COUNT_OF(tests)); }
