/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/gang/gang_answer.h"
#include "k8s_extender/gang/gang_machine.h"
#include "k8s_extender/gang/gang_recovery.h"
#include "tests/support/fake_planner.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

/* --- the tests ----------------------------------------------------------------------- */

/* The scheduler may not have heard yet that a node is gone. */
static void pass_while_the_node_is_sound(struct machine_fixture *fixture, struct pod_words *pod)
{
    struct gang_answer answer;
    char text[ANSWER_TEXT_BYTES];
    pod->spec = PINNED("n2");
    pod->annotations = ",\"parplan.io/node\":\"n2\"";
    pod->version = "3";
    machine_fixture_set_pod(fixture, pod);
    assert_int_equal(machine_fixture_ask(fixture, pod, "n2", &answer), ANSWER_ONE);
    assert_true(gang_answer_bind(fixture->machine, "d", "b", "u-b", "n2", text));
    machine_fixture_set_node(fixture, "n2", false);
    assert_int_equal(machine_fixture_ask(fixture, pod, "n2", &answer), ANSWER_REFUSED);
    const char *words = "gang d/g: pod b is meant for node n2, which will not do any more";
    assert_string_equal(answer.text, words);
    assert_false(gang_answer_bind(fixture->machine, "d", "b", "u-b", "n2", text));
    assert_string_equal(text, words);
    gang_machine_remove_node(fixture->machine, "n2");
    assert_int_equal(machine_fixture_ask(fixture, pod, "n2", &answer), ANSWER_REFUSED);
}

static void a_gang_goes_its_way(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct gang_answer answer;
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(machine_fixture_ask(&fixture, &first, "n1", &answer), ANSWER_REFUSED);
    assert_non_null(strstr(answer.text, "1 of 2 are there, the first that is missing has index 1"));
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD); /* the plan, on pod 0 alone */
    assert_string_equal(fixture.patched, "a");
    assert_false(fixture.released);
    assert_non_null(strstr(fixture.annotations, ",\"parplan.io/plan\":\"v1 id="));
    char plan[2000];
    snprintf(plan, sizeof(plan), "%s", fixture.annotations);
    assert_int_equal(machine_fixture_run(&fixture),
                     TASK_PATCH_POD); /* pod 0 itself must be heard of first */
    assert_string_equal(fixture.patched, "b");
    assert_true(fixture.released);
    assert_string_equal(fixture.node, "n2");
    assert_non_null(strstr(fixture.annotations, "\"parplan.io/node-rank\":\"1\""));
    assert_non_null(strstr(fixture.annotations, "\"parplan.io/master-addr\":\"a\""));
    assert_non_null(strstr(fixture.annotations, "\"parplan.io/dp-rank\":\"1\""));
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    first.annotations = plan;
    first.version = "2";
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_expect_placed(&fixture, "a", "n1");
    /* Others see that it is promised, and the gang's pod passes there. */
    const struct pod_words other = {.name = "o", .gpus = 1};
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n1", &answer), ANSWER_SOME);
    assert_false(answer.passes[0]);
    assert_int_equal(machine_fixture_ask(&fixture, &other, "n9", &answer), ANSWER_ALL);
    pass_while_the_node_is_sound(&fixture, &second);
}

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        struct pod_words first, second;
        const char *words;
    } cases[] = {
        {{.name = "a", .gang = "g", .index = "0"},
         {.name = "b", .gang = "g", .index = "0"},
         "pods a and b both have index 0; each index from 0 to 1 must be there once"},
        {{.name = "a", .gang = "g", .index = "0"},
         {.name = "b", .gang = "g", .index = "2"},
         "pod b: index 2 is beyond the gang's 2 pods"},
        {{.name = "a", .gang = "g", .index = "0", .size = "3"},
         {.name = "b", .gang = "g", .index = "1"},
         "pod a says 3 pods and pod b says 2"},
        {{.name = "a", .gang = "g", .index = "0"},
         {.name = "b", .gang = "g", .index = "1", .gpus = 4},
         "pod a asks for 8 GPUs and pod b for 4; ask for equal ones"},
        {{.name = "a", .gang = "g", .index = "0", .spec = GATE},
         {.name = "b", .gang = "g", .index = "x", .spec = GATE},
         "gang d/g: pod b: "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        struct gang_answer answer;
        machine_fixture_init(&fixture);
        machine_fixture_set_pod(&fixture, &cases[i].first);
        machine_fixture_set_pod(&fixture, &cases[i].second);
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        assert_int_equal(machine_fixture_ask(&fixture, &cases[i].first, "n1", &answer),
                         ANSWER_REFUSED);
        if (!strstr(answer.text, cases[i].words))
            fail_msg("case %zu: %s", i, answer.text);
        assert_non_null(strstr(fixture.said, "GangRefused: "));
        assert_null(strstr(strchr(fixture.said, '\n') + 1, "Gang")); /* once */
    }
}

