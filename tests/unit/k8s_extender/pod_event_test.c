/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/pod_event.h"
#include "k8s_extender/api/request_text.h"
#include "tests/support/api_peer.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define ARENA_BYTES ((size_t)1 << 20)
#define NOON UINT64_C(1764504000123456) /* 2025-11-30T12:00:00.123456Z */

static const struct pod_event waits = {.namespace = "a",
                                       .name = "w-0",
                                       .uid = "u-1",
                                       .warning = true,
                                       .reason = "GangWaits",
                                       .message = "needs 16 nodes, \"12\" are free"};

static void writes_times(void **state)
{
    (void)state;
    static const struct {
        uint64_t microseconds;
        const char *text;
    } times[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {NOON, "2025-11-30T12:00:00.123456Z"},
        {UINT64_C(951782400000007), "2000-02-29T00:00:00.000007Z"},
    };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        char text[REQUEST_TIME_BYTES];
        request_time(times[i].microseconds, text);
        assert_string_equal(text, times[i].text);
    }
    char text[REQUEST_TIME_BYTES];
    request_time(UINT64_MAX, text);
    assert_true(strlen(text) < sizeof(text));
}

static void the_first_is_made_the_next_are_counted(void **state)
{
    (void)state;
    static struct event_memory memory; /* large */
    memset(&memory, 0, sizeof(memory));
    static const struct {
        uint64_t at_milliseconds;
        enum event_move move;
        uint32_t count;
    } steps[] = {
        {1000, EVENT_CREATE, 1}, {2000, EVENT_HOLD, 2},  {60999, EVENT_HOLD, 3},
        {61000, EVENT_COUNT, 4}, {61001, EVENT_HOLD, 5}, {130000, EVENT_COUNT, 6},
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        uint32_t count = 0;
        assert_int_equal(event_memory_note(&memory, &waits, steps[i].at_milliseconds, &count),
                         steps[i].move);
        assert_int_equal(count, steps[i].count);
        for (size_t slot = 0; slot < POD_EVENT_SLOTS; slot++) /* as if it had been sent */
            memory.slots[slot].written = memory.slots[slot].key != 0;
    }
}

static void one_that_was_not_written_is_made_again(void **state)
{
    (void)state;
    static struct event_memory memory;
    memset(&memory, 0, sizeof(memory));
    uint32_t count;
    assert_int_equal(event_memory_note(&memory, &waits, 1000, &count), EVENT_CREATE);
    assert_int_equal(event_memory_note(&memory, &waits, 70000, &count), EVENT_CREATE);
    assert_int_equal(count, 2);
}

/* Any difference makes another event; more than there are slots push out the oldest. */
static void others_do_not_disturb(void **state)
{
    (void)state;
    static struct event_memory memory;
    memset(&memory, 0, sizeof(memory));
    uint32_t count;
    struct pod_event event = waits;
    event_memory_note(&memory, &event, 1, &count);
    event.uid = "u-2";
    assert_int_equal(event_memory_note(&memory, &event, 2, &count), EVENT_CREATE);
    event.warning = false;
    assert_int_equal(event_memory_note(&memory, &event, 2, &count), EVENT_CREATE);
    event.message = "other";
    assert_int_equal(event_memory_note(&memory, &event, 2, &count), EVENT_CREATE);
    for (unsigned i = 0; i < 5 * POD_EVENT_SLOTS; i++) {
        char uid[32];
        snprintf(uid, sizeof(uid), "%u", i);
        event.uid = uid;
        assert_int_equal(event_memory_note(&memory, &event, 3 + i, &count), EVENT_CREATE);
    }
}

static void writes_the_request(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    assert_non_null(arena);
    assert_int_equal(pod_event_request(&waits, 1, NOON, arena, &request, &err), 0);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.path, "/api/v1/namespaces/a/events");
    assert_non_null(strstr(request.body, "\"metadata\":{\"name\":\"w-0."));
    assert_non_null(strstr(request.body, "\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":"
                                         "\"Pod\",\"namespace\":\"a\",\"name\":\"w-0\","
                                         "\"uid\":\"u-1\"},\"type\":\"Warning\","
                                         "\"reason\":\"GangWaits\",\"message\":\"needs 16 nodes, "
                                         "\\\"12\\\" are free\""));
    assert_non_null(strstr(request.body, "\"firstTimestamp\":\"2025-11-30T12:00:00Z\",\"count\":1,"
                                         "\"lastTimestamp\":\"2025-11-30T12:00:00Z\"}"));
    assert_int_equal(pod_event_request(&waits, 7, NOON, arena, &request, &err), 0);
    assert_string_equal(request.method, "PATCH");
    assert_string_equal(request.content_type, "application/merge-patch+json");
    assert_non_null(strstr(request.path, "/api/v1/namespaces/a/events/w-0."));
    assert_string_equal(request.body, "{\"count\":7,\"lastTimestamp\":\"2025-11-30T12:00:00Z\"}");
}

