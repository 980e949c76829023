/* SPDX-License-Identifier: MIT */
/* A slow handler, and the end of a server: what is under way goes on. */
#include "k8s_extender/api/time_now.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit_test.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

static void a_slow_handler_holds_up_nobody(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, NULL);
    int fd = http_fixture_connect(&fixture);
    http_fixture_send(fd, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    while (fixture.calls == 0)
        http_fixture_sleep(1);
    assert_int_equal(http_fixture_ask(&fixture, GET_HEALTH, answer), 200);
    assert_false(fixture.slow_has_ended);
    fixture.slow_may_end = true;
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 200);
    close(fd);
    http_fixture_stop(&fixture);
}

/* --- the end ---------------------------------------------------------------------- */

struct ending {
    struct http_fixture *fixture;
    unsigned drain_milliseconds;
    uint64_t took_milliseconds;
    bool after_slow; /* /slow had been answered before */
};

static void *stop_in_thread(void *argument)
{
    struct ending *ending = argument;
    uint64_t begin = time_now_milliseconds();
    http_server_stop(ending->fixture->server, ending->drain_milliseconds);
    ending->took_milliseconds = time_now_milliseconds() - begin;
    ending->after_slow = ending->fixture->slow_has_ended;
    return NULL;
}

/* An answer says that the server has accepted it. */
static int connect_and_ask(const struct http_fixture *fixture)
{
    char answer[HTTP_ANSWER_BYTES];
    int fd = http_fixture_connect(fixture);
    http_fixture_send(fd, GET_HEALTH);
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 200);
    return fd;
}

/* Asks on that connection until its answer says that there will be no other. */
static void wait_for_the_stop(int fd)
{
    char answer[HTTP_ANSWER_BYTES] = "";
    for (unsigned i = 0; i < HTTP_WAIT_SECONDS * 100 && !strstr(answer, "Connection: close");
         i++, http_fixture_sleep(10)) {
        http_fixture_send(fd, GET_HEALTH);
        http_fixture_read(fd, answer);
    }
    assert_non_null(strstr(answer, "Connection: close"));
}

static void answers_what_is_under_way_when_it_stops(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    static struct ending ending;
    pthread_t thread;
    http_fixture_start(&fixture, NULL);
    int fd = connect_and_ask(&fixture), idle = connect_and_ask(&fixture),
        other = connect_and_ask(&fixture);
    http_fixture_send(fd, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    while (fixture.calls == 0)
        http_fixture_sleep(1);
    ending = (struct ending){.fixture = &fixture, .drain_milliseconds = 60000};
    pthread_create(&thread, NULL, stop_in_thread, &ending);
    wait_for_the_stop(other);
    http_fixture_send(idle, GET_HEALTH);
    assert_int_equal(loopback_status(http_fixture_read(idle, answer)), 503);
    assert_string_equal(loopback_body(answer), "parplan is stopping\n");
    assert_false(fixture.slow_has_ended);
    fixture.slow_may_end = true;
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 200);
    assert_non_null(strstr(answer, "Connection: close"));
    pthread_join(thread, NULL);
    assert_true(ending.after_slow && ending.took_milliseconds < ending.drain_milliseconds / 2);
    assert_true(http_fixture_ends(fd) && http_fixture_ends(idle));
    close(fd);
    close(idle);
    close(other);
}

static void waits_no_longer_than_told(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    struct ending ending = {.fixture = &fixture, .drain_milliseconds = 200};
    const struct http_server_settings settings = {.address = "127.0.0.1", .request_seconds = 60};
    http_fixture_start(&fixture, &settings);
    int idle = http_fixture_connect(&fixture), half = http_fixture_connect(&fixture);
    /* By "100 Continue" it is known that the request has begun. */
    http_fixture_send(half, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n"
                            "Expect: 100-continue\r\n\r\n");
    assert_true(recv(half, answer, strlen(CONTINUE), MSG_WAITALL) == (ssize_t)strlen(CONTINUE));
    assert_memory_equal(answer, CONTINUE, strlen(CONTINUE));
    http_fixture_send(half, "half");
    stop_in_thread(&ending);
    assert_true(ending.took_milliseconds > 150 && ending.took_milliseconds < 30000);
    assert_true(http_fixture_ends(idle) && http_fixture_ends(half));
    close(idle);
    close(half);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_slow_handler_holds_up_nobody),
    cmocka_unit_test(answers_what_is_under_way_when_it_stops),
    cmocka_unit_test(waits_no_longer_than_told),
};

int main(void) { return unit_test_main("k8s_extender/http_stop", tests, COUNT_OF(tests)); }
