/* SPDX-License-Identifier: MIT */
#include "report/pictures/map/map_units.h"
#include <stdlib.h>

/* What nodes are sorted by; path: switches from the farthest tier to the nearest. */
struct node_key {
    unsigned path[FABRIC_MAXIMUM_TIERS];
    unsigned domain; /* of several nodes, else FABRIC_NONE */
    unsigned dp, pp;
    size_t block;
    unsigned node;
};

unsigned map_switch_above(const struct cluster_topology *cluster, unsigned node, unsigned tier)
{
    const struct fabric *fabric = cluster->fabric;
    unsigned place = cluster->nodes[node].fabric_node;
    if (!fabric || place == FABRIC_NONE)
        return FABRIC_NONE;
    unsigned at = fabric->nodes[place].leaf;
    while (at != FABRIC_NONE && fabric->switches[at].tier < tier)
        at = fabric->switches[at].parent;
    return at;
}

unsigned map_units_domain(const struct map_units *units, unsigned unit)
{
    const struct map_unit *at = &units->units[unit];
    if (at->kind != UNIT_NODE && (at->kind != UNIT_SPARE || at->count != 1))
        return FABRIC_NONE;
    unsigned domain = units->map->cluster->nodes[units->order[at->first]].nvlink_block;
    return units->domain_nodes[domain] > 1 ? domain : FABRIC_NONE;
}

static bool is_used(const struct map_units *units, size_t position)
{
    return units->block_of[units->order[position]] < units->map->block_count;
}

static struct node_key key_of(const struct map_units *units, unsigned node)
{
    const struct rank_map *map = units->map;
    const struct cluster_topology *cluster = map->cluster;
    struct node_key key = {.block = units->block_of[node], .node = node, .dp = ~0u, .pp = ~0u};
    unsigned tiers = cluster_tier_count(cluster), domain = cluster->nodes[node].nvlink_block;
    for (unsigned tier = 0; tier < tiers; tier++)
        key.path[tiers - 1 - tier] = map_switch_above(cluster, node, tier);
    key.domain = units->domain_nodes[domain] > 1 ? domain : FABRIC_NONE;
    if (key.block == map->block_count || map->locality_only)
        return key;
    struct rank_place place;
    rank_map_place(map, (uint64_t)key.block * map->gpus_per_node, &place);
    key.dp = place.coordinates.dp;
    key.pp = place.coordinates.pp;
    return key;
}

static int compare_numbers(size_t left, size_t right) { return left < right ? -1 : left > right; }

static int compare_keys(const void *left, const void *right)
{
    const struct node_key *a = left, *b = right;
    for (unsigned i = 0; i < FABRIC_MAXIMUM_TIERS; i++)
        if (a->path[i] != b->path[i])
            return compare_numbers(a->path[i], b->path[i]);
    const size_t pairs[][2] = {{a->domain, b->domain},
                               {a->dp, b->dp},
                               {a->pp, b->pp},
                               {a->block, b->block},
                               {a->node, b->node}};
    int order = 0;
    for (size_t i = 0; order == 0 && i < COUNT_OF(pairs); i++)
        order = compare_numbers(pairs[i][0], pairs[i][1]);
    return order;
}

static int sort_nodes(struct map_units *units, struct error_info *err)
{
    size_t count = units->map->cluster->node_count;
    CLEANUP_MEMORY struct node_key *keys = memory_allocate_array(count + 1, sizeof(*keys));
    if (!keys)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(units, (unsigned)i);
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count; i++)
        units->order[i] = keys[i].node;
    return 0;
}

/* Nodes from first on below one switch of that tier. */
static size_t stretch_end(const struct map_units *units, size_t first, unsigned tier,
                          size_t *ret_used)
{
    const struct cluster_topology *cluster = units->map->cluster;
    unsigned above = map_switch_above(cluster, units->order[first], tier);
    size_t end = first;
    *ret_used = 0;
    for (; end < cluster->node_count; end++) {
        if (map_switch_above(cluster, units->order[end], tier) != above)
            break;
        *ret_used += is_used(units, end);
    }
    return end;
}

static size_t count_groups(const struct map_units *units, unsigned tier)
{
    size_t groups = 0, used;
    for (size_t at = 0; at < units->map->cluster->node_count;) {
        at = stretch_end(units, at, tier, &used);
        groups += used > 0;
    }
    return groups;
}

static struct map_unit *add_unit(struct map_units *units, const struct map_unit *unit)
{
    struct map_unit *added = &units->units[units->count];
    *added = *unit;
    if (units->count < UNITS_MAXIMUM) /* more cannot be */
        units->count++;
    added->frame = units->frame_count - 1;
    units->frames[added->frame].count++;
    for (size_t i = 0; i < unit->count; i++)
        units->unit_of[units->order[unit->first + i]] = (unsigned)(added - units->units);
    return added;
}

static void begin_frame(struct map_units *units, unsigned switch_index)
{
    units->frames[units->frame_count++] =
        (struct map_frame){.switch_index = switch_index, .first = units->count};
}

/* Nodes one by one; those without a rank too where there are few, else the last ones as one
 * unit. */
static void add_nodes(struct map_units *units, size_t first, size_t end, bool each)
{
    size_t spare = end;
    for (size_t at = first; at < end; at++) {
        bool used = is_used(units, at);
        const struct map_unit unit = {
            .kind = used ? UNIT_NODE : UNIT_SPARE,
            .switch_index = map_switch_above(units->map->cluster, units->order[at], 0),
            .first = at,
            .count = 1,
            .used = used,
        };
        if (used || each)
            add_unit(units, &unit);
        else
            spare = at < spare ? at : spare;
    }
    size_t count = 0;
    for (size_t at = spare; at < end; at++)
        count += !is_used(units, at);
    if (count == 0)
        return;
    const struct map_unit rest = {.kind = UNIT_SPARE, .switch_index = FABRIC_NONE, .first = spare};
    add_unit(units, &rest)->count = count;
}

