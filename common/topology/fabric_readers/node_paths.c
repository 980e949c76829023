/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/node_paths.h"

#define PATHS_MAXIMUM_BYTES ((size_t)512 << 20)
#define FIRST_CAPACITY 64u

struct path_switch {
    const char *name;
    unsigned tier;
    unsigned parent; /* or FABRIC_NONE */
    bool repeats;    /* at another tier */
    bool is_disputed;
};

struct path_node {
    const char *name;
    unsigned nearest; /* or FABRIC_NONE */
};

struct tier {
    const char *name, *key;
    struct name_index *numbers; /* of its switches */
    size_t node_count;
    const char *first_without; /* a node */
};

struct node_paths {
    struct fabric_draft *draft;
    const char *source;
    struct arena *arena;
    struct tier tiers[FABRIC_MAXIMUM_TIERS];
    unsigned tier_count;
    struct name_index *names; /* of all tiers: the first switch of that name */
    struct path_switch *switches;
    size_t switch_count, switch_capacity;
    struct path_node *nodes;
    size_t node_count, node_capacity;
};

struct node_paths *node_paths_create(struct fabric_draft *draft, const char *source,
                                     const char *const *tier_names, const char *const *keys,
                                     unsigned tier_count, struct error_info *err)
{
    CLEANUP(node_paths) struct node_paths *paths = memory_allocate(sizeof(*paths));
    if (!paths)
        return error_null(error_set_memory(err));
    paths->draft = draft;
    paths->source = source;
    paths->arena = arena_create(PATHS_MAXIMUM_BYTES);
    paths->names = name_index_create();
    bool complete = paths->arena && paths->names;
    paths->tier_count = tier_count;
    for (unsigned i = 0; i < tier_count; i++) {
        paths->tiers[i] =
            (struct tier){.name = tier_names[i], .key = keys[i], .numbers = name_index_create()};
        complete = complete && paths->tiers[i].numbers;
    }
    return complete ? move_pointer(paths) : error_null(error_set_memory(err));
}

void node_paths_free(struct node_paths *paths)
{
    if (!paths)
        return;
    for (unsigned i = 0; i < paths->tier_count; i++)
        name_index_free(paths->tiers[i].numbers);
    name_index_free(paths->names);
    memory_free(paths->switches);
    memory_free(paths->nodes);
    arena_free(paths->arena);
    memory_free(paths);
}

