/* SPDX-License-Identifier: MIT */
/* What others do to a gang behind parplan's back. */
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

/* --- bound by hand --------------------------------------------------------------------- */

static void what_is_bound_by_hand_releases_nothing(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    const struct pod_words second = {
        .name = "b", .gang = "g", .index = "1", .size = "3", .spec = ON("n1")};
    const struct pod_words third = {
        .name = "c", .gang = "g", .index = "2", .size = "3", .spec = GATE};
    const struct pod_words first = {
        .name = "a", .gang = "g", .index = "0", .size = "3", .spec = GATE};
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &third);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 200000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "GangBoundByHand: gang d/g: pod b was bound to node n1 before the gang had "
                  "a plan; the others wait until all 3 are there");
    machine_fixture_expect_said(
        &fixture, "GangIncomplete: gang d/g waits for its pods: 2 of 3 are there, the first "
                  "that is missing has index 0");
    struct gang_answer answer;
    assert_int_equal(machine_fixture_ask(&fixture, &third, "n2", &answer), ANSWER_REFUSED);
    machine_fixture_set_pod(&fixture, &first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* the plan, around it */
    assert_string_equal(fixture.patched, "a");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[2,1,3]"));
    machine_fixture_expect_placed(&fixture, "c", "n3");
}

/* As another scheduler does with a whole Job: a line for each of a thousand would be a flood. */
static void of_many_that_are_bound_by_hand_some_are_told(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    char name[8], index[8];
    for (unsigned i = 1; i < 20; i++) {
        snprintf(name, sizeof(name), "b%u", i);
        snprintf(index, sizeof(index), "%u", i);
        const struct pod_words bound = {
            .name = name, .gang = "g", .index = index, .size = "20", .spec = ON("n1")};
        machine_fixture_set_pod(&fixture, &bound);
    }
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    unsigned told = 0;
    for (const char *at = fixture.said; (at = strstr(at, "GangBoundByHand")); at++)
        told++;
    assert_int_equal(told, 8);
}

static void without_room_beside_it_the_gang_waits(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {
        .name = "a", .gang = "g", .index = "0", .size = "3", .spec = ON("n1")};
    const struct pod_words second = {
        .name = "b", .gang = "g", .index = "1", .size = "3", .spec = GATE};
    const struct pod_words third = {
        .name = "c", .gang = "g", .index = "2", .size = "3", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &third);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "GangWaiting: gang d/g: 3 pods do not fit; pod a was bound to node n1 by "
                  "hand: delete it to have it placed too\n");
    struct gang_counts counts;
    gang_machine_count(fixture.machine, &counts);
    assert_int_equal(counts.gangs[GANG_COLLECT], 1);
    assert_int_equal(counts.promised_nodes, 0);
    machine_fixture_set_node(&fixture, "n3", true);
    assert_int_equal(gang_machine_tick(fixture.machine, 1000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 4000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1-3]"));
}

/* The plan is there, and nobody has heard of it yet but pod 0. */
static void a_plan_that_does_not_include_it_is_given_up(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1"};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1-2]"));
    char plan[sizeof(fixture.annotations)];
    snprintf(plan, sizeof(plan), "%s", fixture.annotations);
    second.spec = ON("n3");
    second.version = "2";
    machine_fixture_set_pod(&fixture, &second);
    first.annotations = plan;
    first.version = "2";
    machine_fixture_set_pod(&fixture, &first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* taken back … */
    assert_non_null(strstr(fixture.annotations, "\"parplan.io/plan\":\"\""));
    first.annotations = ",\"parplan.io/plan\":\"\"";
    first.version = "3";
    machine_fixture_set_pod(&fixture, &first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* … and made anew */
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1,3]"));
}

/* They ran before parplan came: there is nothing to plan. */
static void a_gang_that_others_have_placed_runs(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = ON("n1")};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = ON("n2")};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    struct gang_counts counts;
    gang_machine_count(fixture.machine, &counts);
    assert_int_equal(counts.gangs[GANG_RUNNING], 1);
    assert_string_equal(fixture.said, "");
}

/* The plan that pod 0 still carries was for others: who gave it up and who reads it after a restart
 * know the same. */
