/* SPDX-License-Identifier: MIT */
#include "mapping/solver/link_seconds.h"

#include "planner/efficiency_catalogue.h"

static double inverse(double rate) { return rate > 0 ? 1 / rate : 0; }

static double larger(double left, double right) { return left > right ? left : right; }

void link_seconds_of(const struct plan_context *context, struct link_seconds *ret)
{
    const struct efficiency_catalogue *figures = context->efficiencies;
    unsigned tiers = context->shape.tier_count;
    double nvlink = inverse(context->nvlink_bytes_per_second);
    double node = nvlink > 0 ? nvlink : inverse(context->pcie_bytes_per_second);
    *ret = (struct link_seconds){.slot_count = COST_SLOT_TIERS + tiers + 1};
    ret->collective[COST_SLOT_NODE] = ret->message[COST_SLOT_NODE] = node;
    ret->collective[COST_SLOT_DOMAIN] = ret->message[COST_SLOT_DOMAIN] = node;
    for (unsigned tier = 0; tier <= tiers; tier++) {
        unsigned slot = COST_SLOT_TIERS + tier;
        double seconds = inverse(context->tier_bytes_per_second[tier]);
        ret->collective[slot] = larger(ret->collective[slot - 1],
                                       seconds * (1 + figures->spread_loss_collective * tier));
        ret->message[slot] =
            larger(ret->message[slot - 1], seconds * (1 + figures->spread_loss_message * tier));
    }
}

void link_seconds_of_rule(unsigned tier_count, struct link_seconds *ret)
{
    *ret = (struct link_seconds){.slot_count = COST_SLOT_TIERS + tier_count + 1};
    for (unsigned slot = 0; slot < ret->slot_count; slot++)
        ret->collective[slot] = ret->message[slot] = slot;
}
