/* SPDX-License-Identifier: MIT */
#include "topology/cluster_readers/cluster_kind.h"
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "topology/cluster_readers/rate.h"
#include "topology/node_readers/node_description.h"
#include "topology/node_readers/node_file.h"
#include <string.h>

#define MAXIMUM_DOMAIN_NODES 4096u
#define MAXIMUM_CPUS 65536u

struct kind_entry {
    const char *preset, *gpu, *nvlink_rate, *nic_rate;
    uint64_t gpus, nvlink_domain_nodes, nics, cpus, host_memory_bytes, host_nvme_bytes;
    const struct yaml_node *nvlink, *node;
};

#define KIND_FIELD(key_, type_, member, ...)                                                       \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(struct kind_entry, member), __VA_ARGS__     \
    }

static const struct yaml_field kind_fields[] = {
    KIND_FIELD("preset", YAML_TEXT, preset),
    KIND_FIELD("node", YAML_NODE, node),
    KIND_FIELD("gpu", YAML_TEXT, gpu),
    KIND_FIELD("gpus", YAML_UNSIGNED, gpus, .minimum = 1, .maximum = NODE_MAXIMUM_GPUS),
    KIND_FIELD("nvlink", YAML_NODE, nvlink),
    KIND_FIELD("nvlink_rate", YAML_TEXT, nvlink_rate),
    KIND_FIELD("nvlink_domain_nodes", YAML_UNSIGNED, nvlink_domain_nodes, .minimum = 1,
               .maximum = MAXIMUM_DOMAIN_NODES),
    KIND_FIELD("nics", YAML_UNSIGNED, nics, .maximum = NODE_MAXIMUM_NICS),
    KIND_FIELD("nic_rate", YAML_TEXT, nic_rate),
    KIND_FIELD("host_memory", YAML_BYTES, host_memory_bytes),
    KIND_FIELD("host_nvme", YAML_BYTES, host_nvme_bytes),
    KIND_FIELD("cpus", YAML_UNSIGNED, cpus, .maximum = MAXIMUM_CPUS),
};

static const char *nearest_name(const char *name, const char *candidate, const char *nearest)
{
    const char *const pair[] = {candidate, nearest};
    const char *found = name_nearest(name, pair, nearest ? 2 : 1);
    return found ? found : nearest;
}

static struct node_topology *load_preset(const struct yaml_node *node, const char *name,
                                         const struct preset_catalogue *presets,
                                         const struct gpu_catalogue *gpus, struct error_info *err)
{
    const struct yaml_node *where = yaml_node_get(node, "preset");
    if (node->child_count > 1)
        return error_null(yaml_node_error(where, err,
                                          "a preset takes no other keys; describe the node with "
                                          "gpu, gpus, nvlink, nics… instead"));
    const struct node_preset *preset = preset_catalogue_find(presets, name);
    if (preset)
        return node_topology_from_preset(preset, gpus, err);
    const char *nearest = NULL;
    for (size_t i = 0; i < presets->count; i++)
        nearest = nearest_name(name, presets->presets[i].name, nearest);
    return error_null(yaml_node_error(where, err, "no node preset is called %s%s%s", name,
                                      nearest ? "; did you mean " : "", nearest ? nearest : ""));
}

static struct node_topology *load_node(const struct yaml_node *kind, const struct yaml_node *node,
                                       const struct gpu_catalogue *gpus, struct error_info *err)
{
    if (kind->child_count > 1)
        return error_null(yaml_node_error(node, err, "a kind with node: takes no other keys"));
    CLEANUP(node_evidence) struct node_evidence *evidence = node_file_load(node, err);
    if (!evidence)
        return NULL;
    return node_topology_of(kind->key, evidence, gpus, err);
}

