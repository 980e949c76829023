/* SPDX-License-Identifier: MIT */
#include "mapping/solver/link_seconds.h"
#include "planner/efficiency_catalogue.h"
#include "tests/support/unit_test.h"

/* Not fractions of two: 3 and 5 parts of a hundred for each tier above the nearest switch. */
static const struct efficiency_catalogue figures = {.spread_loss_collective = 0.03,
                                                    .spread_loss_message = 0.05};

static void near(double value, double expected)
{
    if (value < expected * (1 - 1e-12) || value > expected * (1 + 1e-12))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static struct plan_context context_of(double nvlink, double pcie)
{
    return (struct plan_context){
        .efficiencies = &figures,
        .nvlink_bytes_per_second = nvlink,
        .pcie_bytes_per_second = pcie,
        .shape = {.tier_count = 2},
        .tier_bytes_per_second = {50, 50, 20},
    };
}

static void takes_the_rates_of_the_links(void **state)
{
    (void)state;
    const struct plan_context context = context_of(400, 60);
    struct link_seconds seconds;
    link_seconds_of(&context, &seconds);
    assert_int_equal(seconds.slot_count, COST_SLOT_TIERS + 3);
    near(seconds.collective[COST_SLOT_NODE], 1.0 / 400);
    near(seconds.message[COST_SLOT_DOMAIN], 1.0 / 400);
    near(seconds.collective[COST_SLOT_TIERS], 1.0 / 50);
    near(seconds.message[COST_SLOT_TIERS], 1.0 / 50);
    near(seconds.collective[COST_SLOT_TIERS + 1], 1.03 / 50);
    near(seconds.message[COST_SLOT_TIERS + 1], 1.05 / 50);
    near(seconds.collective[COST_SLOT_TIERS + 2], 1.06 / 20);
    near(seconds.message[COST_SLOT_TIERS + 2], 1.1 / 20);
}

static void uses_pcie_without_nvlink(void **state)
{
    (void)state;
    const struct plan_context context = context_of(0, 60);
    struct link_seconds seconds;
    link_seconds_of(&context, &seconds);
    near(seconds.collective[COST_SLOT_NODE], 1.0 / 60);
    near(seconds.collective[COST_SLOT_DOMAIN], 1.0 / 60);
}

/* A NIC faster than PCIe, a core faster than its leaves, rates that are not known. */
static void never_falls_with_the_distance(void **state)
{
    (void)state;
    struct plan_context context = context_of(0, 40);
    struct link_seconds seconds;
    context.tier_bytes_per_second[1] = 0;
    context.tier_bytes_per_second[2] = 500;
    link_seconds_of(&context, &seconds);
    for (unsigned slot = 1; slot < seconds.slot_count; slot++) {
        near(seconds.collective[slot], 1.0 / 40);
        near(seconds.message[slot], 1.0 / 40);
    }
}

static void counts_slots_for_the_rule(void **state)
{
    (void)state;
    struct link_seconds seconds;
    link_seconds_of_rule(3, &seconds);
    assert_int_equal(seconds.slot_count, COST_SLOT_TIERS + 4);
    for (unsigned slot = 0; slot < seconds.slot_count; slot++)
        assert_true(seconds.collective[slot] >= slot && seconds.collective[slot] <= slot &&
                    seconds.message[slot] >= slot && seconds.message[slot] <= slot);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(takes_the_rates_of_the_links),
    cmocka_unit_test(uses_pcie_without_nvlink),
    cmocka_unit_test(never_falls_with_the_distance),
    cmocka_unit_test(counts_slots_for_the_rule),
};

int main(void) { return unit_test_main("mapping/solver/link_seconds", tests, COUNT_OF(tests)); }
