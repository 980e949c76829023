/* SPDX-License-Identifier: MIT */
/* Rails. The label of an adapter proposes a rail, the leaf that it is cabled to decides. */
#include "topology/fabric_readers/infiniband/ib_network.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERS FABRIC_MAXIMUM_RAILS

struct rails {
    struct ib_network *network;
    struct fabric_draft *draft;
    size_t *host_start;   /* host_count + 1, into seats */
    size_t *leaf_start;   /* switch_count + 1, into leaf_seats */
    unsigned *leaf_seats; /* numbers of seats, by switch */
    unsigned *number;     /* by switch: the adapter number that is its rail; IB_NONE */
    unsigned *rail_leaf;  /* by switch and rail: where most of its hosts have that rail */
    unsigned count;       /* of rails */
    unsigned rail_of[NUMBERS];
    unsigned listed, more, strangers;
};

struct leaf_order {
    unsigned at, margin;
};

static bool is_leaf(const struct ib_network *network, unsigned at)
{
    return network->switches[at].level == 0;
}

static int index_seats(struct rails *rails)
{
    struct ib_network *network = rails->network;
    size_t hosts = network->host_count, switches = network->switch_count;
    size_t *host_start = arena_allocate_array(network->arena, hosts + 1, sizeof(*host_start));
    size_t *leaf_start = arena_allocate_array(network->arena, switches + 2, sizeof(*leaf_start));
    unsigned *seats = arena_allocate_array(network->arena, network->seat_count + 1, sizeof(*seats));
    rails->number = arena_allocate_array(network->arena, switches + 1, sizeof(*rails->number));
    if (!host_start || !leaf_start || !seats || !rails->number)
        return -1;
    for (size_t i = 0; i < network->seat_count; i++) {
        host_start[network->seats[i].host + 1]++;
        leaf_start[network->seats[i].at + 2]++;
    }
    for (size_t i = 0; i < hosts; i++)
        host_start[i + 1] += host_start[i];
    for (size_t i = 0; i <= switches; i++)
        leaf_start[i + 1] += leaf_start[i];
    for (size_t i = 0; i < network->seat_count; i++)
        seats[leaf_start[network->seats[i].at + 1]++] = (unsigned)i;
    memset(rails->number, 0xff, (switches + 1) * sizeof(*rails->number)); /* IB_NONE */
    rails->host_start = host_start;
    rails->leaf_start = leaf_start;
    rails->leaf_seats = seats;
    return 0;
}

/* Leaves of a host. */
static unsigned count_leaves(const struct rails *rails, size_t host)
{
    unsigned count = 0;
    for (size_t i = rails->host_start[host]; i < rails->host_start[host + 1]; i++)
        count += is_leaf(rails->network, rails->network->seats[i].at);
    return count;
}

/* votes[n]: hosts whose adapter n is here. against[n]: hosts that have rail n elsewhere. */
static void count_votes(const struct rails *rails, unsigned leaf, unsigned votes[NUMBERS],
                        unsigned against[NUMBERS])
{
    const struct ib_seat *seats = rails->network->seats;
    memset(votes, 0, NUMBERS * sizeof(*votes));
    memset(against, 0, NUMBERS * sizeof(*against));
    for (size_t i = rails->leaf_start[leaf]; i < rails->leaf_start[leaf + 1]; i++) {
        const struct ib_seat *seat = &seats[rails->leaf_seats[i]];
        for (uint64_t left = seat->numbers; left; left &= left - 1)
            votes[__builtin_ctzll(left)]++;
        for (size_t k = rails->host_start[seat->host]; k < rails->host_start[seat->host + 1]; k++)
            if (rails->number[seats[k].at] != IB_NONE)
                against[rails->number[seats[k].at]]++;
    }
}

