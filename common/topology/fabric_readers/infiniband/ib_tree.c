/* SPDX-License-Identifier: MIT */
/* Levels by hops from the leaves, and one group for switches that share what is below them. */
#include "topology/fabric_readers/infiniband/ib_network.h"
#include <string.h>

struct tree {
    struct ib_network *network;
    unsigned *joined;      /* union-find over switches: the members of a group */
    unsigned *first_upper; /* by a group's root: a switch above it */
    unsigned highest;
    unsigned left_out;
};

static unsigned find_root(unsigned *joined, unsigned at)
{
    for (; joined[at] != at; at = joined[at])
        joined[at] = joined[joined[at]];
    return at;
}

/* The smaller number stays the root: the first member names the group. */
static void join(unsigned *joined, unsigned left, unsigned right)
{
    unsigned a = find_root(joined, left), b = find_root(joined, right);
    joined[a < b ? b : a] = a < b ? a : b;
}

static unsigned *number_switches(struct ib_network *network, bool themselves)
{
    size_t count = network->switch_count;
    unsigned *numbers = arena_allocate_array(network->arena, count + 1, sizeof(*numbers));
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = themselves ? (unsigned)i : IB_NONE;
    return numbers;
}

/* A spine where a manager's few adapters sit is no leaf: two neighbours or more, most of those
 * with hosts, have more hosts than it, and it has more links to them than hosts. */
static bool is_upper(const struct ib_network *network, unsigned at)
{
    size_t larger = 0, others = 0;
    unsigned first = IB_NONE;
    bool several = false;
    for (size_t e = network->edges_start[at]; e < network->edges_start[at + 1]; e++) {
        const struct ib_switch *next = &network->switches[network->edges[e]];
        others += next->hosts > 0 && next->hosts <= network->switches[at].hosts;
        if (next->hosts <= network->switches[at].hosts)
            continue;
        larger++;
        several = several || (first != IB_NONE && first != network->edges[e]);
        first = network->edges[e];
    }
    return several && larger > others && larger > network->switches[at].hosts;
}

static int error_depth(const struct ib_network *network, unsigned at, struct error_info *err)
{
    return error_set(err,
                     "%s: switch %s is %u links away from the nearest host; %u tiers of "
                     "switches are possible",
                     network->source, network->switches[at].name, FABRIC_MAXIMUM_TIERS + 1,
                     FABRIC_MAXIMUM_TIERS);
}

static int set_levels(struct tree *tree, struct error_info *err)
{
    struct ib_network *network = tree->network;
    unsigned *queue = number_switches(network, false);
    size_t end = 0;
    if (!queue)
        return error_set_memory(err);
    for (unsigned i = 0; i < network->switch_count; i++) {
        if (network->switches[i].hosts == 0 || is_upper(network, i))
            continue;
        network->switches[i].level = 0;
        queue[end++] = i;
    }
    for (size_t start = 0; start < end; start++) {
        unsigned at = queue[start];
        for (size_t e = network->edges_start[at]; e < network->edges_start[at + 1]; e++) {
            struct ib_switch *next = &network->switches[network->edges[e]];
            if (next->level != IB_NONE)
                continue;
            next->level = network->switches[at].level + 1;
            tree->highest = next->level;
            if (next->level >= FABRIC_MAXIMUM_TIERS)
                return error_depth(network, network->edges[e], err);
            queue[end++] = network->edges[e];
        }
    }
    return 0;
}

/* An empty leaf looks like a core: a switch without hosts above one group only, and with
 * nothing above, joins nothing. */
static bool is_dead_end(struct tree *tree, unsigned at)
{
    const struct ib_network *network = tree->network;
    const struct ib_switch *here = &network->switches[at];
    unsigned below = IB_NONE;
    if (here->hosts > 0)
        return false;
    for (size_t e = network->edges_start[at]; e < network->edges_start[at + 1]; e++) {
        unsigned next = network->edges[e], level = network->switches[next].level;
        if (level == here->level + 1)
            return false;
        if (level + 1 != here->level)
            continue;
        unsigned root = find_root(tree->joined, next);
        if (below != IB_NONE && below != root)
            return false;
        below = root;
    }
    return true;
}

static void drop_dead_ends(struct tree *tree, unsigned level)
{
    struct ib_network *network = tree->network;
    for (unsigned i = 0; i < network->switch_count; i++) {
        if (network->switches[i].level != level || !is_dead_end(tree, i))
            continue;
        network->switches[i].level = IB_NONE;
        tree->left_out++;
    }
}

