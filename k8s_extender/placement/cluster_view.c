/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/cluster_view.h"
#include "k8s_extender/placement/view_fabric.h"
#include "k8s_extender/placement/view_kinds.h"
#include <stdlib.h>
#include <string.h>

#define CLUSTER_NAME "kubernetes"
#define VIEW_ARENA_BYTES ((size_t)256 << 20)

/* --- the digest ------------------------------------------------------------------- */

/* SplitMix64's mixing (Steele, Lea, Flood 2014): a sum of mixed numbers has no order, and equal
 * parts do not cancel. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

uint64_t cluster_view_digest(const struct node_record *const *nodes, size_t count)
{
    uint64_t sum = mix(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t name = name_hash_add(NAME_HASH_START, nodes[i]->name, strlen(nodes[i]->name));
        sum += mix(name ^ mix(nodes[i]->digest + 1));
    }
    return sum;
}

/* --- the nodes -------------------------------------------------------------------- */

/* What is gathered before it is a cluster. */
struct draft {
    const struct node_record **sorted;
    struct view_fabric_node *nodes; /* those that are in the view */
    unsigned *node_kinds;
    size_t count;
    struct node_list *names;
    struct view_kinds *kinds;
    struct view_notes notes;
    struct cluster_view *view;
};

static void draft_done(struct draft *draft)
{
    memory_free(draft->sorted);
    memory_free(draft->nodes);
    memory_free(draft->node_kinds);
    node_list_free(draft->names);
    view_kinds_free(draft->kinds);
}

DEFINE_CLEANUP_DONE(draft);

static int compare_records(const void *left, const void *right)
{
    const struct node_record *const *a = left, *const *b = right;
    return node_name_compare((*a)->name, (*b)->name);
}

/* The API server lets no other name through; a record made by hand must not stop the rest. */
static int add_name(struct draft *draft, const char *name, bool *ret_added, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    if (draft->count == CLUSTER_MAXIMUM_NODES ||
        name_index_find(draft->view->names, name) != NAME_INDEX_NONE) {
        view_notes_add(&draft->notes, "node %s is left out: it stands twice, or there are too many",
                       name);
        return 0;
    }
    if (node_list_add(draft->names, name, &why) < 0) {
        view_notes_add(&draft->notes, "a node is left out: %s", why.text);
        return why.kind == ERROR_MEMORY ? error_set_memory(err) : 0;
    }
    *ret_added = true;
    return name_index_add(draft->view->names, name, draft->count) < 0 ? error_set_memory(err) : 0;
}

static int add_node(struct draft *draft, const struct node_record *record, struct error_info *err)
{
    struct view_choice choice;
    bool added = false;
    if (view_kinds_choose(draft->kinds, record, &choice, err) < 0)
        return -1;
    if (choice.kind == VIEW_KIND_NONE)
        return 0;
    if (add_name(draft, record->name, &added, err) < 0)
        return -1;
    if (!added)
        return 0;
    const char *clique = "";
    if (choice.clique[0] && !(clique = arena_copy_text(draft->view->arena, choice.clique)))
        return error_set_memory(err);
    draft->nodes[draft->count] = (struct view_fabric_node){.record = record, .clique = clique};
    draft->node_kinds[draft->count++] = choice.kind;
    return 0;
}

static int add_nodes(struct draft *draft, const struct node_record *const *nodes, size_t count,
                     struct error_info *err)
{
    if (count > 0)
        memcpy(draft->sorted, nodes, count * sizeof(*nodes));
    if (count > 1)
        qsort(draft->sorted, count, sizeof(*draft->sorted), compare_records);
    for (size_t i = 0; i < count; i++)
        if (add_node(draft, draft->sorted[i], err) < 0)
            return -1;
    return 0;
}

/* --- the view --------------------------------------------------------------------- */