static int compare_margins(const void *left, const void *right)
{
    const struct leaf_order *a = left, *b = right;
    if (a->margin != b->margin)
        return a->margin > b->margin ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Leaves, those whose hosts agree most first. */
static struct leaf_order *order_leaves(const struct rails *rails, size_t *ret_count)
{
    struct ib_network *network = rails->network;
    unsigned votes[NUMBERS], against[NUMBERS];
    size_t count = 0;
    struct leaf_order *leaves =
        arena_allocate_array(network->arena, network->switch_count + 1, sizeof(*leaves));
    for (unsigned i = 0; leaves && i < network->switch_count; i++) {
        if (!is_leaf(network, i))
            continue;
        unsigned best = 0, second = 0;
        count_votes(rails, i, votes, against);
        for (unsigned n = 0; n < NUMBERS; n++) {
            second = votes[n] > best ? best : votes[n] > second ? votes[n] : second;
            best = votes[n] > best ? votes[n] : best;
        }
        leaves[count++] = (struct leaf_order){.at = i, .margin = best - second};
    }
    if (leaves)
        qsort(leaves, count, sizeof(*leaves), compare_margins);
    *ret_count = count;
    return leaves;
}

/* The number that most hosts have here and not elsewhere; IB_NONE: none. */
static unsigned choose_number(const unsigned votes[NUMBERS], const unsigned against[NUMBERS])
{
    unsigned best = IB_NONE;
    for (unsigned n = 0; n < NUMBERS; n++)
        if (votes[n] > against[n] &&
            (best == IB_NONE || votes[n] - against[n] > votes[best] - against[best]))
            best = n;
    return best;
}

/* The number least in the way of the leaf's hosts: mostly one that none of them has. */
static unsigned spare_number(const unsigned against[NUMBERS])
{
    unsigned best = 0;
    for (unsigned n = 1; n < NUMBERS; n++)
        if (against[n] < against[best])
            best = n;
    return best;
}

static void number_leaves(struct rails *rails, const struct leaf_order *leaves, size_t count)
{
    unsigned votes[NUMBERS], against[NUMBERS];
    for (size_t i = 0; i < count; i++) {
        count_votes(rails, leaves[i].at, votes, against);
        rails->number[leaves[i].at] = choose_number(votes, against);
    }
    /* Second ports of adapters, and leaves whose hosts bear no usable numbers. */
    for (size_t i = 0; i < count; i++) {
        if (rails->number[leaves[i].at] != IB_NONE)
            continue;
        count_votes(rails, leaves[i].at, votes, against);
        rails->number[leaves[i].at] = spare_number(against);
    }
}

/* Numbers 0, 3, 4 are rails 0, 1, 2. */
static void count_rails(struct rails *rails)
{
    struct ib_network *network = rails->network;
    bool used[NUMBERS] = {false};
    for (size_t i = 0; i < network->switch_count; i++)
        if (rails->number[i] != IB_NONE)
            used[rails->number[i]] = true;
    for (unsigned n = 0; n < NUMBERS; n++)
        rails->rail_of[n] = used[n] ? rails->count++ : IB_NONE;
    for (size_t i = 0; i < network->switch_count; i++)
        if (rails->number[i] != IB_NONE)
            network->switches[i].rail = rails->rail_of[rails->number[i]];
}

/* Boyer and Moore's majority: right where more than half agree. */
static void vote(unsigned *candidate, unsigned *lead, unsigned leaf)
{
    if (*lead == 0)
        *candidate = leaf;
    *lead = *candidate == leaf ? *lead + 1 : *lead - 1;
}

static int find_rail_leaves(struct rails *rails)
{
    struct ib_network *network = rails->network;
    rails->rail_leaf = arena_allocate_array(
        network->arena, network->switch_count * rails->count + 1, sizeof(*rails->rail_leaf));
    if (!rails->rail_leaf)
        return -1;
    for (unsigned leaf = 0; leaf < network->switch_count; leaf++) {
        unsigned lead[NUMBERS] = {0};
        unsigned *found = &rails->rail_leaf[(size_t)leaf * rails->count];
        memset(found, 0xff, rails->count * sizeof(*found)); /* IB_NONE */
        for (size_t i = rails->leaf_start[leaf]; i < rails->leaf_start[leaf + 1]; i++) {
            unsigned host = network->seats[rails->leaf_seats[i]].host;
            for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++) {
                unsigned at = network->seats[k].at, rail = network->switches[at].rail;
                if (rail != IB_NONE)
                    vote(&found[rail], &lead[rail], at);
            }
        }
    }
    return 0;
}

