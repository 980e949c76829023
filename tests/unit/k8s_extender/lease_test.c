/* SPDX-License-Identifier: MIT */
/* A Lease of one object and who would hold it. Threads: not in torture. */
#include "k8s_extender/api/lease.h"
#include "tests/support/api_peer.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define NOON UINT64_C(1764504000000000)

static char lease_object[2048]; /* "" : there is none */
static unsigned lease_version;
static bool lease_broken;

/* Keeps what was written last; a write with another resourceVersion is refused. */
static void answer_lease(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    char version[64], answer[2304];
    bool get = strncmp(exchange->request, "GET ", 4) == 0;
    snprintf(version, sizeof(version), "\"resourceVersion\":\"%u\"", lease_version);
    if (lease_broken) {
        fake_api_answer(exchange, 500, "", "");
        return;
    }
    if (get && !lease_object[0]) {
        fake_api_answer(exchange, 404, "", "{}");
        return;
    }
    if (!get && lease_object[0] && !strstr(exchange->body, version)) {
        fake_api_answer(exchange, 409, "", "{}");
        return;
    }
    if (!get) {
        const char *spec = strstr(exchange->body, "\"spec\":");
        snprintf(lease_object, sizeof(lease_object), "%s", spec ? spec : "\"spec\":{}}");
        lease_version++;
    }
    snprintf(answer, sizeof(answer), "{\"metadata\":{\"resourceVersion\":\"%u\"},%s", lease_version,
             lease_object);
    fake_api_answer(exchange, 200, "", answer);
}

/* Two that want one Lease, which is not there yet. */
struct rivals {
    struct api_peer peer;
    struct api_client *client;
    struct lease *a, *b;
};

static void rivals_start(struct rivals *rivals)
{
    struct lease_settings settings = {"a", "parplan", "a", 10, 7, 2};
    struct error_info err = {.kind = ERROR_NONE};
    *rivals = (struct rivals){.peer = {.answer = answer_lease}};
    lease_object[0] = '\0';
    lease_version = 1;
    api_peer_start(&rivals->peer);
    rivals->client = api_peer_connect(&rivals->peer, &err);
    rivals->a = lease_create(&settings, &err);
    settings.identity = "b";
    rivals->b = lease_create(&settings, &err);
    assert_true(rivals->client && rivals->a && rivals->b);
}

static void rivals_stop(struct rivals *rivals)
{
    api_peer_stop(&rivals->peer);
    lease_free(rivals->a);
    lease_free(rivals->b);
    api_client_free(rivals->client);
}

struct lease_step {
    char who;
    uint64_t at_milliseconds;
    bool broken, leads, troubled;
};

static void one_leads_at_a_time(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct lease_step steps[] = {
        {'a', 0, false, true, false},      {'b', 500, false, false, false},
        {'a', 2000, false, true, false},   {'b', 2500, false, false, false},
        {'a', 4000, true, true, true}, /* no renewal, but still within the deadline */
        {'a', 8000, true, true, true},     {'a', 9000, true, false, true},
        {'b', 11999, false, false, false}, /* seen renewed at 2500: 10 s are not over */
        {'b', 12500, false, true, false},  {'a', 13000, false, false, false},
        {'b', 14000, false, true, false},  {'B', 15000, false, false, false}, /* gives it up */
        {'a', 15500, false, true, false},
    };
    struct rivals rivals;
    rivals_start(&rivals);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct lease_step *step = &steps[i];
        struct lease *lease = step->who == 'a' ? rivals.a : rivals.b;
        char trouble[200] = "";
        unsigned wait = 0;
        __atomic_store_n(&lease_broken, step->broken, __ATOMIC_SEQ_CST);
        if (step->who == 'B') {
            lease_give_up(rivals.b, rivals.client);
            continue;
        }
        bool leads = lease_turn(lease, rivals.client, step->at_milliseconds,
                                NOON + step->at_milliseconds, &wait, trouble, sizeof(trouble));
        if (leads != step->leads || (trouble[0] != '\0') != step->troubled || wait == 0 ||
            (lease_holds(rivals.a, step->at_milliseconds) &&
             lease_holds(rivals.b, step->at_milliseconds)))
            fail_msg("step %zu: leads %d, '%s'", i, leads, trouble);
    }
    rivals_stop(&rivals);
    assert_non_null(strstr(lease_object, "\"holderIdentity\":\"a\""));
    assert_non_null(strstr(lease_object, "\"leaseTransitions\":2"));
}

