/* SPDX-License-Identifier: MIT */
#include "topology/fabric.h"
#include "topology/text_list.h"
#include <string.h>

#define SELECT_ARENA_MAXIMUM_BYTES ((size_t)1 << 30)

struct selection {
    const struct fabric *from;
    struct fabric *to;
    unsigned *new_switch; /* old switch -> new switch, or FABRIC_NONE */
    struct fabric_node *nodes;
    bool failed; /* out of memory */
};

static void use_path(struct selection *selection, unsigned at)
{
    while (at != FABRIC_NONE && selection->new_switch[at] == FABRIC_NONE) {
        selection->new_switch[at] = 0; /* numbered later, in the old order */
        at = selection->from->switches[at].parent;
    }
}

static int add_node(struct selection *selection, const char *name, struct error_info *err)
{
    const struct fabric *from = selection->from;
    struct fabric *to = selection->to;
    unsigned old = fabric_find_node(from, name);
    if (old == FABRIC_NONE)
        return 0;
    int added = name_index_add(to->node_names, name, to->node_count);
    if (added < 0)
        return error_set_memory(err);
    if (added > 0)
        return 0;
    struct fabric_node *node = &selection->nodes[to->node_count++];
    *node = from->nodes[old];
    node->name = text_list_copy(to->arena, name, &selection->failed);
    use_path(selection, node->leaf);
    for (unsigned i = 0; node->rail_leaves && i < from->rail_count; i++)
        use_path(selection, node->rail_leaves[i]);
    return 0;
}

static int copy_switches(struct selection *selection, struct error_info *err)
{
    const struct fabric *from = selection->from;
    struct fabric *to = selection->to;
    for (size_t i = 0; i < from->switch_count; i++)
        if (selection->new_switch[i] != FABRIC_NONE)
            selection->new_switch[i] = (unsigned)to->switch_count++;
    struct fabric_switch *switches =
        arena_allocate_array(to->arena, to->switch_count, sizeof(*switches));
    if (!switches)
        return error_set_memory(err);
    for (size_t i = 0; i < from->switch_count; i++) {
        if (selection->new_switch[i] == FABRIC_NONE)
            continue;
        struct fabric_switch *copy = &switches[selection->new_switch[i]];
        *copy = from->switches[i];
        copy->name = text_list_copy(to->arena, copy->name, &selection->failed);
        if (copy->parent != FABRIC_NONE)
            copy->parent = selection->new_switch[copy->parent];
    }
    to->switches = switches;
    return 0;
}

/* From old switch numbers to new ones. */
static int renumber_node(struct selection *selection, struct fabric_node *node,
                         struct error_info *err)
{
    if (node->leaf != FABRIC_NONE)
        node->leaf = selection->new_switch[node->leaf];
    if (!node->rail_leaves)
        return 0;
    unsigned rails = selection->from->rail_count;
    unsigned *leaves = arena_allocate_array(selection->to->arena, rails, sizeof(*leaves));
    if (!leaves)
        return error_set_memory(err);
    for (unsigned i = 0; i < rails; i++)
        leaves[i] = node->rail_leaves[i] == FABRIC_NONE
                        ? FABRIC_NONE
                        : selection->new_switch[node->rail_leaves[i]];
    node->rail_leaves = leaves;
    return 0;
}

static int copy_texts(struct selection *selection, struct error_info *err)
{
    const struct fabric *from = selection->from;
    struct fabric *to = selection->to;
    const char **tiers = arena_allocate_array(to->arena, from->tier_count, sizeof(*tiers));
    const char **warnings = arena_allocate_array(to->arena, from->warning_count, sizeof(*warnings));
    if (!tiers || !warnings)
        return error_set_memory(err);
    for (unsigned i = 0; i < from->tier_count; i++)
        tiers[i] = text_list_copy(to->arena, from->tier_names[i], &selection->failed);
    for (size_t i = 0; i < from->warning_count; i++)
        warnings[i] = text_list_copy(to->arena, from->warnings[i], &selection->failed);
    to->source = text_list_copy(to->arena, from->source, &selection->failed);
    to->tier_names = tiers;
    to->tier_count = from->tier_count;
    to->rail_count = from->rail_count;
    to->warnings = warnings;
    to->warning_count = from->warning_count;
    return 0;
}

/* Numbers stay, so that a domain may be left without nodes. */
static int copy_domains(struct selection *selection, struct error_info *err)
{
    const struct fabric *from = selection->from;
    struct fabric *to = selection->to;
    struct fabric_domain *domains =
        arena_allocate_array(to->arena, from->domain_count, sizeof(*domains));
    if (!domains)
        return error_set_memory(err);
    for (size_t i = 0; i < from->domain_count; i++)
        domains[i] = (struct fabric_domain){
            .candidate = from->domains[i].candidate,
            .name = text_list_copy(to->arena, from->domains[i].name, &selection->failed),
            .id = text_list_copy(to->arena, from->domains[i].id, &selection->failed),
        };
    for (size_t i = 0; i < to->node_count; i++)
        if (selection->nodes[i].nvlink_block != FABRIC_NONE)
            domains[selection->nodes[i].nvlink_block].node_count++;
    to->domains = domains;
    to->domain_count = from->domain_count;
    return 0;
}

static int select_nodes(struct selection *selection, const struct node_list *names,
                        struct error_info *err)
{
    size_t count = node_list_count(names);
    struct fabric *to = selection->to;
    selection->nodes = arena_allocate_array(to->arena, count, sizeof(*selection->nodes));
    to->node_names = name_index_create();
    if (!selection->nodes || !to->node_names)
        return error_set_memory(err);
    memset(selection->new_switch, 0xff,
           selection->from->switch_count * sizeof(*selection->new_switch));
    for (size_t i = 0; i < count; i++)
        if (add_node(selection, node_list_name(names, i), err) < 0)
            return -1;
    if (copy_switches(selection, err) < 0 || copy_texts(selection, err) < 0 ||
        copy_domains(selection, err) < 0)
        return -1;
    for (size_t i = 0; i < to->node_count; i++)
        if (renumber_node(selection, &selection->nodes[i], err) < 0)
            return -1;
    to->nodes = selection->nodes;
    return selection->failed ? error_set_memory(err) : 0;
}

struct fabric *fabric_select(const struct fabric *fabric, const struct node_list *names,
                             struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(SELECT_ARENA_MAXIMUM_BYTES);
    struct fabric *memory = arena ? arena_allocate(arena, sizeof(*memory)) : NULL;
    if (!memory)
        return error_null(error_set_memory(err));
    memory->arena = move_pointer(arena);
    CLEANUP(fabric) struct fabric *to = memory;
    CLEANUP_MEMORY unsigned *new_switch =
        memory_allocate_array(fabric->switch_count, sizeof(*new_switch));
    if (!new_switch)
        return error_null(error_set_memory(err));
    struct selection selection = {.from = fabric, .to = to, .new_switch = new_switch};
    if (select_nodes(&selection, names, err) < 0)
        return NULL;
    return move_pointer(to);
}