static int make_cluster(struct draft *draft, const struct fabric_label_keys *keys,
                        struct error_info *err)
{
    CLEANUP(fabric) struct fabric *fabric = NULL;
    unsigned count = view_kinds_count(draft->kinds);
    if (draft->count == 0)
        return 0;
    CLEANUP_MEMORY struct node_topology **kinds =
        memory_allocate_array(count, sizeof(struct node_topology *));
    CLEANUP_MEMORY const char **names = memory_allocate_array(count, sizeof(*names));
    if (!kinds || !names)
        return error_set_memory(err);
    if (view_fabric_create(draft->nodes, draft->count, keys, &draft->notes, &fabric, err) < 0 ||
        view_kinds_take(draft->kinds, kinds, names, err) < 0)
        return -1;
    draft->view->cluster = cluster_topology_create(CLUSTER_NAME, kinds, names, count, draft->names,
                                                   draft->node_kinds, move_pointer(fabric), err);
    if (!draft->view->cluster)
        return -1;
    const struct fabric *made = draft->view->cluster->fabric;
    for (size_t i = 0; made && i < made->warning_count; i++)
        view_notes_add(&draft->notes, "%s", made->warnings[i]);
    return 0;
}

static int take_notes(struct draft *draft, struct error_info *err)
{
    struct view_notes *notes = &draft->notes;
    view_notes_close(notes);
    const char **lines = arena_allocate_array(notes->arena, notes->count + 1, sizeof(*lines));
    if (notes->failed || !lines)
        return error_set_memory(err);
    memcpy(lines, notes->lines, notes->count * sizeof(*lines));
    draft->view->warnings = lines;
    draft->view->warning_count = notes->count;
    return 0;
}

static struct cluster_view *create_empty(void)
{
    CLEANUP(arena) struct arena *arena = arena_create(VIEW_ARENA_BYTES);
    struct cluster_view *view = arena ? arena_allocate(arena, sizeof(*view)) : NULL;
    if (!view)
        return NULL;
    view->names = name_index_create();
    if (!view->names)
        return NULL;
    view->arena = move_pointer(arena);
    return view;
}

static int fill_draft(struct draft *draft, const struct node_record *const *nodes, size_t count,
                      const struct cluster_view_sources *sources, struct error_info *err)
{
    draft->names = node_list_create(err);
    draft->sorted = memory_allocate_array(count + 1, sizeof(*draft->sorted));
    draft->nodes = memory_allocate_array(count + 1, sizeof(*draft->nodes));
    draft->node_kinds = memory_allocate_array(count + 1, sizeof(*draft->node_kinds));
    draft->kinds = view_kinds_create(sources->presets, sources->gpus, &draft->notes);
    if (!draft->names || !draft->sorted || !draft->nodes || !draft->node_kinds || !draft->kinds)
        return error_set_memory(err);
    if (add_nodes(draft, nodes, count, err) < 0 || make_cluster(draft, sources->keys, err) < 0)
        return -1;
    return take_notes(draft, err);
}

struct cluster_view *cluster_view_create(const struct node_record *const *nodes, size_t count,
                                         const struct cluster_view_sources *sources,
                                         struct error_info *err)
{
    CLEANUP(cluster_view) struct cluster_view *view = create_empty();
    if (!view)
        return error_null(error_set_memory(err));
    CLEANUP_DONE(draft) struct draft draft = {.notes = {.arena = view->arena}, .view = view};
    if (fill_draft(&draft, nodes, count, sources, err) < 0)
        return NULL;
    view->digest = cluster_view_digest(nodes, count);
    return move_pointer(view);
}

struct cluster_view *cluster_view_share(struct cluster_view *view)
{
    __atomic_fetch_add(&view->holders, 1, __ATOMIC_RELAXED);
    return view;
}

void cluster_view_free(struct cluster_view *view)
{
    if (!view || __atomic_fetch_sub(&view->holders, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    cluster_topology_free(view->cluster);
    name_index_free(view->names);
    arena_free(view->arena);
}

uint32_t cluster_view_find(const struct cluster_view *view, const char *node)
{
    size_t found = name_index_find(view->names, node);
    return found == NAME_INDEX_NONE ? VIEW_NODE_NONE : (uint32_t)found;
}
