/* SPDX-License-Identifier: MIT */
/* What was added, in an order that does not depend on the listing's: names in natural order,
 * each link and port once. */
#include "topology/fabric_readers/infiniband/ib_network.h"
#include <stdlib.h>
#include <string.h>

typedef int (*compare_fn)(const void *left, const void *right, void *context);

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_switches(const void *left, const void *right, void *context)
{
    const struct ib_network *network = context;
    const struct ib_switch *a = &network->switches[*(const unsigned *)left];
    const struct ib_switch *b = &network->switches[*(const unsigned *)right];
    int order = node_name_compare(a->name, b->name);
    return order != 0 ? order : strcmp(a->id, b->id);
}

static int compare_hosts(const void *left, const void *right, void *context)
{
    const struct ib_network *network = context;
    return node_name_compare(network->hosts[*(const unsigned *)left],
                             network->hosts[*(const unsigned *)right]);
}

static int compare_adapters(const void *left, const void *right, void *context)
{
    const struct ib_network *network = context;
    const struct ib_adapter *a = &network->adapters[*(const unsigned *)left];
    const struct ib_adapter *b = &network->adapters[*(const unsigned *)right];
    if (a->host != b->host)
        return compare_numbers(a->host, b->host);
    int order = node_name_compare(a->label, b->label);
    return order != 0 ? order : compare_numbers(a->guid, b->guid);
}

static int compare_ports(const void *left, const void *right, void *context)
{
    const struct ib_network *network = context;
    const struct ib_port *a = left, *b = right;
    unsigned a_host = network->adapters[a->adapter].host;
    unsigned b_host = network->adapters[b->adapter].host;
    if (a_host != b_host)
        return compare_numbers(a_host, b_host);
    if (a->at != b->at)
        return compare_numbers(a->at, b->at);
    if (a->adapter != b->adapter)
        return compare_numbers(a->adapter, b->adapter);
    return a->port != b->port ? compare_numbers(a->port, b->port)
                              : compare_numbers(b->rate, a->rate); /* known before unknown */
}

static int compare_links(const void *left, const void *right, void *context)
{
    (void)context;
    const struct ib_link *a = left, *b = right;
    if (a->left != b->left)
        return compare_numbers(a->left, b->left);
    if (a->right != b->right)
        return compare_numbers(a->right, b->right);
    if (a->left_port != b->left_port)
        return compare_numbers(a->left_port, b->left_port);
    return a->right_port != b->right_port ? compare_numbers(a->right_port, b->right_port)
                                          : compare_numbers(b->rate, a->rate);
}

/* Numbers 0 to count - 1 in the order that compare gives. NULL: out of memory. */
static unsigned *sort_numbers(struct ib_network *network, size_t count, compare_fn compare)
{
    unsigned *order = arena_allocate_array(network->arena, count + 1, sizeof(*order));
    for (size_t i = 0; order && i < count; i++)
        order[i] = (unsigned)i;
    if (order && count > 1)
        qsort_r(order, count, sizeof(*order), compare, network);
    return order;
}

static int settle_hosts(struct ib_network *network)
{
    size_t count = network->host_count;
    unsigned *order = sort_numbers(network, count, compare_hosts);
    unsigned *place = arena_allocate_array(network->arena, count + 1, sizeof(*place));
    const char **sorted = arena_allocate_array(network->arena, count + 1, sizeof(*sorted));
    if (!order || !place || !sorted)
        return -1;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = network->hosts[order[i]];
        place[order[i]] = (unsigned)i;
    }
    if (count > 0)
        memcpy(network->hosts, sorted, count * sizeof(*sorted));
    for (size_t i = 0; i < network->adapter_count; i++)
        network->adapters[i].host = place[network->adapters[i].host];
    return 0;
}

/* Two switches of one description: the second also bears its id. */
static int part_names(struct ib_network *network, struct ib_switch *sorted)
{
    const char *previous = "";
    for (size_t i = 0; i < network->switch_count; i++) {
        const char *name = sorted[i].name;
        if (strcmp(previous, name) == 0)
            sorted[i].name = arena_format(network->arena, "%s#%s", name, sorted[i].id);
        if (!sorted[i].name)
            return -1;
        previous = name;
    }
    return 0;
}

