/* SPDX-License-Identifier: MIT */
#include "report/number_text.h"
#include "tests/support/unit_test.h"

#include <math.h>

struct row {
    double value;
    const char *want;
};

static void expect_all(const struct row *rows, size_t count, struct number_text (*write)(double))
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(write(rows[i].value).text, rows[i].want);
}

static void writes_bytes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {0, "0"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {80.0 * 1073741824, "80.0 GiB"},
        {61.234 * 1073741824, "61.2 GiB"},
        {1010.0 * 1048576, "1010 MiB"},
        {1099511627776.0, "1.00 TiB"},
        {HUGE_VAL, "?"},
    };
    expect_all(rows, COUNT_OF(rows), number_bytes_real);
    assert_string_equal(number_bytes(85899345920).text, "80.0 GiB");
    assert_string_equal(number_gib(85899345920).text, "80.0");
}

static void writes_rates(void **state)
{
    (void)state;
    static const struct row bandwidths[] = {
        {0, "?"}, {-1, "?"}, {450e9, "450 GB/s"}, {3.35e12, "3.35 TB/s"}, {63e9, "63.0 GB/s"},
    };
    static const struct row networks[] = {
        {0, "?"}, {50e9, "400 Gb/s"}, {25e9, "200 Gb/s"}, {12.5e6, "100 Mb/s"}};
    expect_all(bandwidths, COUNT_OF(bandwidths), number_bandwidth);
    expect_all(networks, COUNT_OF(networks), number_network);
}

static void writes_seconds(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {0, "0"},           {21.34, "21.3 s"},  {0.0042, "4.20 ms"},
        {0.9996, "1.00 s"}, {12e-6, "12.0 us"}, {5e-9, "5.00 ns"},
        {123.4, "123 s"},   {12345, "12350 s"}, {NAN, "?"},
    };
    expect_all(rows, COUNT_OF(rows), number_seconds);
}

static void writes_counts(void **state)
{
    (void)state;
    static const struct row plain[] = {{0, "0"},         {7, "7"},          {999, "999"},
                                       {1000, "1.00 k"}, {394000, "394 k"}, {70.6e9, "70.6 G"}};
    static const struct row parameters[] = {
        {124439808, "124 M"}, {70553706496.0, "70.6 B"}, {1.5e12, "1.50 T"}, {NAN, "?"}};
    static const struct row shares[] = {
        {0, "0.0 %"}, {0.4312, "43.1 %"}, {1, "100.0 %"}, {NAN, "?"}};
    expect_all(plain, COUNT_OF(plain), number_si);
    expect_all(parameters, COUNT_OF(parameters), number_parameters);
    expect_all(shares, COUNT_OF(shares), number_percent);
}

static void groups_digits(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *want;
    } rows[] = {
        {0, "0"},
        {12, "12"},
        {999, "999"},
        {1000, "1,000"},
        {123456, "123,456"},
        {70553706496, "70,553,706,496"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(number_grouped(rows[i].value).text, rows[i].want);
    assert_string_equal(number_index(-1).text, "-");
    assert_string_equal(number_index(12).text, "12");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_bytes),   cmocka_unit_test(writes_rates),
    cmocka_unit_test(writes_seconds), cmocka_unit_test(writes_counts),
    cmocka_unit_test(groups_digits),
};

int main(void) { return unit_test_main("report/number_text", tests, COUNT_OF(tests)); }
