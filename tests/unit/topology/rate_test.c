/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "topology/cluster_readers/rate.h"
#include <string.h>

static void reads_rates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bytes_per_second;
    } cases[] = {
        {"400Gb/s", 50e9},      {"400Gbps", 50e9},    {"400Gbit/s", 50e9}, {"1.6Tb/s", 200e9},
        {"50GB/s", 50e9},       {"12.5GB/s", 12.5e9}, {"100Mb/s", 12.5e6}, {"1TB/s", 1e12},
        {"1000000000B/s", 1e9}, {"5B/s", 5},          {"2KB/s", 2000},     {"3MB/s", 3e6},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double rate = 0;
        assert_int_equal(rate_parse(cases[i].text, &rate, NULL), 0);
        assert_true(rate == cases[i].bytes_per_second);
    }
}

static void refuses_other_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "Gb/s",
        "0Gb/s",
        "-1Gb/s",
        "400 Gb/s",
        "400GiB/s",
        "400gb",
        "1e3B/s",
        "..1B/s",
        "400Gb/s ",
        "1e400",
        "nan",
        "inf",
        "0x10",
        "0",
        "50000000000",
        "1.2.3",
        "99999999999TB/s",
        "11111111111111111111111111111111111111111111B/s",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        double rate = 7;
        if (rate_parse(texts[i], &rate, &err) == 0)
            fail_msg("accepted: %s", texts[i]);
        assert_true(rate == 7);
        assert_non_null(strstr(err.text, "400Gb/s (bits)"));
    }
}

static void a_number_needs_a_unit(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    double rate = 7;
    assert_int_equal(rate_parse("400", &rate, &err), -1);
    assert_string_equal(err.text, "400 has no unit; write 400Gb/s or 50GB/s");
    assert_int_equal(rate_parse("1.6", &rate, &err), -1);
    assert_string_equal(err.text, "1.6 has no unit; write 1.6Gb/s or 0.2GB/s");
    assert_true(rate == 7);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_rates),
    cmocka_unit_test(refuses_other_texts),
    cmocka_unit_test(a_number_needs_a_unit),
};

int main(void) { return unit_test_main("topology/rate", tests, COUNT_OF(tests)); }
