/* SPDX-License-Identifier: MIT */
/* Pods that have a gang's name and do not belong to it. */
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static void a_second_job_does_not_stop_a_released_gang(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    struct gang_answer answer;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_released(&fixture, &gang);
    /* It is older, and as large as it likes. */
    const struct pod_words other = {.name = "c",
                                    .gang = "g",
                                    .index = "1",
                                    .size = "3",
                                    .job = "y",
                                    .created = "2025-01-01T00:00:00Z"};
    machine_fixture_set_pod(&fixture, &other);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "b");
    assert_true(fixture.released);
    assert_string_equal(fixture.node, "n2");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const char *words = "gang d/g: the name is in use by Job x; pod c of Job y waits until that is "
                        "gone: give each its own name in label parplan.io/gang";
    machine_fixture_expect_said(&fixture, words);
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n3", &answer), ANSWER_REFUSED);
    assert_string_equal(answer.text, words);
}

/* Whatever is heard first. */
static void the_first_of_two_jobs_has_the_name(void **state)
{
    (void)state;
    static const struct pod_words pods[] = {
        {.name = "a", .index = "0", .job = "x", .created = "2026-01-01T00:00:01Z"},
        {.name = "b", .index = "1", .job = "x", .created = "2026-01-01T00:00:03Z"},
        {.name = "c", .index = "0", .job = "y", .created = "2026-01-01T00:00:02Z"},
        {.name = "d", .index = "1", .job = "y", .created = "2026-01-01T00:00:02Z"},
    };
    for (unsigned start = 0; start < COUNT_OF(pods); start++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        machine_fixture_init(&fixture);
        for (unsigned i = 0; i < COUNT_OF(pods); i++) {
            struct pod_words words = pods[(start + i) % COUNT_OF(pods)];
            words.gang = "g";
            words.spec = GATE;
            machine_fixture_set_pod(&fixture, &words);
        }
        assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
        assert_string_equal(fixture.patched, "a");
        machine_fixture_expect_said(&fixture, "the name is in use by Job x; pod ");
        machine_fixture_expect_said(&fixture, "GangPlanned: gang d/g: 2 pods placed");
    }
}

static void the_name_passes_on_when_the_first_has_gone(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_released(&fixture, &gang);
    struct pod_words first = {
        .name = "c", .gang = "g", .size = "1", .job = "y", .created = "2027-01-01T00:00:00Z"};
    first.spec = GATE;
    machine_fixture_set_pod(&fixture, &first);
    gang_machine_remove_pod(fixture.machine, "u-b");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    gang_machine_remove_pod(fixture.machine, "u-a");
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
    machine_fixture_expect_said(&fixture, "GangPlanned: gang d/g: 1 pods placed");
}

/* Its index was given by hand, so that no owner says where it belongs. */
static void a_doubled_index_does_not_stop_a_placed_gang(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang);
    const struct pod_words other = {.name = "c", .gang = "g", .index = "0", .spec = GATE};
    const struct pod_words wrong = {.name = "d", .gang = "g", .index = "x", .spec = GATE};
    machine_fixture_set_pod(&fixture, &other);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "b");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: pod c has index 0, which is pod a's");
    gang_machine_remove_pod(fixture.machine, "u-c");
    machine_fixture_set_pod(&fixture, &wrong);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture, "GangRefused: gang d/g: pod d: parplan.io/index");
    gang_machine_remove_pod(fixture.machine, "u-b");
    gang.second.name = "e";
    machine_fixture_set_pod(&fixture, &gang.second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "e");
    assert_true(fixture.released);
}

/* It is older than the Job's pod of that index, which is made again. */
static void no_pod_without_an_owner_takes_the_place_of_a_jobs(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang);
    struct pod_words other = {
        .name = "c", .gang = "g", .index = "1", .created = "2025-01-01T00:00:00Z"};
    other.spec = GATE;
    machine_fixture_set_pod(&fixture, &other);
    gang_machine_remove_pod(fixture.machine, "u-b");
    gang.second.name = "d";
    gang.second.created = "2026-01-02T00:00:00Z";
    machine_fixture_set_pod(&fixture, &gang.second);
    machine_fixture_expect_placed(&fixture, "d", "n2");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: pod c has index 1, which is pod d's");
}

