/* SPDX-License-Identifier: MIT */
#include "topology/preset_catalogue.h"
#include "base/data_file.h"
#include "base/parse_number.h"
#include "base/tables/yaml_rows.h"
#include "topology/text_list.h"
#include <string.h>

#define CATALOGUE_SCHEMA "parplan.node_presets/1"
#define CATALOGUE_FILE "node_presets.yaml"
#define CATALOGUE_MAXIMUM_PRESETS 512u
#define CATALOGUE_MAXIMUM_BYTES ((size_t)16 << 20)
#define MAXIMUM_LINKS (NODE_MAXIMUM_GPUS * NODE_MAXIMUM_GPUS / 2)
#define MAXIMUM_LINK_COUNT 64u
#define MAXIMUM_DOMAIN_NODES 4096u
#define MAXIMUM_NODES_PER_LEAF 65536u
#define MAXIMUM_CPUS 65536u
#define GIGA 1e9
#define GIGABIT 1.25e8

/* One entry as the file has it, in the file's units. */
struct preset_entry {
    const char *name, *title, *gpu, *source;
    uint64_t gpus, nvlink_domain_nodes, nics, cpus, nodes_per_leaf;
    uint64_t host_memory_bytes, host_nvme_bytes;
    double link_gb, nic_gbit;
    enum preset_wiring wiring;
    const struct yaml_node *links, *aliases;
};

_Static_assert(sizeof(enum preset_wiring) == sizeof(unsigned), "YAML_CHOICE stores an unsigned");

static const char *const wiring_names[] = {"none", "switch", "mesh", "links", NULL};

#define PRESET_FIELD(key_, type_, member, ...)                                                     \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct preset_entry, member), __VA_ARGS__   \
    }

static const struct yaml_field entry_fields[] = {
    PRESET_FIELD("name", YAML_TEXT, name, .required = true),
    PRESET_FIELD("title", YAML_TEXT, title, .required = true),
    PRESET_FIELD("gpu", YAML_TEXT, gpu, .required = true),
    PRESET_FIELD("gpus", YAML_UNSIGNED, gpus, .required = true, .minimum = 1,
                 .maximum = NODE_MAXIMUM_GPUS),
    PRESET_FIELD("wiring", YAML_CHOICE, wiring, .required = true, .choices = wiring_names),
    PRESET_FIELD("links", YAML_NODE, links),
    PRESET_FIELD("link_gb_per_second", YAML_REAL, link_gb, .minimum = 0.1f),
    PRESET_FIELD("nvlink_domain_nodes", YAML_UNSIGNED, nvlink_domain_nodes, .minimum = 1,
                 .maximum = MAXIMUM_DOMAIN_NODES),
    PRESET_FIELD("nics", YAML_UNSIGNED, nics, .required = true, .maximum = NODE_MAXIMUM_NICS),
    PRESET_FIELD("nic_gbit_per_second", YAML_REAL, nic_gbit, .minimum = 0.1f),
    PRESET_FIELD("host_memory", YAML_BYTES, host_memory_bytes, .required = true),
    PRESET_FIELD("host_nvme", YAML_BYTES, host_nvme_bytes),
    PRESET_FIELD("cpus", YAML_UNSIGNED, cpus, .required = true, .maximum = MAXIMUM_CPUS),
    PRESET_FIELD("nodes_per_leaf", YAML_UNSIGNED, nodes_per_leaf, .required = true, .minimum = 1,
                 .maximum = MAXIMUM_NODES_PER_LEAF),
    PRESET_FIELD("aliases", YAML_NODE, aliases),
    PRESET_FIELD("source", YAML_TEXT, source, .required = true),
};

static int link_number(const struct yaml_node *node, uint64_t minimum, uint64_t maximum,
                       unsigned *ret, struct error_info *err)
{
    uint64_t number;
    struct error_info why = {.kind = ERROR_NONE};
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, err, "a number is expected");
    if (parse_unsigned(node->text, minimum, maximum, &number, &why) < 0)
        return yaml_node_error(node, err, "%s", why.text);
    *ret = (unsigned)number;
    return 0;
}

static int load_link(const struct yaml_node *node, unsigned gpu_count, struct preset_link *link,
                     struct error_info *err)
{
    if (node->kind != YAML_SEQUENCE || node->child_count != 3)
        return yaml_node_error(node, err, "[GPU, GPU, number of links] is expected");
    if (link_number(node->children[0], 0, gpu_count - 1, &link->first, err) < 0 ||
        link_number(node->children[1], 0, gpu_count - 1, &link->second, err) < 0 ||
        link_number(node->children[2], 1, MAXIMUM_LINK_COUNT, &link->count, err) < 0)
        return -1;
    if (link->first == link->second)
        return yaml_node_error(node, err, "GPU %u cannot be linked to itself", link->first);
    return 0;
}

