/* SPDX-License-Identifier: MIT */
#include "report/pictures/fabric_columns.h"
#include <stdlib.h>
#include <string.h>

/* Children and nodes of each switch, each as one array with where a switch's part begins. */
struct tree {
    struct fabric_columns *columns;
    const struct fabric *fabric;
    size_t switch_count;
    unsigned *children, *child_start; /* start: switch_count + 2; the last part: the roots */
    unsigned *nodes, *node_start;     /* the last part: nodes of no switch */
    unsigned *width;                  /* columns that all of it would take */
    size_t placed;                    /* of columns->order */
};

const char *columns_node_name(const struct fabric_columns *columns, size_t node)
{
    return columns->cluster ? columns->cluster->nodes[node].name
                            : columns->fabric->nodes[node].name;
}

unsigned columns_fabric_node(const struct fabric_columns *columns, size_t node)
{
    return columns->cluster ? columns->cluster->nodes[node].fabric_node : (unsigned)node;
}

unsigned columns_nvlink_block(const struct fabric_columns *columns, size_t node)
{
    return columns->cluster ? columns->cluster->nodes[node].nvlink_block
                            : columns->fabric->nodes[node].nvlink_block;
}

static const struct fabric_node *place_of(const struct fabric_columns *columns, size_t node)
{
    unsigned at = columns->fabric ? columns_fabric_node(columns, node) : FABRIC_NONE;
    return at == FABRIC_NONE ? NULL : &columns->fabric->nodes[at];
}

static struct fabric_column *add_column(struct fabric_columns *columns, enum column_kind kind)
{
    struct fabric_column *column = &columns->columns[columns->count];
    /* The budget leaves room for the nodes astray; more than the maximum cannot be. */
    if (columns->count < COUNT_OF(columns->columns) - 1)
        columns->count++;
    *column = (struct fabric_column){.kind = kind, .above = FABRIC_NONE};
    return column;
}

/* A counting sort: items of each key one after the other. key_of gives 0 … keys - 1. */
struct sorting {
    const struct tree *tree;
    size_t count, keys;
    size_t (*key_of)(const struct tree *tree, size_t item);
};

static void sort_by_key(const struct sorting *sorting, unsigned *items, unsigned *start)
{
    for (size_t i = 0; i < sorting->count; i++)
        start[sorting->key_of(sorting->tree, i) + 1]++;
    for (size_t key = 0; key < sorting->keys; key++)
        start[key + 1] += start[key];
    for (size_t i = sorting->count; i-- > 0;) {
        size_t key = sorting->key_of(sorting->tree, i);
        items[--start[key + 1]] = (unsigned)i;
    }
    /* Each start was moved to the end of the part before it: one to the left. */
    memmove(start, start + 1, sorting->keys * sizeof(*start));
    start[sorting->keys] = (unsigned)sorting->count;
}

static size_t parent_key(const struct tree *tree, size_t index)
{
    unsigned parent = tree->fabric->switches[index].parent;
    return parent == FABRIC_NONE ? tree->switch_count : parent;
}

static size_t leaf_key(const struct tree *tree, size_t node)
{
    const struct fabric_node *place = place_of(tree->columns, node);
    return !place || place->leaf == FABRIC_NONE ? tree->switch_count : place->leaf;
}

static unsigned part_count(const unsigned *start, size_t key)
{
    return start[key + 1] - start[key];
}

/* Children stand below their parents' tier, so tiers upward settle children first. */
static void measure_widths(struct tree *tree)
{
    for (unsigned tier = 0; tier < tree->fabric->tier_count; tier++) {
        for (size_t i = 0; i < tree->switch_count; i++) {
            const struct fabric_switch *here = &tree->fabric->switches[i];
            if (here->tier != tier)
                continue;
            if (part_count(tree->child_start, i) == 0 || part_count(tree->node_start, i) > 0)
                tree->width[i]++;
            if (here->parent != FABRIC_NONE)
                tree->width[here->parent] += tree->width[i];
        }
    }
}

static void take_nodes(struct tree *tree, size_t key, struct fabric_column *column)
{
    unsigned count = part_count(tree->node_start, key);
    memcpy(&tree->columns->order[tree->placed], &tree->nodes[tree->node_start[key]],
           count * sizeof(*tree->nodes));
    tree->placed += count;
    column->node_count += count;
}

/* Depth: the tiers, FABRIC_MAXIMUM_TIERS at most. */
static void take_subtree(struct tree *tree, unsigned index, struct fabric_column *column)
{
    column->switches[tree->fabric->switches[index].tier]++;
    take_nodes(tree, index, column);
    for (unsigned i = tree->child_start[index]; i < tree->child_start[index + 1]; i++)
        take_subtree(tree, tree->children[i], column);
}

