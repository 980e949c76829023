/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/backoff.h"
#include "tests/support/unit_test.h"

static void waits_grow_to_the_maximum(void **state)
{
    (void)state;
    static const unsigned whole[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct backoff backoff;
        backoff_init(&backoff, seed);
        for (size_t i = 0; i < COUNT_OF(whole); i++) {
            unsigned wait = backoff_next(&backoff, 0);
            assert_in_range(wait, whole[i] / 2, whole[i]);
        }
        backoff_reset(&backoff);
        assert_in_range(backoff_next(&backoff, 0), 250, 500);
    }
}

static void waits_what_the_server_asks(void **state)
{
    (void)state;
    static const struct {
        unsigned asked, least, most;
    } rows[] = {
        {1, 1000, 1250},
        {8, 8000, 10000},
        {29, 29000, 30000},
        {30, 30000, 30000},
        {4000000000u, 30000, 30000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct backoff backoff;
            backoff_init(&backoff, seed);
            assert_in_range(backoff_next(&backoff, rows[i].asked), rows[i].least, rows[i].most);
        }
}

static void the_seed_decides(void **state)
{
    (void)state;
    struct backoff one, same, other;
    unsigned different = 0;
    backoff_init(&one, 7);
    backoff_init(&same, 7);
    backoff_init(&other, 8);
    for (unsigned i = 0; i < 20; i++) {
        unsigned wait = backoff_next(&one, 0);
        assert_int_equal(wait, backoff_next(&same, 0));
        different += wait != backoff_next(&other, 0);
    }
    assert_true(different > 15);
}

static void random_reaches_both_ends(void **state)
{
    (void)state;
    struct backoff backoff;
    backoff_init(&backoff, 1);
    unsigned met = 0;
    for (unsigned i = 0; i < 200; i++)
        met |= 1u << (backoff_random(&backoff, 240, 244) - 240);
    assert_int_equal(met, 31);
    assert_int_equal(backoff_random(&backoff, 5, 5), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_grow_to_the_maximum),
        cmocka_unit_test(waits_what_the_server_asks),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(random_reaches_both_ends),
    };
    return unit_test_main("k8s_extender/backoff", tests, COUNT_OF(tests));
}
