/* SPDX-License-Identifier: MIT */
/* What others do to a gang behind parplan's back. */
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/gang_bench.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ON(node) "\"nodeName\":\"" node "\","

static void assert_said(const struct bench *bench, const char *words)
{
    if (!strstr(bench->said, words))
        fail_msg("'%s' is not in what was said:\n%s", words, bench->said);
}

static const char *node_in_plan(const struct bench *bench, const char *expected)
{
    return strstr(bench->annotations, expected);
}

/* --- bound by hand --------------------------------------------------------------------- */

static void what_is_bound_by_hand_releases_nothing(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench_set_node(&bench, "n3", true);
    const struct pod_words second = {
        .name = "b", .gang = "g", .index = "1", .size = "3", .spec = ON("n1")};
    const struct pod_words third = {
        .name = "c", .gang = "g", .index = "2", .size = "3", .spec = GATE};
    const struct pod_words first = {
        .name = "a", .gang = "g", .index = "0", .size = "3", .spec = GATE};
    bench_set_pod(&bench, &second);
    bench_set_pod(&bench, &third);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    assert_int_equal(gang_machine_tick(bench.machine, 200000), 0);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    assert_said(&bench, "GangBoundByHand: gang d/g: pod b was bound to node n1 before the gang had "
                        "a plan; the others wait until all 3 are there");
    assert_said(&bench, "GangIncomplete: gang d/g waits for its pods: 2 of 3 are there, the first "
                        "that is missing has index 0");
    struct gang_answer answer;
    assert_int_equal(bench_ask(&bench, &third, "n2", &answer), ANSWER_REFUSED);
    bench_set_pod(&bench, &first);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD); /* the plan, around it */
    assert_string_equal(bench.patched, "a");
    assert_non_null(node_in_plan(&bench, "nodes=n[2,1,3]"));
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_string_equal(bench.patched, "c");
    assert_string_equal(bench.node, "n3");
}

static void without_room_beside_it_the_gang_waits(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    const struct pod_words first = {
        .name = "a", .gang = "g", .index = "0", .size = "3", .spec = ON("n1")};
    const struct pod_words second = {
        .name = "b", .gang = "g", .index = "1", .size = "3", .spec = GATE};
    const struct pod_words third = {
        .name = "c", .gang = "g", .index = "2", .size = "3", .spec = GATE};
    bench_set_pod(&bench, &first);
    bench_set_pod(&bench, &second);
    bench_set_pod(&bench, &third);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    assert_said(&bench, "GangWaiting: gang d/g: 3 pods do not fit; pod a was bound to node n1 by "
                        "hand: delete it to have it placed too\n");
    struct gang_counts counts;
    gang_machine_count(bench.machine, &counts);
    assert_int_equal(counts.gangs[GANG_COLLECT], 1);
    assert_int_equal(counts.promised_nodes, 0);
    bench_set_node(&bench, "n3", true);
    assert_int_equal(gang_machine_tick(bench.machine, 1000), 0);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    assert_int_equal(gang_machine_tick(bench.machine, 4000), 0);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_non_null(node_in_plan(&bench, "nodes=n[1-3]"));
}

/* The plan is there, and nobody has heard of it yet but pod 0. */
static void a_plan_that_does_not_include_it_is_given_up(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench_set_node(&bench, "n3", true);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1"};
    bench_set_pod(&bench, &first);
    bench_set_pod(&bench, &second);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_non_null(node_in_plan(&bench, "nodes=n[1-2]"));
    char plan[sizeof(bench.annotations)];
    snprintf(plan, sizeof(plan), "%s", bench.annotations);
    second.spec = ON("n3");
    second.version = "2";
    bench_set_pod(&bench, &second);
    first.annotations = plan;
    first.version = "2";
    bench_set_pod(&bench, &first);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD); /* taken back … */
    assert_non_null(strstr(bench.annotations, "\"parplan.io/plan\":\"\""));
    first.annotations = ",\"parplan.io/plan\":\"\"";
    first.version = "3";
    bench_set_pod(&bench, &first);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD); /* … and made anew */
    assert_non_null(node_in_plan(&bench, "nodes=n[1,3]"));
}

/* They ran before parplan came: there is nothing to plan. */
static void a_gang_that_others_have_placed_runs(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    const struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = ON("n1")};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = ON("n2")};
    bench_set_pod(&bench, &first);
    bench_set_pod(&bench, &second);
    assert_int_equal(bench_run(&bench), TASK_NONE);
    struct gang_counts counts;
    gang_machine_count(bench.machine, &counts);
    assert_int_equal(counts.gangs[GANG_RUNNING], 1);
    assert_string_equal(bench.said, "");
}

/* --- a release whose answer was lost ------------------------------------------------------ */

static void fail_patch_of(struct bench *bench, const char *pod)
{
    struct gang_task task;
    assert_int_equal(gang_machine_next(bench->machine, &task), 0);
    assert_int_equal(task.kind, TASK_PATCH_POD);
    assert_string_equal(task.pod, pod);
    assert_int_equal(gang_machine_finished(bench->machine, &task, TASK_FAILED), 0);
}

/* Nothing was heard of it, and then its node goes: it must be known before there is another. */
static void a_release_that_may_stand_is_taken_back(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench_set_node(&bench, "n3", true);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    bench_set_pod(&bench, &first);
    bench_set_pod(&bench, &second);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    char outputs[sizeof(bench.annotations) + 40];
    snprintf(outputs, sizeof(outputs), "%s,\"parplan.io/node\":\"n1\"", bench.annotations);
    fail_patch_of(&bench, "b");
    first.annotations = outputs;
    first.spec = ON("n1");
    first.version = "2";
    bench_set_pod(&bench, &first);
    gang_machine_remove_node(bench.machine, "n2");
    assert_int_equal(gang_machine_tick(bench.machine, 10000), 0);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD);
    assert_string_equal(bench.patched, "b");
    assert_non_null(strstr(bench.annotations, "\"parplan.io/node\":\"\""));
    assert_false(bench.released);
    second.version = "2"; /* so it was not applied */
    bench_set_pod(&bench, &second);
    assert_int_equal(bench_run(&bench), TASK_PATCH_POD); /* the new plan */
    assert_non_null(node_in_plan(&bench, "nodes=n[1,3]"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_bound_by_hand_releases_nothing),
        cmocka_unit_test(without_room_beside_it_the_gang_waits),
        cmocka_unit_test(a_plan_that_does_not_include_it_is_given_up),
        cmocka_unit_test(a_gang_that_others_have_placed_runs),
        cmocka_unit_test(a_release_that_may_stand_is_taken_back),
    };
    return unit_test_main("k8s_extender/gang_trouble", tests, COUNT_OF(tests));
}
