/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/probe.h"
#include "tests/support/fake_api.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

static void answer(void *context, struct fake_exchange *exchange)
{
    unsigned *asked = context;
    ++*asked;
    if (strncmp(exchange->request, "GET /healthz HTTP/1.1\r\n", 23) == 0)
        fake_api_answer(exchange, 200, "", "ok\n");
    else if (strncmp(exchange->request, "GET /moved ", 11) == 0)
        fake_api_answer(exchange, 302, "Location: /healthz\r\n", "");
    else
        fake_api_answer(exchange, 503, "", "parplan is still reading the cluster\n");
}

static const struct {
    const char *path;
    const char *says; /* NULL: all is well */
} rows[] = {
    {"/healthz", NULL},
    {"/readyz", "/readyz: 503: parplan is still reading the cluster"},
    {"/moved", "/moved: 302"},
};

static void says_whether_it_answers(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    unsigned asked = 0;
    char server[FAKE_API_URL_BYTES], url[FAKE_API_URL_BYTES + 32];
    struct fake_api *api = fake_api_start(answer, &asked);
    assert_non_null(api);
    fake_api_url(api, server);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        snprintf(url, sizeof(url), "%s%s", server, rows[i].path);
        int result = probe_ask(url, &err);
        if ((result < 0) != (rows[i].says != NULL) ||
            (rows[i].says && (!strstr(err.text, rows[i].says) || err.kind != ERROR_SYSTEM)))
            fail_msg("%s: %d '%s'", url, result, err.text);
    }
    fake_api_stop(api);
    assert_int_equal(asked, COUNT_OF(rows));
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(probe_ask(url, &err), -1); /* nobody listens there any more */
    assert_int_equal(err.kind, ERROR_SYSTEM);
}

static void wants_a_whole_url(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "127.0.0.1:8888",        "/readyz",
                                      "http://", "http://127.0.0.1:8888", "ftp://127.0.0.1/readyz"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        if (probe_ask(bad[i], &err) == 0 || err.kind != ERROR_INPUT)
            fail_msg("'%s': '%s'", bad[i], err.text);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_whether_it_answers),
    cmocka_unit_test(wants_a_whole_url),
};

int main(void) { return unit_test_main("k8s_extender/probe", tests, COUNT_OF(tests)); }
