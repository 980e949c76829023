/* SPDX-License-Identifier: MIT */
#include "cli/inputs/cluster_choice.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "cli/inputs/input_remedy.h"
#include "cli/inputs/topology_source.h"
#include "topology/cluster_source.h"
#include <string.h>
#include <unistd.h>

#define LONE_NODE_NAME "n001"
#define PRESET_NAMES_MAXIMUM 256u

static struct node_topology *unknown_node(const char *name, const struct preset_catalogue *presets,
                                          struct error_info *err)
{
    const char *known[PRESET_NAMES_MAXIMUM];
    size_t count = 0;
    for (size_t i = 0; i < presets->count && count < PRESET_NAMES_MAXIMUM; i++)
        known[count++] = presets->presets[i].name;
    const char *nearest = name_nearest(name, known, count);
    if (nearest)
        return error_null(error_set(err,
                                    "--node: %s is neither a preset nor a file; did you mean "
                                    "%s?",
                                    name, nearest));
    return error_null(error_set(err,
                                "--node: %s is neither a preset nor a file; `parplan gpus` "
                                "lists the presets",
                                name));
}

struct node_topology *node_choice_open(const char *name, const char *gpu,
                                       const struct catalogues *catalogues, struct error_info *err)
{
    const struct node_preset *preset = preset_catalogue_find(catalogues->presets, name);
    if (preset && gpu)
        return error_null(
            error_set(err, "--gpu: the preset %s names its GPUs; leave it out", name));
    if (preset)
        return node_topology_from_preset(preset, catalogues->gpus, err);
    if (!strchr(name, '/') && access(name, F_OK) < 0)
        return unknown_node(name, catalogues->presets, err);
    CLEANUP_DONE(topology_source) struct topology_source source = {.node = NULL};
    const struct topology_request request = {.paths = &name, .path_count = 1, .gpu = gpu};
    if (topology_source_open(&source, &request, catalogues, err) < 0)
        return NULL;
    if (!source.node)
        return error_null(error_set(err, "--node: %s is no node; %s", name,
                                    source.cluster ? "give a cluster file as --cluster"
                                                   : "give switches as --fabric"));
    return move_pointer(source.node);
}

static struct fabric *open_fabric(const struct command_options *options,
                                  const struct catalogues *catalogues, struct error_info *err)
{
    CLEANUP_DONE(topology_source) struct topology_source source = {.node = NULL};
    const char *path = options->fabric;
    const struct topology_request request = {
        .paths = &path, .path_count = 1, .hints = {.label_keys = options->label_keys}};
    if (topology_source_open(&source, &request, catalogues, err) < 0)
        return NULL;
    if (!source.fabric)
        return error_null(error_set(err, "--fabric: %s is no fabric; %s", path,
                                    source.cluster ? "give a cluster file as --cluster"
                                                   : "give a node as --node"));
    return move_pointer(source.fabric);
}

/* --nodes, else the fabric's nodes, else one node. */
static struct node_list *names_of(const char *nodes, const struct fabric *fabric,
                                  struct error_info *err)
{
    if (nodes)
        return node_list_decode(nodes, err);
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    if (!names)
        return NULL;
    for (size_t i = 0; fabric && i < fabric->node_count; i++) {
        if (node_list_add(names, fabric->nodes[i].name, err) < 0)
            return NULL;
    }
    if (!fabric && node_list_add(names, LONE_NODE_NAME, err) < 0)
        return NULL;
    return move_pointer(names);
}

static int check_names(const struct node_list *names, const struct fabric *fabric,
                       const char *fabric_path, struct error_info *err)
{
    if (node_list_count(names) == 0)
        return error_set(err, "--nodes: the list is empty");
    for (size_t i = 0; fabric && i < node_list_count(names); i++) {
        if (fabric_find_node(fabric, node_list_name(names, i)) == FABRIC_NONE)
            return error_set(err, "--nodes: %s has no node %s", fabric_path,
                             node_list_name(names, i));
    }
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cluster_topology *from_node(const struct command_options *options,
                                          const struct catalogues *catalogues,
                                          struct error_info *err)
{
    CLEANUP(fabric) struct fabric *fabric = NULL;
    if (options->fabric) {
        fabric = open_fabric(options, catalogues, err);
        if (!fabric)
            return NULL;
    }
    CLEANUP(node_list) struct node_list *names = names_of(options->nodes, fabric, err);
    if (!names || check_names(names, fabric, options->fabric, err) < 0)
        return NULL;
    struct node_topology *node = node_choice_open(options->node, options->gpu, catalogues, err);
    if (!node)
        return NULL;
    const char *kind_name = base_name(options->node);
    char name[256];
    snprintf(name, sizeof(name), "%s:%zu", kind_name, node_list_count(names));
    CLEANUP_MEMORY unsigned *kinds = memory_allocate_array(node_list_count(names), sizeof(*kinds));
    if (!kinds) {
        node_topology_free(node);
        return error_null(error_set_memory(err));
    }
    return cluster_topology_create(name, &node, &kind_name, 1, names, kinds, move_pointer(fabric),
                                   err);
}

/* A number that names no node is how many of the cluster's nodes, the first ones. */
static int counted_names(const struct cluster_topology *cluster, const char *text,
                         struct node_list **ret, struct error_info *err)
{
    uint64_t count;
    for (size_t i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].name, text) == 0)
            return 0;
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return 0;
    if (parse_unsigned(text, 1, cluster->node_count, &count, NULL) < 0)
        return error_set(err,
                         "%s has no node %.64s, and as a number of nodes it is not from 1 to %zu",
                         cluster->name, text, cluster->node_count);
    CLEANUP(node_list) struct node_list *names = node_list_create(err);
    if (!names)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (node_list_add(names, cluster->nodes[i].name, err) < 0)
            return -1;
    *ret = move_pointer(names);
    return 0;
}

