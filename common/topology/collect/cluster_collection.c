/* SPDX-License-Identifier: MIT */
#include "topology/collect/cluster_collection.h"
#include "topology/collect/node_kind.h"
#include "topology/fabric_readers/fabric_redraft.h"
#include "topology/text_list.h"
#include <stdlib.h>
#include <string.h>

#define COLLECTION_ARENA_BYTES ((size_t)256 << 20)
#define FIRST_CAPACITY 64u
#define TEXT_MAXIMUM_BYTES ((size_t)1 << 20)
#define CLIQUE_FACT "nvlink clique"

struct collected_kind {
    struct node_topology *node;
    const char *problems; /* or NULL */
    const char *name;     /* once it is built */
    unsigned number;      /* in the cluster; of kinds that are used */
    bool used;
};

struct collected_node {
    const char *name, *where, *clique; /* clique or NULL */
    unsigned kind;
};

struct cluster_collection {
    struct arena *arena;
    struct name_index *names;
    struct node_list *checked; /* what may stand in a list of nodes */
    struct collected_kind kinds[COLLECTION_MAXIMUM_KINDS];
    unsigned kind_count;
    struct collected_node *nodes;
    size_t count, capacity;
    bool failed; /* out of memory */
};

struct cluster_collection *cluster_collection_create(struct error_info *err)
{
    CLEANUP(cluster_collection)
    struct cluster_collection *collection = memory_allocate(sizeof(*collection));
    if (!collection)
        return error_null(error_set_memory(err));
    collection->arena = arena_create(COLLECTION_ARENA_BYTES);
    collection->names = name_index_create();
    if (!collection->arena || !collection->names)
        return error_null(error_set_memory(err));
    collection->checked = node_list_create(err);
    return collection->checked ? move_pointer(collection) : NULL;
}

void cluster_collection_free(struct cluster_collection *collection)
{
    if (!collection)
        return;
    for (unsigned i = 0; i < collection->kind_count; i++)
        node_topology_free(collection->kinds[i].node);
    memory_free(collection->nodes);
    node_list_free(collection->checked);
    name_index_free(collection->names);
    arena_free(collection->arena);
    memory_free(collection);
}

size_t cluster_collection_count(const struct cluster_collection *collection)
{
    return collection->count;
}

/* What only one node can have does not belong to a kind. The node is ours alone. */
static void make_kind(struct node_topology *node)
{
    struct node_gpu *gpus = (struct node_gpu *)node->gpus;
    struct topology_fact *facts = (struct topology_fact *)node->facts;
    size_t kept = 0;
    for (unsigned i = 0; i < node->gpu_count; i++)
        gpus[i].uuid = NULL;
    for (size_t i = 0; i < node->fact_count; i++)
        if (strcmp(facts[i].fact, CLIQUE_FACT) != 0)
            facts[kept++] = facts[i];
    node->fact_count = kept;
    node->nvlink_clique = NULL;
}

static const char *copy_problems(struct cluster_collection *collection,
                                 const struct node_topology *node)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_MAXIMUM_BYTES);
    if (!node_kind_problems(node, &text))
        return NULL;
    collection->failed = collection->failed || text_buffer_failed(&text);
    return text_list_copy(collection->arena, text_buffer_text(&text), &collection->failed);
}

static void keep_least(uint64_t *known, uint64_t said)
{
    if (said > 0 && said < *known)
        *known = said;
}

/* The kind that this node is of. Takes the node. */
static int find_kind(struct cluster_collection *collection, const char *where,
                     struct node_topology *node, unsigned *ret_kind, struct error_info *err)
{
    CLEANUP(node_topology) struct node_topology *owned = node;
    for (unsigned i = 0; i < collection->kind_count; i++) {
        struct node_topology *kind = collection->kinds[i].node;
        if (!node_kind_is_same(kind, owned))
            continue;
        keep_least(&kind->host_memory_bytes, owned->host_memory_bytes);
        keep_least(&kind->host_nvme_bytes, owned->host_nvme_bytes);
        *ret_kind = i;
        return 0;
    }
    if (collection->kind_count == COLLECTION_MAXIMUM_KINDS)
        return error_set(err, "%s: more than %u kinds of nodes; these nodes have little in common",
                         where, COLLECTION_MAXIMUM_KINDS);
    make_kind(owned);
    collection->kinds[collection->kind_count] =
        (struct collected_kind){.problems = copy_problems(collection, owned)};
    collection->kinds[collection->kind_count].node = move_pointer(owned);
    *ret_kind = collection->kind_count++;
    return 0;
}

