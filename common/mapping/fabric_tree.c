/* SPDX-License-Identifier: MIT */
#include "mapping/fabric_tree.h"
#include "mapping/name_order.h"
#include <string.h>

#define NO_VERTEX (~0u)
#define ROOT 0u

/* What kind of vertex it is, for its shape; switches follow with their tier. */
enum { KIND_LOOSE, KIND_NVLINK, KIND_ROOT, KIND_SWITCH };

/* A vertex while nodes still arrive: children as a chain in order of first appearance. */
struct draft {
    unsigned parent, first_child, last_child, next_sibling;
    unsigned child_count, own_nodes;
    unsigned kind;
    unsigned final; /* its number in the finished tree */
};

/* (vertex, NVLink block) -> vertex; vertex NO_VERTEX: free. */
struct domain_slot {
    unsigned parent, block, vertex;
};

struct builder {
    const struct cluster_topology *cluster;
    struct arena *scratch;
    unsigned *sorted; /* usable nodes by name */
    unsigned node_count;
    unsigned *owners; /* draft of each sorted node */
    struct draft *drafts;
    unsigned draft_count;
    unsigned *switch_drafts;
    struct domain_slot *domains; /* NULL: no two nodes share a domain */
    unsigned domain_bits;
};

static unsigned add_draft(struct builder *builder, unsigned kind)
{
    struct draft *draft = &builder->drafts[builder->draft_count];
    *draft = (struct draft){.parent = NO_VERTEX,
                            .first_child = NO_VERTEX,
                            .last_child = NO_VERTEX,
                            .next_sibling = NO_VERTEX,
                            .kind = kind};
    return builder->draft_count++;
}

static void add_child(struct builder *builder, unsigned parent, unsigned child)
{
    struct draft *above = &builder->drafts[parent];
    builder->drafts[child].parent = parent;
    if (above->last_child == NO_VERTEX)
        above->first_child = child;
    else
        builder->drafts[above->last_child].next_sibling = child;
    above->last_child = child;
    above->child_count++;
}

/* The draft of a switch, made with all its parents when it appears for the first time. */
static unsigned switch_draft(struct builder *builder, unsigned index)
{
    const struct fabric *fabric = builder->cluster->fabric;
    if (index == FABRIC_NONE)
        return ROOT;
    unsigned found = builder->switch_drafts[index], below = NO_VERTEX;
    if (found != NO_VERTEX)
        return found;
    unsigned first = builder->draft_count;
    for (; index != FABRIC_NONE; index = fabric->switches[index].parent) {
        unsigned at = builder->switch_drafts[index];
        bool is_new = at == NO_VERTEX;
        if (is_new)
            at = add_draft(builder, KIND_SWITCH + fabric->switches[index].tier);
        builder->switch_drafts[index] = at;
        if (below != NO_VERTEX)
            add_child(builder, at, below);
        if (!is_new)
            return first;
        below = at;
    }
    add_child(builder, ROOT, below);
    return first;
}

static struct domain_slot *domain_slot(struct builder *builder, unsigned parent, unsigned block)
{
    uint64_t key = (uint64_t)parent << 32 | block;
    size_t mask = ((size_t)1 << builder->domain_bits) - 1;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - builder->domain_bits));
    struct domain_slot *slot = &builder->domains[at];
    while (slot->vertex != NO_VERTEX && (slot->parent != parent || slot->block != block)) {
        at = (at + 1) & mask;
        slot = &builder->domains[at];
    }
    slot->parent = parent;
    slot->block = block;
    return slot;
}

static unsigned domain_draft(struct builder *builder, unsigned parent, unsigned block)
{
    struct domain_slot *slot = domain_slot(builder, parent, block);
    if (slot->vertex == NO_VERTEX) {
        slot->vertex = add_draft(builder, KIND_NVLINK);
        add_child(builder, parent, slot->vertex);
    }
    return slot->vertex;
}

static void clear_domains(struct builder *builder)
{
    memset(builder->domains, 0xff, sizeof(*builder->domains) << builder->domain_bits);
}