/* Where the neighbours on this host's other leaves have that rail. */
static unsigned expected_leaf(const struct rails *rails, unsigned seat, unsigned rail)
{
    const struct ib_network *network = rails->network;
    unsigned host = network->seats[seat].host, leaf = IB_NONE, lead = 0;
    for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++) {
        unsigned at = network->seats[k].at;
        if (k != seat && is_leaf(network, at))
            vote(&leaf, &lead, rails->rail_leaf[(size_t)at * rails->count + rail]);
    }
    return lead > 0 ? leaf : IB_NONE;
}

static bool has_number_at(const struct rails *rails, unsigned host, unsigned number, unsigned at)
{
    const struct ib_seat *seats = rails->network->seats;
    for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++)
        if (seats[k].at == at)
            return seats[k].numbers >> number & 1;
    return false;
}

/* The leaf where adapter `number` of this seat should be, if that is another one. */
static unsigned misplaced_from(const struct rails *rails, unsigned seat, unsigned number)
{
    const struct ib_seat *here = &rails->network->seats[seat];
    unsigned rail = rails->rail_of[number];
    if (rail == IB_NONE || !is_leaf(rails->network, here->at))
        return IB_NONE;
    unsigned expected = expected_leaf(rails, seat, rail);
    if (expected == here->at || expected == IB_NONE ||
        has_number_at(rails, here->host, number, expected))
        return IB_NONE;
    return expected;
}

static const char *label_of(const struct ib_network *network, unsigned host, unsigned number,
                            unsigned at)
{
    /* Ports are sorted by host and switch: the first of the host by bisection. */
    size_t low = 0, high = network->port_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (network->adapters[network->ports[middle].adapter].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < network->port_count; low++) {
        const struct ib_adapter *adapter = &network->adapters[network->ports[low].adapter];
        if (adapter->host == host && adapter->number == number && network->ports[low].at == at)
            return adapter->label;
        if (adapter->host != host)
            break;
    }
    return "";
}

static void report_seat(struct rails *rails, unsigned seat, unsigned number, unsigned expected)
{
    const struct ib_network *network = rails->network;
    const struct ib_seat *here = &network->seats[seat];
    if (rails->listed == IB_MAXIMUM_LISTED) {
        rails->more++;
        return;
    }
    rails->listed++;
    fabric_draft_warn(rails->draft,
                      "%s: host %s: adapter %s is cabled to %s; its neighbours have that rail "
                      "at %s",
                      network->source, network->hosts[here->host],
                      label_of(network, here->host, number, here->at),
                      network->switches[here->at].name, network->switches[expected].name);
}

typedef void (*adapter_fn)(struct rails *rails, unsigned seat, unsigned number, void *context);

static void for_each_adapter(struct rails *rails, size_t host, adapter_fn visit, void *context)
{
    for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++)
        for (uint64_t left = rails->network->seats[k].numbers; left; left &= left - 1)
            visit(rails, (unsigned)k, (unsigned)__builtin_ctzll(left), context);
}

struct tally {
    unsigned right, wrong;
};

static void tally_adapter(struct rails *rails, unsigned seat, unsigned number, void *context)
{
    struct tally *tally = context;
    if (misplaced_from(rails, seat, number) != IB_NONE)
        tally->wrong++;
    else
        tally->right += rails->rail_of[number] != IB_NONE;
}

