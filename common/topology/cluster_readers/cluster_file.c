/* SPDX-License-Identifier: MIT */
/* cluster.yaml: kinds and nodes; the fabric: section is cluster_fabric.c's. */
#include "base/yaml_fields.h"
#include "topology/cluster_readers/cluster_fabric.h"
#include "topology/cluster_readers/cluster_kind.h"
#include "topology/cluster_topology.h"
#include <string.h>

#define CLUSTER_SCHEMA "parplan.cluster/1"
#define MAXIMUM_KINDS 256u

struct cluster_entry {
    const struct yaml_node *kinds, *nodes, *fabric;
};

static const struct yaml_field cluster_fields[] = {
    {.key = "kinds",
     .type = YAML_NODE,
     .offset = offsetof(struct cluster_entry, kinds),
     .required = true},
    {.key = "nodes",
     .type = YAML_NODE,
     .offset = offsetof(struct cluster_entry, nodes),
     .required = true},
    {.key = "fabric", .type = YAML_NODE, .offset = offsetof(struct cluster_entry, fabric)},
};

struct nodes_entry {
    const char *names, *kind;
};

static const struct yaml_field nodes_fields[] = {
    {.key = "names",
     .type = YAML_TEXT,
     .offset = offsetof(struct nodes_entry, names),
     .required = true},
    {.key = "kind",
     .type = YAML_TEXT,
     .offset = offsetof(struct nodes_entry, kind),
     .required = true},
};

/* What the file's sections become, until the cluster takes them. */
struct file {
    struct node_topology *kinds[MAXIMUM_KINDS];
    const char *kind_names[MAXIMUM_KINDS];
    size_t kind_count;
    struct node_list *names;
    struct name_index *seen; /* node -> entry of the list */
    unsigned *node_kinds;
    size_t kinds_capacity;
    struct fabric *fabric;
};

static void file_done(struct file *file)
{
    for (size_t i = 0; i < file->kind_count; i++)
        node_topology_free(file->kinds[i]);
    node_list_free(file->names);
    name_index_free(file->seen);
    memory_free(file->node_kinds);
    fabric_free(file->fabric);
}

static int load_kinds(const struct yaml_node *kinds, struct file *file,
                      const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                      struct error_info *err)
{
    if (kinds->kind != YAML_MAPPING || kinds->child_count == 0)
        return yaml_node_error(kinds, err, "NAME: {preset: dgx-h100} is expected, for each kind");
    if (kinds->child_count > MAXIMUM_KINDS)
        return yaml_node_error(kinds, err, "%zu kinds are more than the %u that are possible",
                               kinds->child_count, MAXIMUM_KINDS);
    for (size_t i = 0; i < kinds->child_count; i++) {
        struct node_topology *kind = cluster_kind_load(kinds->children[i], presets, gpus, err);
        if (!kind)
            return -1;
        file->kind_names[file->kind_count] = kinds->children[i]->key;
        file->kinds[file->kind_count++] = kind;
    }
    return 0;
}

static int find_kind(const struct file *file, const struct yaml_node *node, const char *name,
                     unsigned *ret_kind, struct error_info *err)
{
    for (unsigned i = 0; i < file->kind_count; i++) {
        if (strcmp(file->kind_names[i], name) != 0)
            continue;
        *ret_kind = i;
        return 0;
    }
    const char *nearest = name_nearest(name, file->kind_names, file->kind_count);
    return yaml_node_error(yaml_node_get(node, "kind"), err, "no kind is called %s%s%s", name,
                           nearest ? "; did you mean " : "", nearest ? nearest : "");
}

static int grow_kinds(struct file *file, size_t needed, struct error_info *err)
{
    if (needed <= file->kinds_capacity)
        return 0;
    unsigned *grown = memory_grow_array(file->node_kinds, file->kinds_capacity, needed,
                                        sizeof(*file->node_kinds));
    if (!grown)
        return error_set_memory(err);
    file->node_kinds = grown;
    file->kinds_capacity = needed;
    return 0;
}

