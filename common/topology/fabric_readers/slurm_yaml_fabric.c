/* SPDX-License-Identifier: MIT */
/* Slurm's topology.yaml. */
#include "base/yaml_fields.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/slurm_blocks.h"
#include <string.h>

#define MAXIMUM_TOPOLOGIES 256u

struct topology {
    const char *name;
    bool is_default, is_flat;
    const struct yaml_node *tree, *block, *ring, *torus;
    const struct yaml_node *node;
};

#define TOPOLOGY_FIELD(key_, type_, member, ...)                                                   \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct topology, member), __VA_ARGS__       \
    }

static const struct yaml_field topology_fields[] = {
    TOPOLOGY_FIELD("topology", YAML_TEXT, name, .required = true),
    TOPOLOGY_FIELD("cluster_default", YAML_BOOLEAN, is_default),
    TOPOLOGY_FIELD("flat", YAML_BOOLEAN, is_flat),
    TOPOLOGY_FIELD("tree", YAML_NODE, tree),
    TOPOLOGY_FIELD("block", YAML_NODE, block),
    TOPOLOGY_FIELD("ring", YAML_NODE, ring),
    TOPOLOGY_FIELD("torus3d", YAML_NODE, torus),
};

struct body {
    const struct yaml_node *entries; /* switches or blocks */
    const struct yaml_node *sizes;
};

static const struct yaml_field tree_fields[] = {
    {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct body, entries)},
};

static const struct yaml_field block_fields[] = {
    {.key = "blocks", .type = YAML_NODE, .offset = offsetof(struct body, entries)},
    {.key = "block_sizes", .type = YAML_NODE, .offset = offsetof(struct body, sizes)},
};

struct unit {
    const char *name, *nodes, *children, *link_speed;
};

static const struct yaml_field switch_fields[] = {
    {.key = "switch", .type = YAML_TEXT, .offset = offsetof(struct unit, name), .required = true},
    {.key = "nodes", .type = YAML_TEXT, .offset = offsetof(struct unit, nodes)},
    {.key = "children", .type = YAML_TEXT, .offset = offsetof(struct unit, children)},
    {.key = "link_speed", .type = YAML_TEXT, .offset = offsetof(struct unit, link_speed)},
};

static const struct yaml_field unit_block_fields[] = {
    {.key = "block", .type = YAML_TEXT, .offset = offsetof(struct unit, name), .required = true},
    {.key = "nodes", .type = YAML_TEXT, .offset = offsetof(struct unit, nodes)},
};

struct reader {
    struct fabric_draft *draft;
    struct topology topologies[MAXIMUM_TOPOLOGIES];
    size_t count;
    struct slurm_block_sizes sizes;
};

/* An absent list is an empty one; so is what slurmctld prints for a topology of another kind. */
static bool is_empty(const struct yaml_node *list) { return !list || list->child_count == 0; }

static int check_list(const struct yaml_node *list, const char *what, struct error_info *err)
{
    return !list || list->kind == YAML_SEQUENCE
               ? 0
               : yaml_node_error(list, err, "a list of %s is expected", what);
}

static int check_names(const struct yaml_node *node, const char *names, struct error_info *err)
{
    return names && strchr(names, '{')
               ? yaml_node_error(node, err,
                                 "%.40s is a function that only slurmctld can resolve; write the "
                                 "names out",
                                 names)
               : 0;
}

static bool has_names(const char *text)
{
    return text && *text && strcmp(text, "~") != 0 && strcmp(text, "null") != 0;
}

static int load_unit(const struct yaml_node *node, const struct yaml_field *fields, size_t count,
                     struct unit *ret, struct error_info *err)
{
    struct unit unit = {0};
    if (yaml_fields_load(node, fields, count, &unit, err) < 0)
        return -1;
    if (!*unit.name)
        return yaml_node_error(node->children[0], err, "the name is empty");
    if (check_names(node, unit.nodes, err) < 0 || check_names(node, unit.children, err) < 0)
        return -1;
    *ret = unit;
    return 0;
}

static int read_switch(struct fabric_draft *draft, const struct yaml_node *node,
                       struct error_info *err)
{
    struct unit unit = {0};
    size_t index = fabric_draft_switch_count(draft);
    if (load_unit(node, switch_fields, COUNT_OF(switch_fields), &unit, err) < 0 ||
        !fabric_draft_add_switch(draft, unit.name, node->line, err))
        return -1;
    if (has_names(unit.nodes) && fabric_draft_decode_nodes(draft, index, unit.nodes, err) < 0)
        return -1;
    return has_names(unit.children) ? fabric_draft_decode_children(draft, index, unit.children, err)
                                    : 0;
}

static int read_block(struct fabric_draft *draft, const struct yaml_node *node,
                      struct error_info *err)
{
    struct unit unit = {0};
    size_t index = fabric_draft_domain_count(draft);
    if (load_unit(node, unit_block_fields, COUNT_OF(unit_block_fields), &unit, err) < 0 ||
        fabric_draft_add_domain(draft, unit.name, NULL, node->line, err) < 0)
        return -1;
    fabric_draft_set_candidate(draft, index);
    return has_names(unit.nodes) ? fabric_draft_decode_domain(draft, index, unit.nodes, err) : 0;
}

static int read_tree(struct reader *reader, const struct yaml_node *tree, struct error_info *err)
{
    struct body body = {0};
    if (yaml_fields_load(tree, tree_fields, COUNT_OF(tree_fields), &body, err) < 0 ||
        check_list(body.entries, "switches", err) < 0)
        return -1;
    for (size_t i = 0; !is_empty(body.entries) && i < body.entries->child_count; i++)
        if (read_switch(reader->draft, body.entries->children[i], err) < 0)
            return -1;
    return 0;
}