static void waits_and_is_tried_again(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {.name = "a", .gang = "g", .index = "0", .size = "3"};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1", .size = "3"};
    const struct pod_words third = {.name = "c", .gang = "g", .index = "2", .size = "3"};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &third);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said, "GangWaiting: gang d/g: 3 pods do not fit\n");
    machine_fixture_set_node(&fixture, "n3", true);
    assert_int_equal(gang_machine_tick(fixture.machine, 1000), 0);
    assert_int_equal(machine_fixture_run(&fixture),
                     TASK_NONE); /* more may become free in a moment */
    assert_int_equal(gang_machine_tick(fixture.machine, 3000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_non_null(strstr(fixture.said, "GangPlanned: gang d/g: 3 pods placed"));
    struct gang_counts counts;
    gang_machine_count(fixture.machine, &counts);
    assert_int_equal(counts.promised_nodes, 3);
    /* Nothing is released yet: a lost node makes the plan void. */
    machine_fixture_set_node(&fixture, "n3", false);
    assert_int_equal(gang_machine_tick(fixture.machine, 7000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    gang_machine_count(fixture.machine, &counts);
    assert_int_equal(counts.gangs[GANG_COLLECT], 1);
    assert_int_equal(counts.promised_nodes, 0);
}

/* Those of a job that is deleted go one after the other: not each of them is an event. */
static void says_at_times_which_pods_are_missing(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {.name = "a", .gang = "g", .index = "0", .size = "4"};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1", .size = "4"};
    const struct pod_words third = {.name = "c", .gang = "g", .index = "2", .size = "4"};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    machine_fixture_set_pod(&fixture, &third);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said, "");
    assert_int_equal(gang_machine_tick(fixture.machine, 11000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    const char *told = "GangIncomplete: gang d/g waits for its pods: 3 of 4 are there, the first "
                       "that is missing has index 3\n";
    assert_string_equal(fixture.said, told);
    gang_machine_remove_pod(fixture.machine, "u-c");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    gang_machine_remove_pod(fixture.machine, "u-b");
    assert_int_equal(gang_machine_tick(fixture.machine, 40000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said, told);
    assert_int_equal(gang_machine_tick(fixture.machine, 42000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said + strlen(told),
                        "GangIncomplete: gang d/g waits for its pods: 1 of 4 are there, the first "
                        "that is missing has index 1\n");
    /* Of a gang that ends nothing is missing. */
    fixture.said[0] = '\0';
    struct pod_words ends = first;
    ends.version = "2\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"generateName\":\"a";
    machine_fixture_set_pod(&fixture, &ends);
    assert_int_equal(gang_machine_tick(fixture.machine, 80000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said, "");
}

/* Carries out all that is to be done until a Service is asked for, and answers that. */
static enum gang_task_kind service_turn(struct machine_fixture *fixture,
                                        enum gang_task_result result)
{
    for (unsigned turn = 0; turn < 100; turn++) {
        struct gang_task task;
        assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
        enum gang_task_kind kind = task.kind;
        if (kind == TASK_NONE)
            return TASK_NONE;
        if (kind == TASK_PLAN) {
            struct gang_plan *plan = fake_planner_plan(task.problem);
            assert_non_null(plan);
            assert_int_equal(gang_machine_planned(fixture->machine, task.problem, plan), 0);
        }
        const char *plan = label_set_find(&task.annotations, "parplan.io/plan");
        if (plan)
            snprintf(fixture->annotations, sizeof(fixture->annotations),
                     ",\"parplan.io/plan\":\"%s\"", plan);
        if (kind == TASK_SERVICE)
            snprintf(fixture->node, sizeof(fixture->node), "%s", task.owner_uid);
        assert_int_equal(gang_machine_finished(fixture->machine, &task,
                                               kind == TASK_SERVICE ? result : TASK_SUCCEEDED),
                         0);
        if (kind == TASK_SERVICE)
            return kind;
    }
    fail_msg("there is no end of tasks");
    return TASK_NONE;
}

/* A pod of a gang of one, bound once the plan stands on it. */
static void set_owned(struct machine_fixture *fixture, const char *name, const char *owner)
{
    char text[1500];
    int bytes = snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\",\"resourceVersion\":"
        "\"1\",\"labels\":{\"parplan.io/gang\":\"g\"},\"annotations\":{\"parplan.io/size\":\"1\","
        "\"parplan.io/index\":\"0\"%s},\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"g\","
        "\"uid\":\"%s\",\"controller\":true}]},\"spec\":{%s\"subdomain\":\"parplan-g\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}",
        name, name, fixture->annotations, owner,
        fixture->annotations[0] ? "\"nodeName\":\"n1\"," : GATE);
    assert_true(bytes > 0 && (size_t)bytes < sizeof(text));
    struct pod_record *pod = pod_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(pod);
    assert_int_equal(gang_machine_set_pod(fixture->machine, pod), 0);
}

static void its_service_is_made_anew_for_a_job_of_the_same_name(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_owned(&fixture, "a", "first");
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_SERVICE);
    assert_string_equal(fixture.node, "first");
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_NONE);
    assert_non_null(strstr(fixture.annotations, "v1 id="));
    set_owned(&fixture, "a", "first");
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_NONE);
    /* The next one comes before the last one's Service has gone with its Job. */
    gang_machine_remove_pod(fixture.machine, "u-a");
    set_owned(&fixture, "b", "second");
    assert_int_equal(service_turn(&fixture, TASK_CONFLICT), TASK_SERVICE);
    assert_string_equal(fixture.node, "second");
    assert_int_equal(service_turn(&fixture, TASK_CONFLICT), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 1100), 0);
    assert_int_equal(service_turn(&fixture, TASK_CONFLICT), TASK_SERVICE);
    assert_int_equal(gang_machine_tick(fixture.machine, 2200), 0);
    assert_int_equal(service_turn(&fixture, TASK_CONFLICT), TASK_NONE); /* twice as long */
    assert_int_equal(gang_machine_tick(fixture.machine, 3200), 0);
    /* It is another gang's: that is told, and looked at again after minutes. */
    assert_int_equal(service_turn(&fixture, TASK_REFUSED), TASK_SERVICE);
    assert_int_equal(gang_machine_tick(fixture.machine, 303000), 0);
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 303300), 0);
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_SERVICE);
    assert_int_equal(gang_machine_tick(fixture.machine, 900000), 0);
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_NONE);
}

