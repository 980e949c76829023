/* SPDX-License-Identifier: MIT */
/* What a reader collected, checked and made a fabric. */
#include "base/yaml_fields.h"
#include "topology/fabric.h"
#include "topology/merge/remarks.h"
#include "topology/text_list.h"
#include <string.h>

#define FABRIC_ARENA_MAXIMUM_BYTES ((size_t)1 << 30)

struct builder {
    const struct fabric_input *input;
    struct fabric *fabric;
    struct arena *arena;
    struct name_index *switch_names;
    struct fabric_switch *switches; /* the same order as the input */
    unsigned *pending;              /* children that have no tier yet */
    unsigned *order;                /* children before parents */
    struct fabric_node *nodes;
    size_t node_capacity;
    bool failed; /* out of memory */
};

static const char *where_of(const struct builder *builder, size_t index)
{
    const char *where = builder->input->switches[index].where;
    return where ? where : builder->input->source;
}

static int name_switches(struct builder *builder, struct error_info *err)
{
    const struct fabric_input *input = builder->input;
    for (size_t i = 0; i < input->switch_count; i++) {
        const char *name = input->switches[i].name;
        int added = name_index_add(builder->switch_names, name, i);
        if (added < 0)
            return error_set_memory(err);
        if (added > 0)
            return error_set(err, "%s: switch %s is defined already at %s", where_of(builder, i),
                             name, where_of(builder, name_index_find(builder->switch_names, name)));
        builder->switches[i] = (struct fabric_switch){
            .name = text_list_copy(builder->arena, name, &builder->failed),
            .parent = FABRIC_NONE,
            .uplink_bytes_per_second = input->switches[i].uplink_bytes_per_second,
            .downlink_bytes_per_second = input->switches[i].downlink_bytes_per_second,
        };
    }
    return 0;
}

static int adopt_child(struct builder *builder, size_t parent, const char *name,
                       struct error_info *err)
{
    size_t child = name_index_find(builder->switch_names, name);
    const char *parent_name = builder->switches[parent].name;
    if (child == NAME_INDEX_NONE)
        return error_set(err, "%s: switch %s names %s, which is not defined",
                         where_of(builder, parent), parent_name, name);
    if (builder->switches[child].parent != FABRIC_NONE) {
        size_t other = builder->switches[child].parent;
        return error_set(err, "%s: switch %s is below %s already (%s); a tree gives it one parent",
                         where_of(builder, parent), name, builder->switches[other].name,
                         where_of(builder, other));
    }
    builder->switches[child].parent = (unsigned)parent;
    builder->pending[parent]++;
    return 0;
}

static int link_switches(struct builder *builder, struct error_info *err)
{
    for (size_t i = 0; i < builder->input->switch_count; i++) {
        const struct node_list *children = builder->input->switches[i].children;
        for (size_t c = 0; children && c < node_list_count(children); c++)
            if (adopt_child(builder, i, node_list_name(children, c), err) < 0)
                return -1;
    }
    return 0;
}

static int named_tier(const struct builder *builder, size_t index, unsigned *ret_tier,
                      struct error_info *err)
{
    const struct fabric_input *input = builder->input;
    const char *name = input->switches[index].tier_name;
    for (unsigned tier = 0; tier < input->tier_name_count; tier++) {
        if (strcmp(input->tier_names[tier], name) != 0)
            continue;
        *ret_tier = tier;
        return 0;
    }
    const char *nearest = name_nearest(name, input->tier_names, input->tier_name_count);
    return error_set(err, "%s: switch %s: no tier is called %s%s%s", where_of(builder, index),
                     input->switches[index].name, name, nearest ? "; did you mean " : "",
                     nearest ? nearest : "");
}

/* builder->switches[index].tier is one above the highest child by now. */
static int settle_tier(struct builder *builder, size_t index, struct error_info *err)
{
    struct fabric_switch *here = &builder->switches[index];
    if (builder->input->switches[index].tier_name) {
        unsigned tier = 0;
        if (named_tier(builder, index, &tier, err) < 0)
            return -1;
        if (tier < here->tier)
            return error_set(err, "%s: switch %s is in tier %s, not above all of its children",
                             where_of(builder, index), here->name,
                             builder->input->tier_names[tier]);
        here->tier = tier;
    }
    if (here->tier >= FABRIC_MAXIMUM_TIERS)
        return error_set(err, "%s: switch %s is in tier %u; %u tiers are possible",
                         where_of(builder, index), here->name, here->tier + 1,
                         FABRIC_MAXIMUM_TIERS);
    if (here->tier >= builder->fabric->tier_count)
        builder->fabric->tier_count = here->tier + 1;
    return 0;
}