static void nobody_follows_the_plan_of_a_gang_that_is_bound_by_hand(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    char plan[sizeof(fixture.annotations)];
    snprintf(plan, sizeof(plan), "%s", fixture.annotations);
    CLEANUP_DONE(machine_fixture) struct machine_fixture later;
    machine_fixture_init(&later);
    first.annotations = plan;
    first.spec = ON("n2");
    second.spec = ON("n1");
    machine_fixture_set_pod(&later, &first);
    machine_fixture_set_pod(&later, &second);
    assert_int_equal(machine_fixture_run(&later), TASK_NONE);
    CLEANUP(json_value) struct json_value *report = json_value_create_object();
    gang_machine_describe(later.machine, report);
    const struct json_value *gang = json_value_get(report, "d/g");
    assert_non_null(gang);
    assert_null(json_value_text(json_value_get(gang, "plan_id")));
}

/* --- a release whose answer was lost ------------------------------------------------------ */

static void end_patch_of(struct machine_fixture *fixture, const char *pod,
                         enum gang_task_result result)
{
    struct gang_task task;
    assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
    while (task.kind == TASK_EVENT) {
        assert_int_equal(gang_machine_finished(fixture->machine, &task, TASK_SUCCEEDED), 0);
        assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
    }
    assert_int_equal(task.kind, TASK_PATCH_POD);
    assert_string_equal(task.pod, pod);
    assert_int_equal(gang_machine_finished(fixture->machine, &task, result), 0);
}

/* Nothing was heard of it, and then its node goes: it must be known before there is another. */
static void a_release_that_may_stand_is_taken_back(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    char outputs[sizeof(fixture.annotations) + 40];
    snprintf(outputs, sizeof(outputs), "%s,\"parplan.io/node\":\"n1\"", fixture.annotations);
    end_patch_of(&fixture, "b", TASK_FAILED);
    first.annotations = outputs;
    first.spec = ON("n1");
    first.version = "2";
    machine_fixture_set_pod(&fixture, &first);
    gang_machine_remove_node(fixture.machine, "n2");
    assert_int_equal(gang_machine_tick(fixture.machine, 10000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "b");
    assert_non_null(strstr(fixture.annotations, "\"parplan.io/node\":\"\""));
    assert_false(fixture.released);
    second.version = "2"; /* so it was not applied */
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* the new plan */
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1,3]"));
}

/* That it may not be taken back does not mean that it does not stand. */
static void a_release_that_cannot_be_taken_back_stands(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct gang_answer answer;
    machine_fixture_init(&fixture);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    char outputs[sizeof(fixture.annotations) + 40];
    snprintf(outputs, sizeof(outputs), "%s,\"parplan.io/node\":\"n1\"", fixture.annotations);
    end_patch_of(&fixture, "b", TASK_SUCCEEDED); /* to n2 */
    first.annotations = outputs;
    first.spec = ON("n1");
    first.version = "2";
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_node(&fixture, "n2", false);
    assert_int_equal(gang_machine_tick(fixture.machine, 20000), 0);
    end_patch_of(&fixture, "b", TASK_REFUSED);
    machine_fixture_set_node(&fixture, "n2", true);
    assert_int_equal(gang_machine_tick(fixture.machine, 30000), 0);
    const struct pod_words other = {.name = "o", .gpus = 1};
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n2", &answer), ANSWER_SOME);
    assert_false(answer.passes[0]);
    CLEANUP(json_value) struct json_value *report = json_value_create_object();
    gang_machine_describe(fixture.machine, report);
    const struct json_value *pods = json_value_get(json_value_get(report, "d/g"), "pods");
    const char *words = json_value_text(json_value_get(json_value_at(pods, 1), "state"));
    assert_non_null(words);
    assert_string_equal(words, "released");
}

/* --- bound to a node that is gone ---------------------------------------------------------- */