/* Of a pod without an owner nobody knows whether parplan wrote what it says. */
static void no_pod_without_an_owner_says_how_large_a_jobs_gang_is(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    const struct pod_words other = {.name = "c",
                                    .gang = "g",
                                    .index = "7",
                                    .created = "2025-01-01T00:00:00Z",
                                    .annotations = ",\"parplan.io/plan-shape\":\"pods=1 gpus=8\""};
    machine_fixture_set_released(&fixture, &gang);
    machine_fixture_set_pod(&fixture, &other);
    gang_machine_remove_pod(fixture.machine, "u-a"); /* so that c is heard of before */
    machine_fixture_set_pod(&fixture, &gang.first);
    machine_fixture_expect_placed(&fixture, "b", "n2");
}

/* It has the place of a pod that is missing, and says that all are to go where one is not bound. */
static void no_pod_without_an_owner_has_a_jobs_pods_deleted(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    const struct pod_words other = {.name = "c",
                                    .gang = "g",
                                    .index = "1",
                                    .annotations = ",\"parplan.io/on-partial\":\"delete\"",
                                    .spec = GATE};
    machine_fixture_set_released(&fixture, &gang);
    gang_machine_remove_pod(fixture.machine, "u-b");
    machine_fixture_set_pod(&fixture, &other);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
    assert_int_equal(gang_machine_tick(fixture.machine, 100000), 0);
    for (enum gang_task_kind kind; (kind = machine_fixture_run(&fixture)) != TASK_NONE;)
        assert_int_equal(kind, TASK_PATCH_POD);
    machine_fixture_expect_said(&fixture, "GangIncomplete: gang d/g: 1 of 2 pods are bound");
}

static void who_has_the_name_is_told_rightly(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    const struct pod_words bare = {.name = "c", .gang = "g", .index = "7", .spec = GATE};
    const struct pod_words other = {.name = "d", .gang = "g", .job = "y", .spec = GATE};
    machine_fixture_set_released(&fixture, &gang);
    machine_fixture_set_pod(&fixture, &bare);
    gang_machine_remove_pod(fixture.machine, "u-a"); /* so that c is heard of before them */
    machine_fixture_set_pod(&fixture, &gang.first);
    gang_machine_remove_pod(fixture.machine, "u-b");
    machine_fixture_set_pod(&fixture, &gang.second);
    machine_fixture_set_pod(&fixture, &other);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "the name is in use by Job x; pod d of Job y waits until that is gone");
}

/* Each of them is refused again and again by the scheduler, and so changes all the time. */
static void of_many_that_do_not_belong_one_is_told(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    struct pod_words other = {.gang = "g", .index = "0", .job = "y", .spec = GATE};
    static const char *const names[] = {"c", "e", "f"}, *const versions[] = {"1", "2", "3"};
    for (size_t turn = 0; turn < COUNT_OF(versions); turn++)
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            other.name = names[i];
            other.version = versions[turn];
            machine_fixture_set_pod(&fixture, &other);
            assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        }
    const char *told = strstr(fixture.said, "the name is in use");
    assert_non_null(told);
    assert_null(strstr(told + 1, "the name is in use"));
}

