/* SPDX-License-Identifier: MIT */
/* "dgx-h100:16": a cluster of one preset's nodes, as its vendor would cable it. */
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "base/yaml_fields.h"
#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"
#include <stdio.h>
#include <string.h>

#define PRESET_NAME_BYTES 64u
#define NAME_BYTES 32u
#define LIST_BYTES 768u

static int error_unknown(const struct preset_catalogue *presets, const char *name,
                         struct error_info *err)
{
    const char *nearest = NULL;
    CLEANUP_DONE(text_buffer) struct text_buffer list;
    text_buffer_init(&list, LIST_BYTES);
    for (size_t i = 0; i < presets->count; i++) {
        const char *const known[] = {presets->presets[i].name, nearest};
        const char *found = name_nearest(name, known, nearest ? 2 : 1);
        nearest = found ? found : nearest;
        text_buffer_add(&list, "%s%s", i > 0 ? ", " : "", presets->presets[i].name);
    }
    return error_set(err, "no node preset is called %s%s%s; there are %s", name,
                     nearest ? "; did you mean " : "", nearest ? nearest : "",
                     text_buffer_text(&list));
}

static int split(const char *text, const struct preset_catalogue *presets,
                 const struct node_preset **ret_preset, uint64_t *ret_count, struct error_info *err)
{
    const char *colon = strrchr(text, ':');
    char name[PRESET_NAME_BYTES];
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length == 0)
        return error_set(err, "%s: no node preset is called ''; write PRESET:NODES, as dgx-h100:16",
                         text);
    if (length >= sizeof(name))
        return error_set(err, "%.80s…: PRESET:NODES is expected, as dgx-h100:16", text);
    memcpy(name, text, length);
    name[length] = '\0';
    const struct node_preset *preset = preset_catalogue_find(presets, name);
    if (!preset)
        return error_unknown(presets, name, err);
    if (!colon)
        return error_set(err, "%s: say how many nodes, as %s:16", text, name);
    if (parse_unsigned(colon + 1, 1, CLUSTER_MAXIMUM_NODES, ret_count, err) < 0)
        return error_prefix(err, "%s: number of nodes", text);
    *ret_preset = preset;
    return 0;
}

static unsigned digits_of(uint64_t number)
{
    unsigned digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* Names n001… (at least three digits) from first up to, not including, last; from 0. */
static struct node_list *name_nodes(uint64_t first, uint64_t last, uint64_t count,
                                    struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_create(err);
    int digits = digits_of(count) > 3 ? (int)digits_of(count) : 3;
    for (uint64_t i = first; list && i < last; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof(name), "n%0*llu", digits, (unsigned long long)(i + 1));
        if (node_list_add(list, name, err) < 0)
            return NULL;
    }
    return move_pointer(list);
}

/* The lists that the fabric's input points to, and the input itself. */
struct cabling {
    const struct node_preset *preset;
    uint64_t node_count;
    size_t leaf_count, domain_count;
    struct node_list **leaf_nodes, **domain_nodes, *leaf_names;
    struct fabric_switch_input *switches; /* the leaves, then the spine */
    struct fabric_domain_input *domains;
    char (*names)[NAME_BYTES];
};

static void cabling_done(struct cabling *cabling)
{
    for (size_t i = 0; cabling->leaf_nodes && i < cabling->leaf_count; i++)
        node_list_free(cabling->leaf_nodes[i]);
    for (size_t i = 0; cabling->domain_nodes && i < cabling->domain_count; i++)
        node_list_free(cabling->domain_nodes[i]);
    memory_free(cabling->leaf_nodes);
    memory_free(cabling->domain_nodes);
    memory_free(cabling->switches);
    memory_free(cabling->domains);
    memory_free(cabling->names);
    node_list_free(cabling->leaf_names);
}

static int cabling_allocate(struct cabling *cabling, struct error_info *err)
{
    const struct node_preset *preset = cabling->preset;
    uint64_t count = cabling->node_count, leaf = preset->nodes_per_leaf;
    cabling->leaf_count = (size_t)((count + leaf - 1) / leaf);
    if (cabling->leaf_count >= FABRIC_MAXIMUM_SWITCHES) {
        error_set(err, "%s: %zu leaf switches are more than are possible", preset->name,
                  cabling->leaf_count);
        return -1;
    }
    if (preset->nvlink_domain_nodes > 1)
        cabling->domain_count =
            (size_t)((count + preset->nvlink_domain_nodes - 1) / preset->nvlink_domain_nodes);
    cabling->leaf_nodes = memory_allocate_array(cabling->leaf_count, sizeof(struct node_list *));
    cabling->domain_nodes =
        memory_allocate_array(cabling->domain_count, sizeof(struct node_list *));
    cabling->switches = memory_allocate_array(cabling->leaf_count + 1, sizeof(*cabling->switches));
    cabling->domains = memory_allocate_array(cabling->domain_count, sizeof(*cabling->domains));
    cabling->names = memory_allocate_array(cabling->leaf_count, sizeof(*cabling->names));
    if (!cabling->leaf_nodes || !cabling->domain_nodes || !cabling->switches || !cabling->domains ||
        !cabling->names) {
        error_set_memory(err);
        return -1;
    }
    cabling->leaf_names = node_list_create(err);
    return cabling->leaf_names ? 0 : -1;
}

