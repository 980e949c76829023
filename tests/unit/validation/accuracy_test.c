/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "validation/accuracy.h"

#include <math.h>

#define NEAR 1e-12

static const struct published_run runs[] = {
    {.id = "a", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 8},
    {.id = "b", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 8},
    {.id = "c", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 8},
    {.id = "d", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 8},
    {.id = "e", .set = "A", .model_name = "m", .gpu_name = "g", .gpus = 8},
    {.id = "f", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 16},
    {.id = "g", .set = "B", .model_name = "m", .gpu_name = "g", .gpus = 8},
};

static void assert_near(double have, double want)
{
    if (!(fabs(have - want) < NEAR))
        fail_msg("%.15g, not %.15g", have, want);
}

static void expect(const struct accuracy *have, const struct accuracy *want)
{
    if (want->set)
        assert_string_equal(have->set, want->set);
    else
        assert_null(have->set);
    assert_int_equal(have->n, want->n);
    assert_near(have->mape, want->mape);
    assert_near(have->median, want->median);
    assert_near(have->max, want->max);
    assert_near(have->bias, want->bias);
    assert_true(isnan(have->leave_one_out) == isnan(want->leave_one_out));
    if (!isnan(want->leave_one_out))
        assert_near(have->leave_one_out, want->leave_one_out);
}

static void sums_up_sets_in_their_order(void **state)
{
    (void)state;
    static const struct accuracy_row rows[] = {
        {&runs[0], 10, 11, 12},   /* +10 %, left out +20 % */
        {&runs[1], 10, 8, 0},     /* -20 % */
        {&runs[4], 2, 3, 0},      /* +50 % */
        {&runs[2], 10, 10, 9},    /* 0, left out -10 % */
        {&runs[3], 10, 14, 10.3}, /* +40 %, left out 3 % */
    };
    struct error_info err = {.kind = ERROR_NONE};
    struct accuracy_list list;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    assert_int_equal(accuracy_of(rows, COUNT_OF(rows), arena, &list, &err), 0);
    assert_int_equal(list.count, 2);
    expect(&list.sets[0], &(struct accuracy){"B", 4, 0.175, 0.15, 0.4, 0.075, 0.11});
    expect(&list.sets[1], &(struct accuracy){"A", 1, 0.5, 0.5, 0.5, 0.5, NAN});
    expect(&list.overall, &(struct accuracy){NULL, 5, 0.24, 0.2, 0.5, 0.16, 0.11});
}

static void no_rows_are_no_sets(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct accuracy_list list;
    struct choice_accuracy choice;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    assert_int_equal(accuracy_of(NULL, 0, arena, &list, &err), 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.overall.n, 0);
    assert_true(isnan(list.overall.mape) && isnan(list.overall.median));
    assert_true(isnan(list.overall.max) && isnan(list.overall.bias));
    assert_true(isnan(list.overall.leave_one_out));
    assert_int_equal(choice_accuracy_of(NULL, 0, arena, &choice, &err), 0);
    assert_int_equal(choice.groups, 0);
}

static struct choice_accuracy choose(const struct accuracy_row *rows, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct choice_accuracy choice = {.groups = 99};
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!arena || choice_accuracy_of(rows, count, arena, &choice, &err) < 0)
        fail_msg("out of memory");
    return choice;
}

static void groups_are_of_four_alike(void **state)
{
    (void)state;
    static const struct accuracy_row rows[] = {
        {&runs[0], 10, 3, 0}, {&runs[5], 1, 1, 0}, {&runs[1], 12, 1, 0},
        {&runs[4], 1, 1, 0},  {&runs[2], 9, 2, 0}, {&runs[3], 20, 4, 0},
    };
    assert_int_equal(choose(rows, 5).groups, 0); /* three of 8 GPUs, others alone */
    struct choice_accuracy choice = choose(rows, COUNT_OF(rows));
    assert_int_equal(choice.groups, 1);
    assert_near(choice.top1_regret_mean, 12.0 / 9 - 1); /* b is predicted best, c is */
    assert_near(choice.top1_regret_max, 12.0 / 9 - 1);
    assert_near(choice.best_in_top5, 1);
}

