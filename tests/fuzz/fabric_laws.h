/* SPDX-License-Identifier: MIT */
/*
 * fabric_laws: what holds of every fabric that a reader made, and still when it is cut down.
 */
#ifndef TESTS_FUZZ_FABRIC_LAWS_H
#define TESTS_FUZZ_FABRIC_LAWS_H

#include "tests/fuzz/fuzz_target.h"
#include "topology/fabric.h"

static inline void fuzz_require_tree(const struct fabric *fabric)
{
    fuzz_require(fabric->tier_count <= FABRIC_MAXIMUM_TIERS, "too many tiers", fabric->source);
    for (size_t i = 0; i < fabric->switch_count; i++) {
        const struct fabric_switch *at = &fabric->switches[i];
        fuzz_require(at->tier < fabric->tier_count, "a tier is out of range", at->name);
        if (at->parent == FABRIC_NONE)
            continue;
        fuzz_require(at->parent < fabric->switch_count, "a parent is out of range", at->name);
        fuzz_require(fabric->switches[at->parent].tier > at->tier, "a parent is not above",
                     at->name);
    }
    for (size_t i = 0; i < fabric->node_count; i++) {
        const struct fabric_node *node = &fabric->nodes[i];
        fuzz_require(fabric_find_node(fabric, node->name) == i, "a node is lost", node->name);
        fuzz_require(node->leaf < fabric->switch_count || node->leaf == FABRIC_NONE,
                     "a leaf is out of range", node->name);
        fuzz_require(node->leaf != FABRIC_NONE || node->nvlink_block != FABRIC_NONE ||
                         fabric->warning_count > 0,
                     "a node is nowhere, without a word", node->name);
        fuzz_require(node->nvlink_block < fabric->domain_count || node->nvlink_block == FABRIC_NONE,
                     "a domain is out of range", node->name);
    }
}

static inline void fuzz_require_distances(const struct fabric *fabric)
{
    for (unsigned i = 0; i < fabric->node_count && i < 20; i++)
        for (unsigned j = 0; j < i; j++) {
            unsigned there = fabric_distance(fabric, i, j);
            fuzz_require(there == fabric_distance(fabric, j, i), "a distance has a direction",
                         fabric->nodes[i].name);
            fuzz_require(there <= fabric->tier_count, "a distance is out of range",
                         fabric->nodes[i].name);
        }
}

static inline void fuzz_require_selection(const struct fabric *fabric)
{
    CLEANUP(node_list) struct node_list *names = node_list_create(NULL);
    for (size_t i = 0; i < fabric->node_count && i < 20; i += 2)
        node_list_add(names, fabric->nodes[i].name, NULL);
    CLEANUP(fabric) struct fabric *part = fabric_select(fabric, names, NULL);
    fuzz_require(part, "cutting down failed", fabric->source);
    fuzz_require_tree(part);
    for (unsigned i = 0; i < part->node_count; i++) {
        unsigned there = fabric_distance(fabric, 0, 2 * i);
        fuzz_require(fabric_distance(part, 0, i) == there, "cutting down changed a distance",
                     part->nodes[i].name);
    }
}

static inline void fuzz_require_fabric(const struct fabric *fabric)
{
    fuzz_require_tree(fabric);
    fuzz_require_distances(fabric);
    fuzz_require_selection(fabric);
}

#endif
