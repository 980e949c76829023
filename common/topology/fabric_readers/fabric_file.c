/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/fabric_file.h"
#include "base/yaml_fields.h"
#include "topology/cluster_readers/rate.h"

struct fabric_entry {
    const struct yaml_node *tiers, *switches, *nvlink_domains;
};

static const struct yaml_field fabric_fields[] = {
    {.key = "tiers", .type = YAML_NODE, .offset = offsetof(struct fabric_entry, tiers)},
    {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct fabric_entry, switches)},
    {.key = "nvlink_domains",
     .type = YAML_NODE,
     .offset = offsetof(struct fabric_entry, nvlink_domains)},
};

struct switch_entry {
    const char *name, *tier, *nodes, *children, *uplink, *downlink;
    uint64_t rail;
};

#define SWITCH_FIELD(key_, type_, member, ...)                                                     \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct switch_entry, member), __VA_ARGS__   \
    }

static const struct yaml_field switch_fields[] = {
    SWITCH_FIELD("name", YAML_TEXT, name, .required = true),
    SWITCH_FIELD("tier", YAML_TEXT, tier),
    SWITCH_FIELD("nodes", YAML_TEXT, nodes),
    SWITCH_FIELD("children", YAML_TEXT, children),
    SWITCH_FIELD("rail", YAML_UNSIGNED, rail, .maximum = FABRIC_MAXIMUM_RAILS - 1),
    SWITCH_FIELD("uplink", YAML_TEXT, uplink),
    SWITCH_FIELD("downlink", YAML_TEXT, downlink),
};

struct domain_entry {
    const char *name, *id, *nodes;
    bool candidate;
};

static const struct yaml_field domain_fields[] = {
    {.key = "candidate", .type = YAML_BOOLEAN, .offset = offsetof(struct domain_entry, candidate)},
    {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct domain_entry, name)},
    {.key = "id", .type = YAML_TEXT, .offset = offsetof(struct domain_entry, id)},
    {.key = "nodes",
     .type = YAML_TEXT,
     .offset = offsetof(struct domain_entry, nodes),
     .required = true},
};

static int check_list(const struct yaml_node *node, size_t maximum, struct error_info *err)
{
    if (node->kind != YAML_SEQUENCE)
        return yaml_node_error(node, err, "a list is expected");
    if (node->child_count > maximum)
        return yaml_node_error(node, err, "%zu entries are more than the %zu that are possible",
                               node->child_count, maximum);
    return 0;
}

typedef int (*add_name_fn)(struct fabric_draft *draft, size_t index, const char *name,
                           struct error_info *err);

/* The names of the list under that key, which need not be there. */
static int add_names(struct fabric_draft *draft, size_t index, const struct yaml_node *node,
                     const char *key, add_name_fn add, struct error_info *err)
{
    const struct yaml_node *value = yaml_node_get(node, key);
    struct error_info why = {.kind = ERROR_NONE};
    if (!value)
        return 0;
    CLEANUP(node_list) struct node_list *list = node_list_decode(value->text, &why);
    if (!list)
        return why.kind == ERROR_MEMORY ? error_set_memory(err)
                                        : yaml_node_error(value, err, "%s", why.text);
    for (size_t i = 0; i < node_list_count(list); i++)
        if (add(draft, index, node_list_name(list, i), err) < 0)
            return -1;
    return 0;
}

static int read_rate(const struct yaml_node *node, const char *key, double *ret,
                     struct error_info *err)
{
    const struct yaml_node *value = yaml_node_get(node, key);
    struct error_info why = {.kind = ERROR_NONE};
    if (value && rate_parse(value->text, ret, &why) < 0)
        return yaml_node_error(value, err, "%s", why.text);
    return 0;
}