/* Whether any two usable nodes share an NVLink domain; then domains is ready for use. */
static int find_domains(struct builder *builder, struct error_info *err)
{
    const struct cluster_node *nodes = builder->cluster->nodes;
    unsigned count = builder->node_count, ascending = 1;
    while (ascending < count && nodes[builder->sorted[ascending]].nvlink_block >
                                    nodes[builder->sorted[ascending - 1]].nvlink_block)
        ascending++;
    if (ascending >= count)
        return 0;
    while (count > (1u << builder->domain_bits) / 2)
        builder->domain_bits++;
    builder->domains = arena_allocate_array(builder->scratch, (size_t)1 << builder->domain_bits,
                                            sizeof(*builder->domains));
    if (!builder->domains)
        return error_set_memory(err);
    clear_domains(builder);
    bool shared = false;
    for (unsigned i = 0; i < count && !shared; i++) {
        struct domain_slot *slot = domain_slot(builder, 0, nodes[builder->sorted[i]].nvlink_block);
        shared = slot->vertex != NO_VERTEX;
        slot->vertex = 0;
    }
    if (shared)
        clear_domains(builder);
    else
        builder->domains = NULL;
    return 0;
}

static void hang_nodes(struct builder *builder)
{
    const struct cluster_topology *cluster = builder->cluster;
    for (unsigned i = 0; i < builder->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[builder->sorted[i]];
        bool known = cluster->fabric && node->fabric_node != FABRIC_NONE;
        unsigned leaf = known ? cluster->fabric->nodes[node->fabric_node].leaf : FABRIC_NONE;
        unsigned owner = switch_draft(builder, leaf);
        if (builder->domains)
            owner = domain_draft(builder, owner, node->nvlink_block);
        builder->owners[i] = owner;
        builder->drafts[owner].own_nodes++;
    }
}

/* Nodes that hang beside child vertices become the last child. */
static void separate_loose_nodes(struct builder *builder)
{
    unsigned before = builder->draft_count;
    for (unsigned i = 0; i < before; i++) {
        struct draft *draft = &builder->drafts[i];
        if (draft->child_count == 0 || draft->own_nodes == 0)
            continue;
        unsigned loose = add_draft(builder, KIND_LOOSE);
        builder->drafts[loose].own_nodes = draft->own_nodes;
        draft->own_nodes = 0;
        add_child(builder, i, loose);
    }
    if (builder->draft_count == before)
        return;
    for (unsigned i = 0; i < builder->node_count; i++) {
        const struct draft *owner = &builder->drafts[builder->owners[i]];
        if (owner->child_count > 0)
            builder->owners[i] = owner->last_child;
    }
}

static void keep_multiples(struct builder *builder, unsigned multiple)
{
    for (unsigned i = 0; i < builder->draft_count; i++)
        builder->drafts[i].own_nodes -= builder->drafts[i].own_nodes % multiple;
}

