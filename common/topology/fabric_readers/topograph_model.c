/* SPDX-License-Identifier: MIT */
/* topograph's model of a cluster, YAML. */
#include "base/yaml_fields.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/node_paths.h"
#include "topology/fabric_readers/topograph_labels.h"
#include <string.h>

struct root_entry {
    const struct yaml_node *switches, *blocks, *nodes;
};

static const struct yaml_field root_fields[] = {
    {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct root_entry, switches)},
    {.key = "blocks", .type = YAML_NODE, .offset = offsetof(struct root_entry, blocks)},
    /* what nodes are, not where */
    {.key = "nodes", .type = YAML_NODE, .offset = offsetof(struct root_entry, nodes)},
};

struct switch_entry {
    const struct yaml_node *switches, *labels, *annotations;
};

static const struct yaml_field switch_fields[] = {
    {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct switch_entry, switches)},
    {.key = "labels", .type = YAML_NODE, .offset = offsetof(struct switch_entry, labels)},
    {.key = "annotations", .type = YAML_NODE, .offset = offsetof(struct switch_entry, annotations)},
};

struct block_entry {
    const char *name, *at_switch;
    const struct yaml_node *nodes, *labels, *annotations;
};

#define BLOCK_FIELD(key_, type_, member, ...)                                                      \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct block_entry, member), __VA_ARGS__    \
    }

static const struct yaml_field block_fields[] = {
    BLOCK_FIELD("name", YAML_TEXT, name),
    BLOCK_FIELD("switch", YAML_TEXT, at_switch),
    BLOCK_FIELD("nodes", YAML_NODE, nodes, .required = true),
    BLOCK_FIELD("labels", YAML_NODE, labels),
    BLOCK_FIELD("annotations", YAML_NODE, annotations),
};

struct reader {
    struct fabric_draft *draft;
    struct name_index *switches; /* numbers in the draft */
    struct name_index *domains;
};

/* A leaf is known from its parent or from a block alone. */
static int find_switch(struct reader *reader, const char *name, unsigned line, size_t *ret,
                       struct error_info *err)
{
    size_t number = fabric_draft_switch_count(reader->draft);
    int added = name_index_add(reader->switches, name, number);
    if (added < 0)
        return error_set_memory(err);
    if (added > 0)
        number = name_index_find(reader->switches, name);
    else if (!fabric_draft_add_switch(reader->draft, name, line, err))
        return -1;
    *ret = number;
    return 0;
}

static int check_kind(const struct yaml_node *node, enum yaml_kind kind, const char *what,
                      struct error_info *err)
{
    return !node || node->kind == kind ? 0 : yaml_node_error(node, err, "%s is expected", what);
}

static int read_children(struct reader *reader, size_t parent, const struct yaml_node *list,
                         struct error_info *err)
{
    if (check_kind(list, YAML_SEQUENCE, "a list of switches", err) < 0)
        return -1;
    for (size_t i = 0; list && i < list->child_count; i++) {
        const struct yaml_node *child = list->children[i];
        size_t ignored = 0;
        struct error_info why = {.kind = ERROR_NONE};
        if (check_kind(child, YAML_SCALAR, "a switch's name", err) < 0 ||
            find_switch(reader, child->text, child->line, &ignored, err) < 0)
            return -1;
        if (fabric_draft_add_child(reader->draft, parent, child->text, &why) < 0)
            return why.kind == ERROR_MEMORY ? error_set_memory(err)
                                            : yaml_node_error(child, err, "%s", why.text);
    }
    return 0;
}

static int read_switches(struct reader *reader, const struct yaml_node *switches,
                         struct error_info *err)
{
    if (check_kind(switches, YAML_MAPPING, "a mapping of switches by name", err) < 0)
        return -1;
    for (size_t i = 0; switches && i < switches->child_count; i++) {
        const struct yaml_node *node = switches->children[i];
        struct switch_entry entry = {0};
        size_t number = 0;
        if (yaml_fields_load(node, switch_fields, COUNT_OF(switch_fields), &entry, err) < 0 ||
            find_switch(reader, node->key, node->line, &number, err) < 0 ||
            read_children(reader, number, entry.switches, err) < 0)
            return -1;
    }
    return 0;
}

