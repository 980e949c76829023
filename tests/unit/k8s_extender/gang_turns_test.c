/* SPDX-License-Identifier: MIT */
/* Whose turn it is: one gang's trouble must not become another's. */
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/gang_bench.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE 600000u

static void tick(struct bench *bench, uint64_t now)
{
    assert_int_equal(gang_machine_tick(bench->machine, now), 0);
}

static unsigned count_said(const struct bench *bench, const char *words)
{
    unsigned count = 0;
    for (const char *at = bench->said; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* --- patience ------------------------------------------------------------------------- */

/* Two pods, of which the second has a node at once where there is one. */
static void set_pair(struct bench *bench, const char *gang, const char *first, const char *second)
{
    bench_set_pod(bench, &(struct pod_words){.name = first, .gang = gang, .spec = GATE});
    bench_set_pod(bench,
                  &(struct pod_words){.name = second, .gang = gang, .index = "1", .spec = GATE});
}

static void who_has_waited_long_is_passed_no_more(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    const struct pod_words other = {.name = "o", .gang = "o", .size = "1", .spec = ON("n1")};
    bench_set_pod(&bench, &other);
    set_pair(&bench, "old", "a", "b");
    assert_int_equal(bench_run(&bench), TASK_NONE);
    tick(&bench, PATIENCE + 1000); /* … and this is the first time that it is tried again */
    assert_int_equal(bench_run(&bench), TASK_NONE);
    bench.said[0] = '\0';
    const struct pod_words late = {.name = "c", .gang = "late", .size = "1", .spec = GATE};
    const struct pod_words later = {.name = "d", .gang = "later", .size = "1", .spec = GATE};
    bench_set_pod(&bench, &late);
    bench_set_pod(&bench, &later);
    for (uint64_t now = PATIENCE + 2000; now < PATIENCE + 90000; now += 10000) {
        tick(&bench, now);
        assert_int_equal(bench_run(&bench), TASK_NONE);
    }
    bench_expect_said(&bench, "GangWaiting: gang d/late waits behind gang d/old, which has not "
                              "fitted for more than 600 s and must not be passed any more; to go "
                              "first give this one a higher priority, or delete that one\n");
    assert_int_equal(count_said(&bench, "gang d/late waits behind"), 1);
    assert_int_equal(count_said(&bench, "gang d/later waits behind gang d/old"), 1);
    const struct pod_words urgent = {
        .name = "e", .gang = "urgent", .size = "1", .spec = GATE "\"priority\":7,"};
    bench_set_pod(&bench, &urgent);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_string_equal(bench.patched, "e");
}

static void who_could_not_have_the_empty_cluster_is_passed(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    for (unsigned i = 0; i < 3; i++) {
        const char name[] = {'a', (char)('0' + i), '\0'}, *index = name + 1;
        bench_set_pod(&bench,
                      &(struct pod_words){
                          .name = name, .gang = "old", .index = index, .size = "3", .spec = GATE});
    }
    assert_int_equal(bench_run(&bench), TASK_NONE);
    tick(&bench, PATIENCE + 1000);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    tick(&bench, PATIENCE + 40000);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    set_pair(&bench, "late", "x", "y");
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_string_equal(bench.patched, "x");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_waited_long_is_passed_no_more),
        cmocka_unit_test(who_could_not_have_the_empty_cluster_is_passed),
    };
    return unit_test_main("k8s_extender/gang_turns", tests, COUNT_OF(tests));
}
