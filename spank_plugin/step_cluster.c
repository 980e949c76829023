/* SPDX-License-Identifier: MIT */
#include "spank_plugin/step_cluster.h"
#include "base/parse_number.h"
#include "spank_plugin/plugin_log.h"
#include "topology/cluster_source.h"
#include <string.h>

static const struct node_preset *find_kind(const struct step_facts *facts, const char *cluster,
                                           const struct preset_catalogue *presets,
                                           const struct gpu_catalogue *gpus)
{
    char name[NODE_LIST_NAME_BYTES];
    if (cluster && strcmp(cluster, "slurm") != 0) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(cluster, ":"), cluster);
        return preset_catalogue_find(presets, name);
    }
    if (!facts->gpu_type[0])
        return NULL;
    return preset_catalogue_match(presets, gpus, facts->gpu_type, facts->node_gpus);
}

/* "dgx-h100" or "dgx-h100:16": the number says nothing here, but must be one. */
static int check_word(const char *cluster, struct error_info *err)
{
    const char *colon = cluster ? strchr(cluster, ':') : NULL;
    uint64_t nodes;
    if (!colon || parse_unsigned(colon + 1, 1, CLUSTER_MAXIMUM_NODES, &nodes, err) == 0)
        return 0;
    return error_prefix(err, "cluster: \"%s\" in parplan.yaml", cluster);
}

static struct node_topology *node_of_step(const struct step_facts *facts, const char *cluster,
                                          const struct preset_catalogue *presets,
                                          const struct gpu_catalogue *gpus, struct error_info *err)
{
    if (check_word(cluster, err) < 0)
        return NULL;
    const struct node_preset *preset = find_kind(facts, cluster, presets, gpus);
    if (preset)
        return node_topology_from_preset(preset, gpus, err);
    if (cluster && strcmp(cluster, "slurm") != 0)
        return error_null(error_set(err,
                                    "cluster: \"%s\" in parplan.yaml is no preset that "
                                    "`parplan gpus` lists",
                                    cluster));
    unsigned ranks = facts->tasks_per_node > 1 ? facts->tasks_per_node : facts->gpus_per_node;
    unsigned count = facts->node_gpus > ranks ? facts->node_gpus : ranks;
    if (count > NODE_MAXIMUM_GPUS)
        return error_null(error_set(err, "%u tasks on one node; parplan places at most %u", count,
                                    NODE_MAXIMUM_GPUS));
    /* Ranks need a place even where nothing is known of the GPUs. */
    return gres_unknown_node("each node here", NULL, count ? count : 1, gpus, err);
}

/* Slurm runs with kinds that we do not read, as rings: they must not stop a step. */
static int read_fabric(const char *text, struct fabric **ret, struct error_info *err)
{
    struct error_info doubt = {.kind = ERROR_NONE};
    if (text)
        *ret = fabric_parse_slurm(text, strlen(text), "slurmctld", &doubt);
    if (doubt.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (doubt.kind != ERROR_NONE)
        plugin_notice("warning: topology: %s", doubt.text);
    return 0;
}

static struct cluster_topology *from_slurm(const struct step_facts *facts, const char *cluster,
                                           const struct preset_catalogue *presets,
                                           const struct gpu_catalogue *gpus, struct error_info *err)
{
    CLEANUP(fabric) struct fabric *fabric = NULL;
    if (read_fabric(facts->topology_text, &fabric, err) < 0)
        return NULL;
    struct node_topology *node = node_of_step(facts, cluster, presets, gpus, err);
    if (!node)
        return NULL;
    CLEANUP_MEMORY unsigned *kinds =
        memory_allocate_array(node_list_count(facts->nodes), sizeof(*kinds));
    if (!kinds) {
        node_topology_free(node);
        return error_null(error_set_memory(err));
    }
    const char *kind_name = node->name;
    return cluster_topology_create("slurm", &node, &kind_name, 1, facts->nodes, kinds,
                                   move_pointer(fabric), err);
}

bool step_cluster_is_file(const char *cluster) { return cluster && strchr(cluster, '/'); }

struct cluster_topology *step_cluster_create(const struct step_facts *facts, const char *cluster,
                                             const struct preset_catalogue *presets,
                                             const struct gpu_catalogue *gpus,
                                             struct error_info *err)
{
    if (!step_cluster_is_file(cluster))
        return from_slurm(facts, cluster, presets, gpus, err);
    CLEANUP(cluster_topology)
    struct cluster_topology *whole = cluster_source_open(cluster, presets, gpus, err);
    return whole ? cluster_topology_select(whole, facts->nodes, err) : NULL;
}

bool step_cluster_knows_gpus(const struct cluster_topology *cluster,
                             const struct gpu_catalogue *gpus)
{
    for (size_t i = 0; i < cluster->kind_count; i++) {
        const struct node_topology *kind = cluster->kinds[i];
        if (kind->gpu_count == 0 || !kind->gpus[0].model ||
            !gpu_catalogue_find(gpus, kind->gpus[0].model, kind->gpus[0].memory_bytes))
            return false;
    }
    return true;
}
