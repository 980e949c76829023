/* SPDX-License-Identifier: MIT */
/*
 * http_fixture: an http_server whose routes echo, wait, answer much, fail or close, what they were
 * asked and what the server told, and clients of it. Threads: not in torture. A failure fails the
 * test.
 *
 *     POST, PUT /echo   "POST /echo 5 hello"; at most ECHO_MAXIMUM bytes; counted as a call
 *     POST /huge        the same with HUGE_MAXIMUM; the routes below are GET
 *     /health           "ok\n" as text/x-health
 *     /slow             "slow\n", once slow_may_end is set; counted as a call
 *     /long             LONG_ANSWER_BYTES
 *     /fail             a body that could not be written
 *     /closing          503 and Connection: close
 */
#ifndef TESTS_SUPPORT_HTTP_FIXTURE_H
#define TESTS_SUPPORT_HTTP_FIXTURE_H

#include "k8s_extender/server/http_server.h"
#include "tests/support/loopback_peer.h"

#include <stdatomic.h>

#define HTTP_ANSWER_BYTES 8192u
#define ECHO_MAXIMUM 1000u
#define HUGE_MAXIMUM ((size_t)100 << 20)
#define LONG_ANSWER_BYTES ((size_t)16 << 20)
#define HTTP_WAIT_SECONDS 10 /* for what is sure to come */
#define GET_HEALTH "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"

/* Static: the server's threads use it, also after a test that failed. */
struct http_fixture {
    struct http_server *server;
    atomic_uint calls;
    atomic_uint last_status, observed, late; /* late: requests that were given up */
    atomic_bool slow_may_end, slow_has_ended;
};

/* settings NULL: the usual ones on 127.0.0.1; http_fixture_observe may be their `observe`. */
void http_fixture_start(struct http_fixture *fixture, const struct http_server_settings *settings);
/* The same, but a failure is told: -1. */
int http_fixture_try(struct http_fixture *fixture, const struct http_server_settings *settings,
                     struct error_info *err);
void http_fixture_stop(struct http_fixture *fixture);
void http_fixture_observe(void *context, const struct http_route *route, unsigned status,
                          double seconds);

int http_fixture_connect(const struct http_fixture *fixture);
bool http_fixture_send(int fd, const char *text);
/* The next answer on that connection; returns its text. */
const char *http_fixture_read(int fd, char answer[HTTP_ANSWER_BYTES]);
/* On a connection of its own; the answer's status. */
unsigned http_fixture_ask(const struct http_fixture *fixture, const char *request,
                          char answer[HTTP_ANSWER_BYTES]);
/* Whether the server has ended it: not just that nothing came for LOOPBACK_SECONDS. */
bool http_fixture_ends(int fd);
void http_fixture_sleep(unsigned milliseconds);

#endif