static const struct gpu_model *find_gpu(const struct yaml_node *node, const char *name,
                                        const struct gpu_catalogue *gpus, struct error_info *err)
{
    const struct gpu_model *model = gpu_catalogue_find(gpus, name, 0);
    const char *nearest = NULL;
    if (model)
        return model;
    for (size_t i = 0; i < gpus->count; i++)
        nearest = nearest_name(name, gpus->models[i].name, nearest);
    return error_null(yaml_node_error(yaml_node_get(node, "gpu"), err,
                                      "the GPU catalogue has no %s%s%s", name,
                                      nearest ? "; did you mean " : "", nearest ? nearest : ""));
}

/* A rate that is not given stays as it is. */
static int load_rate(const struct yaml_node *node, const char *key, double *rate,
                     struct error_info *err)
{
    const struct yaml_node *value = yaml_node_get(node, key);
    struct error_info why = {.kind = ERROR_NONE};
    if (value && rate_parse(value->text, rate, &why) < 0)
        return yaml_node_error(value, err, "%s", why.text);
    return 0;
}

static void join_pair(double *rates, size_t n, size_t first, size_t second, double rate)
{
    rates[first * n + second] = rate;
    rates[second * n + first] = rate;
}

static int load_member(const struct yaml_node *item, size_t gpu_count, bool *seen,
                       unsigned *ret_gpu, struct error_info *err)
{
    uint64_t gpu;
    struct error_info why = {.kind = ERROR_NONE};
    if (item->kind != YAML_SCALAR)
        return yaml_node_error(item, err, "a GPU number is expected");
    if (parse_unsigned(item->text, 0, gpu_count - 1, &gpu, &why) < 0)
        return yaml_node_error(item, err, "%s", why.text);
    if (seen[gpu])
        return yaml_node_error(item, err, "GPU %s stands in two groups", item->text);
    seen[gpu] = true;
    *ret_gpu = (unsigned)gpu;
    return 0;
}

static int load_group(const struct yaml_node *group, size_t gpu_count, double gpu_rate, bool *seen,
                      double *rates, struct error_info *err)
{
    unsigned members[NODE_MAXIMUM_GPUS] = {0};
    if (group->kind != YAML_SEQUENCE || group->child_count < 2 || group->child_count > gpu_count)
        return yaml_node_error(group, err, "a group of at least two GPUs is expected, as [0, 1]");
    size_t count = group->child_count;
    for (size_t i = 0; i < count; i++) {
        if (load_member(group->children[i], gpu_count, seen, &members[i], err) < 0)
            return -1;
        for (size_t j = 0; j < i; j++)
            join_pair(rates, gpu_count, members[i], members[j], gpu_rate / (double)(count - 1));
    }
    return 0;
}

static int load_groups(const struct yaml_node *list, size_t gpu_count, double gpu_rate,
                       double *rates, struct error_info *err)
{
    bool seen[NODE_MAXIMUM_GPUS] = {false};
    for (size_t i = 0; i < list->child_count; i++)
        if (load_group(list->children[i], gpu_count, gpu_rate, seen, rates, err) < 0)
            return -1;
    return 0;
}

static void join_all(double *rates, size_t n, double rate)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            join_pair(rates, n, i, j, rate);
}

enum nvlink_word { WORD_UNKNOWN, WORD_NONE, WORD_SWITCH, WORD_MESH, WORD_GROUPS };

static int read_nvlink_word(const struct yaml_node *nvlink, enum nvlink_word *ret,
                            struct error_info *err)
{
    static const char *const words[] = {"unknown", "none", "switch", "mesh"};
    if (nvlink->kind == YAML_SEQUENCE) {
        *ret = WORD_GROUPS;
        return 0;
    }
    for (unsigned i = 0; nvlink->kind == YAML_SCALAR && i < COUNT_OF(words); i++) {
        if (strcmp(nvlink->text, words[i]) != 0)
            continue;
        *ret = (enum nvlink_word)i;
        return 0;
    }
    return yaml_node_error(
        nvlink, err, "switch, mesh, none, unknown or groups as [[0, 1], [2, 3]] are expected");
}

