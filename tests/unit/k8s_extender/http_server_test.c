/* SPDX-License-Identifier: MIT */
/* The server over real sockets: threads, so not under the torture of memory.h. */
#include "tests/support/http_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
    const char *request;
    unsigned status;
    const char *body;   /* NULL: ours, or of a newer libmicrohttpd its own */
    const char *header; /* must be there */
} cases[] = {
    {"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 200, "POST /echo 5 hello",
     "Content-Type: text/plain; charset=utf-8"},
    {"PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 200, "PUT /echo 0 ", ""},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
     "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
     200, "POST /echo 5 abcde", ""},
    {GET_HEALTH, 200, "ok\n", "Content-Type: text/x-health"},
    {"GET /health?verbose=1 HTTP/1.1\r\nHost: h\r\n\r\n", 200, "ok\n", ""},
    {"HEAD /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 200, "", "Content-Length: 3"},
    {"GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n", 404, "there is no /nowhere here\n", ""},
    {"GET /health/ HTTP/1.1\r\nHost: h\r\n\r\n", 404, "there is no /health/ here\n", ""},
    {"GET /%0a%1b[31m HTTP/1.1\r\nHost: h\r\n\r\n", 404, "there is no /\?\?[31m here\n", ""},
    {"DELETE /echo HTTP/1.1\r\nHost: h\r\n\r\n", 405, "DELETE is not possible here\n",
     "Allow: POST, PUT\r\n"},
    {"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", 405,
     "POST is not possible here\n", "Allow: GET\r\n"},
    {"GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", 413,
     "the body is too large: at most 0 bytes are taken\n", ""},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n", 413,
     "the body is too large: at most 1000 bytes are taken\n", ""},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413,
     "the body is too large: at most 1000 bytes are taken\n", ""},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\n\r\n",
     400, "the length of the body is stated twice\n", "Connection: close"},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400,
     "the length of the body is stated twice\n", "Connection: close"},
    {"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nExpect: 100-continue\r\n\r\n",
     400, NULL, ""},
    {"GET /fail HTTP/1.1\r\nHost: h\r\n\r\n", 500, "", "Connection: close"},
    {"GET /closing HTTP/1.1\r\nHost: h\r\n\r\n", 503, "go elsewhere\n", "Connection: close"},
};

static void answers_each_request(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    http_fixture_start(&fixture, NULL);
    unsigned ours = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char answer[HTTP_ANSWER_BYTES];
        unsigned status = http_fixture_ask(&fixture, cases[i].request, answer);
        const char *body = cases[i].body;
        if (status != cases[i].status || (body && strcmp(loopback_body(answer), body) != 0) ||
            !strstr(answer, cases[i].header))
            fail_msg("%s\nanswered:\n%s", cases[i].request, answer);
        ours += body != NULL || fixture.observed > ours;
        assert_int_equal(fixture.observed, ours);
        assert_true(!body || fixture.last_status == status);
    }
    http_fixture_stop(&fixture);
}

/* libmicrohttpd's own answers: whatever they say, nothing of ours is called. */
static void survives_what_is_no_http(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    static const char *const texts[] = {
        "\r\n\r\n",
        "hello\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "POST /echo HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon here\r\n\r\n"};
    http_fixture_start(&fixture, NULL);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char answer[HTTP_ANSWER_BYTES];
        int fd = http_fixture_connect(&fixture);
        http_fixture_send(fd, texts[i]);
        shutdown(fd, SHUT_WR);
        http_fixture_read(fd, answer);
        assert_true(loopback_status(answer) != 200);
        close(fd);
    }
    assert_int_equal(fixture.calls, 0);
    http_fixture_stop(&fixture);
}

static void keeps_a_connection_and_takes_what_is_pipelined(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    static const char one[] = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n";
    char request[256], answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, NULL);
    int fd = http_fixture_connect(&fixture);
    for (unsigned turn = 0; turn < 3; turn++) {
        snprintf(request, sizeof(request), "%sa%sb%sc", one, one, one);
        assert_true(http_fixture_send(fd, request));
        assert_string_equal(loopback_body(http_fixture_read(fd, answer)), "POST /echo 1 a");
        assert_string_equal(loopback_body(http_fixture_read(fd, answer)), "POST /echo 1 b");
        assert_string_equal(loopback_body(http_fixture_read(fd, answer)), "POST /echo 1 c");
    }
    /* A refusal does not end it either. */
    http_fixture_send(fd, "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 404);
    http_fixture_send(fd, GET_HEALTH);
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 200);
    close(fd);
    assert_int_equal(fixture.calls, 9);
    http_fixture_stop(&fixture);
}

static void says_why_it_cannot_start(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture, other;
    struct error_info err = {.kind = ERROR_NONE};
    char expected[256];
    http_fixture_start(&fixture, NULL);
    const struct http_server_settings taken = {.address = "127.0.0.1",
                                               .port = http_server_port(fixture.server)};
    assert_int_equal(http_fixture_try(&other, &taken, &err), -1);
    snprintf(
        expected, sizeof(expected),
        "127.0.0.1 port %u cannot be listened on: Address already in use; end the program that "
        "listens there, or choose another port",
        taken.port);
    assert_string_equal(err.text, expected);
    assert_int_equal(err.kind, ERROR_INPUT);
    const struct http_server_settings foreign = {.address = "192.0.2.1"}; /* nobody's: RFC 5737 */
    assert_int_equal(http_fixture_try(&other, &foreign, &err), -1);
    assert_non_null(strstr(err.text, "no network interface of this machine has that address"));
    const struct http_server_settings nowhere = {.address = "localhost"};
    assert_int_equal(http_fixture_try(&other, &nowhere, &err), -1);
    assert_string_equal(err.text, "localhost is no IP address to listen on; as 127.0.0.1 or ::1");
    const struct http_server_settings half = {.address = "127.0.0.1", .key_file = "key"};
    assert_int_equal(http_fixture_try(&other, &half, &err), -1);
    assert_string_equal(err.text, "TLS needs a certificate, its key and a client CA, all three");
    http_fixture_stop(&fixture);
    http_server_stop(NULL, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_each_request),
    cmocka_unit_test(survives_what_is_no_http),
    cmocka_unit_test(keeps_a_connection_and_takes_what_is_pipelined),
    cmocka_unit_test(says_why_it_cannot_start),
};

int main(void) { return unit_test_main("k8s_extender/http_server", tests, COUNT_OF(tests)); }
