/* SPDX-License-Identifier: MIT */
#include "topology/cluster_topology.h"
#include "topology/cluster_summary.h"
#include "topology/merge/remarks.h"
#include "topology/text_list.h"
#include <string.h>

#define CLUSTER_ARENA_MAXIMUM_BYTES ((size_t)256 << 20)

void cluster_topology_free(struct cluster_topology *cluster)
{
    if (!cluster)
        return;
    for (size_t i = 0; i < cluster->kind_count; i++)
        node_topology_free((struct node_topology *)cluster->kinds[i]);
    fabric_free((struct fabric *)cluster->fabric);
    arena_free(cluster->arena);
}

/* Numbers from here on are free for nodes that share their NVLink with no other. */
static unsigned first_free_block(const struct fabric *fabric)
{
    unsigned first = 0;
    for (size_t i = 0; fabric && i < fabric->node_count; i++)
        if (fabric->nodes[i].nvlink_block != FABRIC_NONE && fabric->nodes[i].nvlink_block >= first)
            first = fabric->nodes[i].nvlink_block + 1;
    return first;
}

/* FABRIC_NONE: the node shares its NVLink with no other. */
static unsigned block_of(const struct cluster_topology *cluster, unsigned fabric_node,
                         unsigned kind)
{
    const struct fabric *fabric = cluster->fabric;
    unsigned block =
        fabric_node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric_node].nvlink_block;
    const struct node_topology *node = cluster->kinds[kind];
    if (block != FABRIC_NONE && !node->nvlink_leaves_node &&
        (fabric->domains[block].candidate || node->nvlink == NVLINK_NONE))
        return FABRIC_NONE;
    return block;
}

/* Said once for each kind, also of a step that was cut out of such a cluster. */
static int warn_of_domain(const struct cluster_topology *cluster, unsigned kind,
                          struct error_info *err)
{
    struct fabric *fabric = (struct fabric *)cluster->fabric; /* the cluster's own */
    const char **warnings =
        arena_allocate_array(fabric->arena, fabric->warning_count + 1, sizeof(*warnings));
    const char *text = arena_format(fabric->arena, "an nvlink_domain joins nodes of %s, %s",
                                    cluster->kind_names[kind],
                                    cluster->kinds[kind]->nvlink == NVLINK_NONE
                                        ? "which have no NVLink; it is passed over"
                                        : "whose NVLink does not leave a node as far as is known");
    if (!warnings || !text)
        return error_set_memory(err);
    for (size_t i = 0; i < fabric->warning_count; i++) {
        warnings[i] = fabric->warnings[i];
        if (strcmp(text, warnings[i]) == 0)
            return 0;
    }
    warnings[fabric->warning_count] = text;
    fabric->warnings = warnings;
    fabric->warning_count++;
    return 0;
}

/* Domains that people wrote down count; those over NVLink that stays inside are doubtful. */
static int check_domains(const struct cluster_topology *cluster, struct error_info *err)
{
    const struct fabric *fabric = cluster->fabric;
    if (!REMARKS_KEPT)
        return 0;
    CLEANUP_MEMORY bool *warned = memory_allocate_array(cluster->kind_count, sizeof(*warned));
    if (!warned)
        return error_set_memory(err);
    for (size_t i = 0; fabric && i < cluster->node_count; i++) {
        unsigned at = cluster->nodes[i].fabric_node, kind = cluster->nodes[i].kind;
        unsigned block = at == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[at].nvlink_block;
        if (block == FABRIC_NONE || fabric->domains[block].candidate ||
            fabric->domains[block].node_count < 2 || warned[kind] ||
            cluster->kinds[kind]->nvlink_leaves_node ||
            cluster->kinds[kind]->nvlink == NVLINK_UNKNOWN)
            continue;
        warned[kind] = true;
        if (warn_of_domain(cluster, kind, err) < 0)
            return -1;
    }
    return 0;
}

static int add_nodes(struct cluster_topology *cluster, const struct node_list *names,
                     const unsigned *kinds, struct error_info *err)
{
    size_t count = node_list_count(names);
    struct cluster_node *nodes = arena_allocate_array(cluster->arena, count, sizeof(*nodes));
    CLEANUP(name_index) struct name_index *seen = name_index_create();
    if (!nodes || !seen)
        return error_set_memory(err);
    unsigned free_block = first_free_block(cluster->fabric);
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        const char *name = node_list_name(names, i);
        int added = name_index_add(seen, name, i);
        if (added > 0)
            return error_set(err, "%s: node %s stands twice", cluster->name, name);
        if (kinds[i] >= cluster->kind_count)
            return error_set(err, "%s: node %s is of a kind that is not there", cluster->name,
                             name);
        unsigned at = cluster->fabric ? fabric_find_node(cluster->fabric, name) : FABRIC_NONE;
        unsigned block = block_of(cluster, at, kinds[i]);
        cluster->open_nodes += block == FABRIC_NONE && cluster->kinds[kinds[i]]->nvlink_leaves_node;
        nodes[i] = (struct cluster_node){
            .name = text_list_copy(cluster->arena, name, &failed),
            .kind = kinds[i],
            .fabric_node = at,
            .nvlink_block = block == FABRIC_NONE ? free_block + (unsigned)i : block,
        };
        if (added < 0 || failed)
            return error_set_memory(err);
    }
    cluster->nodes = nodes;
    cluster->node_count = count;
    return 0;
}

