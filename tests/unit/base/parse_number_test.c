/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "tests/support/comma_locale.h"
#include "tests/support/unit_test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void parses_unsigned(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t minimum, maximum, want;
        const char *error;
    } rows[] = {
        {"0", 0, UINT64_MAX, 0, NULL},
        {"007", 0, 10, 7, NULL},
        {"1024", 1, 1024, 1024, NULL},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX, NULL},
        {"18446744073709551616", 0, UINT64_MAX, 0, "'18446744073709551616' is not a whole number"},
        {"99999999999999999999999999", 0, 9, 0,
         "'99999999999999999999999999' is not a whole number from 0 to 9"},
        {"12x", 1, 1024, 0, "'12x' is not a whole number from 1 to 1024"},
        {"1025", 1, 1024, 0, "'1025' is not a whole number from 1 to 1024"},
        {"0", 1, 1024, 0, "'0' is not a whole number from 1 to 1024"},
        {"0", 1, UINT64_MAX, 0, "'0' is not a whole number of at least 1"},
        {"", 0, 5, 0, "'' is not a whole number from 0 to 5"},
        {"-1", 0, 5, 0, "'-1' is not a whole number from 0 to 5"},
        {"+1", 0, 5, 0, "'+1' is not a whole number from 0 to 5"},
        {" 1", 0, 5, 0, "' 1' is not a whole number from 0 to 5"},
        {"1 ", 0, 5, 0, "'1 ' is not a whole number from 0 to 5"},
        {"0x1", 0, 5, 0, "'0x1' is not a whole number from 0 to 5"},
        {"1e0", 0, 5, 0, "'1e0' is not a whole number from 0 to 5"},
        {"60%", 0, 99, 0, "'60%' is not a whole number from 0 to 99"},
        {"\n", 0, 5, 0, "'?' is not a whole number from 0 to 5"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t number = 77;
        struct error_info err = {0};
        int result = parse_unsigned(rows[i].text, rows[i].minimum, rows[i].maximum, &number, &err);
        assert_int_equal(result, rows[i].error ? -1 : 0);
        assert_string_equal(err.text, rows[i].error ? rows[i].error : "");
        assert_int_equal(number, rows[i].error ? 77 : rows[i].want);
    }
}

static void parses_signed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t minimum, maximum, want;
        const char *error;
    } rows[] = {
        {"0", INT64_MIN, INT64_MAX, 0, NULL},
        {"-0", INT64_MIN, INT64_MAX, 0, NULL},
        {"-12", -12, 12, -12, NULL},
        {"12", -12, 12, 12, NULL},
        {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, NULL},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, NULL},
        {"9223372036854775808", INT64_MIN, INT64_MAX, 0,
         "'9223372036854775808' is not a whole number"},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, 0,
         "'-9223372036854775809' is not a whole number"},
        {"13", -12, 12, 0, "'13' is not a whole number from -12 to 12"},
        {"-13", -12, 12, 0, "'-13' is not a whole number from -12 to 12"},
        {"--1", -12, 12, 0, "'--1' is not a whole number from -12 to 12"},
        {"-", -12, 12, 0, "'-' is not a whole number from -12 to 12"},
        {"", -12, 12, 0, "'' is not a whole number from -12 to 12"},
        {"1-", -12, 12, 0, "'1-' is not a whole number from -12 to 12"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t number = 77;
        struct error_info err = {0};
        int result = parse_signed(rows[i].text, rows[i].minimum, rows[i].maximum, &number, &err);
        assert_int_equal(result, rows[i].error ? -1 : 0);
        assert_string_equal(err.text, rows[i].error ? rows[i].error : "");
        assert_true(number == (rows[i].error ? 77 : rows[i].want));
    }
}

struct real_row {
    const char *text;
    double minimum, maximum, want;
    const char *error;
};

