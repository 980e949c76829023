/* SPDX-License-Identifier: MIT */
/* Pods of users' that are deleted because their annotations say so: those, and no others. */
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define PODS_MAXIMUM 8u
#define DEADLINE_MILLISECONDS 60000u
#define ON_PARTIAL_DELETE ",\"parplan.io/on-partial\":\"delete\""

/* A pod as the API server has it. */
struct pod {
    struct pod_words words;
    char inputs[200], plan[1000], outputs[2000]; /* annotations, each with a comma before it */
    char annotations[4000], spec[400], version[8];
    unsigned versions;
};

struct scene {
    struct machine_fixture fixture;
    struct pod pods[PODS_MAXIMUM];
    unsigned count;
    char deleted[200]; /* names, in their order */
};

static void scene_init(struct scene *scene, unsigned nodes)
{
    memset(scene, 0, sizeof(*scene));
    machine_fixture_init(&scene->fixture);
    for (unsigned i = 3; i <= nodes; i++) {
        const char name[] = {'n', (char)('0' + i), '\0'};
        machine_fixture_set_node(&scene->fixture, name, true);
    }
}

static void scene_done(struct scene *scene) { machine_fixture_done(&scene->fixture); }

DEFINE_CLEANUP_DONE(scene);

static struct pod *find(struct scene *scene, const char *name)
{
    for (unsigned i = 0; i < scene->count; i++)
        if (scene->pods[i].words.name && strcmp(scene->pods[i].words.name, name) == 0)
            return &scene->pods[i];
    fail_msg("there is no pod %s", name);
    return NULL;
}

static void tell(struct scene *scene, struct pod *pod)
{
    snprintf(pod->version, sizeof(pod->version), "%u", ++pod->versions);
    pod->words.version = pod->version;
    snprintf(pod->annotations, sizeof(pod->annotations), "%s%s%s", pod->inputs, pod->plan,
             pod->outputs);
    pod->words.annotations = pod->annotations;
    pod->words.spec = pod->spec;
    machine_fixture_set_pod(&scene->fixture, &pod->words);
}

static void add(struct scene *scene, const struct pod_words *words, const char *inputs)
{
    struct pod *pod = &scene->pods[scene->count++];
    assert_true(scene->count <= PODS_MAXIMUM);
    *pod = (struct pod){.words = *words, .spec = GATE};
    snprintf(pod->inputs, sizeof(pod->inputs), "%s", inputs);
    tell(scene, pod);
}

static void bind_to(struct scene *scene, const char *name, const char *node)
{
    struct pod *pod = find(scene, name);
    snprintf(pod->spec, sizeof(pod->spec), ON("%s"), node);
    tell(scene, pod);
}

static void forget(struct scene *scene, const char *name)
{
    char uid[210];
    snprintf(uid, sizeof(uid), "u-%s", name);
    gang_machine_remove_pod(scene->fixture.machine, uid);
    find(scene, name)->words.name = NULL;
}

static void take_patch(struct scene *scene)
{
    const struct machine_fixture *fixture = &scene->fixture;
    struct pod *pod = find(scene, fixture->patched);
    if (machine_fixture_planned(fixture, "\"parplan.io/plan\":"))
        snprintf(pod->plan, sizeof(pod->plan), "%.999s", fixture->annotations);
    else
        snprintf(pod->outputs, sizeof(pod->outputs), "%s", fixture->annotations);
    if (fixture->released)
        snprintf(pod->spec, sizeof(pod->spec), PINNED("%s"), fixture->node);
    tell(scene, pod);
}

/* Until nothing is left to do at that time: as API server and kubelets would. */
static void play(struct scene *scene, uint64_t milliseconds)
{
    assert_int_equal(gang_machine_tick(scene->fixture.machine, milliseconds), 0);
    for (unsigned i = 0; i < 50; i++) {
        enum gang_task_kind kind = machine_fixture_run(&scene->fixture);
        if (kind == TASK_NONE)
            return;
        if (kind == TASK_PATCH_POD) {
            take_patch(scene);
            continue;
        }
        assert_int_equal(kind, TASK_DELETE_POD);
        size_t used = strlen(scene->deleted);
        snprintf(scene->deleted + used, sizeof(scene->deleted) - used, "%s%s", used ? " " : "",
                 scene->fixture.patched);
        forget(scene, scene->fixture.patched);
    }
    fail_msg("there is no end");
}

/* --- on-partial ------------------------------------------------------------------------- */

