/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/labels/label_fabric.h"
#include "topology/fabric_readers/node_paths.h"
#include <string.h>

/* The values of all known keys: node after node, a column for each key. */
struct label_table {
    const char *source;
    const struct fabric_label_node *nodes;
    size_t node_count;
    const struct fabric_label_keys *keys;
    struct name_index *columns; /* by key */
    size_t column_count;
    const char **values; /* NULL: not there, or empty */
};

static int add_column(struct label_table *table, const char *key, struct error_info *err)
{
    int added = key ? name_index_add(table->columns, key, table->column_count) : 1;
    table->column_count += added == 0;
    return added < 0 ? error_set_memory(err) : 0;
}

static int add_columns(struct label_table *table, struct error_info *err)
{
    const struct fabric_label_keys *keys = table->keys;
    for (size_t i = 0; i < keys->domain_count; i++)
        if (add_column(table, keys->domains[i].key, err) < 0 ||
            add_column(table, keys->domains[i].sub_key, err) < 0)
            return -1;
    for (size_t i = 0; i < keys->tier_set_count; i++)
        for (unsigned k = 0; k < keys->tier_sets[i].count; k++)
            if (add_column(table, keys->tier_sets[i].keys[k], err) < 0)
                return -1;
    return 0;
}

static int fill_row(struct label_table *table, size_t number, struct error_info *err)
{
    const struct fabric_label_node *node = &table->nodes[number];
    if (node->label_count > LABEL_MAXIMUM_PER_NODE)
        return error_set(err, "%s: node %s has %zu labels; at most %u are possible", table->source,
                         node->name, node->label_count, LABEL_MAXIMUM_PER_NODE);
    for (size_t i = 0; i < node->label_count; i++) {
        size_t column = name_index_find(table->columns, node->labels[i].key);
        const char *value = node->labels[i].value;
        if (column != NAME_INDEX_NONE && value && *value)
            table->values[number * table->column_count + column] = value;
    }
    return 0;
}

static int fill_table(struct label_table *table, struct error_info *err)
{
    if (table->node_count > LABEL_MAXIMUM_NODES)
        return error_set(err, "%s: %zu nodes are more than the %u that are possible", table->source,
                         table->node_count, LABEL_MAXIMUM_NODES);
    table->columns = name_index_create();
    if (!table->columns)
        return error_set_memory(err);
    if (add_columns(table, err) < 0)
        return -1;
    table->values =
        memory_allocate_array(table->node_count, table->column_count * sizeof(*table->values));
    if (!table->values)
        return error_set_memory(err);
    for (size_t i = 0; i < table->node_count; i++)
        if (fill_row(table, i, err) < 0)
            return -1;
    return 0;
}

static const char *value_of(const struct label_table *table, size_t node, const char *key)
{
    size_t column = key ? name_index_find(table->columns, key) : NAME_INDEX_NONE;
    return column == NAME_INDEX_NONE || !table->values
               ? NULL
               : table->values[node * table->column_count + column];
}

/* --- domains ---------------------------------------------------------------------- */

static size_t count_nodes_with(const struct label_table *table, const char *key)
{
    size_t count = 0, column = name_index_find(table->columns, key); /* each key has one */
    for (size_t i = 0; table->values && i < table->node_count; i++)
        count += table->values[i * table->column_count + column] != NULL;
    return count;
}

/* The first key in use, or NULL. */
static const struct fabric_label_domain *choose_domain(const struct label_table *table)
{
    for (size_t i = 0; i < table->keys->domain_count; i++)
        if (count_nodes_with(table, table->keys->domains[i].key) > 0)
            return &table->keys->domains[i];
    return NULL;
}

/* The first later key that the node has, or NULL. */
static const char *later_domain_key(const struct label_table *table, size_t node,
                                    const struct fabric_label_domain *chosen)
{
    const struct fabric_label_domain *end = table->keys->domains + table->keys->domain_count;
    for (const struct fabric_label_domain *later = chosen + 1; later < end; later++)
        if (value_of(table, node, later->key))
            return later->key;
    return NULL;
}

static int add_to_domain(struct fabric_draft *draft, struct name_index *ids, const char *node,
                         const char *id, struct error_info *err)
{
    size_t domain = 0;
    if (node_paths_domain(draft, ids, NULL, id, 0, &domain, err) < 0)
        return -1;
    return fabric_draft_add_domain_node(draft, domain, node, err);
}

static int place_in_domain(const struct label_table *table, size_t number,
                           const struct fabric_label_domain *keys, struct fabric_draft *draft,
                           struct name_index *ids, struct error_info *err)
{
    const char *node = table->nodes[number].name, *id = value_of(table, number, keys->key);
    const char *sub = value_of(table, number, keys->sub_key);
    if (!sub)
        return add_to_domain(draft, ids, node, id, err);
    CLEANUP_DONE(text_buffer) struct text_buffer both;
    text_buffer_init(&both, FABRIC_TEXT_MAXIMUM_BYTES);
    text_buffer_add(&both, "%s/%s", id, sub);
    if (text_buffer_failed(&both))
        return error_set_memory(err);
    return add_to_domain(draft, ids, node, text_buffer_text(&both), err);
}

