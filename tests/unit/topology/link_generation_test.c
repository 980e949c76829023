/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "topology/link_generation.h"

static void nvml_codes(void **state)
{
    (void)state;
    assert_true(nvlink_rate_of_version(6) > 24.9e9 && nvlink_rate_of_version(6) < 25.1e9);
    assert_true(nvlink_rate_of_version(7) > 49.9e9 && nvlink_rate_of_version(7) < 50.1e9);
    assert_true(nvlink_rate_of_version(0) <= 0 && nvlink_rate_of_version(8) <= 0);
}

/* A whole H100 has 450 GB/s, an A100 300, an A6000 with its bridge 56. */
static void whole_gpus_add_up(void **state)
{
    (void)state;
    assert_true(18 * nvlink_rate_of_compute(90) > 449e9 && 18 * nvlink_rate_of_compute(90) < 451e9);
    assert_true(12 * nvlink_rate_of_compute(80) > 299e9 && 12 * nvlink_rate_of_compute(80) < 301e9);
    assert_true(4 * nvlink_rate_of_compute(86) > 55e9 && 4 * nvlink_rate_of_compute(86) < 57e9);
    assert_true(7 * xgmi_rate_of_gfx("gfx942") > 447e9 && 7 * xgmi_rate_of_gfx("942") < 449e9);
}

static void other_names_are_unknown(void **state)
{
    (void)state;
    static const char *const names[] = {"", "gfx", "gfx1", "9422", "gfx90", "gfx-942"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_true(xgmi_rate_of_gfx(names[i]) <= 0);
    assert_true(xgmi_rate_of_gfx("GFX90A") > 0);
    assert_true(nvlink_rate_of_compute(89) <= 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nvml_codes),
    cmocka_unit_test(whole_gpus_add_up),
    cmocka_unit_test(other_names_are_unknown),
};

int main(void) { return unit_test_main("topology/link_generation", tests, COUNT_OF(tests)); }
