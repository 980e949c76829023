/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/pipeline_schedule.h"

#define SMALL 1e-12

static void assert_equal_real(double value, double expected)
{
    assert_true(value > expected - SMALL && value < expected + SMALL);
}

static void one_f_one_b_keeps_at_most_p(void **state)
{
    (void)state;
    assert_equal_real(pipeline_in_flight(SCHEDULE_1F1B, 8, 1, 0, 64), 8);
    assert_equal_real(pipeline_in_flight(SCHEDULE_1F1B, 8, 1, 7, 64), 1);
    assert_equal_real(pipeline_in_flight(SCHEDULE_1F1B, 8, 1, 0, 3), 3);
    assert_equal_real(pipeline_in_flight(SCHEDULE_GPIPE, 8, 1, 5, 64), 64);
    assert_equal_real(pipeline_in_flight(SCHEDULE_NONE, 1, 1, 0, 64), 1);
}

static void interleaving_keeps_more(void **state)
{
    (void)state;
    /* Korthikanti 2022: 1 + (p-1)/(p v) of the stage's p micro batches. */
    double factor = 1 + 7.0 / (8 * 4);
    assert_equal_real(pipeline_in_flight(SCHEDULE_INTERLEAVED, 8, 4, 0, 64), 8 * factor);
    assert_equal_real(pipeline_in_flight(SCHEDULE_INTERLEAVED, 2, 2, 0, 1), 1);
}

struct layout_case {
    unsigned layers, pp, vpp;
    bool possible, even;
    unsigned first, second, last; /* layers of stages */
};

static const struct layout_case layouts[] = {
    {32, 1, 1, true, true, 32, 0, 32},    {80, 8, 5, true, true, 10, 10, 10},
    {126, 8, 1, true, false, 15, 16, 15}, /* Llama 3 405B: embedding and loss as layers */
    {126, 8, 8, true, false, 15, 16, 15}, {127, 8, 1, true, false, 16, 16, 15},
    {61, 16, 1, true, false, 4, 4, 1}, /* DeepSeek-V3 */
    {61, 16, 2, false, false, 0, 0, 0},   {4, 8, 1, false, false, 0, 0, 0},
    {80, 32, 1, false, false, 0, 0, 0},
};

static void layers_are_laid_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        const struct layout_case *expected = &layouts[i];
        struct pipeline_layout layout;
        assert_int_equal(pipeline_layout_of(expected->layers, expected->pp, expected->vpp, &layout),
                         expected->possible);
        if (!expected->possible)
            continue;
        unsigned sum = 0, in_chunks = 0, first = 0;
        for (unsigned stage = 0; stage < expected->pp; stage++) {
            sum += pipeline_stage_layers(&layout, stage);
            for (unsigned chunk = 0; chunk < expected->vpp; chunk++)
                in_chunks += pipeline_chunk_layers(&layout, stage, chunk, &first);
        }
        assert_int_equal(sum, expected->layers);
        assert_int_equal(in_chunks, expected->layers);
        assert_int_equal(pipeline_layout_is_even(&layout), expected->even);
        assert_int_equal(pipeline_stage_layers(&layout, 0), expected->first);
        assert_int_equal(pipeline_stage_layers(&layout, expected->pp - 1), expected->last);
        if (expected->pp > 2)
            assert_int_equal(pipeline_stage_layers(&layout, 1), expected->second);
    }
}

/* Chunk after chunk, stage after stage: each begins where the one before ended. */
static void chunks_follow_each_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        struct pipeline_layout layout;
        unsigned next = 0, first = 0;
        if (!pipeline_layout_of(layouts[i].layers, layouts[i].pp, layouts[i].vpp, &layout))
            continue;
        for (unsigned position = 0; position < layout.pp * layout.vpp; position++) {
            unsigned count =
                pipeline_chunk_layers(&layout, position % layout.pp, position / layout.pp, &first);
            assert_int_equal(first, next);
            next += count;
        }
        assert_int_equal(next, layouts[i].layers);
    }
}

static void idle_follows_the_schedule(void **state)
{
    (void)state;
    assert_true(pipeline_idle(SCHEDULE_1F1B, 1, 64) == 1);
    assert_true(pipeline_idle(SCHEDULE_GPIPE, 1, 64) == 1);
    assert_true(pipeline_idle(SCHEDULE_INTERLEAVED, 4, 64) == 0.25);
    assert_true(pipeline_idle(SCHEDULE_NAIVE, 1, 64) == 64);
    assert_true(pipeline_idle(SCHEDULE_ZERO_BUBBLE, 1, 64) < 0.34);
    assert_true(pipeline_in_flight(SCHEDULE_NAIVE, 8, 1, 0, 64) == 1);
    assert_true(pipeline_in_flight(SCHEDULE_ZERO_BUBBLE, 8, 1, 0, 64) == 8);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_follows_the_schedule), cmocka_unit_test(one_f_one_b_keeps_at_most_p),
        cmocka_unit_test(interleaving_keeps_more),   cmocka_unit_test(layers_are_laid_out),
        cmocka_unit_test(chunks_follow_each_other),
    };
    return unit_test_main("planner/pipeline_schedule", tests, COUNT_OF(tests));
}