static void set_of_two_jobs(struct machine_fixture *fixture, const char *name, unsigned index,
                            const char *version)
{
    char text[1500];
    int bytes = snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\",\"resourceVersion\":"
        "\"%s\",\"labels\":{\"parplan.io/gang\":\"g\"},\"annotations\":{\"parplan.io/size\":\"2\","
        "\"parplan.io/index\":\"%u\"%s},\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"%s\","
        "\"uid\":\"%s\",\"controller\":true}]},\"spec\":{%s\"subdomain\":\"parplan-g\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}",
        name, name, version, index, fixture->annotations, name, name,
        fixture->annotations[0] ? "\"nodeName\":\"n1\"," : GATE);
    assert_true(bytes > 0 && (size_t)bytes < sizeof(text));
    struct pod_record *pod = pod_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(pod);
    assert_int_equal(gang_machine_set_pod(fixture->machine, pod), 0);
}

/* Their pods' indices are given by hand, and each changes after the other. */
static void a_gang_of_two_jobs_has_one_service(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_of_two_jobs(&fixture, "a", 0, "1");
    set_of_two_jobs(&fixture, "b", 1, "1");
    assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_SERVICE);
    fixture.annotations[0] = '\0';
    for (unsigned version = 2; version < 6; version++) {
        const char text[2] = {(char)('0' + version)};
        set_of_two_jobs(&fixture, version % 2 ? "b" : "a", version % 2, text);
        assert_int_equal(service_turn(&fixture, TASK_SUCCEEDED), TASK_NONE);
    }
}

