/* SPDX-License-Identifier: MIT */
/* api_client against peers of ours, good and bad. Threads: not in torture. */
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/api/time_now.h"
#include "tests/support/api_peer.h"
#include "tests/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* --- good answers ----------------------------------------------------------------------------- */

static void answer_echo(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_answer(exchange, 200, "", exchange->body[0] ? exchange->body : "nothing");
}

static void one_connection_serves_many(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct api_peer peer = {.answer = answer_echo};
    struct error_info err = {.kind = ERROR_NONE};
    api_peer_start(&peer);
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* not for this machine */
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
    assert_non_null(client);
    const struct api_request requests[] = {
        {.method = "GET", .path = "/a?b=c"},
        {.method = "PATCH",
         .path = "/p",
         .content_type = "application/merge-patch+json",
         .body = "{\"x\":1}",
         .body_bytes = 7},
        {.method = "DELETE", .path = "/p"},
        {.method = "POST", .path = "/p", .body = "", .body_bytes = 0},
    };
    static const char *const bodies[] = {"nothing", "{\"x\":1}", "nothing", "nothing"};
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
        if (api_client_send(client, &requests[i], &answer, &err) < 0)
            fail_msg("%zu: %s", i, err.text);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, bodies[i]);
    }
    unsetenv("http_proxy");
    api_peer_stop(&peer);
    assert_int_equal(peer.connections, 1);
    assert_string_equal(peer.log, "GET /a?b=c HTTP/1.1|\nPATCH /p HTTP/1.1|{\"x\":1}\n"
                                  "DELETE /p HTTP/1.1|\nPOST /p HTTP/1.1|\n");
}

static void answer_elsewhere(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_answer(exchange, 302, "Location: /elsewhere\r\nRetry-After: 7\r\n", "go there");
}

static void no_redirect_is_followed(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct api_peer peer = {.answer = answer_elsewhere};
    struct error_info err = {.kind = ERROR_NONE};
    api_peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
    assert_non_null(client);
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    int result = api_client_send(client, &(struct api_request){.method = "GET", .path = "/x"},
                                 &answer, &err);
    api_peer_stop(&peer);
    assert_int_equal(result, 0);
    assert_int_equal(answer.status, 302);
    assert_int_equal(answer.retry_after_seconds, 7);
    assert_string_equal(peer.log, "GET /x HTTP/1.1|\n");
}

/* --- bad days --------------------------------------------------------------------------------- */

static void answer_nothing(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_wait(exchange, 120000);
}

static void answer_too_much(struct api_peer *peer, struct fake_exchange *exchange)
{
    static char piece[65536];
    (void)peer;
    memset(piece, 'x', sizeof(piece));
    fake_api_text(exchange, "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n");
    while (fake_api_bytes(exchange, piece, sizeof(piece)))
        continue;
}

static void answer_reset(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_text(exchange, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    fake_api_reset(exchange);
}

static void answer_garbage(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    fake_api_text(exchange, "SSH-2.0-OpenSSH_9.2\r\n");
    exchange->close = true;
}

static void no_answer_is_an_error(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        void (*answer)(struct api_peer *peer, struct fake_exchange *exchange);
        const char *reason;
        unsigned timeout_seconds;
    } rows[] = {
        {answer_nothing, "timed out", 1},
        {answer_too_much, "the answer is larger than 4194304 bytes", 60},
        {answer_reset, "GET http://127.0.0.1:", 60},
        {answer_garbage, "GET http://127.0.0.1:", 60},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct api_peer peer = {.answer = rows[i].answer};
        struct error_info err = {.kind = ERROR_NONE};
        struct api_answer answer = {.status = 77};
        api_peer_start(&peer);
        CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
        assert_non_null(client);
        const struct api_request request = {.method = "GET",
                                            .path = "/x?continue=secret",
                                            .timeout_seconds = rows[i].timeout_seconds};
        uint64_t start = time_now_milliseconds();
        int result = api_client_send(client, &request, &answer, &err);
        uint64_t took = time_now_milliseconds() - start;
        api_peer_stop(&peer);
        bool late = strstr(err.text, "timed out") != NULL;
        if (result != -1 || !strstr(err.text, rows[i].reason) || answer.status != 77 ||
            late != (rows[i].answer == answer_nothing) || took >= API_REQUEST_SECONDS * 1000)
            fail_msg("row %zu: %d '%s'", i, result, err.text);
    }
}

static void a_refused_connection_is_an_error(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct api_peer peer = {.answer = answer_echo};
    struct error_info err = {.kind = ERROR_NONE};
    struct api_answer answer = {.status = 0};
    api_peer_start(&peer);
    api_peer_stop(&peer); /* its port is free again */
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
    assert_non_null(client);
    const struct api_request request = {.method = "GET", .path = "/x?continue=secret"};
    assert_int_equal(api_client_send(client, &request, &answer, &err), -1);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "/x: "));
    assert_null(strstr(err.text, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_connection_serves_many),
        cmocka_unit_test(no_redirect_is_followed),
        cmocka_unit_test(no_answer_is_an_error),
        cmocka_unit_test(a_refused_connection_is_an_error),
    };
    return unit_test_main("k8s_extender/api_client", tests, COUNT_OF(tests));
}