static void a_gang_that_runs_does_not_grow(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    char words[200];
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_released(&fixture, &gang);
    gang.second.annotations = RELEASED("n2");
    gang.second.spec = ON("n2");
    gang.second.version = "2";
    machine_fixture_set_pod(&fixture, &gang.second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const struct pod_words third = {.name = "c", .gang = "g", .index = "2", .job = "x"};
    machine_fixture_set_pod(&fixture, &third);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const char *id = strstr(gang.outputs, "id=");
    assert_non_null(id);
    snprintf(words, sizeof(words),
             "GangRefused: gang d/g runs with 2 pods under plan %.16s; pod c has index 2 and is "
             "none of them: delete the Job and make it anew with more pods to grow",
             id + 3);
    machine_fixture_expect_said(&fixture, words);
    /* What is lost is made good all the same. */
    gang_machine_remove_pod(fixture.machine, "u-b");
    const struct pod_words again = {
        .name = "d", .gang = "g", .index = "1", .job = "x", .spec = GATE};
    machine_fixture_set_pod(&fixture, &again);
    machine_fixture_expect_placed(&fixture, "d", "n2");
}

static void a_gang_that_runs_does_not_shrink(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang);
    gang.first.size = gang.second.size = "1";
    gang.first.version = "3";
    gang.second.index = "0";
    gang_machine_remove_pod(fixture.machine, "u-b");
    machine_fixture_set_pod(&fixture, &gang.first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "GangResized: gang d/g was placed as 2 pods and now says 1; it goes on as "
                  "2: delete what made it and make it anew to have 1");
    struct gang_counts counts;
    gang_machine_count(fixture.machine, &counts);
    assert_int_equal(counts.gangs[GANG_DEGRADED], 1);
}

/* A Job that is made again under its name: the old pods still hold their nodes. */
static void the_name_passes_on_when_the_first_is_ending(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_released(&fixture, &gang);
    gang_machine_remove_pod(fixture.machine, "u-b");
    gang.first.version = "3\",\"deletionTimestamp\":\"2026-01-02T00:00:00Z\",\"generateName\":\"a";
    struct pod_words again = gang.second;
    again.name = "c";
    again.index = "0";
    again.job = "y";
    again.created = "2026-01-02T00:00:00Z";
    machine_fixture_set_pod(&fixture, &again);
    again.name = "d";
    again.index = "1";
    machine_fixture_set_pod(&fixture, &again);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture, "the name is in use by Job x; pod c of Job y waits");
    machine_fixture_set_pod(&fixture, &gang.first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[2-3]"));
}

/* Two pods of no owner, the first of which is bound, and the second released. */
static void set_bare(struct machine_fixture *fixture, struct pod_words pods[2])
{
    static char outputs[2500];
    pods[0] = (struct pod_words){.name = "p", .gang = "g", .index = "0", .spec = GATE};
    pods[1] = (struct pod_words){.name = "q", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(fixture, &pods[0]);
    machine_fixture_set_pod(fixture, &pods[1]);
    assert_int_equal(machine_fixture_run(fixture), TASK_PATCH_POD);
    snprintf(outputs, sizeof(outputs), "%s%s", fixture->annotations, RELEASED("n1"));
    pods[0].annotations = outputs;
    pods[0].spec = ON("n1");
    pods[1].annotations = RELEASED("n2");
    pods[1].spec = PINNED("n2");
    pods[0].version = pods[1].version = "2";
    machine_fixture_set_pod(fixture, &pods[0]);
    machine_fixture_set_pod(fixture, &pods[1]);
}

static void a_job_does_not_take_the_name_of_placed_pods_of_no_owner(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct pod_words bare[2];
    struct gang_answer answer;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    set_bare(&fixture, bare);
    /* It is older. */
    struct pod_words other = {
        .name = "c", .gang = "g", .job = "x", .created = "2025-01-01T00:00:00Z", .spec = GATE};
    machine_fixture_set_pod(&fixture, &other);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: the name is in use by pod p, which has no "
                                "owner; pod c of Job x waits until that and all like it are gone: "
                                "give each its own name in label parplan.io/gang");
    assert_int_equal(machine_fixture_ask(&fixture, &bare[1], "n2", &answer), ANSWER_ONE);
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n3", &answer), ANSWER_REFUSED);
    /* One that is lost gets its place back, and the Job's pod of that index does not. */
    other.name = "d";
    other.index = "1";
    machine_fixture_set_pod(&fixture, &other);
    gang_machine_remove_pod(fixture.machine, "u-q");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const struct pod_words again = {.name = "r", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &again);
    machine_fixture_expect_placed(&fixture, "r", "n2");
    /* And it has the name when they have gone. */
    gang_machine_remove_pod(fixture.machine, "u-r");
    gang_machine_remove_pod(fixture.machine, "u-p");
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
}

