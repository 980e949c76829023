/* SPDX-License-Identifier: MIT */
#include "tests/support/http_fixture.h"
#include "tests/support/unit_test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_MILLISECONDS 1000u

/* --- routes ----------------------------------------------------------------------- */

static void echo(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct http_fixture *fixture = context;
    fixture->calls++;
    text_buffer_add(&answer->body, "%s %s %zu %s", request->method, request->path,
                    request->body_bytes, request->body);
}

static void health(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    answer->content_type = "text/x-health";
    text_buffer_add(&answer->body, "ok%s\n", request->body ? " with a body" : "");
}

static void slow(void *context, const struct http_request *request, struct http_answer *answer)
{
    struct http_fixture *fixture = context;
    (void)request;
    fixture->calls++;
    for (unsigned i = 0; i < HTTP_WAIT_SECONDS * 1000 && !fixture->slow_may_end; i++)
        http_fixture_sleep(1);
    fixture->slow_has_ended = true;
    text_buffer_add_text(&answer->body, "slow\n");
}

static void long_answer(void *context, const struct http_request *request,
                        struct http_answer *answer)
{
    (void)context;
    (void)request;
    text_buffer_add_repeated(&answer->body, 'x', LONG_ANSWER_BYTES);
}

static void broken(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    (void)request;
    text_buffer_add_text(&answer->body, "half of it");
    answer->body.failed = true;
}

static void closing(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    (void)request;
    answer->status = 503;
    answer->close = true;
    text_buffer_add_text(&answer->body, "go elsewhere\n");
}

static const struct http_route routes[] = {
    {"POST", "/echo", echo, false, ECHO_MAXIMUM}, {"PUT", "/echo", echo, false, ECHO_MAXIMUM},
    {"GET", "/health", health, true, 0},          {"GET", "/slow", slow, true, 0},
    {"GET", "/long", long_answer, true, 0},       {"GET", "/fail", broken, true, 0},
    {"GET", "/closing", closing, true, 0},        {"POST", "/huge", echo, false, HUGE_MAXIMUM},
};

/* --- the server ------------------------------------------------------------------- */

void http_fixture_observe(void *context, const struct http_route *route, unsigned status,
                          double seconds)
{
    struct http_fixture *fixture = context;
    assert_true(seconds >= 0);
    fixture->last_status = status;
    fixture->observed++;
    fixture->late += status == 408 && !route;
}

int http_fixture_try(struct http_fixture *fixture, const struct http_server_settings *settings,
                     struct error_info *err)
{
    static const struct http_server_settings usual = {
        .address = "127.0.0.1", .connections_maximum = 32, .observe = http_fixture_observe};
    memset(fixture, 0, sizeof(*fixture));
    fixture->server =
        http_server_start(settings ? settings : &usual, routes, COUNT_OF(routes), fixture, err);
    return fixture->server ? 0 : -1;
}

void http_fixture_start(struct http_fixture *fixture, const struct http_server_settings *settings)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (http_fixture_try(fixture, settings, &err) < 0)
        fail_msg("%s", err.text);
}

void http_fixture_stop(struct http_fixture *fixture)
{
    http_server_stop(fixture->server, DRAIN_MILLISECONDS);
}

/* --- clients ---------------------------------------------------------------------- */

int http_fixture_connect(const struct http_fixture *fixture)
{
    int fd = loopback_connect(http_server_port(fixture->server));
    assert_true(fd >= 0);
    return fd;
}

bool http_fixture_send(int fd, const char *text) { return loopback_send(fd, text, strlen(text)); }

const char *http_fixture_read(int fd, char answer[HTTP_ANSWER_BYTES])
{
    loopback_receive(fd, answer, HTTP_ANSWER_BYTES, true);
    return answer;
}

unsigned http_fixture_ask(const struct http_fixture *fixture, const char *request,
                          char answer[HTTP_ANSWER_BYTES])
{
    int fd = http_fixture_connect(fixture);
    http_fixture_send(fd, request);
    http_fixture_read(fd, answer);
    close(fd);
    return loopback_status(answer);
}

bool http_fixture_ends(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

void http_fixture_sleep(unsigned milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000,
                                  .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}