static int add_names(struct file *file, const struct yaml_node *node, size_t entry,
                     const struct node_list *names, unsigned kind, struct error_info *err)
{
    size_t count = node_list_count(names), before = node_list_count(file->names);
    if (count > CLUSTER_MAXIMUM_NODES || before > CLUSTER_MAXIMUM_NODES - count)
        return yaml_node_error(node, err, "more than %u nodes", CLUSTER_MAXIMUM_NODES);
    if (grow_kinds(file, before + count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const char *name = node_list_name(names, i);
        int added = name_index_add(file->seen, name, entry);
        if (added < 0)
            return error_set_memory(err);
        if (added > 0)
            return yaml_node_error(yaml_node_get(node, "names"), err,
                                   "node %s stands already in nodes[%zu]", name,
                                   name_index_find(file->seen, name));
        if (node_list_add(file->names, name, err) < 0)
            return -1;
        file->node_kinds[before + i] = kind;
    }
    return 0;
}

static int load_entry(const struct yaml_node *node, size_t position, struct file *file,
                      struct error_info *err)
{
    struct nodes_entry entry = {0};
    unsigned kind = 0;
    if (yaml_fields_load(node, nodes_fields, COUNT_OF(nodes_fields), &entry, err) < 0 ||
        find_kind(file, node, entry.kind, &kind, err) < 0)
        return -1;
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_decode(entry.names, &why);
    if (!names && why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (!names || node_list_count(names) == 0)
        return yaml_node_error(yaml_node_get(node, "names"), err, "%s",
                               names ? UNPACKED_TEXT("node names are expected") : why.text);
    return add_names(file, node, position, names, kind, err);
}

static int load_nodes(const struct yaml_node *nodes, struct file *file, struct error_info *err)
{
    if (nodes->kind != YAML_SEQUENCE || nodes->child_count == 0)
        return yaml_node_error(nodes, err, "a list of {names, kind} is expected");
    file->names = node_list_create(err);
    if (!file->names)
        return -1;
    file->seen = name_index_create();
    if (!file->seen)
        return error_set_memory(err);
    for (size_t i = 0; i < nodes->child_count; i++)
        if (load_entry(nodes->children[i], i, file, err) < 0)
            return -1;
    return 0;
}

static const char *find_wide_kind(const struct file *file)
{
    for (size_t i = 0; i < file->kind_count; i++)
        if (file->kinds[i]->nvlink_domain_nodes > 1)
            return file->kind_names[i];
    return NULL;
}

static int load_file(const struct yaml_document *document, struct file *file,
                     const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                     struct error_info *err)
{
    struct cluster_entry entry = {0};
    if (yaml_document_check_schema(document, CLUSTER_SCHEMA, err) < 0 ||
        yaml_fields_load(yaml_document_root(document), cluster_fields, COUNT_OF(cluster_fields),
                         &entry, err) < 0 ||
        load_kinds(entry.kinds, file, presets, gpus, err) < 0 ||
        load_nodes(entry.nodes, file, err) < 0)
        return -1;
    if (!entry.fabric)
        return 0;
    file->fabric = cluster_fabric_load(entry.fabric, file->names, find_wide_kind(file), err);
    return file->fabric ? 0 : -1;
}

static struct cluster_topology *make_cluster(struct file *file, const char *source,
                                             struct error_info *err)
{
    size_t kind_count = file->kind_count;
    file->kind_count = 0; /* the cluster's from here on, as is the fabric */
    return cluster_topology_create(source, file->kinds, file->kind_names, kind_count, file->names,
                                   file->node_kinds, move_pointer(file->fabric), err);
}

struct cluster_topology *cluster_topology_parse(const char *text, size_t bytes, const char *source,
                                                const struct preset_catalogue *presets,
                                                const struct gpu_catalogue *gpus,
                                                struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    if (!document)
        return NULL;
    CLEANUP_MEMORY struct file *file = memory_allocate(sizeof(*file));
    if (!file)
        return error_null(error_set_memory(err));
    struct cluster_topology *cluster = NULL;
    if (load_file(document, file, presets, gpus, err) == 0)
        cluster = make_cluster(file, source, err);
    file_done(file);
    return cluster;
}