static int place_domains(const struct label_table *table, struct fabric_draft *draft,
                         struct error_info *err)
{
    const struct fabric_label_domain *chosen = choose_domain(table);
    if (!chosen)
        return 0;
    CLEANUP(name_index) struct name_index *ids = name_index_create();
    if (!ids)
        return error_set_memory(err);
    const char *later = NULL, *first = NULL;
    size_t left_out = 0;
    for (size_t i = 0; i < table->node_count; i++) {
        if (value_of(table, i, chosen->key)) {
            if (place_in_domain(table, i, chosen, draft, ids, err) < 0)
                return error_prefix(err, "%s", table->source);
            continue;
        }
        const char *key = later_domain_key(table, i, chosen);
        if (key && fabric_draft_add_other_node(draft, table->nodes[i].name, err) < 0)
            return error_prefix(err, "%s", table->source);
        left_out += key != NULL;
        first = key && !first ? table->nodes[i].name : first;
        later = later ? later : key;
    }
    if (left_out > 0)
        fabric_draft_warn(draft,
                          "%s: %zu nodes have no %s, only %s, and are in no domain; the first is "
                          "%s",
                          table->source, left_out, chosen->key, later, first);
    return 0;
}

/* --- tiers ------------------------------------------------------------------------ */

static size_t count_nodes_with_any(const struct label_table *table,
                                   const struct fabric_label_tiers *set)
{
    size_t count = 0;
    for (size_t i = 0; i < table->node_count; i++) {
        bool any = false;
        for (unsigned k = 0; k < set->count && !any; k++)
            any = value_of(table, i, set->keys[k]) != NULL;
        count += any;
    }
    return count;
}

static const struct fabric_label_tiers *choose_set(const struct label_table *table)
{
    const struct fabric_label_tiers *chosen = NULL;
    size_t most = 0;
    for (unsigned nearest = 1; nearest + 1 > 0 && most == 0; nearest--)
        for (size_t i = 0; i < table->keys->tier_set_count; i++) {
            const struct fabric_label_tiers *set = &table->keys->tier_sets[i];
            size_t count =
                nearest ? count_nodes_with(table, set->keys[0]) : count_nodes_with_any(table, set);
            if (count <= most)
                continue;
            most = count;
            chosen = set;
        }
    return chosen;
}

/* "spine" of "network.topology.nvidia.com/spine"; the whole key where two end alike. */
static const char *tier_name(const struct fabric_label_tiers *set, unsigned tier)
{
    const char *slash = strrchr(set->keys[tier], '/');
    const char *word = slash && slash[1] ? slash + 1 : set->keys[tier];
    for (unsigned i = 0; i < set->count; i++) {
        const char *other = strrchr(set->keys[i], '/');
        other = other && other[1] ? other + 1 : set->keys[i];
        if (i != tier && strcmp(other, word) == 0)
            return set->keys[tier];
    }
    return word;
}

static int place_tiers(const struct label_table *table, struct fabric_draft *draft,
                       struct error_info *err)
{
    const struct fabric_label_tiers *set = choose_set(table);
    if (!set)
        return 0;
    const char *names[FABRIC_MAXIMUM_TIERS];
    for (unsigned i = 0; i < set->count; i++)
        names[i] = tier_name(set, i);
    CLEANUP(node_paths)
    struct node_paths *paths =
        node_paths_create(draft, table->source, names, set->keys, set->count, err);
    if (!paths)
        return -1;
    for (size_t i = 0; i < table->node_count; i++) {
        const char *values[FABRIC_MAXIMUM_TIERS];
        for (unsigned k = 0; k < set->count; k++)
            values[k] = value_of(table, i, set->keys[k]);
        if (node_paths_add(paths, table->nodes[i].name, values, err) < 0)
            return -1;
    }
    return node_paths_place(paths, err);
}

static struct fabric *build(struct label_table *table, struct error_info *err)
{
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(table->source, err);
    if (!draft || fill_table(table, err) < 0 || place_tiers(table, draft, err) < 0 ||
        place_domains(table, draft, err) < 0)
        return NULL;
    if (fabric_draft_switch_count(draft) + fabric_draft_domain_count(draft) == 0)
        return error_null(error_set(err,
                                    "%s: none of %zu nodes has a label that names its switches "
                                    "or its NVLink domain (as %s); let topograph or the cloud "
                                    "label them, or name the keys in use",
                                    table->source, table->node_count, table->keys->domains[0].key));
    return fabric_draft_build(draft, err);
}

struct fabric *fabric_from_labels(const char *source, const struct fabric_label_node *nodes,
                                  size_t node_count, const struct fabric_label_keys *keys,
                                  struct error_info *err)
{
    struct label_table table = {
        .source = source, .nodes = nodes, .node_count = node_count, .keys = keys};
    struct fabric *fabric = build(&table, err);
    name_index_free(table.columns);
    memory_free(table.values);
    return fabric;
}
