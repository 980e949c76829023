/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/cluster_fabric.h"
#include "base/yaml_fields.h"
#include "topology/cluster_readers/rate.h"
#include "topology/text_list.h"
#include <string.h>

#define SECTION_MAXIMUM_BYTES ((size_t)256 << 20)

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
    const char *name, *tier, *nodes, *children, *uplink;
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
};

struct domain_entry {
    const char *nodes;
};

static const struct yaml_field domain_fields[] = {
    {.key = "nodes",
     .type = YAML_TEXT,
     .offset = offsetof(struct domain_entry, nodes),
     .required = true},
};

/* Everything that the fabric's input points to. */
struct section {
    struct arena *arena;
    struct node_list **lists;
    size_t list_count;
    struct fabric_switch_input *switches;
    struct fabric_domain_input *domains;
    const char *warnings[3];
    struct fabric_input input;
};

static void section_done(struct section *section)
{
    for (size_t i = 0; i < section->list_count; i++)
        node_list_free(section->lists[i]);
    memory_free(section->lists);
    arena_free(section->arena);
}

static const char *place(struct section *section, const struct yaml_node *node)
{
    return arena_format(section->arena, "%s:%u", yaml_document_source(node->document), node->line);
}

/* The list belongs to the section. A key that is not there gives NULL. */
static int decode_list(struct section *section, const struct yaml_node *node, const char *key,
                       const struct node_list **ret, struct error_info *err)
{
    const struct yaml_node *value = yaml_node_get(node, key);
    if (!value)
        return 0;
    struct error_info why = {.kind = ERROR_NONE};
    struct node_list *list = node_list_decode(value->text, &why);
    if (!list)
        return why.kind == ERROR_MEMORY ? error_set_memory(err)
                                        : yaml_node_error(value, err, "%s", why.text);
    section->lists[section->list_count++] = list;
    *ret = list;
    return 0;
}

static int load_switch(struct section *section, const struct yaml_node *node,
                       struct fabric_switch_input *input, struct error_info *err)
{
    struct switch_entry entry = {0};
    if (yaml_fields_load(node, switch_fields, COUNT_OF(switch_fields), &entry, err) < 0)
        return -1;
    *input = (struct fabric_switch_input){
        .name = entry.name,
        .tier_name = entry.tier,
        .has_rail = yaml_node_get(node, "rail") != NULL,
        .rail = (unsigned)entry.rail,
        .where = place(section, node),
    };
    if (!input->where)
        return error_set_memory(err);
    if (!entry.name[0])
        return yaml_node_error(node, err, "name: must not be empty");
    if (entry.tier && section->input.tier_name_count == 0)
        return yaml_node_error(yaml_node_get(node, "tier"), err,
                               "the fabric names no tiers; add tiers: [leaf, spine]");
    struct error_info why = {.kind = ERROR_NONE};
    if (entry.uplink && rate_parse(entry.uplink, &input->uplink_bytes_per_second, &why) < 0)
        return yaml_node_error(yaml_node_get(node, "uplink"), err, "%s", why.text);
    if (decode_list(section, node, "nodes", &input->nodes, err) < 0 ||
        decode_list(section, node, "children", &input->children, err) < 0)
        return -1;
    return 0;
}

static int load_switches(struct section *section, const struct yaml_node *list,
                         struct error_info *err)
{
    size_t count = list ? list->child_count : 0;
    section->switches = arena_allocate_array(section->arena, count, sizeof(*section->switches));
    if (!section->switches)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        if (load_switch(section, list->children[i], &section->switches[i], err) < 0)
            return -1;
    section->input.switches = section->switches;
    section->input.switch_count = count;
    return 0;
}

static int load_domains(struct section *section, const struct yaml_node *list,
                        struct error_info *err)
{
    size_t count = list ? list->child_count : 0;
    section->domains = arena_allocate_array(section->arena, count, sizeof(*section->domains));
    if (!section->domains)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct yaml_node *node = list->children[i];
        struct domain_entry entry;
        if (yaml_fields_load(node, domain_fields, COUNT_OF(domain_fields), &entry, err) < 0)
            return -1;
        section->domains[i].where = place(section, node);
        if (!section->domains[i].where)
            return error_set_memory(err);
        if (decode_list(section, node, "nodes", &section->domains[i].nodes, err) < 0)
            return -1;
    }
    section->input.nvlink_domains = section->domains;
    section->input.nvlink_domain_count = count;
    return 0;
}

static int check_list(const struct yaml_node *node, size_t maximum, struct error_info *err)
{
    if (!node)
        return 0;
    if (node->kind != YAML_SEQUENCE)
        return yaml_node_error(node, err, "a list is expected");
    if (node->child_count > maximum)
        return yaml_node_error(node, err, "%zu entries are more than the %zu that are possible",
                               node->child_count, maximum);
    return 0;
}

