/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/view_fabric.h"
#include <stdlib.h>
#include <string.h>

#define SOURCE "node labels"
#define CLIQUE_KEY "nvidia.com/gpu.clique"
#define MAXIMUM_KEYS                                                                               \
    (2 * LABEL_MAXIMUM_DOMAIN_KEYS + LABEL_MAXIMUM_TIER_SETS * FABRIC_MAXIMUM_TIERS)
#define LABELS_ARENA_BYTES ((size_t)1 << 30)

struct known_key {
    const char *key;
    bool is_domain;
};

struct label_table {
    struct known_key keys[MAXIMUM_KEYS]; /* sorted, each once */
    size_t key_count;
    struct fabric_label_node *nodes;
    size_t node_count;
    size_t label_count; /* of all nodes */
    bool has_cliques, has_domains;
    struct arena *arena;
};

static int compare_keys(const void *left, const void *right)
{
    const struct known_key *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (int)b->is_domain - (int)a->is_domain; /* the domain's stays */
}

static void add_key(struct label_table *table, const char *key, bool is_domain)
{
    if (key && table->key_count < MAXIMUM_KEYS)
        table->keys[table->key_count++] = (struct known_key){key, is_domain};
}

static void list_keys(struct label_table *table, const struct fabric_label_keys *keys)
{
    for (size_t i = 0; i < keys->domain_count; i++) {
        add_key(table, keys->domains[i].key, true);
        add_key(table, keys->domains[i].sub_key, false);
    }
    for (size_t i = 0; i < keys->tier_set_count; i++)
        for (unsigned k = 0; k < keys->tier_sets[i].count; k++)
            add_key(table, keys->tier_sets[i].keys[k], false);
    qsort(table->keys, table->key_count, sizeof(*table->keys), compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < table->key_count; i++)
        if (kept == 0 || strcmp(table->keys[kept - 1].key, table->keys[i].key) != 0)
            table->keys[kept++] = table->keys[i];
    table->key_count = kept;
}

static void note_key(struct label_table *table, const struct known_key *known)
{
    table->label_count++;
    table->has_domains = table->has_domains || known->is_domain;
    table->has_cliques = table->has_cliques || strcmp(known->key, CLIQUE_KEY) == 0;
}

/* The known ones of a node's labels: both are sorted. Room for one more stays: the clique. */
static int pick_labels(struct label_table *table, const struct node_record *node,
                       struct error_info *err)
{
    struct fabric_label picked[MAXIMUM_KEYS];
    size_t count = 0, key = 0;
    for (size_t i = 0; i < node->labels.count && key < table->key_count;) {
        const struct label *label = &node->labels.labels[i];
        int order = strcmp(label->key, table->keys[key].key);
        if (order == 0 && label->value[0]) {
            picked[count++] = (struct fabric_label){label->key, label->value};
            note_key(table, &table->keys[key]);
        }
        i += order <= 0;
        key += order >= 0;
    }
    struct fabric_label *labels = arena_allocate_array(table->arena, count + 1, sizeof(*labels));
    if (!labels)
        return error_set_memory(err);
    if (count > 0)
        memcpy(labels, picked, count * sizeof(*labels));
    table->nodes[table->node_count++] =
        (struct fabric_label_node){.name = node->name, .labels = labels, .label_count = count};
    return 0;
}

static bool has_clique(const struct fabric_label_node *node)
{
    for (size_t i = 0; i < node->label_count; i++)
        if (strcmp(node->labels[i].key, CLIQUE_KEY) == 0)
            return true;
    return false;
}

static bool knows_cliques(const struct label_table *table)
{
    const struct known_key wanted = {CLIQUE_KEY, true};
    return bsearch(&wanted, table->keys, table->key_count, sizeof(wanted), compare_keys) != NULL;
}

static void add_cliques(struct label_table *table, const struct view_fabric_node *nodes)
{
    if (!knows_cliques(table) || (table->has_domains && !table->has_cliques))
        return;
    for (size_t i = 0; i < table->node_count; i++) {
        struct fabric_label_node *node = &table->nodes[i];
        struct fabric_label *labels = (struct fabric_label *)node->labels; /* the table's own */
        if (!nodes[i].clique[0] || has_clique(node))
            continue;
        labels[node->label_count++] = (struct fabric_label){CLIQUE_KEY, nodes[i].clique};
        table->label_count++;
    }
}

static int fill_table(struct label_table *table, const struct view_fabric_node *nodes, size_t count,
                      const struct fabric_label_keys *keys, struct error_info *err)
{
    table->nodes = arena_allocate_array(table->arena, count, sizeof(*table->nodes));
    if (!table->nodes)
        return error_set_memory(err);
    list_keys(table, keys);
    for (size_t i = 0; i < count; i++)
        if (pick_labels(table, nodes[i].record, err) < 0)
            return -1;
    add_cliques(table, nodes);
    return 0;
}

int view_fabric_create(const struct view_fabric_node *nodes, size_t count,
                       const struct fabric_label_keys *keys, struct view_notes *notes,
                       struct fabric **ret, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(LABELS_ARENA_BYTES);
    CLEANUP_MEMORY struct label_table *table = memory_allocate(sizeof(*table));
    if (!arena || !table)
        return error_set_memory(err);
    table->arena = arena;
    if (fill_table(table, nodes, count, keys, err) < 0)
        return -1;
    if (table->label_count == 0)
        return 0;
    struct error_info why = {.kind = ERROR_NONE};
    struct fabric *fabric = fabric_from_labels(SOURCE, table->nodes, count, keys, &why);
    if (!fabric && why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (!fabric)
        view_notes_add(notes, "%s; nothing is known between nodes", why.text);
    *ret = fabric;
    return 0;
}