static void every_group_is_listed(void **state)
{
    (void)state;
    static const struct accuracy_row rows[] = {
        {&runs[0], 10, 3, 0}, {&runs[1], 12, 1, 0}, {&runs[2], 9, 2, 0}, {&runs[3], 20, 4, 0}};
    struct error_info err = {.kind = ERROR_NONE};
    struct choice_accuracy choice;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    assert_int_equal(choice_accuracy_of(rows, COUNT_OF(rows), arena, &choice, &err), 0);
    assert_int_equal(choice.groups, 1);
    assert_ptr_equal(choice.each[0].chosen, &rows[1]);
    assert_ptr_equal(choice.each[0].best, &rows[2]);
    assert_int_equal(choice.each[0].n, 4);
    assert_int_equal(choice.each[0].best_rank, 2);
    assert_near(choice.each[0].regret, 12.0 / 9 - 1);
}

/* Whatever differs makes another group. */
static void every_key_splits_groups(void **state)
{
    (void)state;
    const struct published_run plain = runs[0];
    struct published_run others[] = {plain, plain, plain, plain, plain, plain, plain};
    others[0].set = "Z";
    others[1].model_name = "n";
    others[2].gpu_name = "h";
    others[3].gpus = 9;
    others[4].global_batch = 1;
    others[5].sequence_length = 1;
    others[6].plan.precision = PRECISION_FP8;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        const struct accuracy_row rows[] = {
            {&runs[0], 1, 1, 0}, {&runs[1], 1, 1, 0}, {&runs[2], 1, 1, 0}, {&others[i], 1, 1, 0}};
        assert_int_equal(choose(rows, COUNT_OF(rows)).groups, 0);
    }
}

static void ties_break_on_the_name(void **state)
{
    (void)state;
    static const struct accuracy_row rows[] = {
        {&runs[3], 5, 1, 0}, {&runs[2], 4, 1, 0}, {&runs[0], 6, 1, 0}, {&runs[1], 3, 1, 0}};
    assert_near(choose(rows, COUNT_OF(rows)).top1_regret_mean, 1); /* "a": 6 over 3 */
}

static void the_best_may_be_past_the_fifth(void **state)
{
    (void)state;
    static const struct accuracy_row rows[] = {
        {&runs[0], 9, 1, 0}, {&runs[1], 8, 2, 0}, {&runs[2], 7, 3, 0},
        {&runs[3], 6, 4, 0}, {&runs[6], 5, 5, 0}, {&runs[0], 4, 6, 0},
    };
    assert_near(choose(rows, COUNT_OF(rows)).best_in_top5, 0);
    assert_near(choose(rows, COUNT_OF(rows) - 1).best_in_top5, 1);
}

static int scenario(void *context, struct error_info *err)
{
    struct accuracy_list list;
    struct choice_accuracy choice;
    static const struct accuracy_row row = {&runs[0], 1, 1, 1};
    (void)context;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!arena)
        return error_set_memory(err);
    return accuracy_of(&row, 1, arena, &list, err) < 0 ||
                   choice_accuracy_of(&row, 1, arena, &choice, err) < 0
               ? -1
               : 0;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, NULL);
}

/* An arena that is full is memory that fails. */
static void full_arenas_are_said(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct accuracy_list list;
    struct choice_accuracy choice;
    static const struct accuracy_row row = {&runs[0], 1, 1, 1};
    CLEANUP(arena) struct arena *arena = arena_create(1);
    assert_non_null(arena);
    assert_int_equal(accuracy_of(&row, 1, arena, &list, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
    assert_int_equal(choice_accuracy_of(&row, 1, arena, &choice, &err), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_up_sets_in_their_order),    cmocka_unit_test(no_rows_are_no_sets),
        cmocka_unit_test(groups_are_of_four_alike),       cmocka_unit_test(every_group_is_listed),
        cmocka_unit_test(every_key_splits_groups),        cmocka_unit_test(ties_break_on_the_name),
        cmocka_unit_test(the_best_may_be_past_the_fifth), cmocka_unit_test(failing_memory_is_clean),
        cmocka_unit_test(full_arenas_are_said),
    };
    return unit_test_main("validation/accuracy", tests, COUNT_OF(tests));
}
