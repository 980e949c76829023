/* SPDX-License-Identifier: MIT */
/* The server over real sockets: threads, so not under the torture of memory.h. */
#include "k8s_extender/server/http_server.h"
#include "tests/support/loopback_peer.h"
#include "tests/support/unit_test.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define ANSWER_BYTES 8192u
#define ECHO_MAXIMUM 1000u
#define HUGE_MAXIMUM ((size_t)100 << 20)
#define LONG_ANSWER_BYTES ((size_t)16 << 20)
#define WAIT_SECONDS 10 /* for what is sure to come */
#define DRIP_SECONDS 20
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

static struct http_server *server;
static atomic_uint calls, last_status, observed, late;
static atomic_bool slow_may_end, slow_has_ended;

/* --- routes ----------------------------------------------------------------------- */

static void echo(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    calls++;
    text_buffer_add(&answer->body, "%s %s %zu %s", request->method, request->path,
                    request->body_bytes, request->body);
}

static void health(void *context, const struct http_request *request, struct http_answer *answer)
{
    assert_true(context == &calls);
    answer->content_type = "text/x-health";
    text_buffer_add(&answer->body, "ok%s\n", request->body ? " with a body" : "");
}

static void sleep_milliseconds(unsigned milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000,
                                  .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Until the test lets it. */
static void slow(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    (void)request;
    calls++;
    for (unsigned i = 0; i < WAIT_SECONDS * 1000 && !slow_may_end; i++)
        sleep_milliseconds(1);
    slow_has_ended = true;
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

static void observe(void *context, const struct http_route *route, unsigned status, double seconds)
{
    assert_true(context == &calls);
    assert_true(seconds >= 0);
    last_status = status;
    observed++;
    late += status == 408 && !route;
}

/* --- a client --------------------------------------------------------------------- */

static void start_with(const struct http_server_settings *settings)
{
    struct error_info err = {.kind = ERROR_NONE};
    calls = observed = late = 0;
    slow_may_end = slow_has_ended = false;
    server = http_server_start(settings, routes, COUNT_OF(routes), &calls, &err);
    if (!server)
        fail_msg("%s", err.text);
}

static void start(void)
{
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .connections_maximum = 32, .observe = observe};
    start_with(&settings);
}

/* Who sends or reads for longer than a second is given up. */
static void start_impatient(void)
{
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .request_seconds = 1, .observe = observe};
    start_with(&settings);
}

static void stop(void) { http_server_stop(server, 1000); }

static int connect_client(void)
{
    int fd = loopback_connect(http_server_port(server));
    assert_true(fd >= 0);
    return fd;
}

static bool send_text(int fd, const char *text) { return loopback_send(fd, text, strlen(text)); }

static const char *read_answer(int fd, char answer[ANSWER_BYTES])
{
    loopback_receive(fd, answer, ANSWER_BYTES, true);
    return answer;
}

/* On a connection of its own. */
static unsigned ask(const char *request, char answer[ANSWER_BYTES])
{
    int fd = connect_client();
    send_text(fd, request);
    read_answer(fd, answer);
    close(fd);
    return loopback_status(answer);
}

/* Not just that nothing came for LOOPBACK_SECONDS. */
static bool ends(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static double seconds_now(void) { return loopback_now_microseconds() * 1e-6; }

/* --- requests --------------------------------------------------------------------- */

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
    {"GET /health HTTP/1.1\r\nHost: h\r\n\r\n", 200, "ok\n", "Content-Type: text/x-health"},
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
    start();
    unsigned ours = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char answer[ANSWER_BYTES];
        unsigned status = ask(cases[i].request, answer);
        const char *body = cases[i].body;
        if (status != cases[i].status || (body && strcmp(loopback_body(answer), body) != 0) ||
            !strstr(answer, cases[i].header))
            fail_msg("%s\nanswered:\n%s", cases[i].request, answer);
        ours += body != NULL || observed > ours;
        assert_int_equal(observed, ours);
        assert_true(!body || last_status == status);
    }
    stop();
}

/* libmicrohttpd's own answers: whatever they say, nothing of ours is called. */
static void survives_what_is_no_http(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const char *const texts[] = {
        "\r\n\r\n",
        "hello\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "POST /echo HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon here\r\n\r\n"};
    start();
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char answer[ANSWER_BYTES];
        int fd = connect_client();
        send_text(fd, texts[i]);
        shutdown(fd, SHUT_WR);
        read_answer(fd, answer);
        assert_true(loopback_status(answer) != 200);
        close(fd);
    }
    assert_int_equal(calls, 0);
    stop();
}