/* Joins the switches of a level that are above one and the same group. */
static void join_level(struct tree *tree, unsigned level)
{
    const struct ib_network *network = tree->network;
    for (unsigned i = 0; i < network->switch_count; i++) {
        if (network->switches[i].level != level)
            continue;
        for (size_t e = network->edges_start[i]; e < network->edges_start[i + 1]; e++) {
            unsigned next = network->edges[e];
            if (network->switches[next].level == IB_NONE ||
                network->switches[next].level + 1 != level)
                continue;
            unsigned *upper = &tree->first_upper[find_root(tree->joined, next)];
            if (*upper == IB_NONE)
                *upper = i;
            join(tree->joined, *upper, i);
        }
    }
}

static int name_group(struct ib_network *network, struct ib_group *group, struct error_info *err)
{
    const char *first = network->switches[group->first].name;
    group->name = group->members == 1
                      ? first
                      : arena_format(network->arena, "%s+%u", first, group->members - 1);
    return group->name ? 0 : error_set_memory(err);
}

/* Room for all: each switch its own group, and a mesh above each two or more. */
static int list_groups(struct tree *tree, struct error_info *err)
{
    struct ib_network *network = tree->network;
    size_t room = network->switch_count + network->switch_count / 2 + 1;
    network->groups = memory_allocate_array(room, sizeof(*network->groups));
    if (!network->groups)
        return error_set_memory(err);
    for (unsigned i = 0; i < network->switch_count; i++) {
        if (network->switches[i].level == IB_NONE)
            continue;
        unsigned root = find_root(tree->joined, i);
        if (root == i) {
            network->switches[i].group = (unsigned)network->group_count;
            network->groups[network->group_count++] =
                (struct ib_group){.first = i, .parent = IB_NONE, .rail = IB_NONE};
        }
        network->switches[i].group = network->switches[root].group;
        network->groups[network->switches[i].group].members++;
    }
    for (size_t i = 0; i < network->group_count; i++)
        if (name_group(network, &network->groups[i], err) < 0)
            return -1;
    return 0;
}

static void set_parents(struct ib_network *network)
{
    for (size_t i = 0; i < network->link_count; i++) {
        const struct ib_switch *left = &network->switches[network->links[i].left];
        const struct ib_switch *right = &network->switches[network->links[i].right];
        if (left->level == IB_NONE || right->level == IB_NONE)
            continue;
        if (left->level + 1 == right->level)
            network->groups[left->group].parent = right->group;
        if (right->level + 1 == left->level)
            network->groups[right->group].parent = left->group;
    }
}

/* Two roots or more in one connected part: a mesh above them. part: union-find over switches;
 * first: the first root group of each part, then its mesh. */
static int add_meshes(struct ib_network *network, unsigned *part, unsigned *first,
                      struct error_info *err)
{
    size_t count = network->group_count;
    for (size_t i = 0; i < network->link_count; i++)
        join(part, network->links[i].left, network->links[i].right);
    for (unsigned i = 0; i < count; i++) {
        struct ib_group *group = &network->groups[i];
        if (group->parent != IB_NONE)
            continue;
        unsigned *known = &first[find_root(part, group->first)];
        if (*known == IB_NONE) {
            *known = i;
            continue;
        }
        if (*known < count) {
            unsigned mesh = (unsigned)network->group_count++;
            network->groups[mesh] = (struct ib_group){
                .name = arena_format(network->arena, "%s-mesh", network->groups[*known].name),
                .first = IB_NONE,
                .parent = IB_NONE,
                .rail = IB_NONE,
                .unknown_downlink = true,
            };
            if (!network->groups[mesh].name)
                return error_set_memory(err);
            network->groups[*known].parent = mesh;
            *known = mesh;
        }
        group->parent = *known;
    }
    return 0;
}

int ib_network_build_tree(struct ib_network *network, struct fabric_draft *draft,
                          struct error_info *err)
{
    struct tree tree = {.network = network};
    tree.joined = number_switches(network, true);
    tree.first_upper = number_switches(network, false);
    unsigned *part = number_switches(network, true), *first = number_switches(network, false);
    if (!tree.joined || !tree.first_upper || !part || !first)
        return error_set_memory(err);
    if (set_levels(&tree, err) < 0)
        return -1;
    for (unsigned i = 0; i < network->switch_count; i++)
        tree.left_out += network->switches[i].level == IB_NONE;
    for (unsigned level = 1; level <= tree.highest; level++) {
        drop_dead_ends(&tree, level);
        join_level(&tree, level);
    }
    if (tree.left_out > 0)
        fabric_draft_warn(draft, "%s: %u switches without hosts join nothing and are left out",
                          network->source, tree.left_out);
    if (list_groups(&tree, err) < 0)
        return -1;
    set_parents(network);
    return add_meshes(network, part, first, err);
}