static void an_owner_is_named_by_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *object;
    } kinds[] = {
        {"Job", "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","},
        {"JobSet", "{\"apiVersion\":\"jobset.x-k8s.io/v1alpha2\",\"kind\":\"JobSet\","},
        {"PyTorchJob", "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"PyTorchJob\","},
        {"MPIJob", "{\"kind\":\"MPIJob\","},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct api_request request;
        struct pod_event event = waits;
        event.kind = kinds[i].kind;
        event.name = "train";
        event.uid = "j-1";
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        assert_non_null(arena);
        assert_int_equal(pod_event_request(&event, 1, NOON, arena, &request, &err), 0);
        assert_non_null(strstr(request.body, kinds[i].object));
        assert_non_null(
            strstr(request.body, "\"namespace\":\"a\",\"name\":\"train\",\"uid\":\"j-1\"}"));
        assert_non_null(strstr(request.body, "\"metadata\":{\"name\":\"train."));
    }
}

/* A gang of a thousand pods must not put a thousand events on its Job. */
static void an_owner_is_told_of_few_things_a_minute(void **state)
{
    (void)state;
    static struct event_memory memory;
    memset(&memory, 0, sizeof(memory));
    unsigned made[3] = {0};
    static const uint64_t at[] = {1000, 59000, 61000};
    for (unsigned turn = 0; turn < COUNT_OF(at); turn++)
        for (unsigned i = 0; i < 100; i++) {
            char message[32];
            uint32_t count;
            struct pod_event event = waits;
            snprintf(message, sizeof(message), "pod %u", i);
            event.kind = "Job";
            event.message = message;
            enum event_move move = event_memory_note(&memory, &event, at[turn], &count);
            made[turn] += move == EVENT_CREATE;
            if (move != EVENT_HOLD)
                event_memory_written(&memory, &event, true);
            event.kind = NULL; /* the pods' own are not fewer for it */
            event.uid = message;
            if (turn == 0)
                assert_int_equal(event_memory_note(&memory, &event, at[turn], &count),
                                 EVENT_CREATE);
        }
    assert_int_equal(made[0], POD_EVENT_OWNER_EVENTS);
    assert_int_equal(made[1], 0);
    assert_int_equal(made[2], POD_EVENT_OWNER_EVENTS);
}

static int request_once(void *context, struct error_info *err)
{
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    return arena ? pod_event_request(context, 1, NOON, arena, &request, err)
                 : error_set_memory(err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct pod_event event = waits;
    unit_test_expect_clean_failures(request_once, &event);
}

/* The first event is there already (another replica made it), then it is counted. */
static void answer_events(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    bool post = strncmp(exchange->request, "POST ", 5) == 0;
    fake_api_answer(exchange, post ? 409 : 200, "", "{}");
}

static void events_are_counted_up(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct event_memory memory;
    const struct pod_event event = {
        .namespace = "a", .name = "p", .uid = "u", .reason = "GangWaits", .message = "m"};
    struct api_peer peer = {.answer = answer_events};
    struct error_info err = {.kind = ERROR_NONE};
    memset(&memory, 0, sizeof(memory));
    api_peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
    assert_non_null(client);
    static const uint64_t at[] = {1000, 2000, 3000, 62000, 63000};
    for (size_t i = 0; i < COUNT_OF(at); i++)
        if (pod_event_send(client, &memory, &event, at[i], NOON, &err) < 0)
            fail_msg("%zu: %s", i, err.text);
    api_peer_stop(&peer);
    const char *first = strstr(peer.log, "PATCH ");
    assert_true(strncmp(peer.log, "POST /api/v1/namespaces/a/events ", 33) == 0);
    assert_non_null(first);
    assert_non_null(strstr(first, "{\"count\":2,"));
    assert_non_null(strstr(first + 1, "PATCH "));
    assert_non_null(strstr(first, "{\"count\":4,"));
    assert_null(strstr(first, "{\"count\":5,"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_times),
        cmocka_unit_test(the_first_is_made_the_next_are_counted),
        cmocka_unit_test(one_that_was_not_written_is_made_again),
        cmocka_unit_test(others_do_not_disturb),
        cmocka_unit_test(writes_the_request),
        cmocka_unit_test(an_owner_is_named_by_its_kind),
        cmocka_unit_test(an_owner_is_told_of_few_things_a_minute),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(events_are_counted_up),
    };
    return unit_test_main("k8s_extender/pod_event", tests, COUNT_OF(tests));
}