static void keeps_a_connection_and_takes_what_is_pipelined(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const char one[] = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n";
    char request[256], answer[ANSWER_BYTES];
    start();
    int fd = connect_client();
    for (unsigned turn = 0; turn < 3; turn++) {
        snprintf(request, sizeof(request), "%sa%sb%sc", one, one, one);
        assert_true(send_text(fd, request));
        assert_string_equal(loopback_body(read_answer(fd, answer)), "POST /echo 1 a");
        assert_string_equal(loopback_body(read_answer(fd, answer)), "POST /echo 1 b");
        assert_string_equal(loopback_body(read_answer(fd, answer)), "POST /echo 1 c");
    }
    /* A refusal does not end it either. */
    send_text(fd, "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(loopback_status(read_answer(fd, answer)), 404);
    send_text(fd, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(loopback_status(read_answer(fd, answer)), 200);
    close(fd);
    assert_int_equal(calls, 9);
    stop();
}

/* --- bodies that are too large ---------------------------------------------------- */

static bool send_body(int fd, const char *header, size_t bytes)
{
    static char block[1 << 16];
    memset(block, 'x', sizeof(block));
    bool sent = send_text(fd, header);
    for (size_t done = 0; done < bytes && sent; done += sizeof(block))
        sent =
            loopback_send(fd, block, bytes - done < sizeof(block) ? bytes - done : sizeof(block));
    return sent;
}

static void refuses_ten_megabytes_after_reading_them(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    start();
    int fd = connect_client();
    assert_true(send_body(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10485760\r\n\r\n",
                          10485760));
    assert_int_equal(loopback_status(read_answer(fd, answer)), 413);
    send_text(fd, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"); /* the connection goes on */
    assert_int_equal(loopback_status(read_answer(fd, answer)), 200);
    close(fd);
    assert_int_equal(calls, 0);
    stop();
}

static void bounds_the_bodies_of_all_requests(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .request_seconds = 60, .observe = observe};
    char answer[ANSWER_BYTES];
    start_with(&settings);
    int fd = connect_client();
    assert_true(send_body(fd, "POST /huge HTTP/1.1\r\nHost: h\r\nContent-Length: 62914560\r\n\r\n",
                          62914560));
    assert_int_equal(loopback_status(read_answer(fd, answer)), 503);
    assert_string_equal(loopback_body(answer), "there is no memory for the body\n");
    assert_true(send_body(fd, "POST /huge HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n",
                          9000000));
    assert_int_equal(loopback_status(read_answer(fd, answer)),
                     200); /* what was taken is given back */
    close(fd);
    assert_int_equal(calls, 1);
    stop();
}

static void ends_chunks_without_end(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES], chunk[4096 + 16];
    start();
    int fd = connect_client();
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    int prefix = snprintf(chunk, sizeof(chunk), "1000\r\n");
    memset(chunk + prefix, 'x', 4096);
    memcpy(chunk + prefix + 4096, "\r\n", 2);
    bool sent = true;
    for (size_t i = 0; i < 100000 && sent; i++) /* 400 MB */
        sent = loopback_send(fd, chunk, (size_t)prefix + 4096 + 2);
    assert_false(sent);
    close(fd);
    assert_int_equal(ask("GET /health HTTP/1.1\r\nHost: h\r\n\r\n", answer), 200);
    assert_int_equal(calls, 0);
    stop();
}

/* --- slow and broken peers -------------------------------------------------------- */

/* One byte each 50 ms, until the server has had enough; the seconds that took. */
static double drip(int fd, const char *text)
{
    double begin = seconds_now();
    char byte;
    for (const char *read = text; seconds_now() - begin < DRIP_SECONDS;
         read = read[1] ? read + 1 : read) {
        if (send(fd, read, 1, MSG_NOSIGNAL) <= 0 ||
            recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
            break;
        sleep_milliseconds(50);
    }
    return seconds_now() - begin;
}

static void gives_up_a_header_that_drips(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    start_impatient();
    int fd = connect_client(), silent = connect_client();
    send_text(silent, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
    double seconds =
        drip(fd, "GET /health HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(seconds > 0.9 && seconds < DRIP_SECONDS);
    assert_int_equal(loopback_status(read_answer(fd, answer)), 408);
    assert_string_equal(loopback_body(answer), "the request did not arrive whole in its time\n");
    assert_int_equal(loopback_status(read_answer(silent, answer)), 408);
    assert_true(ends(fd) && ends(silent));
    close(fd);
    close(silent);
    assert_int_equal(late, 2);
    assert_int_equal(calls, 0);
    stop();
}

static void gives_up_a_first_line_that_drips(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .idle_seconds = 2, .request_seconds = 1};
    start_with(&settings);
    int fd = connect_client();
    double seconds =
        drip(fd, "GET /healthzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
                 "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
    assert_true(seconds > 2.5 && seconds < DRIP_SECONDS);
    assert_true(ends(fd));
    close(fd);
    int idle = connect_client();
    assert_true(ends(idle));
    close(idle);
    stop();
}

static void takes_no_half_body(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    start();
    int fd = connect_client();
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
    shutdown(fd, SHUT_WR);
    assert_true(loopback_status(read_answer(fd, answer)) != 200);
    close(fd);
    assert_int_equal(calls, 0);
    stop();
}

/* Of the long answer, by one who reads nothing for so long. */
static size_t read_late(unsigned milliseconds)
{
    char piece[ANSWER_BYTES];
    size_t bytes = 0;
    int fd = connect_client();
    send_text(fd, "GET /long HTTP/1.1\r\nHost: h\r\n\r\n");
    sleep_milliseconds(milliseconds);
    for (ssize_t more = 1; more > 0; bytes += more > 0 ? (size_t)more : 0)
        more = recv(fd, piece, sizeof(piece), 0);
    close(fd);
    return bytes;
}

/* SIGPIPE would end this program. */
static void outlives_peers_that_do_not_read(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    signal(SIGPIPE, SIG_DFL);
    start_impatient();
    for (unsigned i = 0; i < 8; i++) {
        int fd = connect_client();
        const struct linger at_once = {.l_onoff = 1};
        send_text(fd, "GET /long HTTP/1.1\r\nHost: h\r\n\r\n");
        recv(fd, answer, 16, 0);
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        close(fd);
    }
    /* Who does not take his answer in a second loses it; a busy server may need longer to see it.
     */
    size_t got = LONG_ANSWER_BYTES;
    for (unsigned wait = 1500; wait <= 12000 && got >= LONG_ANSWER_BYTES; wait *= 2)
        got = read_late(wait);
    assert_true(got < LONG_ANSWER_BYTES);
    assert_int_equal(ask("GET /health HTTP/1.1\r\nHost: h\r\n\r\n", answer), 200);
    stop();
}

/* --- many at once ----------------------------------------------------------------- */

static void a_slow_handler_holds_up_nobody(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    start();
    int fd = connect_client();
    send_text(fd, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    while (calls == 0)
        sleep_milliseconds(1);
    assert_int_equal(ask("GET /health HTTP/1.1\r\nHost: h\r\n\r\n", answer), 200);
    assert_false(slow_has_ended);
    slow_may_end = true;
    assert_int_equal(loopback_status(read_answer(fd, answer)), 200);
    close(fd);
    stop();
}

static void limits_connections(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    enum { MAXIMUM = 4 };
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .connections_maximum = MAXIMUM, .observe = observe};
    char answer[ANSWER_BYTES];
    int fds[MAXIMUM];
    start_with(&settings);
    for (unsigned i = 0; i < MAXIMUM; i++) {
        fds[i] = connect_client();
        send_text(fds[i], "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_int_equal(loopback_status(read_answer(fds[i], answer)), 200);
    }
    int more = connect_client();
    const struct timeval soon = {.tv_usec = 200000};
    setsockopt(more, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    send_text(more, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(loopback_status(read_answer(more, answer)), 0);
    close(more);
    for (unsigned i = 0; i < MAXIMUM; i++) {
        send_text(fds[i], "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_int_equal(loopback_status(read_answer(fds[i], answer)), 200);
        close(fds[i]);
    }
    unsigned status = 0;
    for (unsigned i = 0; i < WAIT_SECONDS * 50 && status != 200; i++, sleep_milliseconds(20))
        status = ask("GET /health HTTP/1.1\r\nHost: h\r\n\r\n", answer);
    assert_int_equal(status, 200);
    stop();
}

/* --- the end ---------------------------------------------------------------------- */

struct ending {
    unsigned drain_milliseconds, took_milliseconds;
    bool after_slow; /* /slow had been answered before */
};

static void *stop_in_thread(void *argument)
{
    struct ending *ending = argument;
    double begin = seconds_now();
    http_server_stop(server, ending->drain_milliseconds);
    ending->took_milliseconds = (unsigned)((seconds_now() - begin) * 1000);
    ending->after_slow = slow_has_ended;
    return NULL;
}

/* Asks on that connection until the server is stopping; what it said then. */
static unsigned ask_until_refused(int fd, char answer[ANSWER_BYTES])
{
    unsigned status = 200;
    for (unsigned i = 0; i < WAIT_SECONDS * 100 && status == 200; i++, sleep_milliseconds(10)) {
        send_text(fd, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
        status = loopback_status(read_answer(fd, answer));
    }
    return status;
}

static void answers_what_is_under_way_when_it_stops(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    struct ending ending = {.drain_milliseconds = 60000};
    pthread_t thread;
    start();
    int fd = connect_client(), idle = connect_client();
    send_text(fd, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    while (calls == 0)
        sleep_milliseconds(1);
    pthread_create(&thread, NULL, stop_in_thread, &ending);
    assert_int_equal(ask_until_refused(idle, answer), 503);
    assert_string_equal(loopback_body(answer), "parplan is stopping\n");
    assert_false(slow_has_ended);
    slow_may_end = true;
    assert_int_equal(loopback_status(read_answer(fd, answer)), 200);
    assert_non_null(strstr(answer, "Connection: close"));
    pthread_join(thread, NULL);
    assert_true(ending.after_slow && ending.took_milliseconds < ending.drain_milliseconds / 2);
    assert_true(ends(fd) && ends(idle));
    close(fd);
    close(idle);
}

static void waits_no_longer_than_told(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    char answer[ANSWER_BYTES];
    struct ending ending = {.drain_milliseconds = 200};
    const struct http_server_settings settings = {.address = "127.0.0.1", .request_seconds = 60};
    start_with(&settings);
    int idle = connect_client(), half = connect_client();
    /* By "100 Continue" it is known that the request has begun. */
    send_text(half, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n"
                    "Expect: 100-continue\r\n\r\n");
    assert_true(recv(half, answer, strlen(CONTINUE), MSG_WAITALL) == (ssize_t)strlen(CONTINUE));
    assert_memory_equal(answer, CONTINUE, strlen(CONTINUE));
    send_text(half, "half");
    stop_in_thread(&ending);
    assert_true(ending.took_milliseconds > 150 && ending.took_milliseconds < 30000);
    assert_true(ends(idle) && ends(half));
    close(idle);
    close(half);
}

static void says_why_it_cannot_start(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    char expected[256];
    start();
    const struct http_server_settings taken = {.address = "127.0.0.1",
                                               .port = http_server_port(server)};
    assert_null(http_server_start(&taken, routes, COUNT_OF(routes), NULL, &err));
    snprintf(
        expected, sizeof(expected),
        "127.0.0.1 port %u cannot be listened on: Address already in use; end the program that "
        "listens there, or choose another port",
        taken.port);
    assert_string_equal(err.text, expected);
    assert_int_equal(err.kind, ERROR_INPUT);
    const struct http_server_settings foreign = {.address = "192.0.2.1"}; /* nobody's: RFC 5737 */
    assert_null(http_server_start(&foreign, routes, COUNT_OF(routes), NULL, &err));
    assert_non_null(strstr(err.text, "no network interface of this machine has that address"));
    const struct http_server_settings nowhere = {.address = "localhost"};
    assert_null(http_server_start(&nowhere, routes, COUNT_OF(routes), NULL, &err));
    assert_string_equal(err.text, "localhost is no IP address to listen on; as 127.0.0.1 or ::1");
    const struct http_server_settings half = {.address = "127.0.0.1", .key_file = "key"};
    assert_null(http_server_start(&half, routes, COUNT_OF(routes), NULL, &err));
    assert_string_equal(err.text, "TLS needs a certificate, its key and a client CA, all three");
    stop();
    http_server_stop(NULL, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_each_request),
    cmocka_unit_test(survives_what_is_no_http),
    cmocka_unit_test(keeps_a_connection_and_takes_what_is_pipelined),
    cmocka_unit_test(refuses_ten_megabytes_after_reading_them),
    cmocka_unit_test(bounds_the_bodies_of_all_requests),
    cmocka_unit_test(ends_chunks_without_end),
    cmocka_unit_test(gives_up_a_header_that_drips),
    cmocka_unit_test(gives_up_a_first_line_that_drips),
    cmocka_unit_test(takes_no_half_body),
    cmocka_unit_test(outlives_peers_that_do_not_read),
    cmocka_unit_test(a_slow_handler_holds_up_nobody),
    cmocka_unit_test(limits_connections),
    cmocka_unit_test(answers_what_is_under_way_when_it_stops),
    cmocka_unit_test(waits_no_longer_than_told),
    cmocka_unit_test(says_why_it_cannot_start),
};

int main(void) { return unit_test_main("k8s_extender/http_server", tests, COUNT_OF(tests)); }
