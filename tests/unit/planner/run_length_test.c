/* SPDX-License-Identifier: MIT */
#include "planner/scaling/run_length.h"
#include "tests/support/unit_test.h"

static const struct plan million_tokens_a_second = {.time = {.tokens_per_second = 1e6}};
static const struct plan untimed = {.micro_batch = 1};

static void counts_days_and_gpu_hours(void **state)
{
    (void)state;
    const struct run_length run = {.tokens = 864e9, .price_per_gpu_hour = 2};
    struct run_figures figures;
    run_figures_of(&run, &million_tokens_a_second, 100, &figures);
    assert_float_equal(figures.days, 10, 1e-9);
    assert_float_equal(figures.gpu_hours, 24000, 1e-6);
    assert_float_equal(figures.cost, 48000, 1e-6);
    assert_float_equal(run_trillion_gpu_hours(&million_tokens_a_second, 36), 10000, 1e-6);
}

static void unknown_is_zero(void **state)
{
    (void)state;
    const struct run_length run = {.tokens = 1e12}, none = {.price_per_gpu_hour = 2};
    struct run_figures figures = {.days = 1, .gpu_hours = 1, .cost = 1};
    run_figures_of(&run, &untimed, 100, &figures);
    assert_true(figures.days == 0 && figures.gpu_hours == 0 && figures.cost == 0);
    run_figures_of(&none, &million_tokens_a_second, 100, &figures);
    assert_true(figures.days == 0 && figures.gpu_hours == 0 && figures.cost == 0);
    assert_true(run_trillion_gpu_hours(&untimed, 8) == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_days_and_gpu_hours),
    cmocka_unit_test(unknown_is_zero),
};

int main(void) { return unit_test_main("planner/scaling/run_length", tests, COUNT_OF(tests)); }