static int load_switch(struct fabric_draft *draft, const struct yaml_node *node, bool has_tiers,
                       struct error_info *err)
{
    struct switch_entry entry = {0};
    if (yaml_fields_load(node, switch_fields, COUNT_OF(switch_fields), &entry, err) < 0)
        return -1;
    if (!entry.name[0])
        return yaml_node_error(node, err, "name: must not be empty");
    if (entry.tier && !has_tiers)
        return yaml_node_error(yaml_node_get(node, "tier"), err,
                               "the fabric names no tiers; add tiers: [leaf, spine]");
    struct fabric_switch_input *input = fabric_draft_add_switch(draft, entry.name, node->line, err);
    if (!input)
        return -1;
    input->tier_name = fabric_draft_copy(draft, entry.tier);
    input->has_rail = yaml_node_get(node, "rail") != NULL;
    input->rail = (unsigned)entry.rail;
    size_t index = fabric_draft_switch_count(draft) - 1;
    if (read_rate(node, "uplink", &input->uplink_bytes_per_second, err) < 0 ||
        read_rate(node, "downlink", &input->downlink_bytes_per_second, err) < 0 ||
        add_names(draft, index, node, "nodes", fabric_draft_add_node, err) < 0 ||
        add_names(draft, index, node, "children", fabric_draft_add_child, err) < 0)
        return -1;
    return 0;
}

static int load_switches(struct fabric_draft *draft, const struct yaml_node *list, bool has_tiers,
                         struct error_info *err)
{
    if (!list)
        return 0;
    if (check_list(list, FABRIC_MAXIMUM_SWITCHES, err) < 0)
        return -1;
    for (size_t i = 0; i < list->child_count; i++)
        if (load_switch(draft, list->children[i], has_tiers, err) < 0)
            return -1;
    return 0;
}

static int load_domain(struct fabric_draft *draft, const struct yaml_node *node,
                       struct error_info *err)
{
    struct domain_entry entry = {0};
    if (yaml_fields_load(node, domain_fields, COUNT_OF(domain_fields), &entry, err) < 0 ||
        fabric_draft_add_domain(draft, entry.name, entry.id, node->line, err) < 0)
        return -1;
    if (entry.candidate)
        fabric_draft_set_candidate(draft, fabric_draft_domain_count(draft) - 1);
    return add_names(draft, fabric_draft_domain_count(draft) - 1, node, "nodes",
                     fabric_draft_add_domain_node, err);
}

static int load_domains(struct fabric_draft *draft, const struct yaml_node *list,
                        struct error_info *err)
{
    if (!list)
        return 0;
    if (check_list(list, FABRIC_MAXIMUM_SWITCHES, err) < 0)
        return -1;
    for (size_t i = 0; i < list->child_count; i++)
        if (load_domain(draft, list->children[i], err) < 0)
            return -1;
    return 0;
}

static int load_tiers(struct fabric_draft *draft, const struct yaml_node *list, bool *ret_has_tiers,
                      struct error_info *err)
{
    const char *names[FABRIC_MAXIMUM_TIERS];
    if (!list)
        return 0;
    if (check_list(list, FABRIC_MAXIMUM_TIERS, err) < 0)
        return -1;
    for (size_t i = 0; i < list->child_count; i++) {
        const struct yaml_node *item = list->children[i];
        if (item->kind != YAML_SCALAR || !item->text[0])
            return yaml_node_error(item, err, "a plain text is expected here");
        names[i] = item->text;
    }
    fabric_draft_name_tiers(draft, names, (unsigned)list->child_count);
    *ret_has_tiers = list->child_count > 0;
    return 0;
}

struct fabric_draft *fabric_file_load(const struct yaml_node *mapping, struct error_info *err)
{
    struct fabric_entry entry = {0};
    bool has_tiers = false;
    if (yaml_fields_load(mapping, fabric_fields, COUNT_OF(fabric_fields), &entry, err) < 0)
        return NULL;
    CLEANUP(fabric_draft)
    struct fabric_draft *draft = fabric_draft_create(yaml_document_source(mapping->document), err);
    if (!draft || load_tiers(draft, entry.tiers, &has_tiers, err) < 0 ||
        load_switches(draft, entry.switches, has_tiers, err) < 0 ||
        load_domains(draft, entry.nvlink_domains, err) < 0)
        return NULL;
    return move_pointer(draft);
}

struct fabric *fabric_file_parse(const char *text, size_t bytes, const char *source,
                                 struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document =
        yaml_document_open(text, bytes, source, FABRIC_FILE_SCHEMA, err);
    if (!document)
        return NULL;
    CLEANUP(fabric_draft)
    struct fabric_draft *draft = fabric_file_load(yaml_document_root(document), err);
    return draft ? fabric_draft_build(draft, err) : NULL;
}
