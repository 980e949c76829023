/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/kfd_nodes.h"
#include "base/parse_number.h"
#include "topology/node_readers/sysfs/sysfs_text.h"
#include <string.h>

#define PROPERTIES_BYTES 8192u /* the kernel's limit is a page */
#define NAMES_MAXIMUM_BYTES ((size_t)8 << 20)
#define MAXIMUM_MEMORY_BYTES (UINT64_C(1) << 50)
#define MAXIMUM_MEGABYTES_PER_SECOND 10000000u
#define HEAP_FRAME_BUFFER_PUBLIC 1u
#define HEAP_FRAME_BUFFER_PRIVATE 2u

/* Notes what is wrong with one file and goes on, unless nothing works any more. */
static int note_and_pass(const struct kfd_nodes *nodes, const struct error_info *why,
                         struct error_info *err)
{
    if (why->kind == ERROR_INPUT) {
        evidence_draft_warn(nodes->draft, "%s", why->text);
        return 0;
    }
    if (err)
        *err = *why;
    return -1;
}

/* *ret_malformed: lines that were passed over. -1 with why: the file itself cannot be read. */
static int read_properties(const struct kfd_nodes *nodes, const char *folder,
                           struct sysfs_property *properties, size_t count, unsigned *ret_malformed,
                           struct error_info *why)
{
    char text[PROPERTIES_BYTES];
    struct error_info line = {.kind = ERROR_NONE};
    if (sysfs_tree_read(nodes->tree, folder, "properties", text, sizeof(text), why) < 0)
        return -1;
    *ret_malformed = sysfs_parse_properties(text, properties, count, &line);
    if (*ret_malformed > 0)
        evidence_draft_warn(nodes->draft, "%s/properties: %s (%u lines are passed over)", folder,
                            line.text, *ret_malformed);
    return 0;
}

/* --- memory ----------------------------------------------------------------------- */

