/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/gang_service.h"
#include "tests/support/unit_test.h"
#include <string.h>

#define BEGIN                                                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"parplan-llama\","        \
    "\"labels\":{\"app.kubernetes.io/managed-by\":\"parplan\"}"
#define SPEC(label)                                                                                \
    "},\"spec\":{\"clusterIP\":\"None\",\"publishNotReadyAddresses\":true,"                        \
    "\"selector\":{\"parplan.io/gang\":\"" label "\"}}}"
#define OWNER(version, kind)                                                                       \
    ",\"ownerReferences\":[{\"apiVersion\":\"" version "\",\"kind\":\"" kind                       \
    "\",\"name\":\"llama\",\"uid\":\"u-1\"}]"

static const struct {
    const char *label, *owner_kind, *body;
} rows[] = {
    {"llama", NULL, BEGIN SPEC("llama")},
    {"llama", "Job", BEGIN OWNER("batch/v1", "Job") SPEC("llama")},
    {"llama", "StatefulSet", BEGIN OWNER("apps/v1", "StatefulSet") SPEC("llama")},
    {"llama", "ReplicaSet", BEGIN SPEC("llama")},
    {"auto", "Job", BEGIN SPEC("auto")},
    {"", "Job", BEGIN SPEC("")},
};

static int check_row(void *context, struct error_info *err)
{
    size_t i = *(const size_t *)context;
    const struct gang_service service = {.namespace = "team-a",
                                         .name = "parplan-llama",
                                         .gang_label = rows[i].label,
                                         .owner_kind = rows[i].owner_kind,
                                         .owner_name = rows[i].owner_kind ? "llama" : NULL,
                                         .owner_uid = rows[i].owner_kind ? "u-1" : NULL};
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create((size_t)1 << 20);
    if (!arena)
        return error_set_memory(err);
    if (gang_service_request(&service, arena, &request, err) < 0)
        return -1;
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.path, "/api/v1/namespaces/team-a/services");
    assert_string_equal(request.body, rows[i].body);
    return 0;
}

static void selects_the_gang_and_goes_with_its_owner(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        unit_test_expect_clean_failures(check_row, &i);
}

#define SELECTS(label) "\"spec\":{\"selector\":{\"parplan.io/gang\":\"" label "\"}}}"
#define OWNED(uid)                                                                                 \
    "{\"metadata\":{\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"big\",\"uid\":\"" uid "\"}]" \
    "},"
#define BARE "{\"metadata\":{\"name\":\"parplan-llama\"},"

static const struct {
    const char *text;
    enum gang_service_match match;
    const char *others;
} matches[] = {
    {OWNED("u-1") SELECTS("Llama"), SERVICE_SERVES, ""},
    {OWNED("u-0") SELECTS("Llama"), SERVICE_GOES, ""},
    {BARE SELECTS("Llama"), SERVICE_SERVES, ""},
    {"{\"metadata\":{\"deletionTimestamp\":\"2026\"}," SELECTS("Llama"), SERVICE_GOES, ""},
    {"{\"metadata\":{\"deletionTimestamp\":\"2026\"}," SELECTS("llama"), SERVICE_GOES, ""},
    {OWNED("u-0") SELECTS("llama"), SERVICE_OF_OTHERS, "gang llama (Job big)"},
    {BARE SELECTS("lla\\nma"), SERVICE_OF_OTHERS, "gang lla?ma"},
    {BARE "\"spec\":{\"selector\":{\"app\":\"x\"}}}", SERVICE_SERVES, ""}, /* a user's own */
    {BARE "\"spec\":{}}", SERVICE_SERVES, ""},
    {"{}", SERVICE_GOES, ""},
    {"[", SERVICE_GOES, ""},
    {"", SERVICE_GOES, ""},
};

static void tells_whose_a_service_is(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* what memory was missing for is asked again */
    const struct gang_service service = {.namespace = "team-a",
                                         .name = "parplan-llama",
                                         .gang_label = "Llama",
                                         .owner_kind = "Job",
                                         .owner_name = "small",
                                         .owner_uid = "u-1"};
    for (size_t i = 0; i < COUNT_OF(matches); i++) {
        char others[GANG_SERVICE_WORDS_BYTES] = "";
        enum gang_service_match match =
            gang_service_compare(&service, matches[i].text, strlen(matches[i].text), others);
        if (match != matches[i].match || strcmp(others, matches[i].others) != 0)
            fail_msg("row %zu: %d, '%s'", i, match, others);
    }
    struct error_info err = {.kind = ERROR_NONE};
    struct api_request request;
    CLEANUP(arena) struct arena *arena = arena_create((size_t)1 << 20);
    assert_int_equal(gang_service_read_request(&service, arena, &request, &err), 0);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.path, "/api/v1/namespaces/team-a/services/parplan-llama");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tells_whose_a_service_is),
    cmocka_unit_test(selects_the_gang_and_goes_with_its_owner),
};

int main(void) { return unit_test_main("k8s_extender/gang_service", tests, COUNT_OF(tests)); }
