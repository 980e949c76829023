/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "topology/node_readers/hwloc/nvlink_closure.h"

#define SW NVLINK_SWITCH
#define CPU NVLINK_OTHER
#define D 1000000 /* hwloc's artificial diagonal */

static void closes_over_switches(void **state)
{
    (void)state;
    /* Two GPUs with 2 and 3 links of 25 to two switches; the second also 1 direct link. */
    static const uint64_t matrix[] = {
        D,  25, 25, 25, //
        25, D,  50, 25, //
        25, 50, D,  0,  //
        25, 25, 0,  D,  //
    };
    static const int gpu_of[] = {0, 1, SW, SW};
    double rates[4] = {0};
    assert_true(nvlink_closure(matrix, 4, gpu_of, 2, 2.0, rates));
    assert_true(rates[1] == (25 + 50) * 2.0);
    assert_true(rates[2] == rates[1]);
    assert_true(rates[0] == 0 && rates[3] == 0);
}

/* POWER8: 40000 within pairs and to the processors. */
static void processors_do_not_count(void **state)
{
    (void)state;
    static const uint64_t matrix[] = {
        D,  40, 0,  0,  40, //
        40, D,  0,  0,  40, //
        0,  0,  D,  40, 0,  //
        0,  0,  40, D,  0,  //
        40, 40, 0,  0,  D,  //
    };
    static const int gpu_of[] = {0, 1, 2, 3, CPU};
    static const double expected[] = {0, 40, 0, 0, 40, 0, 0, 0, 0, 0, 0, 40, 0, 0, 40, 0};
    double rates[16] = {0};
    assert_false(nvlink_closure(matrix, 5, gpu_of, 4, 1.0, rates));
    for (size_t i = 0; i < 16; i++)
        assert_true(rates[i] == expected[i]);
}

/* The weaker direction counts, and a GPU may stand twice. */
static void odd_matrices(void **state)
{
    (void)state;
    static const uint64_t matrix[] = {
        D,  30, 50, //
        20, D,  10, //
        50, 10, D,  //
    };
    static const int gpu_of[] = {0, 1, 1};
    double rates[4] = {0};
    assert_false(nvlink_closure(matrix, 3, gpu_of, 2, 1.0, rates));
    assert_true(rates[1] == 50 && rates[2] == 50);
    static const int none[] = {SW, CPU, CPU};
    assert_false(nvlink_closure(matrix, 3, none, 0, 1.0, NULL));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(closes_over_switches),
    cmocka_unit_test(processors_do_not_count),
    cmocka_unit_test(odd_matrices),
};

int main(void) { return unit_test_main("topology/nvlink_closure", tests, COUNT_OF(tests)); }
