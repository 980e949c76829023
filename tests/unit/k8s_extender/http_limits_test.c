/* SPDX-License-Identifier: MIT */
/* Peers that send too much, too slowly or in part, that do not read, or that are too many. */
#include "k8s_extender/api/time_now.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define DRIP_MILLISECONDS 20000u

/* Who sends or reads for longer than a second is given up. */
static const struct http_server_settings impatient = {
    .address = "127.0.0.1", .request_seconds = 1, .observe = http_fixture_observe};

/* --- bodies that are too large ---------------------------------------------------- */

static bool send_body(int fd, const char *header, size_t bytes)
{
    static char block[1 << 16];
    memset(block, 'x', sizeof(block));
    bool sent = http_fixture_send(fd, header);
    for (size_t done = 0; done < bytes && sent; done += sizeof(block))
        sent =
            loopback_send(fd, block, bytes - done < sizeof(block) ? bytes - done : sizeof(block));
    return sent;
}

static void refuses_ten_megabytes_after_reading_them(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, NULL);
    int fd = http_fixture_connect(&fixture);
    assert_true(send_body(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10485760\r\n\r\n",
                          10485760));
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 413);
    http_fixture_send(fd, GET_HEALTH); /* the connection goes on */
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 200);
    close(fd);
    assert_int_equal(fixture.calls, 0);
    http_fixture_stop(&fixture);
}

static void bounds_the_bodies_of_all_requests(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .request_seconds = 60, .observe = http_fixture_observe};
    char answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, &settings);
    int fd = http_fixture_connect(&fixture);
    assert_true(send_body(fd, "POST /huge HTTP/1.1\r\nHost: h\r\nContent-Length: 62914560\r\n\r\n",
                          62914560));
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 503);
    assert_string_equal(loopback_body(answer), "there is no memory for the body\n");
    assert_true(send_body(fd, "POST /huge HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n",
                          9000000));
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)),
                     200); /* what was taken is given back */
    close(fd);
    assert_int_equal(fixture.calls, 1);
    http_fixture_stop(&fixture);
}

static void ends_chunks_without_end(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES], chunk[4096 + 16];
    http_fixture_start(&fixture, NULL);
    int fd = http_fixture_connect(&fixture);
    http_fixture_send(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    int prefix = snprintf(chunk, sizeof(chunk), "1000\r\n");
    memset(chunk + prefix, 'x', 4096);
    memcpy(chunk + prefix + 4096, "\r\n", 2);
    bool sent = true;
    for (size_t i = 0; i < 100000 && sent; i++) /* 400 MB */
        sent = loopback_send(fd, chunk, (size_t)prefix + 4096 + 2);
    assert_false(sent);
    close(fd);
    assert_int_equal(http_fixture_ask(&fixture, GET_HEALTH, answer), 200);
    assert_int_equal(fixture.calls, 0);
    http_fixture_stop(&fixture);
}

/* --- slow and broken peers -------------------------------------------------------- */

