/* SPDX-License-Identifier: MIT */
/* Whose turn it is: one gang's trouble must not become another's. */
#include "base/memory.h"
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/fake_planner.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE 600000u

static void tick(struct machine_fixture *fixture, uint64_t now)
{
    assert_int_equal(gang_machine_tick(fixture->machine, now), 0);
}

static unsigned count_said(const struct machine_fixture *fixture, const char *words)
{
    unsigned count = 0;
    for (const char *at = fixture->said; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* --- patience ------------------------------------------------------------------------- */

/* Two pods, of which the second has a node at once where there is one. */
static void set_pair(struct machine_fixture *fixture, const char *gang, const char *first,
                     const char *second)
{
    machine_fixture_set_pod(fixture,
                            &(struct pod_words){.name = first, .gang = gang, .spec = GATE});
    machine_fixture_set_pod(
        fixture, &(struct pod_words){.name = second, .gang = gang, .index = "1", .spec = GATE});
}

static void who_has_waited_long_is_passed_no_more(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words other = {.name = "o", .gang = "o", .size = "1", .spec = ON("n1")};
    machine_fixture_set_pod(&fixture, &other);
    set_pair(&fixture, "old", "a", "b");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    tick(&fixture, PATIENCE + 1000); /* … and this is the first time that it is tried again */
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    fixture.said[0] = '\0';
    const struct pod_words late = {.name = "c", .gang = "late", .size = "1", .spec = GATE};
    const struct pod_words later = {.name = "d", .gang = "later", .size = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &late);
    machine_fixture_set_pod(&fixture, &later);
    for (uint64_t now = PATIENCE + 2000; now < PATIENCE + 90000; now += 10000) {
        tick(&fixture, now);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    }
    machine_fixture_expect_said(&fixture,
                                "GangWaiting: gang d/late waits behind gang d/old, which has not "
                                "fitted for more than 600 s and must not be passed any more; to go "
                                "first give this one a higher priority, or delete that one\n");
    assert_int_equal(count_said(&fixture, "gang d/late waits behind"), 1);
    assert_int_equal(count_said(&fixture, "gang d/later waits behind gang d/old"), 1);
    const struct pod_words urgent = {
        .name = "e", .gang = "urgent", .size = "1", .spec = GATE "\"priority\":7,"};
    machine_fixture_set_pod(&fixture, &urgent);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "e");
}

static void who_could_not_have_the_empty_cluster_is_passed(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    for (unsigned i = 0; i < 3; i++) {
        const char name[] = {'a', (char)('0' + i), '\0'}, *index = name + 1;
        machine_fixture_set_pod(
            &fixture, &(struct pod_words){
                          .name = name, .gang = "old", .index = index, .size = "3", .spec = GATE});
    }
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    tick(&fixture, PATIENCE + 1000);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    tick(&fixture, PATIENCE + 40000);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    set_pair(&fixture, "late", "x", "y");
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "x");
}

/* --- too much to remember ------------------------------------------------------------- */

static struct pod_record *pod_of_kinds(unsigned number, unsigned pods, unsigned kinds)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 16);
    text_buffer_add(&text,
                    "{\"metadata\":{\"name\":\"k%u\",\"namespace\":\"d\",\"uid\":\"u-k%u\","
                    "\"resourceVersion\":\"1\",\"labels\":{\"parplan.io/gang\":\"kinds\"},"
                    "\"annotations\":{\"parplan.io/size\":\"%u\",\"parplan.io/index\":\"%u\"}},"
                    "\"spec\":{" GATE "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{"
                    "\"nvidia.com/gpu\":\"8\"",
                    number, number, pods, number);
    for (unsigned i = 0; i < kinds; i++)
        text_buffer_add(&text, ",\"a.of/r-%u-%u\":\"1\"", number, i);
    text_buffer_add(&text, "}}}]}}");
    assert_false(text_buffer_failed(&text));
    struct pod_record *pod = pod_record_parse(text_buffer_text(&text), text.length, NULL);
    assert_non_null(pod);
    return pod;
}

