/* SPDX-License-Identifier: MIT */
/* Whose bodies take whose memory: over real sockets, with threads, so not under torture. */
#include "k8s_extender/server/http_server.h"
#include "tests/support/loopback_peer.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPEN_MAXIMUM ((size_t)3 << 20)
#define CLOSED_MAXIMUM ((size_t)8 << 20)
#define STALLED_COUNT 20u /* more than all bodies together may have */
#define ANSWER_BYTES 8192u
#define TRIES 1000u

static void take(void *context, const struct http_request *request, struct http_answer *answer)
{
    (void)context;
    text_buffer_add(&answer->body, "%zu\n", request->body_bytes);
}

static const struct http_route routes[] = {
    {"POST", "/open", take, true, OPEN_MAXIMUM},
    {"POST", "/closed", take, false, CLOSED_MAXIMUM},
};

/* Sends so much of an announced body. */
static void post(int fd, const char *path, size_t announced, size_t sent)
{
    static char block[1 << 16];
    char header[128];
    memset(block, 'x', sizeof(block));
    snprintf(header, sizeof(header), "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n",
             path, announced);
    loopback_send(fd, header, strlen(header));
    for (size_t done = 0; done < sent; done += sizeof(block))
        loopback_send(fd, block, sent - done < sizeof(block) ? sent - done : sizeof(block));
}

static unsigned post_whole(uint16_t port, const char *path, size_t bytes)
{
    char answer[ANSWER_BYTES];
    int fd = loopback_connect(port);
    assert_true(fd >= 0);
    post(fd, path, bytes, bytes);
    loopback_receive(fd, answer, sizeof(answer), false);
    close(fd);
    return loopback_status(answer);
}

static void open_routes_have_a_share_of_their_own(void **state)
{
    (void)state;
    int stalled[STALLED_COUNT];
    struct error_info err = {.kind = ERROR_NONE};
    const struct http_server_settings settings = {.address = "127.0.0.1", .request_seconds = 60};
    UNIT_TEST_SKIP_TORTURE();
    struct http_server *server = http_server_start(&settings, routes, COUNT_OF(routes), NULL, &err);
    if (!server)
        fail_msg("%s", err.text);
    uint16_t port = http_server_port(server);
    assert_int_equal(post_whole(port, "/open", OPEN_MAXIMUM), 200);
    for (size_t i = 0; i < STALLED_COUNT; i++) {
        stalled[i] = loopback_connect(port);
        assert_true(stalled[i] >= 0);
        post(stalled[i], "/open", OPEN_MAXIMUM, OPEN_MAXIMUM - 1000);
    }
    unsigned status = 200;
    for (unsigned i = 0; i < TRIES && status == 200; i++)
        status = post_whole(port, "/open", OPEN_MAXIMUM);
    assert_int_equal(status, 503); /* what stalls was read */
    assert_int_equal(post_whole(port, "/closed", CLOSED_MAXIMUM), 200);
    for (size_t i = 0; i < STALLED_COUNT; i++)
        close(stalled[i]);
    for (unsigned i = 0; i < TRIES && status == 503; i++)
        status = post_whole(port, "/open", OPEN_MAXIMUM);
    assert_int_equal(status, 200); /* and is given back */
    http_server_stop(server, 1000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(open_routes_have_a_share_of_their_own),
};

int main(void) { return unit_test_main("k8s_extender/http_bodies", tests, COUNT_OF(tests)); }
