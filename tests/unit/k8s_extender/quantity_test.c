/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/quantity.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct row {
    const char *text;
    enum quantity_unit unit;
    uint64_t want;
};

static void reads_quantities(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", QUANTITY_WHOLE, 0},
        {"8", QUANTITY_WHOLE, 8},
        {"+8", QUANTITY_WHOLE, 8},
        {"-0", QUANTITY_WHOLE, 0},
        {"-0.0", QUANTITY_WHOLE, 0},
        {"007", QUANTITY_WHOLE, 7},
        {"5.", QUANTITY_WHOLE, 5},
        {".5", QUANTITY_MILLI, 500},
        {"1.5", QUANTITY_MILLI, 1500},
        {"100m", QUANTITY_MILLI, 100},
        {"2", QUANTITY_MILLI, 2000},
        {"1k", QUANTITY_WHOLE, 1000},
        {"2M", QUANTITY_WHOLE, 2000000},
        {"3G", QUANTITY_WHOLE, 3000000000},
        {"4T", QUANTITY_WHOLE, UINT64_C(4000000000000)},
        {"5P", QUANTITY_WHOLE, UINT64_C(5000000000000000)},
        {"6E", QUANTITY_WHOLE, UINT64_C(6000000000000000000)},
        {"1Ki", QUANTITY_WHOLE, 1024},
        {"512Mi", QUANTITY_WHOLE, UINT64_C(512) << 20},
        {"1.5Gi", QUANTITY_WHOLE, UINT64_C(3) << 29},
        {"1Ti", QUANTITY_WHOLE, UINT64_C(1) << 40},
        {"1Pi", QUANTITY_WHOLE, UINT64_C(1) << 50},
        {"7Ei", QUANTITY_WHOLE, UINT64_C(7) << 60},
        {"1e3", QUANTITY_WHOLE, 1000},
        {"1E3", QUANTITY_WHOLE, 1000},
        {"1e+3", QUANTITY_WHOLE, 1000},
        {"1500e-3", QUANTITY_MILLI, 1500},
        {"12345678901234567", QUANTITY_WHOLE, UINT64_C(12345678901234567)},
        {"9223372036854775806", QUANTITY_WHOLE, INT64_MAX - 1},
        {"0000000000000000000000000000001", QUANTITY_WHOLE, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        uint64_t value = 77;
        assert_int_equal(quantity_parse(rows[i].text, rows[i].unit, &value, &err), 0);
        if (value != rows[i].want)
            fail_msg("%s: %llu, not %llu", rows[i].text, (unsigned long long)value,
                     (unsigned long long)rows[i].want);
    }
}

/* Whatever is left of a unit takes a whole one, as resource.Quantity's Value and MilliValue. */
static void rounds_up_and_stops_at_the_largest(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"1n", QUANTITY_WHOLE, 1},
        {"1u", QUANTITY_MILLI, 1},
        {"1000u", QUANTITY_MILLI, 1},
        {"1001u", QUANTITY_MILLI, 2},
        {"0.1", QUANTITY_WHOLE, 1},
        {"2.0000000000000000000000000000001", QUANTITY_WHOLE, 3},
        {"2.0000000000000000000000000000000", QUANTITY_WHOLE, 2},
        {"100m", QUANTITY_WHOLE, 1},
        {"1e-900", QUANTITY_WHOLE, 1},
        {"0e900", QUANTITY_WHOLE, 0},
        {"0.3Ki", QUANTITY_WHOLE, 308},
        {"9223372036854775807", QUANTITY_WHOLE, INT64_MAX},
        {"9223372036854775808", QUANTITY_WHOLE, INT64_MAX},
        {"99999999999999999999999999999999999999999", QUANTITY_WHOLE, INT64_MAX},
        {"8Ei", QUANTITY_WHOLE, INT64_MAX},
        {"10E", QUANTITY_WHOLE, INT64_MAX},
        {"1e900", QUANTITY_WHOLE, INT64_MAX},
        {"9Ei", QUANTITY_MILLI, INT64_MAX},
        {"0.000000000000123456789012345678Ei", QUANTITY_MILLI, 142335987},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        uint64_t value = 77;
        assert_int_equal(quantity_parse(rows[i].text, rows[i].unit, &value, &err), 0);
        if (value != rows[i].want)
            fail_msg("%s: %llu, not %llu", rows[i].text, (unsigned long long)value,
                     (unsigned long long)rows[i].want);
    }
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",     "-",   "+",   ".",   "m",   "abc",   "1 ",     " 1",    "1K",
        "1ki",  "1mi", "1Zi", "1e",  "1e+", "1e1.5", "1e1000", "1..2",  "1.2.3",
        "0x10", "1i",  "1\n", "inf", "nan", "--1",   "1e++3",  "1e+-3",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        uint64_t value = 77;
        if (quantity_parse(texts[i], QUANTITY_WHOLE, &value, &err) == 0)
            fail_msg("'%s' was read", texts[i]);
        assert_true(value == 77);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_non_null(strstr(err.text, "is no quantity"));
    }
    char longer[QUANTITY_MAXIMUM_BYTES + 2];
    memset(longer, '0', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t value = 77;
    assert_int_equal(quantity_parse(longer, QUANTITY_WHOLE, &value, &err), -1);
    longer[QUANTITY_MAXIMUM_BYTES] = '\0';
    assert_int_equal(quantity_parse(longer, QUANTITY_WHOLE, &value, &err), 0);
    assert_true(value == 0);
}

static void refuses_less_than_nothing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t value = 77;
    assert_int_equal(quantity_parse("-1m", QUANTITY_WHOLE, &value, &err), -1);
    assert_string_equal(err.text, "'-1m' is below zero");
    assert_true(value == 77);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_quantities),
    cmocka_unit_test(rounds_up_and_stops_at_the_largest),
    cmocka_unit_test(refuses_what_is_none),
    cmocka_unit_test(refuses_less_than_nothing),
};

int main(void) { return unit_test_main("k8s_extender/quantity", tests, COUNT_OF(tests)); }