static void renumber_links(struct ib_network *network, const unsigned *place)
{
    for (size_t i = 0; i < network->link_count; i++) {
        struct ib_link *link = &network->links[i];
        struct ib_link old = *link;
        bool swap = place[old.left] > place[old.right];
        *link = (struct ib_link){
            .left = place[swap ? old.right : old.left],
            .right = place[swap ? old.left : old.right],
            .left_port = swap ? old.right_port : old.left_port,
            .right_port = swap ? old.left_port : old.right_port,
            .rate = old.rate,
        };
    }
}

static int settle_switches(struct ib_network *network)
{
    size_t count = network->switch_count;
    unsigned *order = sort_numbers(network, count, compare_switches);
    unsigned *place = arena_allocate_array(network->arena, count + 1, sizeof(*place));
    struct ib_switch *sorted = arena_allocate_array(network->arena, count + 1, sizeof(*sorted));
    if (!order || !place || !sorted)
        return -1;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = network->switches[order[i]];
        place[order[i]] = (unsigned)i;
    }
    if (part_names(network, sorted) < 0)
        return -1;
    if (count > 0)
        memcpy(network->switches, sorted, count * sizeof(*sorted));
    for (size_t i = 0; i < network->port_count; i++)
        network->ports[i].at = place[network->ports[i].at];
    renumber_links(network, place);
    return 0;
}

struct adapter_run {
    const unsigned *order; /* numbers of adapters of one host, by label */
    size_t count;
};

/* Adapters whose labels bear no number, as "ibp12s0", are counted within their host. */
static void number_run(struct ib_network *network, const struct adapter_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (network->adapters[run->order[i]].number != IB_NONE)
            return;
    for (size_t i = 0; i < run->count; i++)
        network->adapters[run->order[i]].number = (unsigned)i;
}

/* Two adapters of one label are in two machines that bear one name ("ubuntu"); NULL: none. */
static const char *find_twin(const struct ib_network *network, const struct adapter_run *run)
{
    for (size_t i = 1; i < run->count; i++) {
        const struct ib_adapter *one = &network->adapters[run->order[i - 1]];
        const struct ib_adapter *two = &network->adapters[run->order[i]];
        if (one->number != IB_NONE && *one->label && strcmp(one->label, two->label) == 0)
            return one->label;
    }
    return NULL;
}

static void report_twins(const struct ib_network *network, struct fabric_draft *draft,
                         unsigned host, const char *label, unsigned *count)
{
    if (++*count <= IB_MAXIMUM_LISTED)
        fabric_draft_warn(draft,
                          "%s: host %s: several adapters are called %s, so several machines bear "
                          "that name; they are left out",
                          network->source, network->hosts[host], label);
}

/* shared: by host. */
static int settle_adapters(struct ib_network *network, struct fabric_draft *draft, bool *shared)
{
    size_t count = network->adapter_count;
    unsigned twins = 0;
    const unsigned *order = sort_numbers(network, count, compare_adapters);
    if (!order)
        return -1;
    for (size_t start = 0, end; start < count; start = end) {
        unsigned host = network->adapters[order[start]].host;
        for (end = start; end < count && network->adapters[order[end]].host == host; end++)
            ;
        const struct adapter_run run = {.order = order + start, .count = end - start};
        const char *twin = find_twin(network, &run);
        shared[host] = twin != NULL;
        if (twin)
            report_twins(network, draft, host, twin, &twins);
        number_run(network, &run);
    }
    if (twins > IB_MAXIMUM_LISTED)
        fabric_draft_warn(draft, "%s: %u more names are those of several machines", network->source,
                          twins - IB_MAXIMUM_LISTED);
    return 0;
}

static void drop_shared(struct ib_network *network, const bool *shared)
{
    size_t kept = 0;
    for (size_t i = 0; i < network->port_count; i++)
        if (!shared[network->adapters[network->ports[i].adapter].host])
            network->ports[kept++] = network->ports[i];
    network->port_count = kept;
}