/* The kinds become the cluster's one by one, so that a failure frees each exactly once. */
static int take_kinds(struct cluster_topology *cluster, struct node_topology **kinds,
                      const char *const *kind_names, size_t kind_count, struct error_info *err)
{
    const struct node_topology **own =
        arena_allocate_array(cluster->arena, kind_count, sizeof(*own));
    const char **names = arena_allocate_array(cluster->arena, kind_count, sizeof(*names));
    if (!own || !names)
        return error_set_memory(err);
    bool failed = false;
    for (size_t i = 0; i < kind_count; i++)
        names[i] = text_list_copy(cluster->arena, kind_names[i], &failed);
    if (failed)
        return error_set_memory(err);
    memcpy(own, kinds, kind_count * sizeof(*own));
    cluster->kinds = own;
    cluster->kind_names = names;
    cluster->kind_count = kind_count;
    return 0;
}

static struct cluster_topology *create_empty(const char *name, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CLUSTER_ARENA_MAXIMUM_BYTES);
    struct cluster_topology *cluster = arena ? arena_allocate(arena, sizeof(*cluster)) : NULL;
    char *copy = cluster ? arena_copy_text(arena, name) : NULL;
    if (!copy)
        return error_null(error_set_memory(err));
    cluster->name = copy;
    cluster->arena = move_pointer(arena);
    return cluster;
}

struct cluster_topology *cluster_topology_create(const char *name, struct node_topology **kinds,
                                                 const char *const *kind_names, size_t kind_count,
                                                 const struct node_list *node_names,
                                                 const unsigned *node_kinds, struct fabric *fabric,
                                                 struct error_info *err)
{
    CLEANUP(fabric) struct fabric *own_fabric = fabric;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = create_empty(name, err);
    if (!cluster || take_kinds(cluster, kinds, kind_names, kind_count, err) < 0) {
        for (size_t i = 0; i < kind_count; i++)
            node_topology_free(kinds[i]);
        return NULL;
    }
    cluster->fabric = move_pointer(own_fabric);
    size_t count = node_list_count(node_names);
    if (count == 0 || count > CLUSTER_MAXIMUM_NODES)
        return error_null(error_set(err, "%s: %zu nodes; 1 to %u are possible", name, count,
                                    CLUSTER_MAXIMUM_NODES));
    if (add_nodes(cluster, node_names, node_kinds, err) < 0 || check_domains(cluster, err) < 0 ||
        cluster_summarise(cluster, err) < 0)
        return NULL;
    return move_pointer(cluster);
}

static int find_kinds(const struct cluster_topology *cluster, const struct node_list *names,
                      unsigned *kinds, struct error_info *err)
{
    CLEANUP(name_index) struct name_index *index = name_index_create();
    if (!index)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (name_index_add(index, cluster->nodes[i].name, i) < 0)
            return error_set_memory(err);
    for (size_t i = 0; i < node_list_count(names); i++) {
        size_t found = name_index_find(index, node_list_name(names, i));
        if (found == NAME_INDEX_NONE)
            return error_set(err, "%s has no node %s", cluster->name, node_list_name(names, i));
        kinds[i] = cluster->nodes[found].kind;
    }
    return 0;
}

/* Renumbers the nodes' kinds to those that are left: an unused kind must not slow a plan down. */
static size_t keep_kinds(const struct cluster_topology *cluster, unsigned *node_kinds,
                         size_t node_count, struct node_topology **ret_kinds,
                         const char **ret_names)
{
    size_t kept = 0;
    for (unsigned kind = 0; kind < cluster->kind_count; kind++) {
        bool used = false;
        for (size_t i = 0; i < node_count; i++) {
            if (node_kinds[i] != kind)
                continue;
            node_kinds[i] = (unsigned)kept;
            used = true;
        }
        if (!used)
            continue;
        ret_kinds[kept] = node_topology_share(cluster->kinds[kind]);
        ret_names[kept++] = cluster->kind_names[kind];
    }
    return kept;
}

struct cluster_topology *cluster_topology_select(const struct cluster_topology *cluster,
                                                 const struct node_list *names,
                                                 struct error_info *err)
{
    CLEANUP_MEMORY unsigned *node_kinds =
        memory_allocate_array(node_list_count(names), sizeof(*node_kinds));
    CLEANUP_MEMORY struct node_topology **kinds =
        memory_allocate_array(cluster->kind_count, sizeof(struct node_topology *));
    CLEANUP_MEMORY const char **kind_names =
        memory_allocate_array(cluster->kind_count, sizeof(*kind_names));
    if (!node_kinds || !kinds || !kind_names)
        return error_null(error_set_memory(err));
    if (find_kinds(cluster, names, node_kinds, err) < 0)
        return NULL;
    CLEANUP(fabric) struct fabric *fabric = NULL;
    if (cluster->fabric && !(fabric = fabric_select(cluster->fabric, names, err)))
        return NULL;
    size_t kept = keep_kinds(cluster, node_kinds, node_list_count(names), kinds, kind_names);
    return cluster_topology_create(cluster->name, kinds, kind_names, kept, names, node_kinds,
                                   move_pointer(fabric), err);
}

unsigned cluster_tier_count(const struct cluster_topology *cluster)
{
    return cluster->fabric ? cluster->fabric->tier_count : 0;
}

const char *cluster_tier_name(const struct cluster_topology *cluster, unsigned tier)
{
    return tier < cluster_tier_count(cluster) ? cluster->fabric->tier_names[tier] : "unknown";
}

int cluster_distance(const struct cluster_topology *cluster, size_t left, size_t right)
{
    const struct cluster_node *a = &cluster->nodes[left], *b = &cluster->nodes[right];
    if (left == right)
        return DISTANCE_SAME_NODE;
    if (a->nvlink_block == b->nvlink_block)
        return DISTANCE_SAME_NVLINK_DOMAIN;
    if (a->fabric_node == FABRIC_NONE || b->fabric_node == FABRIC_NONE)
        return (int)cluster_tier_count(cluster);
    return (int)fabric_distance(cluster->fabric, a->fabric_node, b->fabric_node);
}