static void a_gang_of_too_many_resources_stops_no_other(void **state)
{
    (void)state;
    static const struct {
        unsigned pods, kinds;
        const char *said;
    } cases[] = {
        {2, 31, "GangWaiting: gang d/kinds: 2 pods do not fit"}, /* no node has them */
        {2, 32, "gang d/kinds: pod k1 asks for 1 kinds of resources beyond the 64 that the pods"},
        {10, 63, "gang d/kinds: pod k1 asks for 63 kinds of resources beyond the 64"},
        {181, 1,
         "gang d/kinds: pod k63 asks for 1 kinds of resources beyond the 64 that the pods "
         "of a gang may ask for together; let all of them ask for the same ones\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        machine_fixture_init(&fixture);
        for (unsigned pod = 0; pod < cases[i].pods; pod++)
            assert_int_equal(gang_machine_set_pod(fixture.machine,
                                                  pod_of_kinds(pod, cases[i].pods, cases[i].kinds)),
                             0);
        set_pair(&fixture, "other", "a", "b");
        assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
        assert_string_equal(fixture.patched, "a");
        machine_fixture_expect_said(&fixture, cases[i].said);
    }
}

static void the_longest_requests_are_reserved(void **state)
{
    (void)state;
    static char names[RESOURCE_LIST_MAXIMUM_OTHERS][RESOURCE_NAME_MAXIMUM_BYTES + 1];
    struct resource_amount others[RESOURCE_LIST_MAXIMUM_OTHERS];
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        memset(names[i], 'r', RESOURCE_NAME_MAXIMUM_BYTES);
        names[i][0] = (char)('0' + i);
        others[i] = (struct resource_amount){.name = names[i], .amount = 1};
    }
    const struct resource_list requests = {.others = others, .other_count = COUNT_OF(others)};
    CLEANUP(cluster_state) struct cluster_state *cluster = cluster_state_create();
    assert_non_null(cluster);
    assert_int_equal(cluster_state_reserve(cluster, "n1", "g", &requests), 0);
    assert_true(cluster_state_promised(cluster, "n1"));
}

/* --- no memory ------------------------------------------------------------------------ */

#ifdef MEMORY_TORTURE
/* Carries out all that is to be done now; returns how many patches that were. */
static unsigned patch_all(struct machine_fixture *fixture)
{
    unsigned patches = 0;
    struct gang_task task;
    while (gang_machine_next(fixture->machine, &task) == 0 && task.kind != TASK_NONE) {
        enum gang_task_result result = TASK_SUCCEEDED;
        patches += task.kind == TASK_PATCH_POD;
        if (task.kind == TASK_PLAN) {
            struct gang_plan *plan = fake_planner_plan(task.problem);
            result = plan ? TASK_SUCCEEDED : TASK_FAILED;
            (void)gang_machine_planned(fixture->machine, task.problem, plan);
        }
        (void)gang_machine_finished(fixture->machine, &task, result);
    }
    assert_int_equal(task.kind, TASK_NONE);
    return patches;
}

