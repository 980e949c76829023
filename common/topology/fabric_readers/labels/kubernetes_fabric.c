/* SPDX-License-Identifier: MIT */
/* `kubectl get nodes -o json`. */
#include "base/json_document.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/labels/label_fabric.h"
#include <string.h>

#define TABLE_MAXIMUM_BYTES ((size_t)512 << 20)
#define SLINKY_ANNOTATION "topology.slinky.slurm.net/spec"
#define SLINKY_LABELS 2u

struct node_table {
    const char *source;
    struct arena *arena;
    struct fabric_label_node *nodes;
    bool *has_gpu;
    size_t count;
};

static int add_label(struct fabric_label_node *node, struct fabric_label *labels, const char *key,
                     const char *value)
{
    labels[node->label_count++] = (struct fabric_label){.key = key, .value = value};
    node->labels = labels;
    return 0;
}

/* "topo-switch:s0,topo-block:b0": the names of topologies are the site's; those of the chart's
 * examples say what they are. The last word of a path is the nearest unit. */
static int read_slinky(struct node_table *table, const char *text, struct fabric_label_node *node,
                       struct fabric_label *labels, struct error_info *err)
{
    char *copy = arena_copy_text(table->arena, text);
    if (!copy)
        return error_set_memory(err);
    bool has_block = false, has_switch = false;
    for (char *next, *entry = copy; entry; entry = next) {
        next = strchr(entry, ',');
        if (next)
            *next++ = '\0';
        char *colon = strchr(entry, ':'), *unit = strrchr(entry, ':');
        if (!colon)
            continue;
        *colon = '\0';
        if (strstr(entry, "block") && !has_block) {
            has_block = true;
            add_label(node, labels, "topology.slinky.slurm.net/block", unit + 1);
        } else if ((strstr(entry, "switch") || strstr(entry, "tree")) && !has_switch) {
            has_switch = true;
            add_label(node, labels, "topology.slinky.slurm.net/switch", unit + 1);
        }
    }
    return 0;
}

static int read_labels(struct node_table *table, const struct json_value *metadata,
                       struct fabric_label_node *node, struct error_info *err)
{
    const struct json_value *given = json_value_get(metadata, "labels");
    size_t count = json_value_count(given);
    if (count > LABEL_MAXIMUM_PER_NODE)
        return error_set(err, "%s: node %s has %zu labels; at most %u are possible", table->source,
                         node->name, count, LABEL_MAXIMUM_PER_NODE);
    struct fabric_label *labels =
        arena_allocate_array(table->arena, count + SLINKY_LABELS, sizeof(*labels));
    if (!labels)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct json_value *label = json_value_at(given, i);
        if (!json_value_key(label) || !json_value_text(label))
            return error_set(err, "%s: node %s: labels must be texts by name", table->source,
                             node->name);
        add_label(node, labels, json_value_key(label), json_value_text(label));
    }
    const struct json_value *annotations = json_value_get(metadata, "annotations");
    const char *slinky = json_value_text(json_value_get(annotations, SLINKY_ANNOTATION));
    return slinky ? read_slinky(table, slinky, node, labels, err) : 0;
}

/* Capacity stays where a node is not ready, or its plugin is down. */
static bool has_gpu(const struct json_value *item)
{
    const struct json_value *capacity = json_value_get(json_value_get(item, "status"), "capacity");
    for (size_t i = 0; i < json_value_count(capacity); i++) {
        const struct json_value *one = json_value_at(capacity, i);
        const char *key = json_value_key(one), *amount = json_value_text(one);
        const char *slash = key ? strchr(key, '/') : NULL;
        bool is_gpu = slash && (strcmp(slash, "/gpu") == 0 || strncmp(slash, "/mig-", 5) == 0);
        if (is_gpu && amount && strcmp(amount, "0") != 0)
            return true;
    }
    const struct json_value *labels = json_value_get(json_value_get(item, "metadata"), "labels");
    const char *present = json_value_text(json_value_get(labels, "nvidia.com/gpu.present"));
    return present && strcmp(present, "true") == 0;
}

static int read_node(struct node_table *table, const struct json_value *item,
                     struct error_info *err)
{
    const struct json_value *metadata = json_value_get(item, "metadata");
    struct fabric_label_node *node = &table->nodes[table->count];
    node->name = json_value_text(json_value_get(metadata, "name"));
    if (!node->name || !*node->name)
        return error_set(err, "%s: items[%zu] has no metadata.name; a list of nodes is expected",
                         table->source, table->count);
    table->has_gpu[table->count++] = has_gpu(item);
    return read_labels(table, metadata, node, err);
}

/* CPU nodes would only be counted as nodes without labels; where nothing tells of GPUs, all
 * nodes stay. */
static void keep_gpu_nodes(struct node_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->has_gpu[i])
            table->nodes[kept++] = table->nodes[i];
    table->count = kept > 0 ? kept : table->count;
}

static int read_nodes(struct node_table *table, const struct json_value *root,
                      struct error_info *err)
{
    const struct json_value *items = json_value_get(root, "items");
    if (json_value_kind(items) != JSON_ARRAY || json_value_count(items) == 0)
        return error_set(err,
                         "%s: no items: a list of nodes is expected, as kubectl get nodes -o json "
                         "prints it",
                         table->source);
    size_t count = json_value_count(items);
    if (count > LABEL_MAXIMUM_NODES)
        return error_set(err, "%s: %zu nodes are more than the %u that are possible", table->source,
                         count, LABEL_MAXIMUM_NODES);
    table->nodes = arena_allocate_array(table->arena, count, sizeof(*table->nodes));
    table->has_gpu = arena_allocate_array(table->arena, count, sizeof(*table->has_gpu));
    if (!table->nodes || !table->has_gpu)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        if (read_node(table, json_value_at(items, i), err) < 0)
            return -1;
    keep_gpu_nodes(table);
    return 0;
}

struct fabric *fabric_parse_kubernetes(const char *text, size_t bytes, const char *source,
                                       const struct fabric_label_keys *keys, struct error_info *err)
{
    if (bytes > JSON_MAXIMUM_BYTES)
        return error_null(error_set(err,
                                    "%s: larger than %zu MiB; leave status.images and "
                                    "managedFields out",
                                    source, JSON_MAXIMUM_BYTES >> 20));
    CLEANUP(json_value) struct json_value *root = json_value_parse(text, bytes, source, err);
    CLEANUP(arena) struct arena *arena = root ? arena_create(TABLE_MAXIMUM_BYTES) : NULL;
    if (!arena)
        return root ? error_null(error_set_memory(err)) : NULL;
    struct node_table table = {.source = source, .arena = arena};
    if (read_nodes(&table, root, err) < 0)
        return NULL;
    return fabric_from_labels(source, table.nodes, table.count,
                              keys ? keys : fabric_label_keys_default(), err);
}
