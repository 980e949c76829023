/* SPDX-License-Identifier: MIT */
/* What a pod with GPUs hears while the cluster is not heard of. */
#include "k8s_extender/api/time_now.h"
#include "k8s_extender/extender/extender.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define STALE_SECONDS 60u

/* The reason that came last counts, and the time since the first. */
static void says_what_the_api_server_said(void **state)
{
    (void)state;
    static const char forbidden[] =
        "403 Forbidden: nodes is forbidden: User \"x\" cannot list resource \"nodes\"";
    static const struct {
        unsigned what;
        const char *trouble, *words, *reason;
    } rows[] = {
        {LIST_NODES, forbidden, "the cluster's nodes for ", forbidden},
        {LIST_PODS, "GET https://h/api/v1/pods: Connection refused", "the cluster's pods for ",
         "GET https://h/api/v1/pods: Connection refused"},
        {HEARD_LEASE, "404 Not\nFound\x1b", "the cluster's Lease for ", "404 Not?Found?"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct extender extender = {.options.stale_seconds = STALE_SECONDS};
        struct hearing *heard = &extender.heard[rows[i].what];
        char why[512] = "", end[256];
        pthread_mutex_init(&extender.lock, NULL);
        assert_true(extender_note_heard(&extender, rows[i].what, "something else"));
        heard->since_milliseconds = time_now_milliseconds() - (STALE_SECONDS + 1) * UINT64_C(1000);
        assert_false(extender_note_heard(&extender, rows[i].what, rows[i].trouble));
        assert_false(extender_ready(&extender, why, sizeof(why)));
        snprintf(end, sizeof(end), " s: %s", rows[i].reason);
        if (!strstr(why, rows[i].words) || !strstr(why, end) || strcmp(strstr(why, end), end) != 0)
            fail_msg("row %zu: '%s'", i, why);
        assert_true(extender_note_heard(&extender, rows[i].what, NULL));
        assert_string_equal(heard->reason, "");
        pthread_mutex_destroy(&extender.lock);
    }
}

static void bounds_what_it_says(void **state)
{
    (void)state;
    struct extender extender = {.options.stale_seconds = 0};
    char reason[2000], why[512];
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    pthread_mutex_init(&extender.lock, NULL);
    extender_note_heard(&extender, LIST_PODS, reason);
    assert_false(extender_ready(&extender, why, sizeof(why)));
    assert_in_range(strlen(why), 300, 400);
    pthread_mutex_destroy(&extender.lock);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_what_the_api_server_said),
    cmocka_unit_test(bounds_what_it_says),
};

int main(void) { return unit_test_main("k8s_extender/extender_ready", tests, COUNT_OF(tests)); }
