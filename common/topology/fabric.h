/* SPDX-License-Identifier: MIT */
/*
 * fabric: how nodes are connected, as a tree of switches with any number of tiers.
 * Tier 0 is the nearest (leaf). Immutable; everything belongs to its arena.
 *
 * Distance between nodes is a tier number: FABRIC_SAME_NODE, 0 when they share a tier-0
 * switch, … tier_count - 1 under a common root, and tier_count ("unknown") when no common
 * switch is known.
 */
#ifndef TOPOLOGY_FABRIC_H
#define TOPOLOGY_FABRIC_H

#include "base/arena.h"
#include "base/error.h"
#include "base/name_index.h"
#include "base/node_list.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FABRIC_MAXIMUM_TIERS 8u
#define FABRIC_MAXIMUM_SWITCHES 65536u
#define FABRIC_MAXIMUM_NODES 1048576u
#define FABRIC_MAXIMUM_RAILS 64u
#define FABRIC_MAXIMUM_WARNINGS 64u
#define FABRIC_TEXT_MAXIMUM_BYTES ((size_t)64 << 20)
#define FABRIC_NONE (~0u)

struct fabric_switch {
    const char *name;
    unsigned tier;
    unsigned parent;                  /* switch index, or FABRIC_NONE for a root */
    double uplink_bytes_per_second;   /* to the parent, all links; 0: unknown */
    double downlink_bytes_per_second; /* to nodes and children, all links; 0: unknown. Over the
                                       * uplink it is the oversubscription */
};

/* Nodes that share one NVLink domain, as far as their kind has one that leaves the node. */
struct fabric_domain {
    bool candidate;   /* a block of Slurm's: an NVLink domain only where the nodes' NVLink
                       * leaves them (node_topology) */
    const char *name; /* "block1", or NULL */
    const char *id;   /* "<ClusterUUID>.<CliqueID>", an accelerator label; or NULL */
    size_t node_count;
};

struct fabric_node {
    const char *name;
    unsigned leaf;         /* switch index of the nearest switch, or FABRIC_NONE: unknown */
    unsigned nvlink_block; /* nodes with the same number share an NVLink domain; or FABRIC_NONE */
    const unsigned *rail_leaves; /* rail_count entries, or NULL: not known per rail */
};

struct fabric {
    const char *source; /* "cluster.yaml", "slurmctld" */
    const char *const *tier_names;
    unsigned tier_count;
    unsigned rail_count;
    const struct fabric_switch *switches;
    size_t switch_count;
    const struct fabric_node *nodes;
    size_t node_count;
    const struct fabric_domain *domains; /* by fabric_node's nvlink_block */
    size_t domain_count;
    const char *const *warnings;
    size_t warning_count;
    struct name_index *node_names;
    struct arena *arena;
};

/* What a reader collects; fabric_create checks it: unknown or cyclic parents, a child with
 * two parents, a node in two leaves, duplicate names, too many tiers. */
struct fabric_switch_input {
    const char *name;
    const struct node_list *nodes;    /* or NULL */
    const struct node_list *children; /* switch names, or NULL */
    double uplink_bytes_per_second;   /* 0: unknown */
    double downlink_bytes_per_second; /* 0: unknown */
    const char *where;                /* "topology.conf:3", for messages */
    const char *tier_name;            /* one of tier_names; NULL: derived from the tree */
    bool has_rail;                    /* its nodes are joined by this rail only */
    unsigned rail;
};

/* Nodes that share one NVLink domain. They need not be in any switch. */
struct fabric_domain_input {
    bool candidate; /* fabric_domain */
    const struct node_list *nodes;
    const char *where;
    const char *name; /* or NULL */
    const char *id;   /* or NULL */
};

struct fabric_input {
    const char *source;
    const struct fabric_switch_input *switches;
    size_t switch_count;
    const char *const *tier_names; /* near to far; NULL: "leaf", "spine", "core", "tier4"… */
    unsigned tier_name_count;
    const struct fabric_domain_input *nvlink_domains;
    size_t nvlink_domain_count;
    const struct node_list *other_nodes; /* perhaps joined by nothing that is known; or NULL */
    const char *const *warnings;         /* of the reader; copied */
    size_t warning_count;
};

/* A switch of switches is one tier above its highest child, or at its tier_name, which must
 * be above all children. A switch may also list the nodes below its children, as
 * `scontrol show topology` does. A node is in one leaf, or in one leaf of each rail. */
struct fabric *fabric_build(const struct fabric_input *input, struct error_info *err);

/* fabric_build with switches only. tier_names may be NULL ("leaf", "spine", "core", "tier4"…).
 * nodes that no switch names are not part of the fabric. */
struct fabric *fabric_create(const char *source, const struct fabric_switch_input *switches,
                             size_t switch_count, const char *const *tier_names,
                             unsigned tier_name_count, struct error_info *err);
void fabric_free(struct fabric *fabric);

/* Index of a node, or FABRIC_NONE. */
unsigned fabric_find_node(const struct fabric *fabric, const char *name);
/* The switch of the node's path at that tier, or FABRIC_NONE. O(tiers). */
unsigned fabric_switch_at(const struct fabric *fabric, unsigned node, unsigned tier);
/* Tier of the nearest switch above both, on the rail where they are nearest; tier_count:
 * unknown. 0 also for a node and itself. O(tiers), with rails O(rails * tiers). */
unsigned fabric_distance(const struct fabric *fabric, unsigned left, unsigned right);
/* The same fabric cut down to the named nodes that it has, in their order, and the switches
 * above them. Tiers, rails and numbers of NVLink domains stay. */
struct fabric *fabric_select(const struct fabric *fabric, const struct node_list *names,
                             struct error_info *err);

/* Slurm's topology.conf and the text of `scontrol show topology`, which uses the same words:
 * one grammar. Other formats: fabric_readers/fabric_readers.h.
 *     SwitchName=leaf1 Nodes=n[1-8]            a tree; Level= and LinkSpeed= say nothing to us
 *     SwitchName=spine Switches=leaf[1-2]
 *     # ClusterUUID and CliqueID: <uuid> <clique>     or "# rack1=<id>": the id of the next block
 *     BlockName=rack1 Nodes=n[1-18]            scontrol: BlockIndex= BlockSize= too
 *     BlockSizes=18,36                         scontrol: AggregatedBlock= … BlockSize=36
 * A block is a domain with name and id: a candidate for an NVLink domain. Whether it is one
 * is for the kind of its nodes to say. Where no SwitchName= stands, it is a switch of tier
 * "block" too, and sizes above the first give tiers of aggregates (slurm_blocks.h).
 * Refused with the line: unknown keys, RingName=, blocks that are all commented out, Slurm's
 * functions in host lists (block{b1}). */
struct fabric *fabric_parse_slurm(const char *text, size_t bytes, const char *source,
                                  struct error_info *err);

DEFINE_CLEANUP(fabric);

#endif