static int error_cycle(const struct builder *builder, struct error_info *err)
{
    size_t at = 0;
    while (builder->pending[at] == 0) /* what still waits is in the circle: one parent each */
        at++;
    return error_set(err, "%s: switch %s is below itself", where_of(builder, at),
                     builder->switches[at].name);
}

static int derive_tiers(struct builder *builder, struct error_info *err)
{
    size_t count = builder->input->switch_count, ready = 0;
    builder->fabric->tier_count = builder->input->tier_name_count;
    for (size_t i = 0; i < count; i++)
        if (builder->pending[i] == 0)
            builder->order[ready++] = (unsigned)i;
    for (size_t done = 0; done < ready; done++) {
        unsigned at = builder->order[done];
        if (settle_tier(builder, at, err) < 0)
            return -1;
        unsigned parent = builder->switches[at].parent;
        if (parent == FABRIC_NONE)
            continue;
        if (builder->switches[parent].tier <= builder->switches[at].tier)
            builder->switches[parent].tier = builder->switches[at].tier + 1;
        if (--builder->pending[parent] == 0)
            builder->order[ready++] = parent;
    }
    return ready < count ? error_cycle(builder, err) : 0;
}

static int name_tiers(struct builder *builder, struct error_info *err)
{
    static const char *const usual[] = {"leaf", "spine", "core"};
    const struct fabric_input *input = builder->input;
    struct fabric *fabric = builder->fabric;
    const char **names = arena_allocate_array(builder->arena, fabric->tier_count, sizeof(*names));
    if (!names)
        return error_set_memory(err);
    for (unsigned tier = 0; tier < fabric->tier_count; tier++) {
        if (tier < input->tier_name_count)
            names[tier] = arena_copy_text(builder->arena, input->tier_names[tier]);
        else if (tier < COUNT_OF(usual))
            names[tier] = usual[tier];
        else
            names[tier] = arena_format(builder->arena, "tier%u", tier + 1);
        if (!names[tier])
            return error_set_memory(err);
    }
    fabric->tier_names = names;
    return 0;
}

static bool is_above(const struct builder *builder, unsigned upper, unsigned lower)
{
    while (lower != FABRIC_NONE && lower != upper)
        lower = builder->switches[lower].parent;
    return lower == upper;
}

/* The number of a node that is known already, or of a new one in no leaf. */
static int intern_node(struct builder *builder, const char *name, unsigned *ret_node,
                       struct error_info *err)
{
    struct fabric *fabric = builder->fabric;
    int added = name_index_add(fabric->node_names, name, fabric->node_count);
    if (added < 0)
        return error_set_memory(err);
    if (added > 0) {
        *ret_node = (unsigned)name_index_find(fabric->node_names, name);
        return 0;
    }
    *ret_node = (unsigned)fabric->node_count;
    builder->nodes[fabric->node_count++] = (struct fabric_node){
        .name = text_list_copy(builder->arena, name, &builder->failed),
        .leaf = FABRIC_NONE,
        .nvlink_block = FABRIC_NONE,
    };
    return 0;
}

static int error_two_leaves(const struct builder *builder, unsigned first, size_t second,
                            const char *node, struct error_info *err)
{
    if (first == second)
        return error_set(err, "%s: node %s stands twice in switch %s", where_of(builder, second),
                         node, builder->switches[second].name);
    return error_set(err, "%s: node %s is in switch %s, and at %s already in %s",
                     where_of(builder, second), node, builder->switches[second].name,
                     where_of(builder, first), builder->switches[first].name);
}

static int place_on_rail(struct builder *builder, size_t index, struct fabric_node *node,
                         struct error_info *err)
{
    unsigned *leaves = (unsigned *)node->rail_leaves; /* ours until the fabric is done */
    if (!leaves) {
        if (node->leaf != FABRIC_NONE)
            return error_two_leaves(builder, node->leaf, index, node->name, err);
        size_t rails = builder->fabric->rail_count;
        leaves = arena_allocate_array(builder->arena, rails, sizeof(*leaves));
        if (!leaves)
            return error_set_memory(err);
        memset(leaves, 0xff, rails * sizeof(*leaves)); /* FABRIC_NONE */
        node->rail_leaves = leaves;
    }
    unsigned rail = builder->input->switches[index].rail;
    if (leaves[rail] != FABRIC_NONE)
        return error_two_leaves(builder, leaves[rail], index, node->name, err);
    leaves[rail] = (unsigned)index;
    for (unsigned i = builder->fabric->rail_count; i-- > 0;)
        if (leaves[i] != FABRIC_NONE)
            node->leaf = leaves[i];
    return 0;
}

