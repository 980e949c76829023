/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/lease_decision.h"
#include "k8s_extender/api/resource_version.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define DEFAULT_SECONDS 10u

static int read_text(const char *text, struct lease_record *ret, struct error_info *err)
{
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text, strlen(text), "Lease", err);
    return object ? lease_record_read(object, ret, err) : -1;
}

static void reads_the_object(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct lease_record record;
    int result =
        read_text("{\"metadata\":{\"resourceVersion\":\"12\"},\"spec\":{\"holderIdentity\":\"me\","
                  "\"leaseDurationSeconds\":15,\"acquireTime\":\"a\",\"renewTime\":\"r\","
                  "\"leaseTransitions\":3}}",
                  &record, &err);
    if (result < 0)
        fail_msg("%s", err.text);
    assert_true(record.exists);
    assert_string_equal(record.resource_version, "12");
    assert_string_equal(record.holder, "me");
    assert_string_equal(record.acquire_time, "a");
    assert_string_equal(record.renew_time, "r");
    assert_int_equal(record.duration_seconds, 15);
    assert_int_equal(record.transitions, 3);
}

/* One that somebody wrote by hand must not keep everybody from leading. */
static void what_is_no_value_counts_as_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":null}",
        ("{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":null,"
         "\"leaseDurationSeconds\":-1,\"renewTime\":7,\"leaseTransitions\":\"x\"}}"),
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"leaseDurationSeconds\":99999999}}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct lease_record record;
        if (read_text(texts[i], &record, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        assert_string_equal(record.holder, "");
        assert_string_equal(record.renew_time, "");
        assert_int_equal(record.duration_seconds, 0);
        assert_int_equal(record.transitions, 0);
    }
}

static void refuses_what_cannot_be_written_back(void **state)
{
    (void)state;
    char text[600];
    struct error_info err = {.kind = ERROR_NONE};
    struct lease_record record = {.duration_seconds = 77};
    assert_int_equal(read_text("{\"metadata\":{}}", &record, &err), -1);
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":\"%0300d\"}}",
             0);
    assert_int_equal(read_text(text, &record, &err), -1);
    assert_int_equal(record.duration_seconds, 77);
}

/* What is read at a time, and what is to be done. */
struct step {
    uint64_t at_milliseconds;
    const char *holder; /* NULL: there is no Lease */
    const char *renewed;
    unsigned duration_seconds, transitions;
    enum lease_move move;
    uint64_t left_milliseconds;
};

struct story {
    const char *name;
    struct step steps[6]; /* the last has renewed NULL */
};

static const struct story stories[] = {
    {"nothing there", {{0, NULL, "", 0, 0, LEASE_CREATE, 0}}},
    {"nobody's", {{0, "", "t1", 1, 4, LEASE_TAKE, 0}}},
    {"ours", {{0, "me", "t1", 10, 4, LEASE_RENEW, 0}, {99000, "me", "t1", 10, 4, LEASE_RENEW, 0}}},
    {"another's that lives",
     {{1000, "you", "t1", 10, 4, LEASE_WAIT, 10000},
      {3000, "you", "t2", 10, 4, LEASE_WAIT, 10000},
      {12999, "you", "t2", 10, 4, LEASE_WAIT, 1},
      {13000, "you", "t3", 10, 4, LEASE_WAIT, 10000}}},
    {"another's that stands still",
     {{1000, "you", "t1", 10, 4, LEASE_WAIT, 10000},
      {10999, "you", "t1", 10, 4, LEASE_WAIT, 1},
      {11000, "you", "t1", 10, 4, LEASE_TAKE, 0}}},
    {"its duration is its own, not ours",
     {{0, "you", "t1", 30, 4, LEASE_WAIT, 30000},
      {29999, "you", "t1", 30, 4, LEASE_WAIT, 1},
      {30000, "you", "t1", 30, 4, LEASE_TAKE, 0}}},
    {"without a duration: the default",
     {{0, "you", "", 0, 4, LEASE_WAIT, 10000}, {10000, "you", "", 0, 4, LEASE_TAKE, 0}}},
    {"a third one takes it while we wait",
     {{0, "you", "t1", 10, 4, LEASE_WAIT, 10000},
      {9999, "they", "t1", 10, 5, LEASE_WAIT, 10000},
      {19999, "they", "t1", 10, 5, LEASE_TAKE, 0}}},
    {"a time of the past is as good as any: it is never compared with ours",
     {{0, "you", "1970-01-01T00:00:00.000000Z", 10, 4, LEASE_WAIT, 10000}}},
    {"deleted meanwhile, then made by another",
     {{0, "you", "t1", 10, 4, LEASE_WAIT, 10000},
      {5000, NULL, "", 0, 0, LEASE_CREATE, 0},
      {9000, "you", "t1", 10, 4, LEASE_WAIT, 10000}}},
};

static void decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(stories); i++) {
        struct lease_observer observer = {.changed_milliseconds = 0};
        for (const struct step *step = stories[i].steps; step->renewed; step++) {
            struct lease_record record = {.exists = step->holder != NULL,
                                          .duration_seconds = step->duration_seconds,
                                          .transitions = step->transitions};
            snprintf(record.holder, sizeof(record.holder), "%s", step->holder ? step->holder : "");
            snprintf(record.renew_time, sizeof(record.renew_time), "%s", step->renewed);
            uint64_t left = 99;
            enum lease_move move = lease_decide(&observer, &record, "me", DEFAULT_SECONDS,
                                                step->at_milliseconds, &left);
            if (move != step->move || left != step->left_milliseconds)
                fail_msg("%s, step %d: move %d, left %llu", stories[i].name,
                         (int)(step - stories[i].steps), move, (unsigned long long)left);
        }
    }
}

static void versions_are_numbers_or_not_compared(void **state)
{
    (void)state;
    static const struct {
        const char *version, *than;
        bool older;
    } rows[] = {
        {"9", "10", true},
        {"10", "9", false},
        {"10", "10", false},
        {"99999999999999999999998", "99999999999999999999999", true}, /* 64 bits are no bound */
        {"18446744073709551616", "2", false},
        {"", "10", false},
        {"9", "", false},
        {"0", "10", false}, /* "any" in a question, no version */
        {"a9", "b9", false},
        {"9a", "10", false},
        {"-9", "10", false},
        {"09", "10", false},
        {"9", "1o", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (resource_version_is_older(rows[i].version, rows[i].than) != rows[i].older)
            fail_msg("'%s' than '%s'", rows[i].version, rows[i].than);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_object),
        cmocka_unit_test(what_is_no_value_counts_as_none),
        cmocka_unit_test(refuses_what_cannot_be_written_back),
        cmocka_unit_test(decides),
        cmocka_unit_test(versions_are_numbers_or_not_compared),
    };
    return unit_test_main("k8s_extender/lease_decision", tests, COUNT_OF(tests));
}