static void add_bundle(struct tree *tree, const unsigned *siblings, unsigned count)
{
    struct fabric_column *column = add_column(tree->columns, COLUMN_BUNDLE);
    column->first = tree->placed;
    column->above = tree->fabric->switches[siblings[0]].parent;
    for (unsigned i = 0; i < count; i++) {
        unsigned tier = tree->fabric->switches[siblings[i]].tier;
        column->top_tier = tier > column->top_tier ? tier : column->top_tier;
        take_subtree(tree, siblings[i], column);
    }
}

static void add_siblings(struct tree *tree, const unsigned *siblings, unsigned count,
                         unsigned budget);

static void add_switch(struct tree *tree, unsigned index, unsigned budget)
{
    unsigned children = part_count(tree->child_start, index);
    unsigned own = part_count(tree->node_start, index);
    if (children > 0 && own > 0 && budget < 2) {
        add_bundle(tree, &index, 1);
        return;
    }
    if (children == 0 || own > 0) {
        struct fabric_column *column =
            add_column(tree->columns, children == 0 ? COLUMN_LEAF : COLUMN_OWN);
        column->first = tree->placed;
        column->above = index;
        column->leaves[0] = index;
        column->leaf_count = column->leaf_total = children == 0 ? 1 : 0;
        take_nodes(tree, index, column);
        budget = budget > 1 ? budget - 1 : 1;
    }
    add_siblings(tree, &tree->children[tree->child_start[index]], children, budget);
}

/* All of them where they fit, else the first ones, a bundle, and the last. */
static void add_some(struct tree *tree, const unsigned *siblings, unsigned count, unsigned budget)
{
    unsigned first = budget > 2 ? budget - 2 : budget > 1 ? 1 : 0, last = budget > 2 ? 1 : 0;
    for (unsigned i = 0; i < first; i++)
        add_switch(tree, siblings[i], 1);
    add_bundle(tree, siblings + first, count - first - last);
    for (unsigned i = 0; i < last; i++)
        add_switch(tree, siblings[count - 1], 1);
}

static uint64_t total_width(const struct tree *tree, const unsigned *siblings, unsigned count)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < count; i++)
        total += tree->width[siblings[i]];
    return total;
}

static void add_siblings(struct tree *tree, const unsigned *siblings, unsigned count,
                         unsigned budget)
{
    uint64_t total = total_width(tree, siblings, count);
    if (count > budget) {
        add_some(tree, siblings, count, budget);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned width = tree->width[siblings[i]];
        unsigned share = budget / count + (i < budget % count);
        add_switch(tree, siblings[i], total <= budget || width < share ? width : share);
    }
}

static int tree_allocate(struct tree *tree, struct error_info *err)
{
    size_t switches = tree->switch_count, nodes = tree->columns->node_count;
    tree->children = memory_allocate_array(switches + 1, sizeof(*tree->children));
    tree->child_start = memory_allocate_array(switches + 2, sizeof(*tree->child_start));
    tree->nodes = memory_allocate_array(nodes + 1, sizeof(*tree->nodes));
    tree->node_start = memory_allocate_array(switches + 2, sizeof(*tree->node_start));
    tree->width = memory_allocate_array(switches + 1, sizeof(*tree->width));
    bool failed =
        !tree->children || !tree->child_start || !tree->nodes || !tree->node_start || !tree->width;
    return failed ? error_set_memory(err) : 0;
}

static void tree_done(struct tree *tree)
{
    memory_free(tree->children);
    memory_free(tree->child_start);
    memory_free(tree->nodes);
    memory_free(tree->node_start);
    memory_free(tree->width);
}

static int add_tree(struct fabric_columns *columns, struct error_info *err)
{
    struct tree tree = {.columns = columns,
                        .fabric = columns->fabric,
                        .switch_count = columns->fabric ? columns->fabric->switch_count : 0};
    if (tree_allocate(&tree, err) < 0) {
        tree_done(&tree);
        return -1;
    }
    const struct sorting by_parent = {&tree, tree.switch_count, tree.switch_count + 1, parent_key};
    const struct sorting by_leaf = {&tree, columns->node_count, tree.switch_count + 1, leaf_key};
    sort_by_key(&by_parent, tree.children, tree.child_start);
    sort_by_key(&by_leaf, tree.nodes, tree.node_start);
    if (tree.fabric)
        measure_widths(&tree);
    unsigned roots = part_count(tree.child_start, tree.switch_count);
    const unsigned *first = &tree.children[tree.child_start[tree.switch_count]];
    add_siblings(&tree, first, roots,
                 total_width(&tree, first, roots) <= COLUMNS_MAXIMUM ? COLUMNS_MAXIMUM
                                                                     : COLUMNS_OF_A_PART);
    if (part_count(tree.node_start, tree.switch_count) > 0) {
        struct fabric_column *column = add_column(columns, COLUMN_ASTRAY);
        column->first = tree.placed;
        take_nodes(&tree, tree.switch_count, column);
    }
    tree_done(&tree);
    return 0;
}

