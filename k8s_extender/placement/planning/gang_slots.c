/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/planning/gang_slots.h"
#include "base/node_list.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    const struct cluster_topology *whole;
    const struct gang_candidate *candidates;
    size_t count;
    uint32_t most;
    size_t places;
    struct node_list *physical; /* the candidates' names */
    struct node_list *names;    /* of the places */
    unsigned *kinds;            /* of the places */
    uint32_t *nodes;            /* of the places, in the whole cluster */
};

static uint32_t places_of(const struct builder *builder, size_t candidate)
{
    uint32_t slots = builder->candidates[candidate].slots;
    return slots < builder->most ? slots : builder->most;
}

static const char *name_of(const struct builder *builder, size_t candidate)
{
    return builder->whole->nodes[builder->candidates[candidate].node].name;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *l = left, *const *r = right;
    return node_name_compare(l[0], r[0]);
}

struct named {
    const char *name;
    size_t candidate;
};

/* ret_positions[candidate]: its place in natural name order, by which places are named: a name and
 * a number behind it could be longer than a node's name may be. */
static int order_names(const struct builder *builder, size_t *ret_positions, struct error_info *err)
{
    CLEANUP_MEMORY struct named *named = memory_allocate_array(builder->count, sizeof(*named));
    if (!named)
        return error_set_memory(err);
    for (size_t i = 0; i < builder->count; i++)
        named[i] = (struct named){name_of(builder, i), i};
    qsort(named, builder->count, sizeof(*named), compare_names);
    for (size_t i = 0; i < builder->count; i++)
        ret_positions[named[i].candidate] = i;
    return 0;
}

static int name_places(struct builder *builder, struct error_info *err)
{
    CLEANUP_MEMORY size_t *positions = memory_allocate_array(builder->count, sizeof(*positions));
    if (!positions)
        return error_set_memory(err);
    if (order_names(builder, positions, err) < 0)
        return -1;
    for (size_t i = 0; i < builder->count; i++) {
        for (uint32_t place = 0; place < places_of(builder, i); place++) {
            char name[64];
            snprintf(name, sizeof(name), "node%zu.%u", positions[i], place);
            if (node_list_add(builder->names, name, err) < 0)
                return -1;
        }
    }
    return 0;
}

static int fill_places(struct builder *builder, struct error_info *err)
{
    size_t at = 0;
    builder->kinds = memory_allocate_array(builder->places, sizeof(*builder->kinds));
    builder->nodes = memory_allocate_array(builder->places, sizeof(*builder->nodes));
    if (!builder->kinds || !builder->nodes)
        return error_set_memory(err);
    for (size_t i = 0; i < builder->count; i++) {
        uint32_t node = builder->candidates[i].node;
        if (node_list_add(builder->physical, builder->whole->nodes[node].name, err) < 0)
            return -1;
        for (uint32_t place = 0; place < places_of(builder, i); place++, at++) {
            builder->kinds[at] = builder->whole->nodes[node].kind;
            builder->nodes[at] = node;
        }
    }
    return 0;
}

/* --- several places on a node ------------------------------------------------------- */

/* The fabric below the candidates, ours to change. */
static struct fabric *physical_fabric(const struct builder *builder, struct error_info *err)
{
    if (builder->whole->fabric)
        return fabric_select(builder->whole->fabric, builder->physical, err);
    const struct fabric_input none = {.source = "nothing is known between nodes",
                                      .other_nodes = builder->physical};
    return fabric_build(&none, err);
}

static bool is_one_domain(const struct builder *builder, size_t candidate)
{
    const struct cluster_node *node = &builder->whole->nodes[builder->candidates[candidate].node];
    const struct node_topology *kind = builder->whole->kinds[node->kind];
    return kind->nvlink == NVLINK_KNOWN && kind->domain_count == 1;
}

struct expansion {
    struct fabric *fabric;
    struct fabric_node *nodes;
    struct fabric_domain *domains;
    size_t node_count, domain_count;
};

static int prepare_expansion(const struct builder *builder, struct fabric *fabric,
                             struct expansion *ret, struct error_info *err)
{
    size_t most = fabric->domain_count + builder->count;
    *ret = (struct expansion){
        .fabric = fabric,
        .nodes = arena_allocate_array(fabric->arena, builder->places, sizeof(*ret->nodes)),
        .domains = arena_allocate_array(fabric->arena, most, sizeof(*ret->domains)),
        .domain_count = fabric->domain_count,
    };
    if (!ret->nodes || !ret->domains)
        return error_set_memory(err);
    for (size_t i = 0; i < fabric->domain_count; i++)
        ret->domains[i] = fabric->domains[i];
    name_index_free(fabric->node_names);
    fabric->node_names = name_index_create();
    return fabric->node_names ? 0 : error_set_memory(err);
}

