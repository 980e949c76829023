/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "spank_plugin/place/step_shape.h"
#include "tests/support/unit_test.h"
#include <string.h>

static const struct step_shape untouched = {{77, 77, 77}};

static void finds_nodes_and_tasks(void **state)
{
    (void)state;
    static const struct {
        struct step_shape asked, job; /* nodes, tasks, tasks per node */
        unsigned spare;
        struct step_shape wanted;
    } rows[] = {
        {{{0, 0, 0}}, {{4, 32, 8}}, 0, {{4, 32, 8}}},
        {{{0, 0, 0}}, {{4, 32, 8}}, 1, {{3, 24, 8}}},
        {{{0, 0, 0}}, {{4, 32, 0}}, 1, {{3, 24, 8}}},
        {{{2, 16, 0}}, {{4, 32, 8}}, 0, {{2, 16, 8}}},
        {{{2, 0, 0}}, {{4, 32, 8}}, 2, {{2, 16, 8}}},
        {{{2, 8, 0}}, {{4, 32, 8}}, 0, {{2, 8, 4}}},
        {{{0, 16, 0}}, {{4, 32, 8}}, 0, {{2, 16, 8}}},
        {{{0, 32, 0}}, {{4, 0, 0}}, 0, {{4, 32, 8}}},
        {{{0, 24, 0}}, {{4, 0, 0}}, 1, {{3, 24, 8}}},
        {{{0, 0, 8}}, {{4, 0, 0}}, 0, {{4, 32, 8}}},
        {{{0, 0, 1}}, {{4, 32, 8}}, 0, {{4, 4, 1}}},
        {{{0, 0, 0}}, {{4, 0, 0}}, 0, {{4, 4, 1}}},
        {{{1, 2097152, 0}}, {{4, 0, 0}}, 0, {{1, 2097152, 2097152}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct step_shape got = untouched;
        struct error_info err = {.kind = ERROR_NONE};
        if (step_shape_find(&rows[i].asked, &rows[i].job, rows[i].spare, &got, &err) < 0)
            fail_msg("row %zu: %s", i, err.text);
        if (memcmp(&got, &rows[i].wanted, sizeof(got)) != 0)
            fail_msg("row %zu: %u nodes, %u tasks, %u each", i, got.counts[0], got.counts[1],
                     got.counts[2]);
    }
}

static void refuses_what_does_not_come_out(void **state)
{
    (void)state;
    static const struct {
        struct step_shape asked, job;
        unsigned spare;
    } rows[] = {
        {{{5, 40, 0}}, {{4, 32, 8}}, 0},          /* more nodes than the job has */
        {{{4, 32, 0}}, {{4, 32, 8}}, 1},          /* the same, with one spare */
        {{{0, 0, 0}}, {{4, 32, 8}}, 4},           /* nothing left */
        {{{0, 0, 0}}, {{4, 32, 8}}, 4000000000u}, /* nothing left by far */
        {{{0, 20, 0}}, {{4, 32, 8}}, 0},          /* two and a half nodes */
        {{{0, 4, 0}}, {{4, 32, 8}}, 0},           /* half a node */
        {{{3, 16, 0}}, {{4, 32, 8}}, 0},          /* 16 over 3 */
        {{{0, 0, 2097152}}, {{4, 32, 8}}, 0},     /* too many */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct step_shape got = untouched;
        struct error_info err = {.kind = ERROR_NONE};
        if (step_shape_find(&rows[i].asked, &rows[i].job, rows[i].spare, &got, &err) == 0)
            fail_msg("row %zu: %u nodes, %u tasks", i, got.counts[0], got.counts[1]);
        const char *remedy = rows[i].spare < 4 ? "--ntasks-per-node" : "job's 4 nodes; use less";
        assert_non_null(strstr(err.text, remedy));
        assert_memory_equal(&got, &untouched, sizeof(got));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nodes_and_tasks),
        cmocka_unit_test(refuses_what_does_not_come_out),
    };
    return unit_test_main("spank_plugin/step_shape", tests, COUNT_OF(tests));
}
