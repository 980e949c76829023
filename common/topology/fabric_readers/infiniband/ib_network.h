/* SPDX-License-Identifier: MIT */
/*
 * ib_network: an InfiniBand network as a listing gives it (switches, the adapters of hosts, the
 * links), and the way from there to a fabric. A reader adds what it meets, in any order and as
 * often as it stands there, then calls ib_network_fabric once.
 *
 * The way (each step has its file):
 *   settle  hosts and switches in natural order of their names, what stands twice once; names
 *           that several machines bear are left out
 *   tree    a leaf is a switch with hosts; upper tiers by hops from the nearest leaf. A switch has
 *           several parents in a fat tree and one in a fabric, so the switches above that share
 *           a switch below are one group: "spine-1+3" is spine-1 and 3 more. Parts of one
 *           network that meet only sideways meet in a group "…-mesh"; parts that never meet stay
 *           apart
 *   rails   where most hosts sit on several leaves: a leaf's rail is the adapter number that
 *           most of its hosts have there. Hosts that are cabled otherwise keep their leaf
 *   rates   sums of the links between groups, and links that run slower than their like
 */
#ifndef TOPOLOGY_IB_NETWORK_H
#define TOPOLOGY_IB_NETWORK_H

#include "topology/fabric_readers/fabric_draft.h"
#include "topology/fabric_readers/infiniband/ib_rate.h"

#define IB_NONE (~0u)
#define IB_MAXIMUM_LINKS 4194304u
#define IB_MAXIMUM_ADAPTERS 1048576u
#define IB_MAXIMUM_SEATS FABRIC_MAXIMUM_RAILS /* switches of one host */
#define IB_MAXIMUM_LISTED 12u                 /* warnings of one kind; the rest is counted */

struct ib_switch {
    const char *name;
    const char *id;
    unsigned line;  /* of its own section; 0: only named by others */
    unsigned hosts; /* that have an adapter here */
    unsigned level; /* 0: leaf; IB_NONE: left out */
    unsigned group;
    unsigned rail; /* a leaf's; IB_NONE: none */
};

struct ib_adapter {
    const char *label; /* "mlx5_0"; "" */
    uint64_t guid;
    unsigned host;
    unsigned number; /* for its rail; IB_NONE: its place among its host's by label, then GUID */
};

/* A port of an adapter and the switch at its other end. */
struct ib_port {
    unsigned adapter, at;
    unsigned port, rate;
};

/* Between two switches. */
struct ib_link {
    unsigned left, right;
    unsigned left_port, right_port;
    unsigned rate;
};

/* A host on a switch, with all adapters that it has there. */
struct ib_seat {
    unsigned host, at;
    unsigned ports;
    uint64_t numbers; /* bit n: its adapter n is here */
    bool placed;      /* this seat becomes the fabric's */
};

struct ib_group {
    const char *name;
    unsigned first; /* member; IB_NONE: a mesh */
    unsigned members;
    unsigned parent;
    unsigned rail;
    double uplink, downlink; /* bytes per second */
    bool unknown_uplink, unknown_downlink;
};

struct ib_network {
    const char *source;
    struct arena *arena;
    struct name_index *switch_ids, *host_names, *adapter_ids;
    struct ib_switch *switches;
    const char **hosts;
    struct ib_adapter *adapters;
    struct ib_port *ports; /* settled: by host, switch */
    struct ib_link *links; /* settled: by left, right */
    size_t switch_count, host_count, adapter_count, port_count, link_count;
    size_t switch_room, host_room, adapter_room, port_room, link_room;
    /* From settling on: */
    struct ib_seat *seats; /* by host, switch */
    size_t seat_count;
    size_t *edges_start; /* switch_count + 1 */
    unsigned *edges;     /* switches next to each, once for each link */
    struct ib_group *groups;
    size_t group_count, group_room;
};

struct ib_network *ib_network_create(const char *source, struct error_info *err);
void ib_network_free(struct ib_network *network);

/* Each is known by its id (a host by its name): a second mention finds the first. */
int ib_network_add_switch(struct ib_network *network, const char *id, const char *name,
                          unsigned *ret_switch, struct error_info *err);
int ib_network_add_adapter(struct ib_network *network, const char *id, const char *host,
                           const struct ib_adapter *adapter, unsigned *ret_adapter,
                           struct error_info *err);
int ib_network_add_port(struct ib_network *network, const struct ib_port *port,
                        struct error_info *err);
int ib_network_add_link(struct ib_network *network, const struct ib_link *link,
                        struct error_info *err);

/* The fabric of the network, with the draft's warnings and those met on the way. Once. */
struct fabric *ib_network_fabric(struct ib_network *network, struct fabric_draft *draft,
                                 struct error_info *err);

/* The steps, in this order. */
int ib_network_settle(struct ib_network *network, struct fabric_draft *draft,
                      struct error_info *err);
int ib_network_build_tree(struct ib_network *network, struct fabric_draft *draft,
                          struct error_info *err);
int ib_network_find_rails(struct ib_network *network, struct fabric_draft *draft,
                          struct error_info *err);
void ib_network_sum_rates(struct ib_network *network, struct fabric_draft *draft);

DEFINE_CLEANUP(ib_network);

#endif