static uint64_t mix(uint64_t left, uint64_t right)
{
    uint64_t mixed = (left ^ right * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return mixed ^ mixed >> 32;
}

static unsigned slot_of(const struct builder *builder, const struct draft *draft)
{
    if (draft->kind == KIND_LOOSE)
        draft = &builder->drafts[draft->parent];
    if (draft->kind == KIND_NVLINK)
        return COST_SLOT_DOMAIN;
    return COST_SLOT_TIERS + (draft->kind == KIND_ROOT ? cluster_tier_count(builder->cluster)
                                                       : draft->kind - KIND_SWITCH);
}

/* Breadth first, so that children are consecutive and come after their parent. */
static void number_vertices(const struct builder *builder, struct fabric_vertex *vertices,
                            unsigned *drafts_by_number)
{
    unsigned count = 1;
    drafts_by_number[0] = ROOT;
    for (unsigned v = 0; v < count; v++) {
        struct draft *draft = &builder->drafts[drafts_by_number[v]];
        draft->final = v;
        vertices[v] = (struct fabric_vertex){.first_child = count,
                                             .child_count = draft->child_count,
                                             .node_count = draft->own_nodes,
                                             .slot = slot_of(builder, draft),
                                             .loose = draft->kind == KIND_LOOSE};
        for (unsigned c = draft->first_child; c != NO_VERTEX; c = builder->drafts[c].next_sibling)
            drafts_by_number[count++] = c;
    }
}

static void sum_vertices(const struct builder *builder, struct fabric_vertex *vertices,
                         const unsigned *drafts_by_number)
{
    for (unsigned v = builder->draft_count; v-- > 0;) {
        const struct draft *draft = &builder->drafts[drafts_by_number[v]];
        struct fabric_vertex *vertex = &vertices[v];
        vertex->shape = mix(mix(vertex->shape, vertex->node_count), draft->kind);
        if (draft->parent == NO_VERTEX)
            continue;
        vertex->parent = builder->drafts[draft->parent].final;
        struct fabric_vertex *parent = &vertices[vertex->parent];
        parent->node_count += vertex->node_count;
        parent->shape += mix(vertex->shape, parent->child_count); /* in whatever order */
    }
    for (unsigned v = 0; v < builder->draft_count; v++) {
        unsigned at = vertices[v].first_node;
        for (unsigned c = 0; c < vertices[v].child_count; c++) {
            struct fabric_vertex *child = &vertices[vertices[v].first_child + c];
            child->first_node = at;
            at += child->node_count;
        }
    }
}

static int finish(struct builder *builder, struct fabric_tree *tree, struct error_info *err)
{
    unsigned count = builder->draft_count;
    unsigned *numbers = arena_allocate_array(builder->scratch, count, sizeof(*numbers));
    unsigned *filled = arena_allocate_array(builder->scratch, count, sizeof(*filled));
    struct fabric_vertex *vertices = arena_allocate_array(tree->arena, count, sizeof(*vertices));
    unsigned *nodes = arena_allocate_array(tree->arena, builder->node_count, sizeof(*nodes));
    if (!numbers || !filled || !vertices || !nodes)
        return error_set_memory(err);
    number_vertices(builder, vertices, numbers);
    sum_vertices(builder, vertices, numbers);
    for (unsigned i = 0; i < builder->node_count; i++) {
        unsigned owner = builder->drafts[builder->owners[i]].final;
        if (filled[owner] < vertices[owner].node_count)
            nodes[vertices[owner].first_node + filled[owner]++] = builder->sorted[i];
    }
    tree->vertices = vertices;
    tree->vertex_count = count;
    tree->nodes = nodes;
    tree->node_count = vertices[ROOT].node_count;
    return 0;
}

static int collect_nodes(struct builder *builder, unsigned gpus, struct error_info *err)
{
    const struct cluster_topology *cluster = builder->cluster;
    size_t most = cluster->node_count;
    builder->sorted = arena_allocate_array(builder->scratch, most, sizeof(*builder->sorted));
    builder->owners = arena_allocate_array(builder->scratch, most, sizeof(*builder->owners));
    if (!builder->sorted || !builder->owners)
        return error_set_memory(err);
    for (unsigned i = 0; i < most; i++)
        if (cluster->kinds[cluster->nodes[i].kind]->gpu_count >= gpus)
            builder->sorted[builder->node_count++] = i;
    return name_order_sort(cluster, builder->sorted, builder->node_count, err);
}

static int build(struct builder *builder, unsigned gpus, unsigned multiple,
                 struct fabric_tree *tree, struct error_info *err)
{
    const struct fabric *fabric = builder->cluster->fabric;
    size_t switches = fabric ? fabric->switch_count : 0;
    if (collect_nodes(builder, gpus, err) < 0 || find_domains(builder, err) < 0)
        return -1;
    /* The root, every switch, a domain for each node, and one loose child for each of those
     * that can have children. */
    size_t most = 2 * (switches + 1) + builder->node_count;
    builder->drafts = arena_allocate_array(builder->scratch, most, sizeof(*builder->drafts));
    builder->switch_drafts =
        arena_allocate_array(builder->scratch, switches, sizeof(*builder->switch_drafts));
    if (!builder->drafts || !builder->switch_drafts)
        return error_set_memory(err);
    memset(builder->switch_drafts, 0xff, switches * sizeof(*builder->switch_drafts));
    add_draft(builder, KIND_ROOT);
    hang_nodes(builder);
    separate_loose_nodes(builder);
    keep_multiples(builder, multiple);
    return finish(builder, tree, err);
}

struct fabric_tree *fabric_tree_create(const struct cluster_topology *cluster, unsigned gpus,
                                       unsigned multiple, struct error_info *err)
{
    CLEANUP(arena) struct arena *scratch = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct fabric_tree *tree = arena ? arena_allocate(arena, sizeof(*tree)) : NULL;
    if (!scratch || !tree)
        return error_null(error_set_memory(err));
    struct builder builder = {.cluster = cluster, .scratch = scratch, .domain_bits = 4};
    tree->arena = arena;
    if (build(&builder, gpus, multiple, tree, err) < 0)
        return NULL;
    arena = NULL;
    return tree;
}

void fabric_tree_free(struct fabric_tree *tree)
{
    if (tree)
        arena_free(tree->arena);
}