static void set_of_job(struct machine_fixture *fixture, const char *name, unsigned index,
                       const char *owner)
{
    char text[1500];
    int bytes = snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\",\"labels\":{"
        "\"parplan.io/gang\":\"g\",\"batch.kubernetes.io/job-name\":\"j\"},\"annotations\":{"
        "\"batch.kubernetes.io/job-completion-index\":\"%u\"},\"ownerReferences\":[{\"kind\":"
        "\"Job\",\"name\":\"j\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{" GATE
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}",
        name, name, index, owner);
    assert_true(bytes > 0 && (size_t)bytes < sizeof(text));
    struct pod_record *pod = pod_record_parse(text, (size_t)bytes, NULL);
    assert_non_null(pod);
    assert_int_equal(gang_machine_set_pod(fixture->machine, pod), 0);
}

static void its_size_is_asked_for_again(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_of_job(&fixture, "a", 0, "first");
    assert_int_equal(machine_fixture_run(&fixture), TASK_ASK_SIZE);
    assert_int_equal(gang_machine_size(fixture.machine, "d/g", 1, NULL), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    /* A larger Job of that name, whose pods are there before the last one's have gone. */
    gang_machine_remove_pod(fixture.machine, "u-a");
    set_of_job(&fixture, "b", 0, "second");
    set_of_job(&fixture, "c", 1, "second");
    assert_int_equal(machine_fixture_run(&fixture), TASK_ASK_SIZE);
    assert_int_equal(gang_machine_size(fixture.machine, "d/g", 2, NULL), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_non_null(strstr(fixture.said, "2 pods placed"));
    /* The same Job grows. */
    set_of_job(&fixture, "d", 2, "second");
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_int_equal(gang_machine_tick(fixture.machine, 31000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_ASK_SIZE);
}

/* Pods behind our gate are never seen by the scheduler: nobody else says why they wait. */
static void what_its_owner_says_wrong_is_told(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    set_of_job(&fixture, "a", 0, "first");
    assert_int_equal(machine_fixture_run(&fixture), TASK_ASK_SIZE);
    assert_int_equal(gang_machine_size(fixture.machine, "d/g", 0, "Job j runs 1 of its 2 pods"), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_non_null(strstr(fixture.said, "GangRefused: gang d/g: Job j runs 1 of its 2 pods\n"));
    /* It is mended. */
    assert_int_equal(gang_machine_tick(fixture.machine, 31000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_ASK_SIZE);
    assert_int_equal(gang_machine_size(fixture.machine, "d/g", 1, NULL), 0);
    fixture.said[0] = '\0';
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_null(strstr(fixture.said, "GangRefused"));
}

static void a_gang_without_a_size_is_told_so(void **state)
{
    (void)state;
    static const char text[] =
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":\"u-a\",\"labels\":{"
        "\"parplan.io/gang\":\"g\"}},\"spec\":{" GATE "\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}";
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_record *pod = pod_record_parse(text, sizeof(text) - 1, NULL);
    assert_non_null(pod);
    assert_int_equal(gang_machine_set_pod(fixture.machine, pod), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_string_equal(fixture.said, "GangRefused: gang d/g: nothing says how many pods it has; "
                                      "set annotation parplan.io/size\n");
}

static void nothing_passes_before_it_has_synced(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct gang_machine_settings settings = {.release_milliseconds = 1};
    CLEANUP(gang_machine)
    struct gang_machine *fresh = gang_machine_create(&settings, NULL);
    assert_non_null(fresh);
    const struct pod_words words = {.name = "o"};
    CLEANUP(pod_record) struct pod_record *pod = machine_fixture_pod_of(&words);
    const char *name = "n1";
    bool passes[1], allowed[1];
    char text[ANSWER_TEXT_BYTES];
    struct gang_answer answer;
    gang_answer_filter(fresh, &policy_default, pod, &name, 1, passes, &answer);
    assert_int_equal(answer.kind, ANSWER_REFUSED);
    assert_true(answer.whole_pod);
    gang_answer_preempt(fresh, pod, &name, 1, allowed);
    assert_false(allowed[0]);
    assert_false(gang_answer_bind(fresh, "d", "o", "u-o", "n1", text));
}

static void shapes_round_trip(void **state)
{
    (void)state;
    static const char *const good[] = {
        "pods=2 gpus=8",
        "pods=2 gpus=8 tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=2 shard=1 replicate=2 "
        "order=tp-cp-ep-dp-pp",
    };
    static const char *const bad[] = {
        "",
        "pods=2",
        "pods=2 gpus=0",
        "pods=2 gpus=8 order=tp-cp-ep-dp-pp",
        "pods=2 gpus=8 tp=8",
        "pods=99999999 gpus=8",
        "pods=2 gpus=8 tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=3 shard=1 replicate=3 "
        "order=tp-cp-ep-dp-pp",
        "pods=2 gpus=8 tp=8 cp=1 ep=1 etp=8 pp=1 vpp=1 dp=2 shard=1 replicate=1 "
        "order=tp-cp-ep-dp-pp",
        "pods=2 gpus=8 colour=3",
        "pods=2  gpus=8",
    };
    struct gang_shape shape;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(1 << 16);
        assert_non_null(arena);
        assert_int_equal(gang_shape_decode(good[i], &shape, NULL), 0);
        const struct gang_plan plan = {.pods = shape.pods,
                                       .gpus_per_pod = shape.gpus_per_pod,
                                       .has_degrees = shape.has_degrees,
                                       .degrees = shape.degrees,
                                       .order = shape.order};
        const char *text = gang_shape_encode(&plan, arena);
        assert_non_null(text);
        assert_string_equal(text, good[i]);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (gang_shape_decode(bad[i], &shape, NULL) == 0)
            fail_msg("taken: %s", bad[i]);
}

static void answers_five_thousand_names(void **state)
{
    (void)state;
    static char names[5000][16];
    static const char *list[5000];
    static bool passes[5000];
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {.name = "a", .gang = "g", .index = "0"};
    const struct pod_words second = {.name = "b", .gang = "g", .index = "1"};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(names[i], sizeof(names[i]), "node-%zu", i);
        list[i] = names[i];
    }
    list[17] = "n1";
    const struct pod_words words = {.name = "o"};
    CLEANUP(pod_record) struct pod_record *pod = machine_fixture_pod_of(&words);
    struct gang_answer answer;
    gang_answer_filter(fixture.machine, &policy_default, pod, list, COUNT_OF(list), passes,
                       &answer);
    assert_int_equal(answer.kind, ANSWER_SOME);
    assert_false(passes[17]);
    assert_true(passes[18]);
}

/* The pod of the next patch, which is answered so; "": none is due. */
static const char *patched_next(struct machine_fixture *fixture, enum gang_task_result result)
{
    for (;;) {
        struct gang_task task;
        assert_int_equal(gang_machine_next(fixture->machine, &task), 0);
        bool patch = task.kind == TASK_PATCH_POD;
        if (task.kind == TASK_NONE)
            return "";
        if (patch)
            snprintf(fixture->patched, sizeof(fixture->patched), "%s", task.pod);
        if (task.kind == TASK_PLAN)
            assert_int_equal(gang_machine_planned(fixture->machine, task.problem,
                                                  fake_planner_plan(task.problem)),
                             0);
        assert_int_equal(
            gang_machine_finished(fixture->machine, &task, patch ? result : TASK_SUCCEEDED), 0);
        if (patch)
            return fixture->patched;
    }
}

static void what_is_refused_waits_for_another_pod_or_minutes(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words first = {.name = "a", .gang = "g", .index = "0", .spec = GATE};
    struct pod_words second = {.name = "b", .gang = "g", .index = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &second);
    assert_string_equal(patched_next(&fixture, TASK_REFUSED), "a");
    static const uint64_t quiet[] = {1000, 17000, 60000, 299000};
    for (size_t i = 0; i < COUNT_OF(quiet); i++) {
        assert_int_equal(gang_machine_tick(fixture.machine, quiet[i]), 0);
        assert_string_equal(patched_next(&fixture, TASK_REFUSED), "");
    }
    first.version = "2"; /* it changed, and the same may be taken now */
    machine_fixture_set_pod(&fixture, &first);
    assert_string_equal(patched_next(&fixture, TASK_REFUSED), "a");
    assert_int_equal(gang_machine_tick(fixture.machine, 598000), 0);
    assert_string_equal(patched_next(&fixture, TASK_REFUSED), "");
    assert_int_equal(gang_machine_tick(fixture.machine, 600000), 0);
    assert_string_equal(patched_next(&fixture, TASK_SUCCEEDED), "a");
    first.version = "3";
    first.annotations = ",\"parplan.io/plan\":\"\"";
    /* A conflict is tried again soon, as before. */
    machine_fixture_set_pod(&fixture, &first);
    assert_string_equal(patched_next(&fixture, TASK_CONFLICT), "a");
    assert_int_equal(gang_machine_tick(fixture.machine, 602000), 0);
    assert_string_equal(patched_next(&fixture, TASK_CONFLICT), "a");
}

/* What failed for the last one says nothing of the next. */
static void a_new_pod_of_an_index_starts_afresh(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    struct pod_words pod = {.name = "a", .gang = "g", .index = "0", .size = "1", .spec = GATE};
    machine_fixture_set_pod(&fixture, &pod);
    for (uint64_t now = 0; now < 100000; now += 20000) {
        assert_int_equal(gang_machine_tick(fixture.machine, now), 0);
        assert_string_equal(patched_next(&fixture, TASK_FAILED), "a");
    }
    pod.name = "b";
    machine_fixture_set_pod(&fixture, &pod);
    gang_machine_remove_pod(fixture.machine, "u-a");
    assert_int_equal(gang_machine_tick(fixture.machine, 200000), 0);
    assert_string_equal(patched_next(&fixture, TASK_FAILED), "b");
    assert_int_equal(gang_machine_tick(fixture.machine, 202000), 0);
    assert_string_equal(patched_next(&fixture, TASK_FAILED), "b");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_goes_its_way),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(waits_and_is_tried_again),
        cmocka_unit_test(its_service_is_made_anew_for_a_job_of_the_same_name),
        cmocka_unit_test(a_gang_of_two_jobs_has_one_service),
        cmocka_unit_test(what_is_refused_waits_for_another_pod_or_minutes),
        cmocka_unit_test(a_new_pod_of_an_index_starts_afresh),
        cmocka_unit_test(its_size_is_asked_for_again),
        cmocka_unit_test(what_its_owner_says_wrong_is_told),
        cmocka_unit_test(a_gang_without_a_size_is_told_so),
        cmocka_unit_test(says_at_times_which_pods_are_missing),
        cmocka_unit_test(nothing_passes_before_it_has_synced),
        cmocka_unit_test(shapes_round_trip),
        cmocka_unit_test(answers_five_thousand_names),
    };
    return unit_test_main("k8s_extender/gang_machine", tests, COUNT_OF(tests));
}