/* The scheduler had not heard yet. What collects such pods is in no hurry. */
static void a_pod_on_a_lost_node_holds_up_nobody(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_node(&fixture, "n4", true);
    machine_fixture_set_released(&fixture, &gang);
    gang_machine_remove_node(fixture.machine, "n1"); /* that pod a has been bound to */
    gang_machine_remove_node(fixture.machine, "n2"); /* that pod b is meant for */
    assert_int_equal(machine_fixture_run(&fixture),
                     TASK_PATCH_POD); /* the new plan, on pod a all the same */
    assert_string_equal(fixture.patched, "a");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[3-4]"));
    snprintf(gang.outputs, sizeof(gang.outputs), "%s%s", fixture.annotations, RELEASED("n1"));
    gang.first.version = "3";
    machine_fixture_set_pod(&fixture, &gang.first);
    machine_fixture_expect_placed(&fixture, "b", "n4");
    /* The place of pod a's successor is kept. */
    struct gang_answer answer;
    const struct pod_words other = {.name = "o", .gpus = 1};
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n3", &answer), ANSWER_SOME);
    assert_false(answer.passes[0]);
    gang_machine_remove_pod(fixture.machine, "u-a");
    gang.first = (struct pod_words){
        .name = "c", .gang = "g", .index = "0", .job = "x", .created = "2026-01-02T00:00:00Z"};
    gang.first.spec = GATE;
    machine_fixture_set_pod(&fixture, &gang.first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
}

/* --- pods that are not made ------------------------------------------------------------- */

static void a_stateful_set_that_waits_for_its_first_pod_is_told_so(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {
        .name = "s-0", .gang = "g", .size = "4", .job = "s", .kind = "StatefulSet", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 11000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(
        fixture.said,
        "GangIncomplete: gang d/g waits for its pods: 1 of 4 are there, the first that is missing "
        "has index 1; if its StatefulSet makes a pod only when the one before is ready, make it "
        "anew with podManagementPolicy: Parallel\n");
}

/* --- MASTER_ADDR ------------------------------------------------------------------------ */

static void says_when_rank_0_has_no_name(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *kind, *address, *said;
    } cases[] = {
        {"", "Job", "a",
         "a pod's bare name, which other pods cannot look up; set spec.subdomain to"},
        {"\"hostname\":\"j-0\",", "Job", "a", "set spec.subdomain to a headless Service in the"},
        {"\"subdomain\":\"s\",", "Job", "a", "set spec.hostname in the pods' template\n"},
        {"\"hostname\":\"j-0\",\"subdomain\":\"s\",", "Job", "j-0.s.d.svc", NULL},
        {"", "PyTorchJob", "a", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        char spec[200], address[100];
        machine_fixture_init(&fixture);
        snprintf(spec, sizeof(spec), "%s%s", cases[i].spec, GATE);
        struct pod_words words = {
            .name = "a", .gang = "g", .job = "j", .kind = cases[i].kind, .spec = spec};
        machine_fixture_set_pod(&fixture, &words);
        words.name = "b";
        words.index = "1";
        machine_fixture_set_pod(&fixture, &words);
        assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
        assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
        assert_string_equal(fixture.patched, "b");
        snprintf(address, sizeof(address), "\"parplan.io/master-addr\":\"%s\"", cases[i].address);
        assert_non_null(strstr(fixture.annotations, address));
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        if (cases[i].said)
            machine_fixture_expect_said(&fixture, cases[i].said);
        else
            assert_null(strstr(fixture.said, "GangWithoutMasterName"));
    }
}

/* --- the end ------------------------------------------------------------------------------ */

static void end_pod(struct machine_fixture *fixture, struct pod_words *words, const char *phase)
{
    words->phase = phase;
    words->version = "9";
    machine_fixture_set_pod(fixture, words);
}

/* One after the other; the first takes the plan with it. */
static void pods_that_succeed_are_not_lost(void **state)
{
    (void)state;
    static const struct {
        const char *phase;
        enum gang_phase then;
        unsigned kept;
    } cases[] = {{"Succeeded", GANG_RUNNING, 0}, {"Failed", GANG_DEGRADED, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        struct released_gang gang;
        struct gang_counts counts;
        machine_fixture_init(&fixture);
        machine_fixture_set_released(&fixture, &gang);
        gang.second.annotations = RELEASED("n2");
        gang.second.spec = ON("n2");
        gang.second.version = "2";
        machine_fixture_set_pod(&fixture, &gang.second);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        fixture.said[0] = '\0';
        end_pod(&fixture, &gang.first, cases[i].phase);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        gang_machine_count(fixture.machine, &counts);
        assert_int_equal(counts.gangs[cases[i].then], 1);
        assert_int_equal(counts.promised_nodes, cases[i].kept);
        assert_int_equal(gang_machine_tick(fixture.machine, 200000), 0);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        if (cases[i].then == GANG_RUNNING)
            assert_string_equal(fixture.said, "");
        /* The last one: nothing is left of it. */
        end_pod(&fixture, &gang.second, "Succeeded");
        gang_machine_count(fixture.machine, &counts);
        assert_int_equal(counts.pods, 0);
        for (unsigned phase = 0; phase < GANG_PHASE_COUNT; phase++)
            assert_int_equal(counts.gangs[phase], 0);
    }
}

/* --- why a gang waits ------------------------------------------------------------------- */

/* "Full" would send people to look for what fills an empty node. */
static void a_node_that_can_never_hold_a_pod_is_not_full(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        unsigned gpus;
        enum gang_turned_away why;
    } cases[] = {
        {GATE, 16, AWAY_FEW_GPUS},
        {GATE "\"overhead\":{\"cpu\":\"9000\"},", 8, AWAY_SMALL},
        {GATE "\"overhead\":{\"cpu\":\"9000\"},", 16, AWAY_FEW_GPUS},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        machine_fixture_init(&fixture);
        const struct pod_words pod = {.name = "a",
                                      .gang = "g",
                                      .index = "0",
                                      .size = "1",
                                      .spec = cases[i].spec,
                                      .gpus = cases[i].gpus};
        struct gang_task task;
        machine_fixture_set_pod(&fixture, &pod);
        assert_int_equal(gang_machine_next(fixture.machine, &task), 0);
        assert_int_equal(task.kind, TASK_PLAN);
        for (unsigned why = 0; why < AWAY_COUNT; why++)
            assert_int_equal(task.problem->turned_away[why], why == cases[i].why ? 2 : 0);
        const struct resource_lack *lack = &task.problem->lacks[cases[i].why];
        assert_int_equal(lack->resource != NULL, cases[i].why == AWAY_SMALL);
        assert_true(!lack->resource || strcmp(lack->resource, "cpu") == 0);
        assert_int_equal(gang_machine_finished(fixture.machine, &task, TASK_FAILED), 0);
    }
}

/* The admission policy lets nobody take the gate away. */
static void what_is_not_judged_is_refused_with_a_way_out(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words pod = {.name = "a",
                                  .gang = "g",
                                  .index = "0",
                                  .size = "1",
                                  .spec = GATE "\"resourceClaims\":[{\"name\":\"gpu\"}],"};
    machine_fixture_set_pod(&fixture, &pod);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "GangRefused: gang d/g: its pods use resourceClaims, which parplan does not "
                  "judge; take that out, or make them anew with label parplan.io/gang: "
                  "\"off\" to let the scheduler place them\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_bound_by_hand_releases_nothing),
        cmocka_unit_test(of_many_that_are_bound_by_hand_some_are_told),
        cmocka_unit_test(without_room_beside_it_the_gang_waits),
        cmocka_unit_test(a_plan_that_does_not_include_it_is_given_up),
        cmocka_unit_test(a_gang_that_others_have_placed_runs),
        cmocka_unit_test(nobody_follows_the_plan_of_a_gang_that_is_bound_by_hand),
        cmocka_unit_test(a_release_that_may_stand_is_taken_back),
        cmocka_unit_test(a_release_that_cannot_be_taken_back_stands),
        cmocka_unit_test(a_pod_on_a_lost_node_holds_up_nobody),
        cmocka_unit_test(a_stateful_set_that_waits_for_its_first_pod_is_told_so),
        cmocka_unit_test(says_when_rank_0_has_no_name),
        cmocka_unit_test(pods_that_succeed_are_not_lost),
        cmocka_unit_test(a_node_that_can_never_hold_a_pod_is_not_full),
        cmocka_unit_test(what_is_not_judged_is_refused_with_a_way_out),
    };
    return unit_test_main("k8s_extender/gang_trouble", tests, COUNT_OF(tests));
}