static const struct real_row reals[] = {
    {"0", -1, 1, 0, NULL},
    {"0.5", 0, 1, 0.5, NULL},
    {".5", 0, 1, 0.5, NULL},
    {"5.", 0, 10, 5, NULL},
    {"-1.25e2", -200, 0, -125, NULL},
    {"1E+2", 0, 200, 100, NULL},
    {"1e-400", 0, 1, 0, NULL},
    {"1.7976931348623157e308", -DBL_MAX, DBL_MAX, DBL_MAX, NULL},
    {"0.1000000000000000055511151231257827021181583404541015625", 0, 1, 0.1, NULL},
    {"1e400", -DBL_MAX, DBL_MAX, 0, "'1e400' is not a number"},
    {"2", 0, 1, 0, "'2' is not a number from 0 to 1"},
    {"-1", 0, 0.5, 0, "'-1' is not a number from 0 to 0.5"},
    {"-1", 0, DBL_MAX, 0, "'-1' is not a number of at least 0"},
    {"1", -DBL_MAX, 0.5, 0, "'1' is not a number of at most 0.5"},
    {"60%", 0, 100, 0, "'60%' is not a number from 0 to 100"},
    {"80x", 0, 100, 0, "'80x' is not a number from 0 to 100"},
    {"", 0, 1, 0, "'' is not a number from 0 to 1"},
    {".", 0, 1, 0, "'.' is not a number from 0 to 1"},
    {"-", 0, 1, 0, "'-' is not a number from 0 to 1"},
    {"+1", 0, 1, 0, "'+1' is not a number from 0 to 1"},
    {"1e", 0, 1, 0, "'1e' is not a number from 0 to 1"},
    {"1e+", 0, 1, 0, "'1e+' is not a number from 0 to 1"},
    {"1e5.5", 0, 1, 0, "'1e5.5' is not a number from 0 to 1"},
    {"0,5", 0, 1, 0, "'0,5' is not a number from 0 to 1"},
    {"0x1p3", 0, 10, 0, "'0x1p3' is not a number from 0 to 10"},
    {"nan", 0, 1, 0, "'nan' is not a number from 0 to 1"},
    {"inf", 0, 1, 0, "'inf' is not a number from 0 to 1"},
    {"infinity", -DBL_MAX, DBL_MAX, 0, "'infinity' is not a number"},
    {" 1", 0, 1, 0, "' 1' is not a number from 0 to 1"},
};

static void check_reals(void)
{
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        const struct real_row *row = &reals[i];
        double number = 77;
        struct error_info err = {0};
        int result = parse_real(row->text, row->minimum, row->maximum, &number, &err);
        assert_int_equal(result, row->error ? -1 : 0);
        assert_string_equal(err.text, row->error ? row->error : "");
        assert_true(number == (row->error ? 77 : row->want));
    }
}

static void parses_reals(void **state)
{
    (void)state;
    check_reals();
}

static void parses_reals_under_another_locale(void **state)
{
    (void)state;
    locale_t comma = comma_locale_create();
    if (!comma)
        skip();
    locale_t before = uselocale(comma);
    check_reals();
    uselocale(before);
    freelocale(comma);
}

static void parses_hexadecimal(void **state)
{
    (void)state;
    uint64_t number = 77;
    struct error_info err = {0};
    assert_int_equal(parse_hexadecimal("10dE", 0xffff, &number, &err), 0);
    assert_int_equal(number, 0x10de);
    assert_int_equal(parse_hexadecimal("ffffffffffffffff", UINT64_MAX, &number, &err), 0);
    assert_true(number == UINT64_MAX);
    static const char *const bad[] = {"", "0x10", "g", "10000", "1 ", "-1", "10000000000000000"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char want[100];
        snprintf(want, sizeof(want), "'%s' is not a hexadecimal number up to ffff", bad[i]);
        assert_int_equal(parse_hexadecimal(bad[i], 0xffff, &number, &err), -1);
        assert_string_equal(err.text, want);
    }
}

static const struct {
    const char *text;
    uint64_t want;
} good_bytes[] = {
    {"0", 0},
    {"1048576", 1048576},
    {"12B", 12},
    {"80GiB", UINT64_C(80) << 30},
    {"512MiB", UINT64_C(512) << 20},
    {"1KiB", 1024},
    {"80GB", UINT64_C(80000000000)},
    {"2KB", 2000},
    {"3MB", 3000000},
    {"4TB", UINT64_C(4000000000000)},
    {"7.68TB", UINT64_C(7680000000000)},
    {"1.5GiB", UINT64_C(1610612736)},
    {"1.0", 1},
    {"16777215TiB", UINT64_C(16777215) << 40},
    {"18446744073709551615", UINT64_MAX},
};

static const char *const bad_bytes[] = {
    "",
    "GiB",
    "80G",
    "80gib",
    "80 GiB",
    "-1",
    "1.5",
    "1.GiB",
    ".5GiB",
    "1.1234567GB",
    "0.1KiB",
    "16777216TiB",
    "80GiBx",
    "0x10",
    "1e3",
    "99999999999999999999999999",
    "18446744073709551616",
    "18446744073709551615.5KB",
    "1.5.5GB",
};

static void parses_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good_bytes); i++) {
        uint64_t bytes = 77;
        struct error_info err = {0};
        assert_int_equal(parse_bytes(good_bytes[i].text, &bytes, &err), 0);
        assert_true(bytes == good_bytes[i].want);
    }
    for (size_t i = 0; i < COUNT_OF(bad_bytes); i++) {
        uint64_t bytes = 77;
        struct error_info err = {0};
        char want[200];
        snprintf(want, sizeof(want),
                 "'%s' is not a size in bytes; write as 80GiB or 80GB (units B KB MB GB TB KiB "
                 "MiB GiB TiB)",
                 bad_bytes[i]);
        assert_int_equal(parse_bytes(bad_bytes[i], &bytes, &err), -1);
        assert_string_equal(err.text, want);
        assert_int_equal(bytes, 77);
    }
}

