/* SPDX-License-Identifier: MIT */
/*
 * link_seconds: seconds that one byte between two ranks takes, by how far they are apart, when
 * every rank of the job talks at once; what a mapping's cost is made of.
 *
 * Slots as in mapping_cost.h. Inside a node and an NVLink domain: the rates of plan_context.h
 * (NVLink, else PCIe); over tier t the NIC, or what a tapered fabric leaves of it for one GPU.
 * A spread of t tiers above the nearest switch costs (1 + loss t) times as long also where the
 * links are as fast: collisions and hops (efficiencies.yaml, spread_loss_*; arXiv 2509.15940).
 * What no known switch joins counts as one tier farther than the farthest. Never falls with the
 * distance.
 */
#ifndef MAPPING_SOLVER_LINK_SECONDS_H
#define MAPPING_SOLVER_LINK_SECONDS_H

#include "planner/plan_context.h"

/* Slots: 0 inside a node, 1 inside an NVLink domain across nodes, 2 + t tier t, last: unknown. */
#define COST_SLOT_NODE 0u
#define COST_SLOT_DOMAIN 1u
#define COST_SLOT_TIERS 2u
#define COST_SLOT_MAXIMUM (COST_SLOT_TIERS + FABRIC_MAXIMUM_TIERS + 1u)

struct link_seconds {
    unsigned slot_count;
    double collective[COST_SLOT_MAXIMUM]; /* seconds per byte */
    double message[COST_SLOT_MAXIMUM];
};

/* From a context whose rates are known. */
void link_seconds_of(const struct plan_context *context, struct link_seconds *ret);
/* For traffic_of_rule: how many slots far, from 0 inside a node. */
void link_seconds_of_rule(unsigned tier_count, struct link_seconds *ret);

#endif