static struct cluster_topology *selected(const struct cluster_topology *cluster, const char *nodes,
                                         struct error_info *err)
{
    CLEANUP(node_list) struct node_list *names = NULL;
    if (counted_names(cluster, nodes, &names, err) < 0 ||
        (!names && !(names = node_list_decode(nodes, err)))) {
        error_prefix(err, "--nodes");
        return NULL;
    }
    if (check_names(names, NULL, NULL, err) < 0)
        return NULL;
    return cluster_topology_select(cluster, names, err);
}

static struct cluster_topology *from_name(const char *name, const struct command_options *options,
                                          const struct catalogues *catalogues,
                                          struct error_info *err)
{
    if (strcmp(name, TOPOLOGY_SOURCE_SLURM) == 0)
        return error_null(error_set(err, "the cluster is given as slurm, which does not tell the "
                                         "kind of nodes; use --node PRESET --fabric slurm"));
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_source_open(name, catalogues->presets, catalogues->gpus, err);
    if (!cluster)
        return error_null(input_remedy_add(
            name, "give PRESET:NODES, as dgx-h100:16, or a cluster file that is there", err));
    if (!options->nodes)
        return move_pointer(cluster);
    return selected(cluster, options->nodes, err);
}

/* gone[node] of every node that the list names. */
static int mark_nodes(const struct cluster_topology *cluster, const char *text, bool *gone,
                      struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_decode(text, err);
    CLEANUP(name_index) struct name_index *names = name_index_create();
    if (!list)
        return error_prefix(err, "--exclude");
    for (size_t i = 0; names && i < cluster->node_count; i++)
        if (name_index_add(names, cluster->nodes[i].name, i) < 0)
            return error_set_memory(err);
    if (!names)
        return error_set_memory(err);
    for (size_t i = 0; i < node_list_count(list); i++) {
        size_t node = name_index_find(names, node_list_name(list, i));
        if (node == NAME_INDEX_NONE)
            return error_set(err,
                             "--exclude: %s has no node %s; `parplan topology` lists its nodes",
                             cluster->name, node_list_name(list, i));
        gone[node] = true;
    }
    return 0;
}

static struct cluster_topology *without(const struct cluster_topology *cluster, const char *exclude,
                                        struct error_info *err)
{
    CLEANUP_MEMORY bool *gone = memory_allocate_array(cluster->node_count, sizeof(*gone));
    CLEANUP(node_list) struct node_list *kept = gone ? node_list_create(err) : NULL;
    if (!kept)
        return error_null(error_set_memory(err));
    if (mark_nodes(cluster, exclude, gone, err) < 0)
        return NULL;
    for (size_t i = 0; i < cluster->node_count; i++)
        if (!gone[i] && node_list_add(kept, cluster->nodes[i].name, err) < 0)
            return NULL;
    if (node_list_count(kept) == 0)
        return error_null(error_set(err, "--exclude leaves no node of %s", cluster->name));
    return cluster_topology_select(cluster, kept, err);
}

static struct cluster_topology *open_all(const struct command_options *options,
                                         const char *otherwise, const struct catalogues *catalogues,
                                         struct error_info *err)
{
    if (options->cluster && (options->node || options->fabric))
        return error_null(error_set(err, "--cluster and --%s name the nodes twice; keep one",
                                    options->node ? "node" : "fabric"));
    if (options->gpu && !options->node)
        return error_null(error_set(err, "--gpu names the GPUs of a --node; there is none"));
    if (options->fabric && !options->node)
        return error_null(error_set(err, "--fabric says how nodes are connected, not what they "
                                         "are; add --node PRESET"));
    if (options->node)
        return from_node(options, catalogues, err);
    const char *name = options->cluster ? options->cluster : otherwise;
    if (!name)
        return error_null(error_set(err, "which nodes? give --cluster dgx-h100:8 (or a cluster "
                                         "file: `parplan topology collect --from slurm` drafts "
                                         "one), or --node PRESET --fabric FILE (or --fabric slurm: "
                                         "the running controller's)"));
    return from_name(name, options, catalogues, err);
}

struct cluster_topology *cluster_choice_open(const struct command_options *options,
                                             const char *otherwise,
                                             const struct catalogues *catalogues,
                                             struct error_info *err)
{
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = open_all(options, otherwise, catalogues, err);
    if (!cluster || !options->exclude)
        return move_pointer(cluster);
    return without(cluster, options->exclude, err);
}