static int make_room(struct cluster_collection *collection, struct error_info *err)
{
    if (collection->count < collection->capacity)
        return 0;
    size_t wanted = collection->capacity ? collection->capacity * 2 : FIRST_CAPACITY;
    struct collected_node *grown = memory_grow_array(collection->nodes, collection->capacity,
                                                     wanted, sizeof(*collection->nodes));
    if (!grown)
        return error_set_memory(err);
    collection->nodes = grown;
    collection->capacity = wanted;
    return 0;
}

static bool same_clique(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* 1: it is there already, and says the same. */
static int check_name(struct cluster_collection *collection, const struct collected_node *node,
                      struct error_info *err)
{
    int added = name_index_add(collection->names, node->name, collection->count);
    if (added < 0)
        return error_set_memory(err);
    if (added == 0)
        return node_list_add(collection->checked, node->name, err) < 0
                   ? error_prefix(err, "%s: name", node->where)
                   : 0;
    const struct collected_node *other =
        &collection->nodes[name_index_find(collection->names, node->name)];
    if (other->kind == node->kind && same_clique(other->clique, node->clique))
        return 1;
    return error_set(err, "%s: node %s stands in %s too, and differs; keep one", node->where,
                     node->name, other->where);
}

int cluster_collection_add(struct cluster_collection *collection, const char *name,
                           const char *where, struct node_topology *node, struct error_info *err)
{
    const char *clique =
        text_list_copy(collection->arena, node->nvlink_clique, &collection->failed);
    struct collected_node collected = {
        .name = text_list_copy(collection->arena, name, &collection->failed),
        .where = text_list_copy(collection->arena, where, &collection->failed),
        .clique = clique,
    };
    if (find_kind(collection, where, node, &collected.kind, err) < 0)
        return -1;
    if (collection->failed)
        return error_set_memory(err);
    if (collection->count == CLUSTER_MAXIMUM_NODES)
        return error_set(err, "%s: more than %u nodes", where, CLUSTER_MAXIMUM_NODES);
    if (make_room(collection, err) < 0)
        return -1;
    int known = check_name(collection, &collected, err);
    if (known == 0)
        collection->nodes[collection->count++] = collected;
    return known < 0 ? -1 : 0;
}

static int compare_nodes(const void *left, const void *right)
{
    return node_name_compare(((const struct collected_node *)left)->name,
                             ((const struct collected_node *)right)->name);
}

void cluster_collection_sort(struct cluster_collection *collection)
{
    if (collection->count > 1)
        qsort(collection->nodes, collection->count, sizeof(*collection->nodes), compare_nodes);
}

struct cluster_collected cluster_collection_node(const struct cluster_collection *collection,
                                                 size_t index)
{
    const struct collected_node *node = &collection->nodes[index];
    return (struct cluster_collected){.name = node->name,
                                      .problems = collection->kinds[node->kind].problems};
}

static bool is_taken(const struct cluster_collection *collection, size_t index,
                     bool without_degraded)
{
    return !without_degraded || !collection->kinds[collection->nodes[index].kind].problems;
}

/* "8x-h100-sxm", or with "-2" where another kind has that name. */
static int name_kind(struct cluster_collection *collection, struct name_index *taken,
                     struct collected_kind *kind, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer base;
    text_buffer_init(&base, TEXT_MAXIMUM_BYTES);
    node_kind_name(kind->node, &base);
    if (text_buffer_failed(&base))
        return error_set_memory(err);
    for (unsigned variant = 1;; variant++) {
        const char *name =
            variant == 1
                ? arena_copy_text(collection->arena, text_buffer_text(&base))
                : arena_format(collection->arena, "%s-%u", text_buffer_text(&base), variant);
        int added = name ? name_index_add(taken, name, variant) : -1;
        if (added < 0)
            return error_set_memory(err);
        kind->name = name;
        if (added == 0)
            return 0;
    }
}

/* Numbers and names in the order of their first nodes. */
static int order_kinds(struct cluster_collection *collection, bool without_degraded,
                       unsigned *ret_count, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *taken = name_index_create();
    if (!taken)
        return error_set_memory(err);
    unsigned count = 0;
    for (size_t i = 0; i < collection->count; i++) {
        struct collected_kind *kind = &collection->kinds[collection->nodes[i].kind];
        if (kind->used || !is_taken(collection, i, without_degraded))
            continue;
        kind->used = true;
        kind->number = count++;
        if (name_kind(collection, taken, kind, err) < 0)
            return -1;
    }
    *ret_count = count;
    return 0;
}

/* The draft's domains by clique; members gets the nodes that have one. */
static int add_cliques(const struct cluster_collection *collection, bool without_degraded,
                       struct fabric_draft *draft, struct name_index *members,
                       struct error_info *err)
{
    CLEANUP(name_index) struct name_index *cliques = name_index_create();
    if (!cliques)
        return error_set_memory(err);
    for (size_t i = 0; i < collection->count; i++) {
        const struct collected_node *node = &collection->nodes[i];
        if (!node->clique || !is_taken(collection, i, without_degraded))
            continue;
        int added = name_index_add(cliques, node->clique, fabric_draft_domain_count(draft));
        if (added < 0 || name_index_add(members, node->name, i) < 0)
            return error_set_memory(err);
        if (added == 0 && fabric_draft_add_domain(draft, NULL, node->clique, 0, err) < 0)
            return -1;
        if (fabric_draft_add_domain_node(draft, name_index_find(cliques, node->clique), node->name,
                                         err) < 0)
            return -1;
    }
    return 0;
}

static int add_other_domains(const struct fabric *fabric, const struct name_index *members,
                             struct fabric_draft *draft, struct error_info *err)
{
    size_t first = fabric_draft_domain_count(draft);
    for (size_t i = 0; i < fabric->domain_count; i++) {
        const struct fabric_domain *from = &fabric->domains[i];
        if (fabric_draft_add_domain(draft, from->name, from->id, 0, err) < 0)
            return -1;
        if (from->candidate)
            fabric_draft_set_candidate(draft, first + i);
    }
    for (size_t i = 0; i < fabric->node_count; i++) {
        const struct fabric_node *node = &fabric->nodes[i];
        if (node->nvlink_block == FABRIC_NONE ||
            name_index_find(members, node->name) != NAME_INDEX_NONE)
            continue;
        if (fabric_draft_add_domain_node(draft, first + node->nvlink_block, node->name, err) < 0)
            return -1;
    }
    return 0;
}

/* *ret_fabric stays NULL where nothing is known between nodes. */
static int make_fabric(const struct cluster_collection *collection, const char *name,
                       const struct fabric *fabric, bool without_degraded,
                       struct fabric **ret_fabric, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *members = name_index_create();
    if (!members)
        return error_set_memory(err);
    CLEANUP(fabric_draft)
    struct fabric_draft *draft =
        fabric ? fabric_redraft(fabric, false, err) : fabric_draft_create(name, err);
    if (!draft || add_cliques(collection, without_degraded, draft, members, err) < 0 ||
        (fabric && add_other_domains(fabric, members, draft, err) < 0))
        return -1;
    if (!fabric && fabric_draft_domain_count(draft) == 0)
        return 0;
    *ret_fabric = fabric_draft_build(draft, err);
    return *ret_fabric ? 0 : -1;
}

/* What cluster_topology_create wants. */
struct parts {
    struct node_topology *kinds[COLLECTION_MAXIMUM_KINDS];
    const char *kind_names[COLLECTION_MAXIMUM_KINDS];
    unsigned kind_count;
};

static void take_kinds(struct cluster_collection *collection, struct parts *parts)
{
    for (unsigned i = 0; i < collection->kind_count; i++) {
        struct collected_kind *kind = &collection->kinds[i];
        if (!kind->used)
            continue;
        parts->kind_names[kind->number] = kind->name;
        parts->kinds[kind->number] = move_pointer(kind->node);
    }
}

static int list_nodes(const struct cluster_collection *collection, bool without_degraded,
                      struct node_list *names, unsigned *node_kinds, struct error_info *err)
{
    for (size_t i = 0; i < collection->count; i++) {
        const struct collected_node *node = &collection->nodes[i];
        if (!is_taken(collection, i, without_degraded))
            continue;
        node_kinds[node_list_count(names)] = collection->kinds[node->kind].number;
        if (node_list_add(names, node->name, err) < 0)
            return -1;
    }
    if (node_list_count(names) == 0)
        return error_set(err, "%s",
                         collection->count == 0 ? "no node was collected"
                                                : "every node is degraded; none is left");
    return 0;
}

struct cluster_topology *cluster_collection_build(struct cluster_collection *collection,
                                                  const char *name, const struct fabric *fabric,
                                                  bool without_degraded, struct error_info *err)
{
    cluster_collection_sort(collection);
    CLEANUP_MEMORY struct parts *parts = memory_allocate(sizeof(*parts));
    CLEANUP_MEMORY unsigned *node_kinds =
        memory_allocate_array(collection->count, sizeof(*node_kinds));
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    CLEANUP(fabric) struct fabric *whole = NULL;
    if (!parts || !node_kinds || !names)
        return error_null(error_set_memory(err));
    if (order_kinds(collection, without_degraded, &parts->kind_count, err) < 0 ||
        list_nodes(collection, without_degraded, names, node_kinds, err) < 0 ||
        make_fabric(collection, name, fabric, without_degraded, &whole, err) < 0)
        return NULL;
    take_kinds(collection, parts);
    return cluster_topology_create(name, parts->kinds, parts->kind_names, parts->kind_count, names,
                                   node_kinds, move_pointer(whole), err);
}