/* Gang h is bound in part too, and nobody has said that it may be deleted. */
static void a_part_is_deleted_at_its_deadline_where_that_is_wished(void **state)
{
    (void)state;
    static const struct {
        const char *inputs;
        const char *bound; /* pods of gang g that are bound in time */
        const char *deleted;
    } cases[] = {
        {ON_PARTIAL_DELETE, "a", "a b c"},
        {ON_PARTIAL_DELETE, "bc", "a b c"},
        {ON_PARTIAL_DELETE, "", ""},
        {ON_PARTIAL_DELETE, "abc", ""},
        {",\"parplan.io/on-partial\":\"keep\"", "a", ""},
        {"", "a", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(scene) struct scene scene;
        scene_init(&scene, 5);
        struct pod_words own = {.gang = "g", .size = "3"}, other = {.gang = "h", .size = "2"};
        static const char *const names[] = {"a", "b", "c"}, *const others[] = {"x", "y"};
        static const char *const indices[] = {"0", "1", "2"};
        static const char *const nodes[] = {"n1", "n2", "n3"};
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            own.name = names[k];
            own.index = indices[k];
            add(&scene, &own, cases[i].inputs);
        }
        for (size_t k = 0; k < COUNT_OF(others); k++) {
            other.name = others[k];
            other.index = indices[k];
            add(&scene, &other, "");
        }
        play(&scene, 1000);
        for (size_t k = 0; k < COUNT_OF(names); k++)
            if (strchr(cases[i].bound, names[k][0]))
                bind_to(&scene, names[k], nodes[k]);
        bind_to(&scene, "x", "n4");
        play(&scene, 2000);
        play(&scene, DEADLINE_MILLISECONDS - 1000);
        assert_string_equal(scene.deleted, "");
        play(&scene, DEADLINE_MILLISECONDS + 3000);
        play(&scene, 3 * DEADLINE_MILLISECONDS);
        if (strcmp(scene.deleted, cases[i].deleted) != 0)
            fail_msg("case %zu: deleted '%s'", i, scene.deleted);
        machine_fixture_expect_said(&scene.fixture,
                                    "GangIncomplete: gang d/h: 1 of 2 pods are bound");
    }
}

/* --- on-no-spare ------------------------------------------------------------------------ */

/* Four pods in TP groups of two on n1 to n4, a gang of another beside them on n5. */
static void set_up_groups(struct scene *scene, const char *inputs)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const indices[] = {"0", "1", "2", "3"};
    static const char *const nodes[] = {"n1", "n2", "n3", "n4"};
    struct pod_words words = {.gang = "g", .size = "4"};
    char annotations[200];
    snprintf(annotations, sizeof(annotations), ",\"parplan.io/tp\":\"16\"%s", inputs);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        words.name = names[i];
        words.index = indices[i];
        add(scene, &words, annotations);
    }
    play(scene, 1000);
    const struct pod_words other = {.name = "x", .gang = "h", .size = "1", .index = "0"};
    add(scene, &other, inputs);
    play(scene, 2000);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        bind_to(scene, names[i], nodes[i]);
    bind_to(scene, "x", "n5");
    play(scene, 3000);
}

static void a_group_without_a_spare_is_moved_where_that_is_wished(void **state)
{
    (void)state;
    static const struct {
        const char *inputs;
        unsigned nodes;
        bool no_spare;
        const char *deleted, *planned; /* NULL: nothing is planned anew */
    } cases[] = {
        {",\"parplan.io/on-no-spare\":\"move\"", 7, true, "c", "nodes=n[1-2,6-7]"},
        {",\"parplan.io/on-no-spare\":\"move\"", 6, true, "", NULL},
        {",\"parplan.io/on-no-spare\":\"move\"", 7, false, "", "nodes=n[1-3,6]"},
        {",\"parplan.io/on-no-spare\":\"relax\"", 7, true, "", "nodes=n[1-3,6]"},
        {",\"parplan.io/on-no-spare\":\"wait\"", 7, true, "", NULL},
        {"", 7, true, "", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_DONE(scene) struct scene scene;
        scene_init(&scene, cases[i].nodes);
        set_up_groups(&scene, cases[i].inputs);
        scene.fixture.no_spare = cases[i].no_spare;
        scene.fixture.said[0] = '\0';
        /* Pod d is lost with its node; that of pod c takes no others any more. */
        machine_fixture_set_node(&scene.fixture, "n3", false);
        machine_fixture_set_node(&scene.fixture, "n4", false);
        forget(&scene, "d");
        struct pod_words next = {.name = "e", .gang = "g", .size = "4", .index = "3"};
        add(&scene, &next, "");
        play(&scene, 10000);
        play(&scene, 50000);
        if (strcmp(scene.deleted, cases[i].deleted) != 0)
            fail_msg("case %zu: deleted '%s'", i, scene.deleted);
        if (cases[i].deleted[0]) {
            next.name = "f";
            next.index = "2";
            add(&scene, &next, "");
            play(&scene, 60000);
        }
        const char *plan = find(&scene, "a")->plan;
        if (!cases[i].planned)
            machine_fixture_expect_said(&scene.fixture, "GangWaiting: gang d/g: ");
        if (!strstr(plan, cases[i].planned ? cases[i].planned : "nodes=n[1-4]"))
            fail_msg("case %zu: %s", i, plan);
        assert_string_equal(scene.deleted, cases[i].deleted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_deleted_at_its_deadline_where_that_is_wished),
        cmocka_unit_test(a_group_without_a_spare_is_moved_where_that_is_wished),
    };
    return unit_test_main("k8s_extender/gang_deletion", tests, COUNT_OF(tests));
}