/* The array with room for one more, or NULL. */
static void *make_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = memory_grow_array(array, *capacity, wanted, element_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

static int add_switch(struct node_paths *paths, unsigned tier, const char *name,
                      struct error_info *err)
{
    size_t number = paths->switch_count;
    if (number == FABRIC_MAXIMUM_SWITCHES)
        return error_set(err, "%s: more than %u switches", paths->source, FABRIC_MAXIMUM_SWITCHES);
    struct path_switch *grown =
        make_room(paths->switches, number, &paths->switch_capacity, sizeof(*grown));
    paths->switches = grown ? grown : paths->switches;
    const char *copy = grown ? arena_copy_text(paths->arena, name) : NULL;
    int added = copy ? name_index_add(paths->names, copy, number) : -1;
    if (added < 0 || name_index_add(paths->tiers[tier].numbers, copy, number) < 0)
        return error_set_memory(err);
    if (added > 0)
        grown[name_index_find(paths->names, copy)].repeats = true;
    grown[number] = (struct path_switch){
        .name = copy, .tier = tier, .parent = FABRIC_NONE, .repeats = added > 0};
    paths->switch_count++;
    return 0;
}

static int intern_switch(struct node_paths *paths, unsigned tier, const char *name,
                         unsigned *ret_number, struct error_info *err)
{
    size_t number = name_index_find(paths->tiers[tier].numbers, name);
    if (number == NAME_INDEX_NONE) {
        number = paths->switch_count;
        if (add_switch(paths, tier, name, err) < 0)
            return -1;
    }
    *ret_number = (unsigned)number;
    return 0;
}

/* Between tiers, so at most FABRIC_MAXIMUM_TIERS deep. */
static void link_switches(struct node_paths *paths, unsigned child, unsigned parent)
{
    struct path_switch *switches = paths->switches, *lower = &switches[child];
    unsigned known = lower->parent;
    if (known == parent)
        return;
    if (known == FABRIC_NONE) {
        lower->parent = parent;
    } else if (switches[known].tier < switches[parent].tier) { /* this path skips a tier */
        link_switches(paths, known, parent);
    } else if (switches[known].tier > switches[parent].tier) { /* an earlier one did */
        lower->parent = parent;
        link_switches(paths, parent, known);
    } else if (!lower->is_disputed) {
        lower->is_disputed = true;
        fabric_draft_warn(paths->draft, "%s: %s %s is below %s and below %s; the first is kept",
                          paths->source, paths->tiers[lower->tier].name, lower->name,
                          switches[known].name, switches[parent].name);
    }
}

static int add_node(struct node_paths *paths, const char *name, struct error_info *err)
{
    struct path_node *grown =
        make_room(paths->nodes, paths->node_count, &paths->node_capacity, sizeof(*grown));
    paths->nodes = grown ? grown : paths->nodes;
    const char *copy = grown ? arena_copy_text(paths->arena, name) : NULL;
    if (!copy)
        return error_set_memory(err);
    grown[paths->node_count++] = (struct path_node){.name = copy, .nearest = FABRIC_NONE};
    return 0;
}

int node_paths_add(struct node_paths *paths, const char *node, const char *const *names,
                   struct error_info *err)
{
    if (add_node(paths, node, err) < 0)
        return -1;
    struct path_node *here = &paths->nodes[paths->node_count - 1];
    unsigned below = FABRIC_NONE;
    for (unsigned i = 0; i < paths->tier_count; i++) {
        struct tier *tier = &paths->tiers[i];
        if (!names[i] || !*names[i]) {
            tier->first_without = tier->first_without ? tier->first_without : here->name;
            continue;
        }
        unsigned number = 0;
        if (intern_switch(paths, i, names[i], &number, err) < 0)
            return -1;
        tier->node_count++;
        if (below == FABRIC_NONE)
            here->nearest = number;
        else
            link_switches(paths, below, number);
        below = number;
    }
    return 0;
}

static void name_tiers(struct node_paths *paths)
{
    const char *names[FABRIC_MAXIMUM_TIERS];
    unsigned count = 0;
    for (unsigned i = 0; i < paths->tier_count; i++) {
        const struct tier *tier = &paths->tiers[i];
        if (tier->node_count == 0)
            continue;
        names[count++] = tier->name;
        if (tier->first_without)
            fabric_draft_warn(paths->draft, "%s: %zu of %zu nodes have no %s, the first is %s",
                              paths->source, paths->node_count - tier->node_count,
                              paths->node_count, tier->key, tier->first_without);
    }
    fabric_draft_name_tiers(paths->draft, names, count);
}

static int place_switch(struct node_paths *paths, size_t number, struct error_info *err)
{
    const struct path_switch *from = &paths->switches[number];
    const char *tier = paths->tiers[from->tier].name;
    const char *name =
        from->repeats ? arena_format(paths->arena, "%s/%s", tier, from->name) : from->name;
    struct fabric_switch_input *entry = name ? fabric_draft_add_switch(paths->draft, name, 0, err)
                                             : error_null(error_set_memory(err));
    if (!entry)
        return -1;
    entry->tier_name = tier;
    return 0;
}

int node_paths_place(struct node_paths *paths, struct error_info *err)
{
    struct fabric_draft *draft = paths->draft;
    size_t base = fabric_draft_switch_count(draft);
    name_tiers(paths);
    for (size_t i = 0; i < paths->switch_count; i++)
        if (place_switch(paths, i, err) < 0)
            return -1;
    for (size_t i = 0; i < paths->switch_count; i++) {
        unsigned parent = paths->switches[i].parent;
        const char *name = fabric_draft_switch(draft, base + i)->name;
        if (parent != FABRIC_NONE && fabric_draft_add_child(draft, base + parent, name, err) < 0)
            return error_prefix(err, "%s", paths->source);
    }
    for (size_t i = 0; i < paths->node_count; i++) {
        const struct path_node *node = &paths->nodes[i];
        if (node->nearest != FABRIC_NONE &&
            fabric_draft_add_node(draft, base + node->nearest, node->name, err) < 0)
            return error_prefix(err, "%s", paths->source);
    }
    return 0;
}

int node_paths_domain(struct fabric_draft *draft, struct name_index *ids, const char *name,
                      const char *id, unsigned line, size_t *ret_domain, struct error_info *err)
{
    size_t number = name_index_find(ids, id);
    if (number == NAME_INDEX_NONE) {
        number = fabric_draft_domain_count(draft);
        if (fabric_draft_add_domain(draft, name, id, line, err) < 0)
            return -1;
        fabric_draft_set_candidate(draft, number); /* labels name racks of boxes, too */
        if (name_index_add(ids, id, number) < 0)
            return error_set_memory(err);
    }
    *ret_domain = number;
    return 0;
}
