/* SPDX-License-Identifier: MIT */
/* The network's groups and seats as the draft of a fabric. */
#include "topology/fabric_readers/infiniband/ib_network.h"

static int draft_group(struct ib_network *network, const struct ib_group *group,
                       struct fabric_draft *draft, struct error_info *err)
{
    const struct ib_switch *first =
        group->first == IB_NONE ? NULL : &network->switches[group->first];
    struct fabric_switch_input *entry =
        fabric_draft_add_switch(draft, group->name, first ? first->line : 0, err);
    if (!entry)
        return -1;
    entry->uplink_bytes_per_second = group->unknown_uplink ? 0 : group->uplink;
    entry->downlink_bytes_per_second = group->unknown_downlink ? 0 : group->downlink;
    if (!first || first->rail == IB_NONE)
        return 0;
    entry->has_rail = true;
    entry->rail = first->rail;
    return 0;
}

static int draft_network(struct ib_network *network, struct fabric_draft *draft,
                         struct error_info *err)
{
    for (size_t i = 0; i < network->group_count; i++)
        if (draft_group(network, &network->groups[i], draft, err) < 0)
            return -1;
    for (size_t i = 0; i < network->group_count; i++)
        if (network->groups[i].parent != IB_NONE &&
            fabric_draft_add_child(draft, network->groups[i].parent, network->groups[i].name, err) <
                0)
            return -1;
    for (size_t i = 0; i < network->seat_count; i++) {
        const struct ib_seat *seat = &network->seats[i];
        if (seat->placed && fabric_draft_add_node(draft, network->switches[seat->at].group,
                                                  network->hosts[seat->host], err) < 0)
            return -1;
    }
    return 0;
}

struct fabric *ib_network_fabric(struct ib_network *network, struct fabric_draft *draft,
                                 struct error_info *err)
{
    if (ib_network_settle(network, draft, err) < 0 ||
        ib_network_build_tree(network, draft, err) < 0 ||
        ib_network_find_rails(network, draft, err) < 0)
        return NULL;
    ib_network_sum_rates(network, draft);
    if (draft_network(network, draft, err) < 0)
        return NULL;
    return fabric_draft_build(draft, err);
}