static int read_sizes(struct reader *reader, const struct yaml_node *list, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    if (check_list(list, "block sizes", err) < 0)
        return -1;
    for (size_t i = 0; !is_empty(list) && i < list->child_count; i++) {
        const struct yaml_node *size = list->children[i];
        if (size->kind != YAML_SCALAR)
            return yaml_node_error(size, err, "a number of nodes is expected");
        if (slurm_block_sizes_add(&reader->sizes, size->text, &why) < 0)
            return yaml_node_error(size, err, "%s", why.text);
    }
    return 0;
}

static int read_blocks(struct reader *reader, const struct yaml_node *block, struct error_info *err)
{
    struct body body = {0};
    if (yaml_fields_load(block, block_fields, COUNT_OF(block_fields), &body, err) < 0 ||
        check_list(body.entries, "blocks", err) < 0 || read_sizes(reader, body.sizes, err) < 0)
        return -1;
    for (size_t i = 0; !is_empty(body.entries) && i < body.entries->child_count; i++)
        if (read_block(reader->draft, body.entries->children[i], err) < 0)
            return -1;
    return 0;
}

/* The body's list is empty where slurmctld prints all kinds for each topology. */
static const struct yaml_node *body_in_use(const struct yaml_node *body, const char *list)
{
    const struct yaml_node *entries = body ? yaml_node_get(body, list) : NULL;
    return body && body->kind == YAML_MAPPING && entries && is_empty(entries) ? NULL : body;
}

static int read_topology(struct reader *reader, const struct yaml_node *node,
                         struct error_info *err)
{
    struct topology *topology = &reader->topologies[reader->count];
    if (yaml_fields_load(node, topology_fields, COUNT_OF(topology_fields), topology, err) < 0)
        return -1;
    topology->tree = body_in_use(topology->tree, "switches");
    topology->block = body_in_use(topology->block, "blocks");
    topology->ring = body_in_use(topology->ring, "rings");
    topology->torus = body_in_use(topology->torus, "toruses");
    int kinds = topology->is_flat + (topology->tree != NULL) + (topology->block != NULL) +
                (topology->ring != NULL) + (topology->torus != NULL);
    if (kinds > 1)
        return yaml_node_error(node, err,
                               "topology %s is of two kinds; one of tree, block and flat is "
                               "expected",
                               topology->name);
    topology->node = node;
    reader->count++;
    return 0;
}

static int read_list(struct reader *reader, const struct yaml_node *root, struct error_info *err)
{
    if (root->kind != YAML_SEQUENCE || root->child_count == 0)
        return yaml_node_error(root, err,
                               "a list of topologies is expected, as \"- topology: NAME\"");
    if (root->child_count > MAXIMUM_TOPOLOGIES)
        return yaml_node_error(root, err, "%zu topologies; at most %u are possible",
                               root->child_count, MAXIMUM_TOPOLOGIES);
    for (size_t i = 0; i < root->child_count; i++)
        if (read_topology(reader, root->children[i], err) < 0)
            return -1;
    return 0;
}

/* The cluster's default first, then the file's order. NULL: none has it. */
static const struct topology *first_with(const struct reader *reader, const struct topology *first,
                                         bool wants_tree)
{
    const struct topology *at = first;
    for (size_t i = 0; i <= reader->count; i++) {
        if (wants_tree ? at->tree : at->block)
            return at;
        at = i < reader->count ? &reader->topologies[i] : NULL;
    }
    return NULL;
}

static const struct topology *find_default(const struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        if (reader->topologies[i].is_default)
            return &reader->topologies[i];
    return &reader->topologies[0];
}

static void warn_left_out(struct reader *reader, const struct topology *tree,
                          const struct topology *block)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct topology *other = &reader->topologies[i];
        if (other != tree && other != block && !other->is_flat)
            fabric_draft_warn(reader->draft, "%s:%u: topology %s is left out",
                              yaml_document_source(other->node->document), other->node->line,
                              other->name);
    }
}

static int read_chosen(struct reader *reader, struct error_info *err)
{
    const struct topology *first = find_default(reader);
    if (first->ring || first->torus)
        return yaml_node_error(first->ring ? first->ring : first->torus, err,
                               "topology %s is not read; make a tree or a block topology the "
                               "default, or describe the network in a cluster file",
                               first->name);
    const struct topology *tree = first_with(reader, first, true);
    const struct topology *block = first_with(reader, first, false);
    if (!tree && !block)
        return yaml_node_error(first->node, err,
                               "no topology is a tree or has blocks (%s is flat): nothing tells "
                               "how nodes are connected",
                               first->name);
    warn_left_out(reader, tree, block);
    if ((tree && read_tree(reader, tree->tree, err) < 0) ||
        (block && read_blocks(reader, block->block, err) < 0))
        return -1;
    return tree ? 0 : slurm_blocks_place(reader->draft, &reader->sizes, err);
}

struct fabric *fabric_parse_slurm_yaml(const char *text, size_t bytes, const char *source,
                                       struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    if (!document)
        return NULL;
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(source, err);
    struct reader reader = {.draft = draft};
    if (!draft || read_list(&reader, yaml_document_root(document), err) < 0 ||
        read_chosen(&reader, err) < 0)
        return NULL;
    return fabric_draft_build(draft, err);
}