static void add_frames_of_nodes(struct map_units *units)
{
    const struct cluster_topology *cluster = units->map->cluster;
    bool each = cluster->node_count <= UNITS_IN_WORDS;
    for (size_t at = 0; at < cluster->node_count;) {
        size_t used, end = stretch_end(units, at, 0, &used);
        if (used == 0 && !each) {
            units->left_out_nodes += end - at;
        } else {
            begin_frame(units, map_switch_above(cluster, units->order[at], 0));
            add_nodes(units, at, end, each);
        }
        at = end;
    }
}

/* The lowest tier with few enough switches; a tier of one says nothing. */
static unsigned group_tier(const struct map_units *units)
{
    unsigned tiers = cluster_tier_count(units->map->cluster);
    for (unsigned tier = 0; tier < tiers; tier++) {
        size_t groups = count_groups(units, tier);
        if (groups <= UNITS_OF_GROUPS)
            return groups < 2 && tier > 0 ? tier - 1 : tier;
    }
    return tiers > 0 ? tiers - 1 : 0;
}

static void add_group(struct map_units *units, const struct map_unit *group)
{
    unsigned above =
        map_switch_above(units->map->cluster, units->order[group->first], units->frame_tier);
    if (units->frame_count == 0 || units->frames[units->frame_count - 1].switch_index != above)
        begin_frame(units, above);
    add_unit(units, group);
}

/* All that follow are in the bundle: in this frame where the last of them is too. */
static void begin_bundle(struct map_units *units, const struct map_unit *bundle)
{
    const struct cluster_topology *cluster = units->map->cluster;
    unsigned end = units->order[cluster->node_count - 1], first = units->order[bundle->first];
    unsigned above = map_switch_above(cluster, first, units->frame_tier);
    bool whole = above == map_switch_above(cluster, end, units->frame_tier);
    if (!whole || units->frames[units->frame_count - 1].switch_index != above)
        begin_frame(units, whole ? above : FABRIC_NONE);
}

/* The bundle's nodes need not lie side by side with the switches shown, but they are all that
 * follow. */
static void add_to_bundle(struct map_units *units, const struct map_unit *group)
{
    struct map_unit *last = &units->units[units->count - 1];
    if (last->kind != UNIT_BUNDLE) {
        struct map_unit bundle = *group;
        bundle.kind = UNIT_BUNDLE;
        bundle.switch_index = FABRIC_NONE;
        begin_bundle(units, &bundle);
        last = add_unit(units, &bundle);
        last->switches = 1;
        return;
    }
    last->switches++;
    last->count += group->count;
    last->used += group->used;
    for (size_t i = 0; i < group->count; i++)
        units->unit_of[units->order[group->first + i]] = units->count - 1;
}

static void add_groups(struct map_units *units)
{
    const struct cluster_topology *cluster = units->map->cluster;
    unsigned tier = group_tier(units);
    size_t groups = count_groups(units, tier);
    units->grouped = true;
    units->frame_tier = tier + 1;
    for (size_t at = 0; at < cluster->node_count;) {
        struct map_unit group = {.kind = UNIT_GROUP, .first = at};
        size_t end = stretch_end(units, at, tier, &group.used);
        group.count = end - at;
        group.switch_index = map_switch_above(cluster, units->order[at], tier);
        at = end;
        if (group.used == 0)
            units->left_out_nodes += group.count;
        else if (groups > UNITS_OF_GROUPS && units->count >= UNITS_OF_GROUPS - 1)
            add_to_bundle(units, &group);
        else
            add_group(units, &group);
    }
}

static int count_domains(struct map_units *units, struct error_info *err)
{
    const struct cluster_topology *cluster = units->map->cluster;
    size_t count = 0;
    for (size_t i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].nvlink_block >= count)
            count = (size_t)cluster->nodes[i].nvlink_block + 1;
    units->domain_nodes = memory_allocate_array(count + 1, sizeof(*units->domain_nodes));
    if (!units->domain_nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++)
        units->domain_nodes[cluster->nodes[i].nvlink_block]++;
    return 0;
}

static int allocate(struct map_units *units, struct error_info *err)
{
    size_t count = units->map->cluster->node_count + 1;
    units->order = memory_allocate_array(count, sizeof(*units->order));
    units->unit_of = memory_allocate_array(count, sizeof(*units->unit_of));
    units->block_of = memory_allocate_array(count, sizeof(*units->block_of));
    if (!units->order || !units->unit_of || !units->block_of)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        units->unit_of[i] = UNIT_NONE;
        units->block_of[i] = units->map->block_count;
    }
    for (size_t block = 0; block < units->map->block_count; block++)
        units->block_of[units->map->block_nodes[block]] = block;
    return 0;
}

int map_units_init(struct map_units *units, const struct rank_map *map, struct error_info *err)
{
    *units = (struct map_units){.map = map};
    if (allocate(units, err) < 0 || count_domains(units, err) < 0 || sort_nodes(units, err) < 0)
        return -1;
    if (map->block_count <= UNITS_OF_NODES)
        add_frames_of_nodes(units);
    else
        add_groups(units);
    return 0;
}

void map_units_done(struct map_units *units)
{
    memory_free(units->order);
    memory_free(units->unit_of);
    memory_free(units->block_of);
    memory_free(units->domain_nodes);
}
