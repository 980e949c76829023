/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/fabric_redraft.h"

static int add_switches(struct fabric_draft *draft, const struct fabric *fabric,
                        struct error_info *err)
{
    for (size_t i = 0; i < fabric->switch_count; i++) {
        const struct fabric_switch *from = &fabric->switches[i];
        struct fabric_switch_input *to = fabric_draft_add_switch(draft, from->name, 0, err);
        if (!to)
            return -1;
        to->tier_name = fabric->tier_names[from->tier];
        to->uplink_bytes_per_second = from->uplink_bytes_per_second;
        to->downlink_bytes_per_second = from->downlink_bytes_per_second;
    }
    for (size_t i = 0; i < fabric->switch_count; i++) {
        const struct fabric_switch *child = &fabric->switches[i];
        if (child->parent != FABRIC_NONE &&
            fabric_draft_add_child(draft, child->parent, child->name, err) < 0)
            return -1;
    }
    return 0;
}

static int add_node(struct fabric_draft *draft, const struct fabric *fabric,
                    const struct fabric_node *node, struct error_info *err)
{
    if (!node->rail_leaves)
        return node->leaf == FABRIC_NONE
                   ? 0
                   : fabric_draft_add_node(draft, node->leaf, node->name, err);
    for (unsigned rail = 0; rail < fabric->rail_count; rail++) {
        unsigned leaf = node->rail_leaves[rail];
        if (leaf == FABRIC_NONE)
            continue;
        fabric_draft_switch(draft, leaf)->has_rail = true;
        fabric_draft_switch(draft, leaf)->rail = rail;
        if (fabric_draft_add_node(draft, leaf, node->name, err) < 0)
            return -1;
    }
    return 0;
}

static int add_domains(struct fabric_draft *draft, const struct fabric *fabric,
                       struct error_info *err)
{
    for (size_t i = 0; i < fabric->domain_count; i++) {
        const struct fabric_domain *from = &fabric->domains[i];
        if (fabric_draft_add_domain(draft, from->name, from->id, 0, err) < 0)
            return -1;
        if (from->candidate)
            fabric_draft_set_candidate(draft, i);
    }
    for (size_t i = 0; i < fabric->node_count; i++) {
        const struct fabric_node *node = &fabric->nodes[i];
        if (node->nvlink_block != FABRIC_NONE &&
            fabric_draft_add_domain_node(draft, node->nvlink_block, node->name, err) < 0)
            return -1;
    }
    return 0;
}

struct fabric_draft *fabric_redraft(const struct fabric *fabric, bool domains,
                                    struct error_info *err)
{
    CLEANUP(fabric_draft)
    struct fabric_draft *draft = fabric_draft_create(fabric->source ? fabric->source : "", err);
    if (!draft || add_switches(draft, fabric, err) < 0)
        return NULL;
    for (size_t i = 0; i < fabric->node_count; i++)
        if (add_node(draft, fabric, &fabric->nodes[i], err) < 0)
            return NULL;
    if (domains && add_domains(draft, fabric, err) < 0)
        return NULL;
    fabric_draft_name_tiers(draft, fabric->tier_names, fabric->tier_count);
    return move_pointer(draft);
}