/* One candidate's node, as often as it has places, the first of which is named first_name. */
static int expand_node(const struct builder *builder, struct expansion *expansion, size_t candidate,
                       const struct fabric_node *node, size_t first_name, struct error_info *err)
{
    uint32_t places = places_of(builder, candidate);
    unsigned block = node->nvlink_block;
    if (block == FABRIC_NONE && places > 1 && is_one_domain(builder, candidate))
        block = (unsigned)expansion->domain_count++;
    if (block != FABRIC_NONE)
        expansion->domains[block].node_count +=
            node->nvlink_block == FABRIC_NONE ? places : places - 1;
    for (uint32_t place = 0; place < places; place++) {
        const char *name = arena_copy_text(expansion->fabric->arena,
                                           node_list_name(builder->names, first_name + place));
        if (!name || name_index_add(expansion->fabric->node_names, name, expansion->node_count) < 0)
            return error_set_memory(err);
        struct fabric_node *copy = &expansion->nodes[expansion->node_count++];
        *copy = *node;
        copy->name = name;
        copy->nvlink_block = block;
    }
    return 0;
}

/* The nodes of a selected fabric stand in the order of the names; some may be in none. */
static int expand_fabric(const struct builder *builder, struct fabric *fabric,
                         struct error_info *err)
{
    struct expansion expansion;
    if (prepare_expansion(builder, fabric, &expansion, err) < 0)
        return -1;
    size_t at = 0, name = 0;
    for (size_t i = 0; i < builder->count; name += places_of(builder, i), i++) {
        if (at >= fabric->node_count || strcmp(fabric->nodes[at].name, name_of(builder, i)) != 0)
            continue;
        if (expand_node(builder, &expansion, i, &fabric->nodes[at++], name, err) < 0)
            return -1;
    }
    fabric->nodes = expansion.nodes;
    fabric->node_count = expansion.node_count;
    fabric->domains = expansion.domains;
    fabric->domain_count = expansion.domain_count;
    return 0;
}

/* Unused kinds have no node, and would slow a plan down: those in use, renumbered. */
static size_t keep_kinds(struct builder *builder, struct node_topology **ret_kinds,
                         const char **ret_names, unsigned *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < builder->places; i++) {
        unsigned kind = builder->kinds[i];
        if (numbers[kind] == 0) {
            ret_kinds[kept] = node_topology_share(builder->whole->kinds[kind]);
            ret_names[kept] = builder->whole->kind_names[kind];
            numbers[kind] = (unsigned)++kept;
        }
        builder->kinds[i] = numbers[kind] - 1;
    }
    return kept;
}

static struct cluster_topology *create_expanded(struct builder *builder, struct error_info *err)
{
    const struct cluster_topology *whole = builder->whole;
    CLEANUP_MEMORY struct node_topology **kinds =
        memory_allocate_array(whole->kind_count, sizeof(struct node_topology *));
    CLEANUP_MEMORY const char **kind_names =
        memory_allocate_array(whole->kind_count, sizeof(*kind_names));
    CLEANUP_MEMORY unsigned *numbers = memory_allocate_array(whole->kind_count, sizeof(*numbers));
    if (!kinds || !kind_names || !numbers)
        return error_null(error_set_memory(err));
    if (name_places(builder, err) < 0)
        return NULL;
    CLEANUP(fabric) struct fabric *fabric = physical_fabric(builder, err);
    if (!fabric || expand_fabric(builder, fabric, err) < 0)
        return NULL;
    size_t kept = keep_kinds(builder, kinds, kind_names, numbers);
    return cluster_topology_create(whole->name, kinds, kind_names, kept, builder->names,
                                   builder->kinds, move_pointer(fabric), err);
}

/* --- the whole ---------------------------------------------------------------------- */

static struct cluster_topology *create(struct builder *builder, struct error_info *err)
{
    for (size_t i = 0; i < builder->count; i++)
        builder->places += places_of(builder, i);
    if (builder->places == 0 || builder->places > CLUSTER_MAXIMUM_NODES)
        return error_null(error_set(err, "room for %zu pods on %zu nodes; 1 to %u are possible",
                                    builder->places, builder->count, CLUSTER_MAXIMUM_NODES));
    if (fill_places(builder, err) < 0)
        return NULL;
    if (builder->places == builder->count)
        return cluster_topology_select(builder->whole, builder->physical, err);
    return create_expanded(builder, err);
}

int gang_slots_create(const struct cluster_topology *whole, const struct gang_candidate *candidates,
                      size_t count, uint32_t most, struct gang_slots *ret, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *physical = node_list_create(err);
    CLEANUP(node_list) struct node_list *names = physical ? node_list_create(err) : NULL;
    if (!names)
        return -1;
    struct builder builder = {.whole = whole,
                              .candidates = candidates,
                              .count = count,
                              .most = most,
                              .physical = physical,
                              .names = names};
    struct cluster_topology *cluster = create(&builder, err);
    memory_free(builder.kinds);
    if (!cluster) {
        memory_free(builder.nodes);
        return -1;
    }
    *ret = (struct gang_slots){.cluster = cluster, .nodes = builder.nodes};
    return 0;
}

void gang_slots_done(struct gang_slots *slots)
{
    cluster_topology_free(slots->cluster);
    memory_free(slots->nodes);
    *slots = (struct gang_slots){.cluster = NULL};
}