static bool is_listed_below(const struct builder *builder, unsigned index,
                            const struct fabric_node *node)
{
    if (node->leaf != FABRIC_NONE && node->leaf != index && is_above(builder, index, node->leaf))
        return true;
    for (unsigned i = 0; node->rail_leaves && i < builder->fabric->rail_count; i++)
        if (node->rail_leaves[i] != FABRIC_NONE && node->rail_leaves[i] != index &&
            is_above(builder, index, node->rail_leaves[i]))
            return true;
    return false;
}

static int place_node(struct builder *builder, unsigned index, const char *name,
                      struct error_info *err)
{
    unsigned number = 0;
    if (intern_node(builder, name, &number, err) < 0)
        return -1;
    struct fabric_node *node = &builder->nodes[number];
    if (is_listed_below(builder, index, node))
        return 0;
    if (builder->input->switches[index].has_rail)
        return place_on_rail(builder, index, node, err);
    if (node->leaf != FABRIC_NONE)
        return error_two_leaves(builder, node->leaf, index, name, err);
    node->leaf = index;
    return 0;
}

static int place_nodes(struct builder *builder, struct error_info *err)
{
    for (size_t i = 0; i < builder->input->switch_count; i++) {
        unsigned index = builder->order[i];
        const struct node_list *nodes = builder->input->switches[index].nodes;
        for (size_t n = 0; nodes && n < node_list_count(nodes); n++)
            if (place_node(builder, index, node_list_name(nodes, n), err) < 0)
                return -1;
    }
    return 0;
}

static int place_domain(struct builder *builder, unsigned domain, struct fabric_domain *ret,
                        struct error_info *err)
{
    const struct fabric_domain_input *input = &builder->input->nvlink_domains[domain];
    *ret = (struct fabric_domain){
        .candidate = input->candidate,
        .name = text_list_copy(builder->arena, input->name, &builder->failed),
        .id = text_list_copy(builder->arena, input->id, &builder->failed),
        .node_count = node_list_count(input->nodes),
    };
    for (size_t n = 0; n < node_list_count(input->nodes); n++) {
        unsigned number = 0;
        if (intern_node(builder, node_list_name(input->nodes, n), &number, err) < 0)
            return -1;
        struct fabric_node *node = &builder->nodes[number];
        if (node->nvlink_block != FABRIC_NONE)
            return error_set(err, "%s: node %s is in an NVLink domain already (%s)", input->where,
                             node->name, builder->input->nvlink_domains[node->nvlink_block].where);
        node->nvlink_block = domain;
    }
    return 0;
}

static int place_domains(struct builder *builder, struct error_info *err)
{
    size_t count = builder->input->nvlink_domain_count;
    struct fabric_domain *domains = arena_allocate_array(builder->arena, count, sizeof(*domains));
    if (!domains)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        if (place_domain(builder, (unsigned)i, &domains[i], err) < 0)
            return -1;
    builder->fabric->domains = domains;
    builder->fabric->domain_count = count;
    return 0;
}

static int place_others(struct builder *builder, struct error_info *err)
{
    const struct node_list *nodes = builder->input->other_nodes;
    unsigned number = 0;
    for (size_t n = 0; nodes && n < node_list_count(nodes); n++)
        if (intern_node(builder, node_list_name(nodes, n), &number, err) < 0)
            return -1;
    return 0;
}

static int count_rails(struct builder *builder, struct error_info *err)
{
    for (size_t i = 0; i < builder->input->switch_count; i++) {
        const struct fabric_switch_input *input = &builder->input->switches[i];
        if (!input->has_rail)
            continue;
        if (input->rail >= FABRIC_MAXIMUM_RAILS)
            return error_set(err, "%s: switch %s is on rail %u; rails are 0 to %u",
                             where_of(builder, i), input->name, input->rail,
                             FABRIC_MAXIMUM_RAILS - 1);
        if (input->rail >= builder->fabric->rail_count)
            builder->fabric->rail_count = input->rail + 1;
    }
    return 0;
}

