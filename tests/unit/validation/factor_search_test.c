/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "validation/calibration/factor_search.h"
#include <math.h>

struct valley {
    struct search_value values[2];
    double bottom[2];
    unsigned calls;
};

static double cost_of(void *context)
{
    struct valley *valley = context;
    valley->calls++;
    double sum = 0;
    for (size_t i = 0; i < COUNT_OF(valley->values); i++)
        sum += fabs(log(valley->values[i].value / valley->bottom[i]));
    return sum;
}

static void the_bottom_is_found(void **state)
{
    (void)state;
    static const double starts[][2] = {{1, 1}, {0.01, 100}, {100, 0.01}, {0.3, 7}};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct valley valley = {
            .values = {{starts[i][0], 1e-3, 1e3}, {starts[i][1], 1e-3, 1e3}},
            .bottom = {0.3, 7},
        };
        double cost = factor_search(valley.values, 2, cost_of, &valley);
        assert_true(cost < 1e-3);
        assert_true(fabs(valley.values[0].value / 0.3 - 1) < 1e-3);
        assert_true(fabs(valley.values[1].value / 7 - 1) < 1e-3);
        assert_true(valley.calls < 400);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    struct valley valley = {.values = {{1, 0.5, 2}, {1, 0.5, 2}}, .bottom = {1e-3, 1e3}};
    factor_search(valley.values, 2, cost_of, &valley);
    assert_true(valley.values[0].value <= 0.5 && valley.values[0].value >= 0.5);
    assert_true(valley.values[1].value <= 2 && valley.values[1].value >= 2);
}

static double no_number(void *context)
{
    (void)context;
    return NAN;
}

static void what_is_no_number_ends(void **state)
{
    (void)state;
    struct search_value value = {1, 0.5, 2};
    assert_true(isnan(factor_search(&value, 1, no_number, NULL)));
    assert_true(value.value >= 1 && value.value <= 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bottom_is_found),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(what_is_no_number_ends),
    };
    return unit_test_main("validation/factor_search", tests, COUNT_OF(tests));
}