static void the_next_that_has_the_name_gets_a_service_of_its_own(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words pod = {
        .name = "p", .gang = "g", .size = "1", .spec = GATE "\"subdomain\":\"parplan-g\","};
    machine_fixture_set_pod(&fixture, &pod);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_int_equal(fixture.services, 1);
    pod.name = "c";
    pod.job = "x";
    machine_fixture_set_pod(&fixture, &pod);
    gang_machine_remove_pod(fixture.machine, "u-p");
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "c");
    assert_int_equal(fixture.services, 2);
}

/* So that what the Job's gang is made of does not change while it is released. */
static void of_a_gang_with_bare_pods_the_owners_goes_first(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words bare = {.name = "p", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words owned = {.name = "a", .gang = "g", .index = "1", .job = "x", .spec = GATE};
    machine_fixture_set_pod(&fixture, &bare);
    machine_fixture_set_pod(&fixture, &owned);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1-2]"));
    bare.annotations = fixture.annotations;
    bare.version = "2";
    machine_fixture_set_pod(&fixture, &bare);
    machine_fixture_expect_placed(&fixture, "a", "n2");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    owned.annotations = RELEASED("n2");
    owned.spec = PINNED("n2");
    owned.version = "2";
    machine_fixture_set_pod(&fixture, &owned);
    machine_fixture_expect_placed(&fixture, "p", "n1");
}

/* It is released to the place of a pod that was missing, and may be bound there any time. */
static void what_is_released_keeps_its_place(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    struct released_gang gang;
    struct gang_answer answer;
    machine_fixture_init(&fixture);
    machine_fixture_set_released(&fixture, &gang);
    gang_machine_remove_pod(fixture.machine, "u-b");
    struct pod_words other = {.name = "c", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &other);
    machine_fixture_expect_placed(&fixture, "c", "n2");
    other.annotations = RELEASED("n2");
    other.spec = PINNED("n2");
    other.version = "2";
    machine_fixture_set_pod(&fixture, &other);
    gang.second.name = "d";
    machine_fixture_set_pod(&fixture, &gang.second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: pod d has index 1, which is pod c's");
    /* Also where one that was bound by hand has succeeded meanwhile. */
    struct pod_words done = gang.second;
    done.name = "e";
    done.phase = "Succeeded";
    done.spec = ON("n1");
    machine_fixture_set_pod(&fixture, &done);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n2", &answer), ANSWER_ONE);
    gang_machine_remove_pod(fixture.machine, "u-e");
    gang_machine_remove_pod(fixture.machine, "u-c");
    machine_fixture_expect_placed(&fixture, "d", "n2");
}

/* It would have the place of a pod that is missing, bound or not, first of all or not. */
static void what_asks_for_other_gpus_stops_no_placed_gang(void **state)
{
    (void)state;
    static const char *const indices[] = {"0", "1"}, *const specs[] = {GATE, ON("n3")};
    for (unsigned turn = 0; turn < 4; turn++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        struct released_gang gang;
        struct gang_answer answer;
        bool first = turn % 2 == 0;
        machine_fixture_init(&fixture);
        machine_fixture_set_node(&fixture, "n3", true);
        machine_fixture_set_released(&fixture, &gang);
        gang.second.annotations = RELEASED("n2");
        gang.second.spec = PINNED("n2");
        gang.second.version = "2";
        machine_fixture_set_pod(&fixture, &gang.second);
        gang_machine_remove_pod(fixture.machine, first ? "u-a" : "u-b");
        const struct pod_words other = {.name = "c",
                                        .gang = "g",
                                        .index = indices[turn % 2],
                                        .spec = specs[turn / 2],
                                        .gpus = 4};
        machine_fixture_set_pod(&fixture, &other);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        machine_fixture_expect_said(
            &fixture, "GangRefused: gang d/g runs with pods of 8 GPUs; pod c asks for 4 and is "
                      "none of them: make it anew with 8, or without label parplan.io/gang");
        if (first)
            assert_int_equal(machine_fixture_ask(&fixture, &gang.second, "n2", &answer),
                             ANSWER_ONE);
        struct pod_words again = first ? gang.first : gang.second;
        again.name = "d";
        again.annotations = NULL;
        again.spec = GATE;
        machine_fixture_set_pod(&fixture, &again);
        assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
        assert_string_equal(fixture.patched, "d");
    }
}

/* A pod of no owner does not begin anew what has succeeded; one of the Job's does. Either may be
 * heard of first. */
static void a_done_index_is_no_strangers(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        struct released_gang gang;
        machine_fixture_init(&fixture);
        machine_fixture_set_released(&fixture, &gang);
        const struct pod_words other = {.name = "c", .gang = "g", .index = "1", .spec = GATE};
        if (turn)
            machine_fixture_set_pod(&fixture, &other);
        gang.second.annotations = RELEASED("n2");
        gang.second.spec = ON("n2");
        gang.second.version = "2";
        gang.second.phase = "Succeeded";
        if (turn) {
            gang_machine_remove_pod(fixture.machine, "u-b");
            assert_int_equal(gang_machine_tick(fixture.machine, 1), 0);
        }
        machine_fixture_set_pod(&fixture, &gang.second);
        machine_fixture_set_pod(&fixture, &other);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        machine_fixture_expect_said(
            &fixture, "GangRefused: gang d/g: pod c has index 1, whose pod b has succeeded; "
                      "only its owner can begin that anew: make pod c anew without label "
                      "parplan.io/gang");
        struct gang_counts counts;
        gang_machine_count(fixture.machine, &counts);
        assert_int_equal(counts.gangs[GANG_RUNNING], 1);
        gang.second.name = "d";
        gang.second.phase = NULL;
        gang.second.annotations = NULL;
        gang.second.spec = GATE;
        machine_fixture_set_pod(&fixture, &gang.second);
        machine_fixture_expect_placed(&fixture, "d", "n2");
    }
}