/* One byte each 50 ms, until the server has had enough; the milliseconds that took. */
static uint64_t drip(int fd, const char *text)
{
    uint64_t begin = time_now_milliseconds();
    char byte;
    for (const char *read = text; time_now_milliseconds() - begin < DRIP_MILLISECONDS;
         read = read[1] ? read + 1 : read) {
        if (send(fd, read, 1, MSG_NOSIGNAL) <= 0 ||
            recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
            break;
        http_fixture_sleep(50);
    }
    return time_now_milliseconds() - begin;
}

static void gives_up_a_header_that_drips(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, &impatient);
    int fd = http_fixture_connect(&fixture), silent = http_fixture_connect(&fixture);
    http_fixture_send(silent, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
    uint64_t took =
        drip(fd, "GET /health HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(took > 900 && took < DRIP_MILLISECONDS);
    assert_int_equal(loopback_status(http_fixture_read(fd, answer)), 408);
    assert_string_equal(loopback_body(answer), "the request did not arrive whole in its time\n");
    assert_int_equal(loopback_status(http_fixture_read(silent, answer)), 408);
    assert_true(http_fixture_ends(fd) && http_fixture_ends(silent));
    close(fd);
    close(silent);
    assert_int_equal(fixture.late, 2);
    assert_int_equal(fixture.calls, 0);
    http_fixture_stop(&fixture);
}

static void gives_up_a_first_line_that_drips(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .idle_seconds = 2, .request_seconds = 1};
    http_fixture_start(&fixture, &settings);
    int fd = http_fixture_connect(&fixture);
    uint64_t took =
        drip(fd, "GET /healthzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
                 "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
    assert_true(took > 2500 && took < DRIP_MILLISECONDS);
    assert_true(http_fixture_ends(fd));
    close(fd);
    int idle = http_fixture_connect(&fixture);
    assert_true(http_fixture_ends(idle));
    close(idle);
    http_fixture_stop(&fixture);
}

static void takes_no_half_body(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    http_fixture_start(&fixture, NULL);
    int fd = http_fixture_connect(&fixture);
    http_fixture_send(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
    shutdown(fd, SHUT_WR);
    assert_true(loopback_status(http_fixture_read(fd, answer)) != 200);
    close(fd);
    assert_int_equal(fixture.calls, 0);
    http_fixture_stop(&fixture);
}

/* Of the long answer, by one who reads nothing for so long. */
static size_t read_late(const struct http_fixture *fixture, unsigned milliseconds)
{
    char piece[HTTP_ANSWER_BYTES];
    size_t bytes = 0;
    int fd = http_fixture_connect(fixture);
    http_fixture_send(fd, "GET /long HTTP/1.1\r\nHost: h\r\n\r\n");
    http_fixture_sleep(milliseconds);
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
    static struct http_fixture fixture;
    char answer[HTTP_ANSWER_BYTES];
    signal(SIGPIPE, SIG_DFL);
    http_fixture_start(&fixture, &impatient);
    for (unsigned i = 0; i < 8; i++) {
        int fd = http_fixture_connect(&fixture);
        const struct linger at_once = {.l_onoff = 1};
        http_fixture_send(fd, "GET /long HTTP/1.1\r\nHost: h\r\n\r\n");
        recv(fd, answer, 16, 0);
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        close(fd);
    }
    /* Who does not take his answer in a second loses it; a busy server may need longer to see it.
     */
    size_t got = LONG_ANSWER_BYTES;
    for (unsigned wait = 1500; wait <= 12000 && got >= LONG_ANSWER_BYTES; wait *= 2)
        got = read_late(&fixture, wait);
    assert_true(got < LONG_ANSWER_BYTES);
    assert_int_equal(http_fixture_ask(&fixture, GET_HEALTH, answer), 200);
    http_fixture_stop(&fixture);
}

/* --- many at once ----------------------------------------------------------------- */

static void limits_connections(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static struct http_fixture fixture;
    enum { MAXIMUM = 4 };
    const struct http_server_settings settings = {
        .address = "127.0.0.1", .connections_maximum = MAXIMUM, .observe = http_fixture_observe};
    char answer[HTTP_ANSWER_BYTES];
    int fds[MAXIMUM];
    http_fixture_start(&fixture, &settings);
    for (unsigned i = 0; i < MAXIMUM; i++) {
        fds[i] = http_fixture_connect(&fixture);
        http_fixture_send(fds[i], GET_HEALTH);
        assert_int_equal(loopback_status(http_fixture_read(fds[i], answer)), 200);
    }
    int more = http_fixture_connect(&fixture);
    const struct timeval soon = {.tv_usec = 200000};
    setsockopt(more, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    http_fixture_send(more, GET_HEALTH);
    assert_int_equal(loopback_status(http_fixture_read(more, answer)), 0);
    close(more);
    for (unsigned i = 0; i < MAXIMUM; i++) {
        http_fixture_send(fds[i], GET_HEALTH);
        assert_int_equal(loopback_status(http_fixture_read(fds[i], answer)), 200);
        close(fds[i]);
    }
    unsigned status = 0;
    for (unsigned i = 0; i < HTTP_WAIT_SECONDS * 50 && status != 200; i++, http_fixture_sleep(20))
        status = http_fixture_ask(&fixture, GET_HEALTH, answer);
    assert_int_equal(status, 200);
    http_fixture_stop(&fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refuses_ten_megabytes_after_reading_them),
    cmocka_unit_test(bounds_the_bodies_of_all_requests),
    cmocka_unit_test(ends_chunks_without_end),
    cmocka_unit_test(gives_up_a_header_that_drips),
    cmocka_unit_test(gives_up_a_first_line_that_drips),
    cmocka_unit_test(takes_no_half_body),
    cmocka_unit_test(outlives_peers_that_do_not_read),
    cmocka_unit_test(limits_connections),
};

int main(void) { return unit_test_main("k8s_extender/http_limits", tests, COUNT_OF(tests)); }