static void parses_booleans(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int want; /* -1: refused */
    } rows[] = {{"true", 1},  {"yes", 1}, {"on", 1}, {"false", 0}, {"no", 0},    {"off", 0},
                {"True", -1}, {"1", -1},  {"", -1},  {"y", -1},    {"true ", -1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool truth = rows[i].want != 1;
        struct error_info err = {0};
        assert_int_equal(parse_boolean(rows[i].text, &truth, &err), rows[i].want < 0 ? -1 : 0);
        if (rows[i].want >= 0)
            assert_int_equal(truth, rows[i].want);
    }
    struct error_info err = {0};
    bool truth;
    assert_int_equal(parse_boolean("maybe", &truth, &err), -1);
    assert_string_equal(err.text, "'maybe' is neither true nor false");
}

static void shows_only_the_start_of_long_texts(void **state)
{
    (void)state;
    char text[10001];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    uint64_t number;
    struct error_info err = {0};
    assert_int_equal(parse_unsigned(text, 0, 9, &number, &err), -1);
    assert_int_equal(strlen(err.text), strlen("'' is not a whole number from 0 to 9") + 60);
}

static void works_without_an_error_info(void **state)
{
    (void)state;
    uint64_t number;
    int64_t number_signed;
    double real;
    bool truth;
    assert_int_equal(parse_unsigned("x", 0, 9, &number, NULL), -1);
    assert_int_equal(parse_signed("x", 0, 9, &number_signed, NULL), -1);
    assert_int_equal(parse_real("x", 0, 9, &real, NULL), -1);
    assert_int_equal(parse_hexadecimal("x", 9, &number, NULL), -1);
    assert_int_equal(parse_bytes("x", &number, NULL), -1);
    assert_int_equal(parse_boolean("x", &truth, NULL), -1);
}

static void rounds_to_significant_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        unsigned digits;
        double want;
    } rows[] = {
        {0, 3, 0},
        {1234567, 3, 1230000},
        {1235000, 3, 1240000}, /* half away from zero */
        {-1235000, 3, -1240000},
        {2.5, 1, 3},
        {-2.5, 1, -3},
        {0.15, 1, 0.2},
        {0.1 + 0.2, 15, 0.3},
        {1.0 / 3, 3, 0.333},
        {9.9996, 4, 10},
        {0.99999999, 4, 1},
        {999.5, 3, 1000},
        {1e22, 3, 1e22},
        {1.2345e-25, 3, 1.23e-25},
        {1.2346e25, 4, 1.235e25},
        {1e21, 1, 1e21},
        {1e-21, 1, 1e-21},
        {9.99e20, 1, 1e21},
        {1.5e-21, 15, 1.5e-21},
        {3.14159265358979, 0, 3},
        {0.1 + 0.2, 17, 0.1 + 0.2},
        {0.1 + 0.2, 99, 0.1 + 0.2},
        {5e-324, 3, 5e-324},
        {DBL_MAX, 3, 1.79e308},
        {-DBL_MAX, 3, -1.79e308},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(round_significant(rows[i].value, rows[i].digits) == rows[i].want);
    assert_false(signbit(round_significant(-0.0, 3)));
    assert_true(isnan(round_significant(NAN, 3)));
    assert_true(isinf(round_significant(-INFINITY, 3)));
}

/* Rounding again changes nothing, and the result is the double nearest to the decimal. */
static void rounding_is_idempotent_and_exact(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    uint64_t random = 12345;
    for (unsigned i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double value = ldexp((double)(random >> 11), (int)(random % 200) - 150);
        unsigned digits = 1 + (unsigned)(random >> 32) % 15;
        double rounded = round_significant(value, digits);
        assert_true(round_significant(rounded, digits) == rounded);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 100);
        text_buffer_add_real(&text, value, digits);
        double back;
        struct error_info err = {0};
        if (parse_real(text_buffer_text(&text), -DBL_MAX, DBL_MAX, &back, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(back == rounded);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parses_unsigned),
    cmocka_unit_test(parses_signed),
    cmocka_unit_test(parses_reals),
    cmocka_unit_test(parses_reals_under_another_locale),
    cmocka_unit_test(parses_hexadecimal),
    cmocka_unit_test(parses_bytes),
    cmocka_unit_test(parses_booleans),
    cmocka_unit_test(shows_only_the_start_of_long_texts),
    cmocka_unit_test(works_without_an_error_info),
    cmocka_unit_test(rounds_to_significant_digits),
    cmocka_unit_test(rounding_is_idempotent_and_exact),
};

int main(void) { return unit_test_main("base/parse_number", tests, COUNT_OF(tests)); }