/* --- blocks ----------------------------------------------------------------------- */

struct block {
    bool has_switch, has_domain;
    size_t at_switch, domain;
};

static int add_nodes(struct reader *reader, const struct block *block, const struct yaml_node *node,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    if (check_kind(node, YAML_SCALAR, "a list of nodes, as n[1-8],", err) < 0)
        return -1;
    CLEANUP(node_list) struct node_list *names = node_list_decode(node->text, &why);
    if (!names)
        return why.kind == ERROR_MEMORY ? error_set_memory(err)
                                        : yaml_node_error(node, err, "%s", why.text);
    for (size_t i = 0; i < node_list_count(names); i++) {
        const char *name = node_list_name(names, i);
        if (block->has_switch &&
            fabric_draft_add_node(reader->draft, block->at_switch, name, err) < 0)
            return -1;
        if (block->has_domain &&
            fabric_draft_add_domain_node(reader->draft, block->domain, name, err) < 0)
            return -1;
    }
    return 0;
}

static int find_domain(struct reader *reader, const struct yaml_node *node,
                       const struct block_entry *entry, struct block *block, struct error_info *err)
{
    struct topograph_domain domain = {0};
    const struct yaml_node *annotations = entry->annotations;
    if (check_kind(annotations, YAML_MAPPING, "a mapping", err) < 0)
        return -1;
    for (size_t i = 0; annotations && i < annotations->child_count; i++)
        topograph_domain_note(&domain, annotations->children[i]->key,
                              annotations->children[i]->text);
    if (!domain.name)
        return 0;
    char id[TOPOGRAPH_DOMAIN_BYTES];
    if (topograph_domain_id(&domain, id, err) < 0)
        return error_prefix(err, "%s:%u", yaml_document_source(node->document), node->line);
    block->has_domain = true;
    return node_paths_domain(reader->draft, reader->domains, NULL, id, node->line, &block->domain,
                             err);
}

static int read_block(struct reader *reader, const struct yaml_node *node, struct error_info *err)
{
    struct block_entry entry = {0};
    struct block block = {0};
    if (yaml_fields_load(node, block_fields, COUNT_OF(block_fields), &entry, err) < 0 ||
        check_kind(entry.nodes, YAML_SEQUENCE, "a list", err) < 0)
        return -1;
    if (entry.at_switch) {
        block.has_switch = true;
        if (find_switch(reader, entry.at_switch, node->line, &block.at_switch, err) < 0)
            return -1;
    }
    if (find_domain(reader, node, &entry, &block, err) < 0)
        return -1;
    if (!block.has_switch && !block.has_domain)
        return yaml_node_error(node, err,
                               "a block with neither a switch nor a domain says nothing of where "
                               "its nodes are");
    for (size_t i = 0; i < entry.nodes->child_count; i++)
        if (add_nodes(reader, &block, entry.nodes->children[i], err) < 0)
            return -1;
    return 0;
}

static int read_model(struct reader *reader, const struct yaml_node *root, struct error_info *err)
{
    struct root_entry entry = {0};
    if (yaml_fields_load(root, root_fields, COUNT_OF(root_fields), &entry, err) < 0 ||
        read_switches(reader, entry.switches, err) < 0 ||
        check_kind(entry.blocks, YAML_SEQUENCE, "a list of blocks", err) < 0)
        return -1;
    if (!entry.blocks || entry.blocks->child_count == 0)
        return yaml_node_error(root, err, "blocks: are missing; without them there are no nodes");
    for (size_t i = 0; i < entry.blocks->child_count; i++)
        if (read_block(reader, entry.blocks->children[i], err) < 0)
            return -1;
    return 0;
}

struct fabric *fabric_parse_topograph_model(const char *text, size_t bytes, const char *source,
                                            struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    if (!document)
        return NULL;
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(source, err);
    CLEANUP(name_index) struct name_index *switches = name_index_create();
    CLEANUP(name_index) struct name_index *domains = name_index_create();
    if (!draft || !switches || !domains)
        return error_null(error_set_memory(err));
    struct reader reader = {.draft = draft, .switches = switches, .domains = domains};
    if (read_model(&reader, yaml_document_root(document), err) < 0)
        return NULL;
    return fabric_draft_build(draft, err);
}