static int prepare(struct section *section, const struct fabric_entry *entry,
                   struct error_info *err)
{
    if (check_list(entry->tiers, FABRIC_MAXIMUM_TIERS, err) < 0 ||
        check_list(entry->switches, FABRIC_MAXIMUM_SWITCHES, err) < 0 ||
        check_list(entry->nvlink_domains, FABRIC_MAXIMUM_SWITCHES, err) < 0)
        return -1;
    size_t switches = entry->switches ? entry->switches->child_count : 0;
    size_t domains = entry->nvlink_domains ? entry->nvlink_domains->child_count : 0;
    section->arena = arena_create(SECTION_MAXIMUM_BYTES);
    section->lists = memory_allocate_array(2 * switches + domains, sizeof(struct node_list *));
    if (!section->arena || !section->lists)
        return error_set_memory(err);
    size_t tier_count = 0;
    if (text_list_load(entry->tiers, section->arena, &section->input.tier_names, &tier_count, err) <
        0)
        return -1;
    section->input.tier_name_count = (unsigned)tier_count;
    return 0;
}

static int note_names(struct name_index *index, const struct node_list *list,
                      struct error_info *err)
{
    for (size_t i = 0; list && i < node_list_count(list); i++)
        if (name_index_add(index, node_list_name(list, i), i) < 0)
            return error_set_memory(err);
    return 0;
}

static int add_warning(struct section *section, struct error_info *err, const char *text)
{
    if (!text)
        return error_set_memory(err);
    section->warnings[section->input.warning_count++] = text;
    section->input.warnings = section->warnings;
    return 0;
}

/* A name that is misspelt in the fabric would else be far from everything, silently. */
static int warn_unplaced(struct section *section, const struct node_list *nodes,
                         struct error_info *err)
{
    CLEANUP(name_index) struct name_index *placed = name_index_create();
    if (!placed)
        return error_set_memory(err);
    for (size_t i = 0; i < section->input.switch_count; i++)
        if (note_names(placed, section->switches[i].nodes, err) < 0)
            return -1;
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < node_list_count(nodes); i++) {
        if (name_index_find(placed, node_list_name(nodes, i)) != NAME_INDEX_NONE)
            continue;
        first = first ? first : node_list_name(nodes, i);
        count++;
    }
    if (count == 0)
        return 0;
    return add_warning(section, err,
                       arena_format(section->arena,
                                    "%s: %zu of the nodes are in no switch, the first is %s",
                                    section->input.source, count, first));
}

/* The other half of a misspelling; a fabric may also be wider than the nodes at hand. */
static int warn_undeclared(struct section *section, const struct node_list *nodes,
                           struct error_info *err)
{
    CLEANUP(name_index) struct name_index *declared = name_index_create();
    if (!declared)
        return error_set_memory(err);
    if (note_names(declared, nodes, err) < 0)
        return -1;
    for (size_t i = 0; i < section->input.switch_count; i++) {
        const struct fabric_switch_input *one = &section->switches[i];
        for (size_t n = 0; one->nodes && n < node_list_count(one->nodes); n++) {
            const char *name = node_list_name(one->nodes, n);
            if (name_index_find(declared, name) == NAME_INDEX_NONE)
                return add_warning(section, err,
                                   arena_format(section->arena,
                                                "%s: switch %s has node %s, which is not under "
                                                "nodes:",
                                                one->where, one->name, name));
        }
    }
    return 0;
}

static int warn_wide_kind(struct section *section, const char *kind, struct error_info *err)
{
    if (!kind || section->input.nvlink_domain_count > 0)
        return 0;
    return add_warning(section, err,
                       arena_format(section->arena,
                                    "%s: kind %s shares NVLink between nodes, but nvlink_domains "
                                    "are not given: each node counts alone",
                                    section->input.source, kind));
}

static struct fabric *load_section(struct section *section, const struct yaml_node *node,
                                   const struct node_list *nodes, const char *wide_kind,
                                   struct error_info *err)
{
    struct fabric_entry entry = {0};
    section->input.source = yaml_document_source(node->document);
    if (yaml_fields_load(node, fabric_fields, COUNT_OF(fabric_fields), &entry, err) < 0 ||
        prepare(section, &entry, err) < 0 || load_switches(section, entry.switches, err) < 0 ||
        load_domains(section, entry.nvlink_domains, err) < 0 ||
        warn_unplaced(section, nodes, err) < 0 || warn_undeclared(section, nodes, err) < 0 ||
        warn_wide_kind(section, wide_kind, err) < 0)
        return NULL;
    return fabric_build(&section->input, err);
}

struct fabric *cluster_fabric_load(const struct yaml_node *node, const struct node_list *nodes,
                                   const char *wide_kind, struct error_info *err)
{
    struct section section = {0};
    struct fabric *fabric = load_section(&section, node, nodes, wide_kind, err);
    section_done(&section);
    return fabric;
}