/* --- PyTorchJob ------------------------------------------------------------------------- */

#define REPLICA(type) ",\"training.kubeflow.org/replica-type\":\"" type "\""
#define RANK(rank) ",\"parplan.io/node-rank\":\"" rank "\""

static struct pod_words replica(const char *name, const char *job, const char *index,
                                const char *annotations)
{
    return (struct pod_words){.name = name,
                              .gang = "g",
                              .index = index,
                              .job = job,
                              .kind = "PyTorchJob",
                              .index_key = "training.kubeflow.org/replica-index",
                              .annotations = annotations,
                              .spec = GATE};
}

/* The old one's pods are ending when a Job of Workers alone has its name. */
static void a_master_that_has_gone_counts_no_more(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words master = replica("m", "x", "0", REPLICA("master"));
    struct pod_words worker = replica("w", "x", "0", REPLICA("worker"));
    machine_fixture_set_pod(&fixture, &master);
    machine_fixture_set_pod(&fixture, &worker);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "m");
    master.annotations = REPLICA("master") RANK("0") RELEASED("n1");
    worker.annotations = REPLICA("worker") RANK("1") RELEASED("n2");
    master.spec = ON("n1");
    worker.spec = ON("n2");
    master.version = worker.version =
        "2\",\"deletionTimestamp\":\"2026-01-02T00:00:00Z\",\"generateName\":\"a";
    machine_fixture_set_pod(&fixture, &master);
    machine_fixture_set_pod(&fixture, &worker);
    machine_fixture_set_node(&fixture, "n3", true);
    machine_fixture_set_node(&fixture, "n4", true);
    const struct pod_words first = replica("v", "y", "0", REPLICA("worker"));
    const struct pod_words second = replica("u", "y", "1", REPLICA("worker"));
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "v");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[3-4]"));
}