static void report_adapter(struct rails *rails, unsigned seat, unsigned number, void *context)
{
    (void)context;
    unsigned expected = misplaced_from(rails, seat, number);
    if (expected != IB_NONE)
        report_seat(rails, seat, number, expected);
}

/* A host with at least as many adapters in their place as not is one of the pattern that was
 * cabled otherwise; another (a manager, a storage server) is of another kind. */
static void check_host(struct rails *rails, size_t host)
{
    struct tally tally = {.right = 0};
    for_each_adapter(rails, host, tally_adapter, &tally);
    if (tally.wrong > tally.right)
        rails->strangers++;
    else if (tally.wrong > 0)
        for_each_adapter(rails, host, report_adapter, NULL);
}

/* One seat for each rail: the one whose adapter bears the rail's number, else the first. */
static void place_on_rails(struct rails *rails, size_t host)
{
    struct ib_network *network = rails->network;
    struct ib_seat *chosen[NUMBERS] = {NULL};
    for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++) {
        struct ib_seat *seat = &network->seats[k];
        unsigned rail = network->switches[seat->at].rail;
        if (rail == IB_NONE)
            continue;
        bool fits = seat->numbers >> rails->number[seat->at] & 1;
        if (!chosen[rail] || (fits && !(chosen[rail]->numbers >> rails->number[seat->at] & 1)))
            chosen[rail] = seat;
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        if (chosen[i])
            chosen[i]->placed = true;
}

/* The leaf, else any switch, with most of the host's ports. */
static void place_once(struct rails *rails, size_t host)
{
    const struct ib_network *network = rails->network;
    struct ib_seat *best = NULL;
    for (size_t k = rails->host_start[host]; k < rails->host_start[host + 1]; k++) {
        struct ib_seat *seat = &network->seats[k];
        bool leaf = is_leaf(network, seat->at);
        bool best_leaf = best && is_leaf(network, best->at);
        if (!best || leaf > best_leaf || (leaf == best_leaf && seat->ports > best->ports))
            best = seat;
    }
    if (best)
        best->placed = true;
}

static int lay_rails(struct rails *rails, struct error_info *err)
{
    struct ib_network *network = rails->network;
    size_t leaf_count = 0;
    struct leaf_order *leaves = order_leaves(rails, &leaf_count);
    if (!leaves)
        return error_set_memory(err);
    number_leaves(rails, leaves, leaf_count);
    count_rails(rails);
    if (find_rail_leaves(rails) < 0)
        return error_set_memory(err);
    for (size_t host = 0; host < network->host_count; host++) {
        if (count_leaves(rails, host) == 0) {
            place_once(rails, host);
            continue;
        }
        check_host(rails, host);
        place_on_rails(rails, host);
    }
    if (rails->more > 0)
        fabric_draft_warn(rails->draft, "%s: %u more adapters are cabled unlike their neighbours'",
                          network->source, rails->more);
    if (rails->strangers > 0)
        fabric_draft_warn(rails->draft,
                          "%s: %u hosts have most adapters on other rails than their labels say "
                          "(other kinds of hosts?)",
                          network->source, rails->strangers);
    return 0;
}

int ib_network_find_rails(struct ib_network *network, struct fabric_draft *draft,
                          struct error_info *err)
{
    struct rails rails = {.network = network, .draft = draft};
    size_t single = 0, several = 0;
    if (index_seats(&rails) < 0)
        return error_set_memory(err);
    for (size_t host = 0; host < network->host_count; host++) {
        unsigned leaves = count_leaves(&rails, host);
        single += leaves == 1;
        several += leaves > 1;
    }
    if (several > single)
        return lay_rails(&rails, err);
    for (size_t host = 0; host < network->host_count; host++)
        place_once(&rails, host);
    if (several > 0)
        fabric_draft_warn(draft,
                          "%s: %zu of %zu hosts are on several leaves; without rails each counts "
                          "for the leaf with most of its ports",
                          network->source, several, several + single);
    return 0;
}