static int add_bank(const struct kfd_nodes *nodes, const char *folder, const char *bank,
                    uint64_t *sum, struct error_info *err)
{
    char path[SYSFS_PATH_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    struct sysfs_property values[] = {{.key = "heap_type"}, {.key = "size_in_bytes"}};
    unsigned malformed = 0;
    snprintf(path, sizeof(path), "%.1024s/mem_banks/%.512s", folder, bank);
    if (read_properties(nodes, path, values, COUNT_OF(values), &malformed, &why) < 0)
        return note_and_pass(nodes, &why, err);
    uint64_t heap = values[0].value, bytes = values[1].value;
    if ((heap == HEAP_FRAME_BUFFER_PUBLIC || heap == HEAP_FRAME_BUFFER_PRIVATE) &&
        bytes <= MAXIMUM_MEMORY_BYTES && *sum <= MAXIMUM_MEMORY_BYTES)
        *sum += bytes;
    return 0;
}

/* node->memory_bytes is what the properties say, and stays where the banks say nothing. */
static int read_memory(const struct kfd_nodes *nodes, const char *folder, struct kfd_node *node,
                       struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct sysfs_entries banks = {0};
    CLEANUP(arena) struct arena *names = arena_create(NAMES_MAXIMUM_BYTES);
    if (!names)
        return error_set_memory(err);
    uint64_t sum = 0;
    if (sysfs_tree_list(nodes->tree, folder, "mem_banks", "", names, &banks, &why) < 0 &&
        why.kind != ERROR_INPUT)
        return note_and_pass(nodes, &why, err);
    for (size_t i = 0; i < banks.count; i++)
        if (add_bank(nodes, folder, banks.names[i], &sum, err) < 0)
            return -1;
    if (sum > 0)
        node->memory_bytes = sum;
    return 0;
}

/* --- nodes ------------------------------------------------------------------------ */

static int read_name(const struct kfd_nodes *nodes, const char *folder, struct kfd_node *node,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    char name[KFD_NAME_BYTES];
    if (sysfs_tree_read(nodes->tree, folder, "name", name, sizeof(name), &why) == 0) {
        error_clean_text(name);
        memcpy(node->name, name, strlen(name) + 1);
        return 0;
    }
    if (why.kind == ERROR_INPUT)
        return 0; /* older kernels and most copies have none */
    return note_and_pass(nodes, &why, err);
}

static int read_node(const struct kfd_nodes *nodes, const char *folder, struct kfd_node *node,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct sysfs_property values[] = {
        {.key = "cpu_cores_count"}, {.key = "simd_count"},    {.key = "gfx_target_version"},
        {.key = "vendor_id"},       {.key = "device_id"},     {.key = "location_id"},
        {.key = "domain"},          {.key = "hive_id"},       {.key = "unique_id"},
        {.key = "num_xcc"},         {.key = "local_mem_size"}};
    uint64_t *const targets[] = {
        &node->cpu_cores_count, &node->simd_count,  &node->gfx_target_version,
        &node->vendor_id,       &node->device_id,   &node->location_id,
        &node->domain,          &node->hive_id,     &node->unique_id,
        &node->num_xcc,         &node->memory_bytes};
    unsigned malformed = 0;
    _Static_assert(COUNT_OF(values) == COUNT_OF(targets), "each property has its place");
    if (read_properties(nodes, folder, values, COUNT_OF(values), &malformed, &why) < 0)
        return note_and_pass(nodes, &why, err);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        *targets[i] = values[i].value;
    if (node->memory_bytes > MAXIMUM_MEMORY_BYTES)
        node->memory_bytes = 0;
    node->readable = values[0].known || values[1].known;
    if (!node->readable)
        evidence_draft_warn(nodes->draft, "%s/properties: neither CPU nor GPU; left out", folder);
    if (node->simd_count == 0)
        return 0;
    return read_name(nodes, folder, node, err) < 0 ? -1 : read_memory(nodes, folder, node, err);
}

static int read_numbered(struct kfd_nodes *nodes, const char *name, struct error_info *err)
{
    char path[SYSFS_PATH_BYTES];
    uint64_t number = 0;
    if (parse_unsigned(name, 0, KFD_MAXIMUM_NODES - 1, &number, NULL) < 0 ||
        (name[0] == '0' && name[1] != '\0')) {
        evidence_draft_warn(nodes->draft, "%s/%.64s: no number of a node below %u; left out",
                            nodes->folder, name, KFD_MAXIMUM_NODES);
        return 0;
    }
    snprintf(path, sizeof(path), "%.1024s/%.64s", nodes->folder, name);
    nodes->nodes[number].present = true;
    return read_node(nodes, path, &nodes->nodes[number], err);
}

int kfd_nodes_read(struct kfd_nodes *nodes, struct error_info *err)
{
    struct sysfs_entries entries = {0};
    CLEANUP(arena) struct arena *names = arena_create(NAMES_MAXIMUM_BYTES);
    if (!names)
        return error_set_memory(err);
    for (unsigned i = 0; i < KFD_MAXIMUM_NODES; i++)
        nodes->nodes[i].gpu = KFD_NO_GPU;
    if (sysfs_tree_list(nodes->tree, nodes->folder, "", "", names, &entries, err) < 0)
        return -1;
    for (size_t i = 0; i < entries.count; i++)
        if (read_numbered(nodes, entries.names[i], err) < 0)
            return -1;
    return 0;
}

/* --- links ------------------------------------------------------------------------ */

enum { LINK_TYPE, LINK_TO, LINK_WEIGHT, LINK_FROM, LINK_MINIMUM, LINK_MAXIMUM, LINK_VALUE_COUNT };

struct link_walk {
    struct kfd_nodes *nodes;
    unsigned node;
    kfd_link_fn take;
    void *context;
};

static uint64_t bandwidth(const struct sysfs_property *value)
{
    return value->value <= MAXIMUM_MEGABYTES_PER_SECOND ? value->value : 0;
}

/* Why the link says nothing, or NULL. */
static const char *link_fault(const struct kfd_nodes *nodes,
                              const struct sysfs_property values[LINK_VALUE_COUNT])
{
    if (!values[LINK_TYPE].known || !values[LINK_TO].known || !values[LINK_WEIGHT].known)
        return "type, node_to or weight is missing";
    if (values[LINK_TO].value >= KFD_MAXIMUM_NODES || !nodes->nodes[values[LINK_TO].value].present)
        return "leads to a node that is not there";
    return NULL;
}

static void take_link(const struct link_walk *walk, const char *folder,
                      const struct sysfs_property values[LINK_VALUE_COUNT])
{
    if (values[LINK_FROM].known && values[LINK_FROM].value != walk->node)
        evidence_draft_warn(walk->nodes->draft,
                            "%s: node_from is %llu; taken as %u, whose folder it is in", folder,
                            (unsigned long long)values[LINK_FROM].value, walk->node);
    struct kfd_link link = {
        .from = walk->node,
        .to = (unsigned)values[LINK_TO].value,
        .type = values[LINK_TYPE].value,
        .weight = values[LINK_WEIGHT].value,
        .minimum_megabytes_per_second = bandwidth(&values[LINK_MINIMUM]),
        .maximum_megabytes_per_second = bandwidth(&values[LINK_MAXIMUM]),
    };
    if (walk->nodes->nodes[link.to].readable)
        walk->take(walk->context, &link);
}

static int read_link(const struct link_walk *walk, const char *folder, bool *ret_good,
                     struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    unsigned malformed = 0;
    struct sysfs_property values[LINK_VALUE_COUNT] = {
        [LINK_TYPE] = {.key = "type"},
        [LINK_TO] = {.key = "node_to"},
        [LINK_WEIGHT] = {.key = "weight"},
        [LINK_FROM] = {.key = "node_from"},
        [LINK_MINIMUM] = {.key = "min_bandwidth"},
        [LINK_MAXIMUM] = {.key = "max_bandwidth"},
    };
    *ret_good = false;
    if (read_properties(walk->nodes, folder, values, COUNT_OF(values), &malformed, &why) < 0)
        return note_and_pass(walk->nodes, &why, err);
    const char *fault = link_fault(walk->nodes, values);
    if (fault) {
        evidence_draft_warn(walk->nodes->draft, "%s: %s; left out", folder, fault);
        return 0;
    }
    take_link(walk, folder, values);
    *ret_good = true;
    return 0;
}

static int read_listed_links(const struct link_walk *walk, const char *folder,
                             const struct sysfs_entries *entries, enum kfd_links *ret,
                             struct error_info *err)
{
    char path[SYSFS_PATH_BYTES];
    enum kfd_links links = entries->count > 0 ? KFD_LINKS_WHOLE : KFD_LINKS_ABSENT;
    for (size_t i = 0; i < entries->count; i++) {
        bool good = false;
        snprintf(path, sizeof(path), "%.1024s/%.512s", folder, entries->names[i]);
        if (read_link(walk, path, &good, err) < 0)
            return -1;
        if (!good)
            links = KFD_LINKS_PARTIAL;
    }
    *ret = links;
    return 0;
}

int kfd_links_read(struct kfd_nodes *nodes, unsigned node, const char *kind, kfd_link_fn take,
                   void *context, enum kfd_links *ret, struct error_info *err)
{
    struct link_walk walk = {.nodes = nodes, .node = node, .take = take, .context = context};
    struct error_info why = {.kind = ERROR_NONE};
    struct sysfs_entries entries = {0};
    char folder[SYSFS_PATH_BYTES];
    CLEANUP(arena) struct arena *names = arena_create(NAMES_MAXIMUM_BYTES);
    if (!names)
        return error_set_memory(err);
    snprintf(folder, sizeof(folder), "%.1024s/%u/%s", nodes->folder, node, kind);
    *ret = KFD_LINKS_ABSENT;
    if (!sysfs_tree_has(nodes->tree, folder, ""))
        return 0;
    *ret = KFD_LINKS_PARTIAL;
    if (sysfs_tree_list(nodes->tree, folder, "", "", names, &entries, &why) < 0)
        return note_and_pass(nodes, &why, err);
    return read_listed_links(&walk, folder, &entries, ret, err);
}
