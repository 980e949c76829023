/* SPDX-License-Identifier: MIT */
#include "k8s_extender/gang/steps/gang_candidates.h"
#include "tests/support/unit_test.h"

static const unsigned lost = 1u << FATE_LOST, stranded = 1u << FATE_STRANDED;

/* The last of three groups of two pods has one only (slot 5 is none): what is lost is lost for
 * both, and for no other. */
static void a_tp_group_shares_its_fate(void **state)
{
    (void)state;
    struct gang_slot slots[6] = {
        [1] = {.fate = FATE_LOST}, [4] = {.fate = FATE_STRANDED}, [5] = {.fate = FATE_LOST}};
    struct gang_plan plan = {.has_degrees = true, .gpus_per_pod = 8, .pods = 5};
    struct gang gang = {.slots = slots, .slot_count = 5, .size = 5, .plan = &plan};
    static const struct {
        bool lost, stranded;
    } rows[] = {{true, false}, {true, false}, {false, false}, {false, false}, {false, true}};
    plan.degrees = DEGREES_ONE;
    plan.degrees.tp = 16;
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(gang_group_has(&gang, i, lost), rows[i].lost);
        assert_int_equal(gang_group_has(&gang, i, stranded), rows[i].stranded);
        assert_int_equal(gang_group_has(&gang, i, lost | stranded),
                         rows[i].lost || rows[i].stranded);
        assert_false(gang_group_has(&gang, i, 1u << FATE_BLOCKED));
    }
}

/* Without degrees, or a plan, each pod is alone. */
static void a_pod_without_a_group_is_alone(void **state)
{
    (void)state;
    struct gang_slot slots[2] = {{.fate = FATE_LOST}, {.fate = FATE_FINE}};
    struct gang_plan plan = {.gpus_per_pod = 8, .pods = 2};
    struct gang gang = {.slots = slots, .slot_count = 2, .size = 2};
    for (unsigned turn = 0; turn < 2; turn++) {
        assert_true(gang_group_has(&gang, 0, lost));
        assert_false(gang_group_has(&gang, 1, lost));
        gang.plan = &plan;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tp_group_shares_its_fate),
        cmocka_unit_test(a_pod_without_a_group_is_alone),
    };
    return unit_test_main("k8s_extender/gang_candidates", tests, COUNT_OF(tests));
}