/* A namespace that is not there: neither a read nor a write finds it, and nobody would ever lead.
 */
static void answer_nothing_there(struct api_peer *peer, struct fake_exchange *exchange)
{
    (void)peer;
    bool get = strncmp(exchange->request, "GET ", 4) == 0;
    fake_api_answer(exchange, 404, "",
                    get ? "{}"
                        : "{\"kind\":\"Status\",\"reason\":\"NotFound\","
                          "\"message\":\"namespaces \\\"a\\\" not found\"}");
}

static void a_lease_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct lease_settings settings = {"a", "parplan", "a", 10, 7, 2};
    struct api_peer peer = {.answer = answer_nothing_there};
    struct error_info err = {.kind = ERROR_NONE};
    char trouble[200] = "";
    unsigned wait = 0;
    api_peer_start(&peer);
    CLEANUP(api_client) struct api_client *client = api_peer_connect(&peer, &err);
    CLEANUP(lease) struct lease *lease = lease_create(&settings, &err);
    assert_true(client && lease);
    assert_false(lease_turn(lease, client, 0, NOON, &wait, trouble, sizeof(trouble)));
    assert_string_equal(trouble, "Lease a/parplan: 404 NotFound: namespaces \"a\" not found");
    api_peer_stop(&peer);
}

/* etcd was restored from a backup: the object is an older one, and so is its version. */
static void a_lease_that_went_back_is_noticed_once(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    static const struct {
        unsigned version; /* 0: as it is */
        char who;
        bool leads, went_back;
    } steps[] = {
        {95, 'a', true, false}, {0, 'b', false, false}, {0, 'a', true, false},
        {9, 'b', false, true},                        /* it only reads */
        {0, 'b', false, false}, {0, 'a', true, true}, /* its write is refused, then it reads */
        {0, 'a', true, false},  {0, 'b', false, false}, {1000, 'a', true, false},
    };
    struct rivals rivals;
    rivals_start(&rivals);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct lease *lease = steps[i].who == 'a' ? rivals.a : rivals.b;
        char trouble[200] = "";
        unsigned wait;
        if (steps[i].version > 0)
            lease_version = steps[i].version;
        bool leads =
            lease_turn(lease, rivals.client, i * 1000, NOON + i, &wait, trouble, sizeof(trouble));
        bool went_back = lease_went_back(lease);
        if (leads != steps[i].leads || went_back != steps[i].went_back || trouble[0])
            fail_msg("step %zu: leads %d, went back %d, '%s'", i, leads, went_back, trouble);
        assert_false(lease_went_back(lease));
    }
    rivals_stop(&rivals);
}

static void a_lease_wants_sensible_times(void **state)
{
    (void)state;
    static const struct lease_settings rows[] = {
        {"a", "l", "me", 10, 10, 2},
        {"a", "l", "me", 10, 7, 7},
        {"a", "l", "me", 10, 7, 0},
        {"a", "l", "", 10, 7, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(lease_create(&rows[i], &err));
        assert_non_null(strstr(err.text, "Lease"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leads_at_a_time),
        cmocka_unit_test(a_lease_that_cannot_be_made_is_told),
        cmocka_unit_test(a_lease_that_went_back_is_noticed_once),
        cmocka_unit_test(a_lease_wants_sensible_times),
    };
    return unit_test_main("k8s_extender/lease", tests, COUNT_OF(tests));
}
