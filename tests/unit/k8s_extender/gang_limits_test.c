/* SPDX-License-Identifier: MIT */
/* What the pods of one user may cost all others. */
#include "base/json_document.h"
#include "k8s_extender/gang/gang_machine.h"
#include "tests/support/machine_fixture.h"
#include "tests/support/unit_test.h"

#include <stdio.h>

static size_t slots_told_of(const struct machine_fixture *fixture)
{
    CLEANUP(json_value) struct json_value *report = json_value_create_object();
    gang_machine_describe(fixture->machine, report);
    return json_value_count(json_value_get(json_value_get(report, "d/g"), "pods"));
}

/* --- pods that say much --------------------------------------------------------------- */

static void a_size_alone_costs_nothing(void **state)
{
    (void)state;
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    const struct pod_words first = {
        .name = "a", .gang = "g", .index = "0", .size = "16384", .spec = GATE};
    const struct pod_words last = {
        .name = "b", .gang = "g", .index = "16383", .size = "16384", .spec = GATE};
    machine_fixture_set_pod(&fixture, &first);
    machine_fixture_set_pod(&fixture, &last);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    assert_in_range(slots_told_of(&fixture), 1, 16);
    assert_int_equal(gang_machine_tick(fixture.machine, 200000), 0);
    assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
    machine_fixture_expect_said(
        &fixture, "GangIncomplete: gang d/g waits for its pods: 1 of 16384 are there");
}

/* Their indices lie beyond what is looked at of a gang that lacks most of its pods. */
static void pods_may_come_from_the_last_on(void **state)
{
    (void)state;
    enum { PODS = 40 };
    CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
    machine_fixture_init(&fixture);
    for (unsigned i = PODS; i > 0; i--) {
        char name[8], index[8], node[8];
        snprintf(node, sizeof(node), "n%u", i);
        snprintf(name, sizeof(name), "p%u", i - 1);
        snprintf(index, sizeof(index), "%u", i - 1);
        const struct pod_words pod = {
            .name = name, .gang = "g", .index = index, .size = "40", .spec = GATE};
        assert_int_equal(machine_fixture_run(&fixture), TASK_NONE);
        machine_fixture_set_node(&fixture, node, true);
        machine_fixture_set_pod(&fixture, &pod);
    }
    assert_int_equal(machine_fixture_run(&fixture), TASK_PATCH_POD);
    assert_string_equal(fixture.patched, "p0");
    assert_int_equal(slots_told_of(&fixture), PODS);
}

/* Each node is asked for each kind of pod under the lock. */
static void pods_may_differ_in_few_ways(void **state)
{
    (void)state;
    for (unsigned pods = 16; pods <= 17; pods++) {
        CLEANUP_DONE(machine_fixture) struct machine_fixture fixture;
        machine_fixture_init(&fixture);
        char name[8], size[8], spec[200];
        snprintf(size, sizeof(size), "%u", pods);
        for (unsigned i = 0; i < pods; i++) {
            snprintf(name, sizeof(name), "%u", i);
            snprintf(spec, sizeof(spec),
                     GATE "\"tolerations\":[{\"key\":\"k%u\",\"operator\":\"Exists\"}],", i);
            const struct pod_words pod = {
                .name = name, .gang = "g", .index = name, .size = size, .spec = spec};
            machine_fixture_set_node(&fixture, name, true);
            machine_fixture_set_pod(&fixture, &pod);
        }
        assert_int_equal(machine_fixture_run(&fixture), pods > 16 ? TASK_NONE : TASK_PATCH_POD);
        if (pods > 16)
            machine_fixture_expect_said(&fixture,
                                        "GangWaiting: gang d/g: its pods differ in node selector, "
                                        "affinity or tolerations in more than 16 ways; make them "
                                        "from one template");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_alone_costs_nothing),
        cmocka_unit_test(pods_may_come_from_the_last_on),
        cmocka_unit_test(pods_may_differ_in_few_ways),
    };
    return unit_test_main("k8s_extender/gang_limits", tests, COUNT_OF(tests));
}