/* Order by the leaf of every rail; nodes without rails by their leaf. 0: one set. */
static int compare_sets(const struct fabric_columns *columns, unsigned left, unsigned right)
{
    const struct fabric_node *a = place_of(columns, left), *b = place_of(columns, right);
    if (!a || !b)
        return (!a) - (!b);
    for (unsigned rail = 0; rail < columns->fabric->rail_count; rail++) {
        unsigned x = a->rail_leaves ? a->rail_leaves[rail] : a->leaf;
        unsigned y = b->rail_leaves ? b->rail_leaves[rail] : b->leaf;
        if (x != y)
            return (x > y) - (x < y);
    }
    return 0;
}

static int compare_places(const void *left_pointer, const void *right_pointer, void *context)
{
    unsigned left = *(const unsigned *)left_pointer, right = *(const unsigned *)right_pointer;
    int order = compare_sets(context, left, right);
    return order ? order : (left > right) - (left < right);
}

static void add_set(struct fabric_columns *columns, size_t first, size_t count)
{
    const struct fabric_node *place = place_of(columns, columns->order[first]);
    bool astray = !place || (!place->rail_leaves && place->leaf == FABRIC_NONE);
    struct fabric_column *column = add_column(columns, astray ? COLUMN_ASTRAY : COLUMN_LEAF);
    column->first = first;
    column->node_count = count;
    unsigned rails = !astray && place->rail_leaves ? columns->fabric->rail_count : 1;
    for (unsigned rail = 0; !astray && rail < rails; rail++) {
        unsigned leaf = place->rail_leaves ? place->rail_leaves[rail] : place->leaf;
        if (leaf == FABRIC_NONE)
            continue;
        column->leaf_total++;
        if (column->leaf_count < COLUMN_LEAVES)
            column->leaves[column->leaf_count++] = leaf;
    }
}

static void add_more_sets(struct fabric_columns *columns, size_t first, size_t count, size_t sets)
{
    struct fabric_column *column = add_column(columns, COLUMN_BUNDLE);
    column->first = first;
    column->node_count = count;
    column->sets = sets;
}

static size_t set_end(const struct fabric_columns *columns, size_t first)
{
    size_t end = first + 1;
    while (end < columns->node_count &&
           compare_sets(columns, columns->order[first], columns->order[end]) == 0)
        end++;
    return end;
}

/* The first sets of leaves, a bundle, and the last, as in a tree. */
static void add_sets(struct fabric_columns *columns)
{
    size_t sets = 0, last = 0, bundle = 0, shown = COLUMNS_OF_RAILS - 2;
    for (size_t at = 0; at < columns->node_count; at = set_end(columns, at)) {
        bundle = sets == shown ? at : bundle;
        last = at;
        sets++;
    }
    if (sets <= COLUMNS_OF_RAILS)
        shown = sets;
    size_t at = 0;
    for (size_t i = 0; i < shown; i++) {
        size_t end = set_end(columns, at);
        add_set(columns, at, end - at);
        at = end;
    }
    if (shown == sets)
        return;
    add_more_sets(columns, bundle, last - bundle, sets - shown - 1);
    add_set(columns, last, columns->node_count - last);
}

static void add_rails(struct fabric_columns *columns)
{
    for (size_t i = 0; i < columns->node_count; i++)
        columns->order[i] = (unsigned)i;
    qsort_r(columns->order, columns->node_count, sizeof(*columns->order), compare_places, columns);
    add_sets(columns);
}

static bool has_rails(const struct fabric *fabric)
{
    for (size_t i = 0; fabric && i < fabric->node_count; i++)
        if (fabric->nodes[i].rail_leaves)
            return true;
    return false;
}

int fabric_columns_init(struct fabric_columns *columns, const struct fabric *fabric,
                        const struct cluster_topology *cluster, struct error_info *err)
{
    *columns = (struct fabric_columns){
        .fabric = fabric,
        .cluster = cluster,
        .node_count = cluster ? cluster->node_count : fabric->node_count,
        .railed = has_rails(fabric),
    };
    columns->order = memory_allocate_array(columns->node_count + 1, sizeof(*columns->order));
    if (!columns->order)
        return error_set_memory(err);
    if (!columns->railed)
        return add_tree(columns, err);
    add_rails(columns);
    return 0;
}

void fabric_columns_done(struct fabric_columns *columns) { memory_free(columns->order); }