static int load_links(const struct preset_entry *entry, const struct yaml_node *node,
                      struct arena *arena, struct node_preset *preset, struct error_info *err)
{
    bool listed = preset->wiring == WIRING_LINKS;
    if (listed != (entry->links != NULL) || listed != (entry->link_gb > 0))
        return yaml_node_error(node, err,
                               "links and link_gb_per_second go with wiring: links, and only so");
    if (!listed)
        return 0;
    if (entry->links->kind != YAML_SEQUENCE || entry->links->child_count > MAXIMUM_LINKS)
        return yaml_node_error(entry->links, err, "a list of at most %u links is expected",
                               MAXIMUM_LINKS);
    struct preset_link *links =
        arena_allocate_array(arena, entry->links->child_count, sizeof(*links));
    if (!links)
        return error_set_memory(err);
    for (size_t i = 0; i < entry->links->child_count; i++)
        if (load_link(entry->links->children[i], preset->gpu_count, &links[i], err) < 0)
            return -1;
    preset->links = links;
    preset->link_count = entry->links->child_count;
    preset->link_bytes_per_second = entry->link_gb * GIGA;
    return 0;
}

static int load_preset(const struct yaml_node *node, struct arena *arena,
                       struct node_preset *preset, struct error_info *err)
{
    struct preset_entry entry = {.nvlink_domain_nodes = 1};
    if (yaml_fields_load(node, entry_fields, COUNT_OF(entry_fields), &entry, err) < 0)
        return -1;
    if (!entry.name[0])
        return yaml_node_error(node, err, "name: must not be empty");
    bool failed = false;
    *preset = (struct node_preset){
        .name = text_list_copy(arena, entry.name, &failed),
        .title = text_list_copy(arena, entry.title, &failed),
        .gpu = text_list_copy(arena, entry.gpu, &failed),
        .source = text_list_copy(arena, entry.source, &failed),
        .gpu_count = (unsigned)entry.gpus,
        .wiring = entry.wiring,
        .nvlink_domain_nodes = (unsigned)entry.nvlink_domain_nodes,
        .nic_count = (unsigned)entry.nics,
        .nic_bytes_per_second = entry.nic_gbit * GIGABIT,
        .host_memory_bytes = entry.host_memory_bytes,
        .host_nvme_bytes = entry.host_nvme_bytes,
        .cpu_count = (unsigned)entry.cpus,
        .nodes_per_leaf = (unsigned)entry.nodes_per_leaf,
    };
    if (failed)
        return error_set_memory(err);
    if (load_links(&entry, node, arena, preset, err) < 0)
        return -1;
    return text_list_load(entry.aliases, arena, &preset->aliases, &preset->alias_count, err);
}

static bool is_named(const struct node_preset *preset, const char *name)
{
    if (strcmp(preset->name, name) == 0)
        return true;
    for (size_t i = 0; i < preset->alias_count; i++)
        if (strcmp(preset->aliases[i], name) == 0)
            return true;
    return false;
}

static int load_presets(const struct yaml_node *list, struct preset_catalogue *catalogue,
                        struct error_info *err)
{
    struct node_preset *presets =
        arena_allocate_array(catalogue->arena, list->child_count, sizeof(*presets));
    if (!presets)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++) {
        if (load_preset(list->children[i], catalogue->arena, &presets[i], err) < 0)
            return -1;
        for (size_t j = 0; j < i; j++)
            if (is_named(&presets[j], presets[i].name))
                return yaml_node_error(list->children[i], err, "the name %s stands twice",
                                       presets[i].name);
    }
    catalogue->presets = presets;
    catalogue->count = list->child_count;
    return 0;
}

static struct preset_catalogue *create(struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(CATALOGUE_MAXIMUM_BYTES);
    struct preset_catalogue *catalogue = arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    if (!catalogue)
        return error_null(error_set_memory(err));
    catalogue->arena = move_pointer(arena);
    return catalogue;
}

static struct preset_catalogue *load(const struct yaml_document *document, struct error_info *err)
{
    static const struct yaml_list_file file = {CATALOGUE_SCHEMA, "presets",
                                               CATALOGUE_MAXIMUM_PRESETS};
    const struct yaml_node *list = document ? yaml_list_find(document, &file, err) : NULL;
    CLEANUP(preset_catalogue) struct preset_catalogue *catalogue = list ? create(err) : NULL;
    if (!catalogue || load_presets(list, catalogue, err) < 0)
        return NULL;
    return move_pointer(catalogue);
}

struct preset_catalogue *preset_catalogue_parse(const char *text, size_t bytes, const char *source,
                                                struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load(document, err);
}

struct preset_catalogue *preset_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(CATALOGUE_FILE, err);
    return load(document, err);
}

void preset_catalogue_free(struct preset_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena); /* the catalogue itself lies in it */
}

const struct node_preset *preset_catalogue_find(const struct preset_catalogue *catalogue,
                                                const char *name)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (is_named(&catalogue->presets[i], name))
            return &catalogue->presets[i];
    return NULL;
}

const struct node_preset *preset_catalogue_match(const struct preset_catalogue *catalogue,
                                                 const struct gpu_catalogue *gpus, const char *gpu,
                                                 unsigned gpu_count)
{
    const struct gpu_model *model = gpu_catalogue_find(gpus, gpu, 0);
    for (size_t i = 0; model && i < catalogue->count; i++) {
        const struct node_preset *preset = &catalogue->presets[i];
        if (preset->gpu_count == gpu_count && strcmp(preset->gpu, model->name) == 0)
            return preset;
    }
    return NULL;
}