/* What it says of itself is nothing to those of the Job, also when one is made again. */
static void a_stranger_is_no_master(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words first = replica("w", "x", "0", REPLICA("worker"));
    struct pod_words second = replica("v", "x", "1", REPLICA("worker"));
    const struct pod_words stranger = {.name = "c", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "w");
    static char outputs[2500];
    snprintf(outputs, sizeof(outputs), "%s%s", fixture.annotations,
             REPLICA("worker") RANK("0") RELEASED("n1"));
    first.annotations = outputs;
    second.annotations = REPLICA("worker") RANK("1") RELEASED("n2");
    first.spec = ON("n1");
    second.spec = ON("n2");
    first.version = second.version = "2";
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &stranger);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: pod c has index 1, which is pod v's");
    gang_machine_remove_pod(fixture.machine, "u-v");
    const struct pod_words again = replica("u", "x", "1", REPLICA("worker"));
    machine_fixture_set_pod(&fixture, &again);
    machine_fixture_expect_placed(&fixture, "u", "n2");
    assert_non_null(machine_fixture_planned(&fixture, "\"parplan.io/node-rank\":\"1\""));
}

/* Nor before they are placed: it is one of three, and the others keep their indices. */
static void a_pod_beside_workers_is_no_master(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    machine_fixture_set_node(&fixture, "n3", true);
    struct pod_words first = replica("w", "x", "0", REPLICA("worker"));
    struct pod_words second = replica("v", "x", "1", REPLICA("worker"));
    const struct pod_words beside = {
        .name = "c", .gang = "g", .index = "2", .size = "3", .spec = GATE};
    first.size = second.size = "3";
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &beside);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "w");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1-3]"));
}

/* The Master is lost: its Workers' ranks still tell that there is one. */
static void a_workers_rank_tells_of_the_master(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words worker = replica("w", "x", "0", REPLICA("worker") RANK("1") RELEASED("n2"));
    worker.spec = ON("n2");
    machine_fixture_set_pod(&fixture, &worker);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const struct pod_words master = replica("m", "x", "0", REPLICA("master"));
    const struct pod_words doubled = {.name = "c", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &doubled);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(&fixture,
                                "GangRefused: gang d/g: pod c has index 1, which is pod w's");
    machine_fixture_set_pod(&fixture, &master);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "m");
    assert_non_null(machine_fixture_planned(&fixture, "nodes=n[1-2]"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_job_does_not_stop_a_released_gang),
        cmocka_unit_test(the_first_of_two_jobs_has_the_name),
        cmocka_unit_test(the_name_passes_on_when_the_first_has_gone),
        cmocka_unit_test(a_doubled_index_does_not_stop_a_placed_gang),
        cmocka_unit_test(no_pod_without_an_owner_takes_the_place_of_a_jobs),
        cmocka_unit_test(no_pod_without_an_owner_says_how_large_a_jobs_gang_is),
        cmocka_unit_test(no_pod_without_an_owner_has_a_jobs_pods_deleted),
        cmocka_unit_test(who_has_the_name_is_told_rightly),
        cmocka_unit_test(of_many_that_do_not_belong_one_is_told),
        cmocka_unit_test(a_gang_that_runs_does_not_grow),
        cmocka_unit_test(a_gang_that_runs_does_not_shrink),
        cmocka_unit_test(the_name_passes_on_when_the_first_is_ending),
        cmocka_unit_test(a_job_does_not_take_the_name_of_placed_pods_of_no_owner),
        cmocka_unit_test(the_next_that_has_the_name_gets_a_service_of_its_own),
        cmocka_unit_test(of_a_gang_with_bare_pods_the_owners_goes_first),
        cmocka_unit_test(what_is_released_keeps_its_place),
        cmocka_unit_test(what_asks_for_other_gpus_stops_no_placed_gang),
        cmocka_unit_test(a_done_index_is_no_strangers),
        cmocka_unit_test(a_master_that_has_gone_counts_no_more),
        cmocka_unit_test(a_stranger_is_no_master),
        cmocka_unit_test(a_pod_beside_workers_is_no_master),
        cmocka_unit_test(a_workers_rank_tells_of_the_master),
    };
    return unit_test_main("k8s_extender/gang_outsiders", tests, COUNT_OF(tests));
}
