/* SPDX-License-Identifier: MIT */
/* What the links between groups carry together, and links that run slower than their like. */
#include "topology/fabric_readers/infiniband/ib_network.h"

#define CLASSES (FABRIC_MAXIMUM_TIERS + 1) /* 0: to hosts; n: between tiers n - 1 and n */

struct census {
    struct ib_network *network;
    struct fabric_draft *draft;
    unsigned counts[CLASSES][IB_RATE_COUNT];
    unsigned usual[CLASSES];
    unsigned listed, more;
};

/* CLASSES: a link that the tree does not use. */
static unsigned class_of(const struct ib_network *network, const struct ib_link *link)
{
    unsigned left = network->switches[link->left].level;
    unsigned right = network->switches[link->right].level;
    unsigned upper = left > right ? left : right, lower = left > right ? right : left;
    return upper == IB_NONE || upper != lower + 1 ? CLASSES : upper;
}

static void count_rates(struct census *census)
{
    const struct ib_network *network = census->network;
    for (size_t i = 0; i < network->port_count; i++)
        census->counts[0][network->ports[i].rate]++;
    for (size_t i = 0; i < network->link_count; i++) {
        unsigned class = class_of(network, &network->links[i]);
        if (class < CLASSES)
            census->counts[class][network->links[i].rate]++;
    }
    for (unsigned class = 0; class < CLASSES; class ++) {
        unsigned best = IB_RATE_UNKNOWN;
        for (unsigned rate = 1; rate < IB_RATE_COUNT; rate++)
            if (census->counts[class][rate] > census->counts[class][best] ||
                best == IB_RATE_UNKNOWN)
                best = census->counts[class][rate] > 0 ? rate : best;
        census->usual[class] = best;
    }
}

/* Whether to name this link in a warning. */
static bool is_slow(struct census *census, unsigned class, unsigned rate)
{
    double usual = ib_rate_bytes_per_second(census->usual[class]);
    if (rate == IB_RATE_UNKNOWN || ib_rate_bytes_per_second(rate) >= usual)
        return false;
    if (census->listed < IB_MAXIMUM_LISTED) {
        census->listed++;
        return true;
    }
    census->more++;
    return false;
}

static void check_ports(struct census *census)
{
    const struct ib_network *network = census->network;
    unsigned usual = census->usual[0];
    for (size_t i = 0; i < network->port_count; i++) {
        const struct ib_port *port = &network->ports[i];
        const struct ib_adapter *adapter = &network->adapters[port->adapter];
        if (is_slow(census, 0, port->rate))
            fabric_draft_warn(census->draft,
                              "%s: the link of host %s %s to %s runs at %ux%s; most links to "
                              "hosts run at %ux%s",
                              network->source, network->hosts[adapter->host], adapter->label,
                              network->switches[port->at].name, ib_rate_lanes(port->rate),
                              ib_rate_speed(port->rate), ib_rate_lanes(usual),
                              ib_rate_speed(usual));
    }
}

static void check_links(struct census *census)
{
    const struct ib_network *network = census->network;
    for (size_t i = 0; i < network->link_count; i++) {
        const struct ib_link *link = &network->links[i];
        unsigned class = class_of(network, link);
        if (class >= CLASSES || !is_slow(census, class, link->rate))
            continue;
        unsigned usual = census->usual[class];
        fabric_draft_warn(census->draft,
                          "%s: the link %s[%u] to %s[%u] runs at %ux%s; most between these tiers "
                          "run at %ux%s",
                          network->source, network->switches[link->left].name, link->left_port,
                          network->switches[link->right].name, link->right_port,
                          ib_rate_lanes(link->rate), ib_rate_speed(link->rate),
                          ib_rate_lanes(usual), ib_rate_speed(usual));
    }
}

static void add_down(struct ib_group *group, unsigned rate)
{
    group->downlink += ib_rate_bytes_per_second(rate);
    group->unknown_downlink = group->unknown_downlink || rate == IB_RATE_UNKNOWN;
}

static void sum_links(struct ib_network *network)
{
    for (size_t i = 0; i < network->port_count; i++) {
        const struct ib_port *port = &network->ports[i];
        unsigned group = network->switches[port->at].group;
        if (group != IB_NONE)
            add_down(&network->groups[group], port->rate);
    }
    for (size_t i = 0; i < network->link_count; i++) {
        const struct ib_link *link = &network->links[i];
        if (class_of(network, link) >= CLASSES)
            continue;
        const struct ib_switch *left = &network->switches[link->left];
        const struct ib_switch *right = &network->switches[link->right];
        const struct ib_switch *lower = left->level < right->level ? left : right;
        const struct ib_switch *upper = left->level < right->level ? right : left;
        struct ib_group *group = &network->groups[lower->group];
        group->uplink += ib_rate_bytes_per_second(link->rate);
        group->unknown_uplink = group->unknown_uplink || link->rate == IB_RATE_UNKNOWN;
        add_down(&network->groups[upper->group], link->rate);
    }
}

void ib_network_sum_rates(struct ib_network *network, struct fabric_draft *draft)
{
    struct census census = {.network = network, .draft = draft};
    count_rates(&census);
    check_ports(&census);
    check_links(&census);
    if (census.more > 0)
        fabric_draft_warn(draft, "%s: %u more links run slower than most of their kind",
                          network->source, census.more);
    sum_links(network);
}