static void settle_ports(struct ib_network *network)
{
    struct ib_port *ports = network->ports;
    size_t kept = 0;
    if (network->port_count > 1)
        qsort_r(ports, network->port_count, sizeof(*ports), compare_ports, network);
    for (size_t i = 0; i < network->port_count; i++)
        if (kept == 0 || ports[kept - 1].adapter != ports[i].adapter ||
            ports[kept - 1].at != ports[i].at || ports[kept - 1].port != ports[i].port)
            ports[kept++] = ports[i];
    network->port_count = kept;
}

static void settle_links(struct ib_network *network)
{
    struct ib_link *links = network->links;
    size_t kept = 0;
    if (network->link_count > 1)
        qsort_r(links, network->link_count, sizeof(*links), compare_links, network);
    for (size_t i = 0; i < network->link_count; i++)
        if (kept == 0 || links[kept - 1].left != links[i].left ||
            links[kept - 1].right != links[i].right ||
            links[kept - 1].left_port != links[i].left_port ||
            links[kept - 1].right_port != links[i].right_port)
            links[kept++] = links[i];
    network->link_count = kept;
}

static int seat_hosts(struct ib_network *network, struct error_info *err)
{
    struct ib_seat *seats =
        arena_allocate_array(network->arena, network->port_count + 1, sizeof(*seats));
    if (!seats)
        return error_set_memory(err);
    size_t count = 0, host_start = 0;
    for (size_t i = 0; i < network->port_count; i++) {
        const struct ib_port *port = &network->ports[i];
        const struct ib_adapter *adapter = &network->adapters[port->adapter];
        if (count > 0 && seats[count - 1].host != adapter->host)
            host_start = count;
        if (count == host_start || seats[count - 1].at != port->at) {
            if (count - host_start == IB_MAXIMUM_SEATS)
                return error_set(err, "%s: host %s is on more than %u switches", network->source,
                                 network->hosts[adapter->host], IB_MAXIMUM_SEATS);
            seats[count++] = (struct ib_seat){.host = adapter->host, .at = port->at};
            network->switches[port->at].hosts++;
        }
        seats[count - 1].ports++;
        if (adapter->number < FABRIC_MAXIMUM_RAILS)
            seats[count - 1].numbers |= UINT64_C(1) << adapter->number;
    }
    network->seats = seats;
    network->seat_count = count;
    return 0;
}

static int list_edges(struct ib_network *network)
{
    size_t count = network->switch_count;
    size_t *start = arena_allocate_array(network->arena, count + 2, sizeof(*start));
    unsigned *edges =
        arena_allocate_array(network->arena, network->link_count * 2 + 1, sizeof(*edges));
    if (!start || !edges)
        return -1;
    /* start[s + 2] counts, then start[s + 1] is where the next edge of s goes. */
    for (size_t i = 0; i < network->link_count; i++) {
        start[network->links[i].left + 2]++;
        start[network->links[i].right + 2]++;
    }
    for (size_t i = 1; i <= count + 1; i++)
        start[i] += start[i - 1];
    for (size_t i = 0; i < network->link_count; i++) {
        const struct ib_link *link = &network->links[i];
        edges[start[link->left + 1]++] = link->right;
        edges[start[link->right + 1]++] = link->left;
    }
    network->edges_start = start;
    network->edges = edges;
    return 0;
}

int ib_network_settle(struct ib_network *network, struct fabric_draft *draft,
                      struct error_info *err)
{
    bool *shared = arena_allocate_array(network->arena, network->host_count + 1, sizeof(*shared));
    if (!shared || settle_hosts(network) < 0 || settle_switches(network) < 0 ||
        settle_adapters(network, draft, shared) < 0)
        return error_set_memory(err);
    drop_shared(network, shared);
    if (network->port_count == 0)
        return error_set(err,
                         "%s: each of the hosts' names is that of several machines; give them "
                         "names of their own",
                         network->source);
    settle_ports(network);
    settle_links(network);
    if (seat_hosts(network, err) < 0)
        return -1;
    return list_edges(network) < 0 ? error_set_memory(err) : 0;
}
