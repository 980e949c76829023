/* SPDX-License-Identifier: MIT */
/* A program that ends, or leads, while the API server hangs. Threads: not in torture. */
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/api/lease.h"
#include "k8s_extender/api/time_now.h"
#include "tests/support/fake_api.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define HANG_MILLISECONDS 8000u
#define SOON_MILLISECONDS                                                                          \
    3000u /* with room for a busy machine, and far from any request's limit                        \
           */

/* It ends the program in the middle of a request, and answers after that time. */
struct peer {
    struct fake_api *api;
    char url[FAKE_API_URL_BYTES];
    unsigned wait_milliseconds;
    bool stop;
    unsigned requests;
};

static void answer_late(void *context, struct fake_exchange *exchange)
{
    struct peer *peer = context;
    peer->requests++;
    __atomic_store_n(&peer->stop, true, __ATOMIC_RELEASE);
    fake_api_wait(exchange, peer->wait_milliseconds);
    if (!exchange->close)
        fake_api_answer(exchange, 200, "", "{}");
}

static struct api_client *peer_start(struct peer *peer, fake_api_fn answer)
{
    struct error_info err = {.kind = ERROR_NONE};
    peer->api = fake_api_start(answer, peer);
    assert_non_null(peer->api);
    fake_api_url(peer->api, peer->url);
    const struct api_config config = {
        .server = peer->url, .user_agent = "test/1", .namespace = "a"};
    struct api_client *client = api_client_create(&config, &err);
    assert_non_null(client);
    return client;
}

static void a_request_that_hangs_is_given_up(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.wait_milliseconds = HANG_MILLISECONDS};
    const struct api_request request = {.method = "GET", .path = "/x"};
    struct api_answer answer = {.status = 0};
    struct error_info first = {.kind = ERROR_NONE}, second = first;
    CLEANUP(api_client) struct api_client *client = peer_start(&peer, answer_late);
    api_client_stop_with(client, &peer.stop);
    uint64_t start = time_now_milliseconds();
    assert_int_equal(api_client_send(client, &request, &answer, &first), -1);
    assert_int_equal(api_client_send(client, &request, &answer, &second), -1); /* not sent */
    uint64_t took = time_now_milliseconds() - start;
    fake_api_stop(peer.api);
    assert_non_null(strstr(first.text, "given up, since the program ends"));
    assert_string_equal(first.text, second.text);
    assert_int_equal(peer.requests, 1);
    assert_in_range(took, API_STOP_MILLISECONDS, SOON_MILLISECONDS);
}

static void an_answer_that_comes_soon_is_taken(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct peer peer = {.wait_milliseconds = API_STOP_MILLISECONDS / 5};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(api_answer) struct api_answer answer = {.status = 0};
    CLEANUP(api_client) struct api_client *client = peer_start(&peer, answer_late);
    api_client_stop_with(client, &peer.stop);
    int result = api_client_send(client, &(struct api_request){.method = "GET", .path = "/x"},
                                 &answer, &err);
    fake_api_stop(peer.api);
    assert_int_equal(result, 0);
    assert_int_equal(answer.status, 200);
}

/* --- the Lease ------------------------------------------------------------------------ */

static void answer_once(void *context, struct fake_exchange *exchange)
{
    struct peer *peer = context;
    bool get = strncmp(exchange->request, "GET ", 4) == 0;
    peer->requests++;
    if (peer->requests > 2)
        fake_api_wait(exchange, HANG_MILLISECONDS);
    else
        fake_api_answer(exchange, get ? 404 : 201, "",
                        get ? "{}"
                            : "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{"
                              "\"holderIdentity\":\"x\"}}");
}

static struct api_client *begin_lease(struct peer *peer, const struct lease_settings *settings,
                                      struct lease **ret)
{
    struct error_info err = {.kind = ERROR_NONE};
    *peer = (struct peer){.requests = 0};
    *ret = lease_create(settings, &err);
    assert_non_null(*ret);
    return peer_start(peer, answer_once);
}

static void a_lease_is_given_back_within_its_second(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct lease_settings settings = {"a", "parplan", "x", 30, 20, 10};
    struct peer peer;
    char trouble[200] = "";
    unsigned wait;
    CLEANUP(lease) struct lease *lease = NULL;
    CLEANUP(api_client) struct api_client *client = begin_lease(&peer, &settings, &lease);
    bool led = lease_turn(lease, client, 1000, 0, &wait, trouble, sizeof(trouble));
    uint64_t start = time_now_milliseconds();
    lease_give_up(lease, client);
    uint64_t took = time_now_milliseconds() - start;
    fake_api_stop(peer.api);
    assert_string_equal(trouble, "");
    assert_true(led);
    assert_int_equal(peer.requests, 3);
    assert_in_range(took, LEASE_GIVE_UP_SECONDS * 900, SOON_MILLISECONDS);
}

/* Renewed at 1 s; the renewal at 5.5 s hangs for its 2 s, and the deadline passes meanwhile. */
static void a_turn_that_outlasts_the_deadline_does_not_lead(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct lease_settings settings = {"a", "parplan", "x", 8, 5, 2};
    struct peer peer;
    char trouble[200] = "";
    unsigned wait;
    CLEANUP(lease) struct lease *lease = NULL;
    CLEANUP(api_client) struct api_client *client = begin_lease(&peer, &settings, &lease);
    bool first = lease_turn(lease, client, 1000, 0, &wait, trouble, sizeof(trouble));
    bool holds = lease_holds(lease, 5500);
    bool second = lease_turn(lease, client, 5500, 0, &wait, trouble, sizeof(trouble));
    fake_api_stop(peer.api);
    assert_true(first && holds);
    assert_string_not_equal(trouble, "");
    assert_false(second);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_request_that_hangs_is_given_up),
    cmocka_unit_test(an_answer_that_comes_soon_is_taken),
    cmocka_unit_test(a_lease_is_given_back_within_its_second),
    cmocka_unit_test(a_turn_that_outlasts_the_deadline_does_not_lead),
};

int main(void) { return unit_test_main("k8s_extender/api_stop", tests, COUNT_OF(tests)); }
