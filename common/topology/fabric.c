/* SPDX-License-Identifier: MIT */
#include "topology/fabric.h"
#include <string.h>

void fabric_free(struct fabric *fabric)
{
    if (!fabric)
        return;
    name_index_free(fabric->node_names);
    arena_free(fabric->arena);
}

unsigned fabric_find_node(const struct fabric *fabric, const char *name)
{
    size_t found = name_index_find(fabric->node_names, name);
    return found == NAME_INDEX_NONE ? FABRIC_NONE : (unsigned)found;
}

unsigned fabric_switch_at(const struct fabric *fabric, unsigned node, unsigned tier)
{
    unsigned at = fabric->nodes[node].leaf;
    while (at != FABRIC_NONE && fabric->switches[at].tier < tier)
        at = fabric->switches[at].parent;
    return at != FABRIC_NONE && fabric->switches[at].tier == tier ? at : FABRIC_NONE;
}

/* Tier of the lowest switch above both. A parent is always in a higher tier, so the lower of
 * the two climbs. */
static unsigned common_tier(const struct fabric *fabric, unsigned left, unsigned right)
{
    while (left != right) {
        if (left == FABRIC_NONE || right == FABRIC_NONE)
            return fabric->tier_count;
        unsigned left_tier = fabric->switches[left].tier;
        unsigned right_tier = fabric->switches[right].tier;
        if (left_tier <= right_tier)
            left = fabric->switches[left].parent;
        if (right_tier <= left_tier)
            right = fabric->switches[right].parent;
    }
    return left == FABRIC_NONE ? fabric->tier_count : fabric->switches[left].tier;
}

unsigned fabric_distance(const struct fabric *fabric, unsigned left, unsigned right)
{
    const struct fabric_node *a = &fabric->nodes[left], *b = &fabric->nodes[right];
    if (left == right)
        return 0;
    unsigned nearest = common_tier(fabric, a->leaf, b->leaf);
    if (!a->rail_leaves || !b->rail_leaves)
        return nearest;
    for (unsigned i = 0; nearest > 0 && i < fabric->rail_count; i++) {
        unsigned tier = common_tier(fabric, a->rail_leaves[i], b->rail_leaves[i]);
        if (tier < nearest)
            nearest = tier;
    }
    return nearest;
}

struct fabric *fabric_create(const char *source, const struct fabric_switch_input *switches,
                             size_t switch_count, const char *const *tier_names,
                             unsigned tier_name_count, struct error_info *err)
{
    const struct fabric_input input = {
        .source = source,
        .switches = switches,
        .switch_count = switch_count,
        .tier_names = tier_names,
        .tier_name_count = tier_name_count,
    };
    return fabric_build(&input, err);
}