static uint64_t smaller(uint64_t left, uint64_t right) { return left < right ? left : right; }

/* Leaves carry all their nodes' rails upward: the reference designs do not oversubscribe. */
static int cable_leaves(struct cabling *cabling, struct error_info *err)
{
    const struct node_preset *preset = cabling->preset;
    uint64_t count = cabling->node_count, width = preset->nodes_per_leaf;
    for (size_t i = 0; i < cabling->leaf_count; i++) {
        uint64_t last = smaller((i + 1) * width, count);
        snprintf(cabling->names[i], NAME_BYTES, "leaf%zu", i + 1);
        cabling->leaf_nodes[i] = name_nodes(i * width, last, count, err);
        if (!cabling->leaf_nodes[i] ||
            node_list_add(cabling->leaf_names, cabling->names[i], err) < 0)
            return -1;
        cabling->switches[i] = (struct fabric_switch_input){
            .name = cabling->names[i],
            .nodes = cabling->leaf_nodes[i],
            .uplink_bytes_per_second =
                (double)width * preset->nic_count * preset->nic_bytes_per_second,
        };
    }
    cabling->switches[cabling->leaf_count] =
        (struct fabric_switch_input){.name = "spine", .children = cabling->leaf_names};
    return 0;
}

static int cable_domains(struct cabling *cabling, struct error_info *err)
{
    uint64_t count = cabling->node_count, width = cabling->preset->nvlink_domain_nodes;
    for (size_t i = 0; i < cabling->domain_count; i++) {
        uint64_t last = smaller((i + 1) * width, count);
        cabling->domain_nodes[i] = name_nodes(i * width, last, count, err);
        if (!cabling->domain_nodes[i])
            return -1;
        cabling->domains[i] = (struct fabric_domain_input){.nodes = cabling->domain_nodes[i],
                                                           .where = cabling->preset->name};
    }
    return 0;
}

static struct fabric *cable(const char *text, const struct node_preset *preset, uint64_t count,
                            struct error_info *err)
{
    struct cabling cabling = {.preset = preset, .node_count = count};
    struct fabric *fabric = NULL;
    if (cabling_allocate(&cabling, err) == 0 && cable_leaves(&cabling, err) == 0 &&
        cable_domains(&cabling, err) == 0) {
        const struct fabric_input input = {
            .source = text,
            .switches = cabling.switches,
            /* One leaf needs no spine. */
            .switch_count = cabling.leaf_count + (cabling.leaf_count > 1),
            .nvlink_domains = cabling.domains,
            .nvlink_domain_count = cabling.domain_count,
        };
        fabric = fabric_build(&input, err);
    }
    cabling_done(&cabling);
    return fabric;
}

struct cluster_topology *cluster_topology_from_preset(const char *text,
                                                      const struct preset_catalogue *presets,
                                                      const struct gpu_catalogue *gpus,
                                                      struct error_info *err)
{
    const struct node_preset *preset = NULL;
    uint64_t count = 0;
    if (split(text, presets, &preset, &count, err) < 0 || !preset)
        return NULL;
    CLEANUP(node_list) struct node_list *names = name_nodes(0, count, count, err);
    CLEANUP_MEMORY unsigned *node_kinds = memory_allocate_array(count, sizeof(*node_kinds));
    if (!names)
        return NULL;
    if (!node_kinds)
        return error_null(error_set_memory(err));
    struct fabric *fabric = cable(text, preset, count, err);
    if (!fabric)
        return NULL;
    struct node_topology *kinds[] = {node_topology_from_preset(preset, gpus, err)};
    if (!kinds[0]) {
        fabric_free(fabric);
        return NULL;
    }
    const char *const kind_names[] = {preset->name};
    return cluster_topology_create(text, kinds, kind_names, COUNT_OF(kinds), names, node_kinds,
                                   fabric, err);
}