/* Whether so many allocations were made. */
static bool starve_at(unsigned long nth)
{
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {.name = "a", .gang = "a", .size = "1", .spec = GATE};
    const struct pod_words second = {.name = "b", .gang = "b", .size = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    memory_torture_fail_at(nth);
    unsigned patches = patch_all(&fixture);
    bool reached = memory_torture_count() >= nth;
    memory_torture_fail_at(0);
    assert_in_range(patches, 1, 2);
    assert_in_range(gang_machine_wait(fixture.machine), 1, 1000);
    tick(&fixture, 1500);
    patches += patch_all(&fixture);
    assert_int_equal(patches, 2);
    return reached;
}
#endif

static void who_has_no_memory_is_passed_over(void **state)
{
    (void)state;
#ifdef MEMORY_TORTURE
    unsigned long nth = 1;
    while (!unit_test_is_tortured() && starve_at(nth))
        nth++;
    assert_true(unit_test_is_tortured() || nth > 20);
#else
    skip();
#endif
}

/* --- who may not act -------------------------------------------------------------------- */

static uint64_t wait_after(struct gang_machine *machine, uint64_t now)
{
    struct gang_task task;
    assert_int_equal(gang_machine_tick(machine, now), 0);
    assert_int_equal(gang_machine_next(machine, &task), 0);
    assert_int_equal(task.kind, TASK_NONE);
    return gang_machine_wait(machine);
}

/* Else its workers ask for nothing again and again, and hold the lock that others want. */
static void who_may_not_act_waits(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct gang_machine_settings settings = {.settle_milliseconds = 2000};
    CLEANUP(gang_machine) struct gang_machine *fresh = gang_machine_create(&settings, NULL);
    assert_non_null(fresh);
    struct pod_words words = {.name = "a", .gang = "g", .spec = GATE};
    gang_machine_lead(fresh, true);
    assert_int_equal(gang_machine_set_pod(fresh, machine_fixture_pod_of(&words)), 0);
    assert_int_equal(wait_after(fresh, 100), 1000); /* nothing is listed */
    gang_machine_lead(fresh, false);
    for (enum gang_list list = 0; list < LIST_COUNT; list++) {
        gang_machine_begin_list(fresh, list);
        words.version = list ? "2" : "1";
        assert_int_equal(gang_machine_set_pod(fresh, machine_fixture_pod_of(&words)), 0);
        assert_int_equal(gang_machine_end_list(fresh, list), 0);
    }
    gang_machine_lead(fresh, true); /* at 100 */
    assert_int_equal(wait_after(fresh, 200), 1000);
    assert_int_equal(wait_after(fresh, 1800), 300);
    assert_int_equal(wait_after(fresh, 2099), 1);
    assert_int_equal(wait_after(fresh, 2100), 1000);
    gang_machine_begin_list(fresh, LIST_NODES);
    words.version = "3";
    assert_int_equal(gang_machine_set_pod(fresh, machine_fixture_pod_of(&words)), 0);
    assert_int_equal(wait_after(fresh, 2200), 1000);
    gang_machine_lead(fresh, false);
    assert_int_equal(wait_after(fresh, 2300), 1000);
}

/* --- many events -------------------------------------------------------------------------- */

#define REFUSED 200u /* gangs, each for a reason of its own */

static void set_refused(struct machine_fixture *fixture, const char *version)
{
    char name[16], gang[16];
    for (unsigned i = 0; i < REFUSED; i++) {
        snprintf(name, sizeof(name), "r%u", i);
        snprintf(gang, sizeof(gang), "bad%u", i);
        machine_fixture_set_pod(
            fixture,
            &(struct pod_words){.name = name, .gang = gang, .index = "x", .version = version});
    }
}

/* Whether an event comes next; its kind is noted, and it is answered as done. */
static enum gang_task_kind next_kind(struct machine_fixture *fixture)
{
    struct gang_task task;
    assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
    enum gang_task_kind kind = task.kind;
    if (kind == TASK_PLAN) {
        struct gang_plan *plan = fake_planner_plan(task.problem);
        assert_non_null(plan);
        assert_int_equal(gang_machine_planned(fixture->machine, task.problem, plan), 0);
    }
    assert_int_equal(gang_machine_finished(fixture->machine, &task, TASK_SUCCEEDED), 0);
    return kind;
}

static void many_events_hold_up_no_work(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_refused(&fixture, "1");
    assert_int_equal(next_kind(&fixture), TASK_EVENT); /* now they are all there */
    machine_fixture_set_pod(
        &fixture, &(struct pod_words){.name = "a", .gang = "g", .size = "1", .spec = GATE});
    assert_int_equal(next_kind(&fixture), TASK_PLAN);
    assert_int_equal(next_kind(&fixture), TASK_PATCH_POD);
    unsigned events = 2; /* with the first, and that it is planned */
    while (next_kind(&fixture) == TASK_EVENT)
        events++;
    assert_in_range(events, REFUSED, REFUSED + 4);
}

static void work_holds_up_no_events(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    char name[16];
    machine_fixture_init(&fixture);
    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        machine_fixture_set_node(&fixture, name, true);
        snprintf(name, sizeof(name), "p%u", i);
        machine_fixture_set_pod(
            &fixture, &(struct pod_words){.name = name, .gang = name, .size = "1", .spec = GATE});
    }
    set_refused(&fixture, "1");
    unsigned without = 0, most = 0;
    for (unsigned i = 0; i < 40; i++) {
        without = next_kind(&fixture) == TASK_EVENT ? 0 : without + 1;
        most = without > most ? without : most;
    }
    assert_int_equal(most, 4);
}