static int load_wiring(const struct yaml_node *nvlink, enum nvlink_word word, double gpu_rate,
                       struct node_description *description, double *rates, struct error_info *err)
{
    size_t n = description->gpu_count;
    if (gpu_rate <= 0)
        return yaml_node_error(nvlink, err,
                               "%s has no NVLink in the GPU catalogue; say nvlink: none, or give "
                               "nvlink_rate",
                               description->gpu->name);
    description->nvlink = NVLINK_KNOWN;
    description->nvlink_bytes_per_second = rates;
    description->nvlink_switched = word == WORD_SWITCH;
    if (word == WORD_GROUPS)
        return load_groups(nvlink, n, gpu_rate, rates, err);
    join_all(rates, n, word == WORD_MESH && n > 1 ? gpu_rate / (double)(n - 1) : gpu_rate);
    return 0;
}

/* Fills the NVLink part of the description; rates has room for gpu_count^2. */
static int load_nvlink(const struct kind_entry *entry, const struct yaml_node *node,
                       struct node_description *description, double *rates, struct error_info *err)
{
    double gpu_rate = description->gpu->nvlink_bytes_per_second;
    enum nvlink_word word = WORD_UNKNOWN;
    if (load_rate(node, "nvlink_rate", &gpu_rate, err) < 0 ||
        (entry->nvlink && read_nvlink_word(entry->nvlink, &word, err) < 0))
        return -1;
    if (word == WORD_NONE)
        description->nvlink = NVLINK_NONE;
    if (word == WORD_NONE || word == WORD_UNKNOWN)
        return 0;
    return load_wiring(entry->nvlink, word, gpu_rate, description, rates, err);
}

static struct node_evidence *describe(const struct kind_entry *entry, const struct yaml_node *node,
                                      const struct gpu_model *gpu, struct error_info *err)
{
    size_t n = (size_t)entry->gpus;
    CLEANUP_MEMORY double *rates = memory_allocate_array(n * n, sizeof(*rates));
    if (!rates)
        return error_null(error_set_memory(err));
    struct node_description description = {
        .source = EVIDENCE_ADMIN,
        .source_text = yaml_document_source(node->document),
        .gpu = gpu,
        .gpu_count = (unsigned)n,
        .nvlink_domain_nodes = (unsigned)entry->nvlink_domain_nodes,
        .nic_count = (unsigned)entry->nics,
        .host_memory_bytes = entry->host_memory_bytes,
        .host_nvme_bytes = entry->host_nvme_bytes,
        .cpu_count = (unsigned)entry->cpus,
    };
    if (load_rate(node, "nic_rate", &description.nic_bytes_per_second, err) < 0 ||
        load_nvlink(entry, node, &description, rates, err) < 0)
        return NULL;
    return node_description_evidence(&description, err);
}

struct node_topology *cluster_kind_load(const struct yaml_node *node,
                                        const struct preset_catalogue *presets,
                                        const struct gpu_catalogue *gpus, struct error_info *err)
{
    struct kind_entry entry = {.nvlink_domain_nodes = 1};
    if (yaml_fields_load(node, kind_fields, COUNT_OF(kind_fields), &entry, err) < 0)
        return NULL;
    if (entry.preset)
        return load_preset(node, entry.preset, presets, gpus, err);
    if (entry.node)
        return load_node(node, entry.node, gpus, err);
    if (!entry.gpu || entry.gpus == 0)
        return error_null(
            yaml_node_error(node, err, "preset: NAME is expected, or gpu: and gpus:, or node:"));
    const struct gpu_model *gpu = find_gpu(node, entry.gpu, gpus, err);
    if (!gpu)
        return NULL;
    CLEANUP(node_evidence) struct node_evidence *evidence = describe(&entry, node, gpu, err);
    if (!evidence)
        return NULL;
    return node_topology_of(node->key, evidence, gpus, err);
}