static int collect_warnings(struct builder *builder, struct error_info *err)
{
    struct fabric *fabric = builder->fabric;
    const struct fabric_input *input = builder->input;
    if (!REMARKS_KEPT)
        return 0;
    const char **warnings =
        arena_allocate_array(builder->arena, FABRIC_MAXIMUM_WARNINGS, sizeof(*warnings));
    if (!warnings)
        return error_set_memory(err);
    for (size_t i = 0; i < input->warning_count && i < FABRIC_MAXIMUM_WARNINGS; i++)
        warnings[fabric->warning_count++] =
            text_list_copy(builder->arena, input->warnings[i], &builder->failed);
    for (size_t i = 0; i < input->switch_count; i++) {
        const struct fabric_switch_input *given = &input->switches[i];
        if (given->nodes || given->children || fabric->warning_count == FABRIC_MAXIMUM_WARNINGS)
            continue;
        const char *text =
            arena_format(builder->arena, "%s: switch %s has neither nodes nor switches",
                         where_of(builder, i), given->name);
        if (!text)
            return error_set_memory(err);
        warnings[fabric->warning_count++] = text;
    }
    fabric->warnings = warnings;
    return 0;
}

/* Names as often as they are listed: an upper bound of the nodes. */
static size_t count_listed(const struct fabric_input *input)
{
    size_t count = 0;
    for (size_t i = 0; i < input->switch_count; i++)
        if (input->switches[i].nodes)
            count += node_list_count(input->switches[i].nodes);
    for (size_t i = 0; i < input->nvlink_domain_count; i++)
        count += node_list_count(input->nvlink_domains[i].nodes);
    return count + (input->other_nodes ? node_list_count(input->other_nodes) : 0);
}

static int check_sizes(const struct builder *builder, struct error_info *err)
{
    const struct fabric_input *input = builder->input;
    if (input->switch_count > FABRIC_MAXIMUM_SWITCHES)
        return error_set(err, "%s: %zu switches are more than the %u that are possible",
                         input->source, input->switch_count, FABRIC_MAXIMUM_SWITCHES);
    if (input->tier_name_count > FABRIC_MAXIMUM_TIERS)
        return error_set(err, "%s: %u tiers are more than the %u that are possible", input->source,
                         input->tier_name_count, FABRIC_MAXIMUM_TIERS);
    if (builder->node_capacity > (size_t)FABRIC_MAXIMUM_NODES * FABRIC_MAXIMUM_TIERS)
        return error_set(err, "%s: %zu node names are more than can be read", input->source,
                         builder->node_capacity);
    return 0;
}

static int allocate(struct builder *builder, struct error_info *err)
{
    const struct fabric_input *input = builder->input;
    struct arena *arena = builder->arena;
    builder->node_capacity = count_listed(input);
    if (check_sizes(builder, err) < 0)
        return -1;
    builder->switches =
        arena_allocate_array(arena, input->switch_count, sizeof(*builder->switches));
    builder->pending = arena_allocate_array(arena, input->switch_count, sizeof(unsigned));
    builder->order = arena_allocate_array(arena, input->switch_count, sizeof(unsigned));
    builder->nodes = arena_allocate_array(arena, builder->node_capacity, sizeof(*builder->nodes));
    builder->fabric->node_names = name_index_create();
    if (!builder->switches || !builder->pending || !builder->order || !builder->nodes ||
        !builder->fabric->node_names)
        return error_set_memory(err);
    builder->fabric->source = text_list_copy(arena, input->source, &builder->failed);
    return 0;
}

static int build(struct builder *builder, struct error_info *err)
{
    if (allocate(builder, err) < 0 || name_switches(builder, err) < 0 ||
        count_rails(builder, err) < 0 || link_switches(builder, err) < 0 ||
        derive_tiers(builder, err) < 0 || name_tiers(builder, err) < 0 ||
        place_nodes(builder, err) < 0 || place_domains(builder, err) < 0 ||
        place_others(builder, err) < 0 || collect_warnings(builder, err) < 0)
        return -1;
    struct fabric *fabric = builder->fabric;
    fabric->switches = builder->switches;
    fabric->switch_count = builder->input->switch_count;
    fabric->nodes = builder->nodes;
    return builder->failed ? error_set_memory(err) : 0;
}

struct fabric *fabric_build(const struct fabric_input *input, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(FABRIC_ARENA_MAXIMUM_BYTES);
    struct fabric *memory = arena ? arena_allocate(arena, sizeof(*memory)) : NULL;
    if (!memory)
        return error_null(error_set_memory(err));
    memory->arena = move_pointer(arena);
    CLEANUP(fabric) struct fabric *fabric = memory;
    CLEANUP(name_index) struct name_index *switch_names = name_index_create();
    if (!switch_names)
        return error_null(error_set_memory(err));
    struct builder builder = {
        .input = input,
        .fabric = fabric,
        .arena = fabric->arena,
        .switch_names = switch_names,
    };
    if (build(&builder, err) < 0)
        return NULL;
    return move_pointer(fabric);
}