/* Each of them is refused once, however often its pod changes or something becomes free. */
static void what_was_told_stays_told(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_refused(&fixture, "1");
    unsigned events = 0;
    while (next_kind(&fixture) == TASK_EVENT)
        events++;
    assert_int_equal(events, REFUSED);
    for (unsigned i = 0; i < 3; i++) {
        const char version[] = {(char)('2' + i), '\0'};
        machine_fixture_set_node(&fixture, "n3", i % 2 == 0);
        set_refused(&fixture, version);
        tick(&fixture, 10000 * (i + 1));
        assert_int_equal(next_kind(&fixture), TASK_NONE);
    }
}

/* --- a list that is read again ------------------------------------------------------------- */

/* As when it is told that it goes. */
static void a_node_that_a_list_lacks_is_gone(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang); /* pod a is bound to n1, pod b is meant for n2 */
    struct gang_answer answer;                     /* all that was heard so far is taken in */
    assert_int_equal(machine_fixture_ask(&fixture, &gang.second, "n2", &answer), ANSWER_REFUSED);
    gang_machine_begin_list(fixture.machine, LIST_NODES);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_node(&fixture, "n4", true);
    assert_int_equal(gang_machine_end_list(fixture.machine, LIST_NODES), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* the new plan */
    assert_string_equal(fixture.patched, "a");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[3-4]"));
}

/* --- what is said of a place ----------------------------------------------------------------- */

/* Pod b is there and waits, or was lost: only the first is sure of its place. */
static void says_whose_place_is_kept(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        struct released_gang gang;
        machine_fixture_init(&fixture);
        machine_fixture_set_released(&fixture, &gang);
        if (lost)
            gang_machine_remove_pod(fixture.machine, "u-b");
        assert_int_equal(machine_fixture_run(&fixture), lost ? TASK_NONE : TASK_PATCH_POD);
        tick(&fixture, 61000);
        (void)machine_fixture_run(&fixture);
        (void)machine_fixture_run(&fixture);
        machine_fixture_expect_said(
            &fixture, lost ? "GangIncomplete: gang d/g: 1 of 2 pods are bound; index 1 (no pod) "
                             "is not, meant for node n2; 60 s after a pod is lost its place is "
                             "no longer kept\n"
                           : "GangIncomplete: gang d/g: 1 of 2 pods are bound; index 1 (b) is "
                             "not, meant for node n2; its place is kept\n");
        struct gang_counts counts;
        gang_machine_count(fixture.machine, &counts);
        assert_int_equal(counts.promised_nodes, !lost);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_waited_long_is_passed_no_more),
        cmocka_unit_test(who_could_not_have_the_empty_cluster_is_passed),
        cmocka_unit_test(a_gang_of_too_many_resources_stops_no_other),
        cmocka_unit_test(the_longest_requests_are_reserved),
        cmocka_unit_test(who_has_no_memory_is_passed_over),
        cmocka_unit_test(who_may_not_act_waits),
        cmocka_unit_test(many_events_hold_up_no_work),
        cmocka_unit_test(work_holds_up_no_events),
        cmocka_unit_test(what_was_told_stays_told),
        cmocka_unit_test(a_node_that_a_list_lacks_is_gone),
        cmocka_unit_test(says_whose_place_is_kept),
    };
    return unit_test_main("k8s_extender/gang_turns", tests, COUNT_OF(tests));
}
