/* SPDX-License-Identifier: MIT */
#include "cli/doctor/cluster_checks.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "cli/doctor/node_checks.h"
#include "cli/doctor/path_access.h"
#include "topology/cluster_source.h"
#include <string.h>

static const char point[] = "cluster";

/* What `cluster:` says, beside Slurm's nodes with GPUs. */
struct comparison {
    const char *source, *cluster; /* the admins' file, and its word */
    const struct gpu_catalogue *gpus;
    const struct cluster_topology *described; /* a cluster file; or NULL */
    const struct name_index *names;           /* of its nodes */
    const struct node_topology *kind;         /* of a preset */
    struct name_sample outside, differing;
    char gres[GPU_TYPE_BYTES + 32]; /* of the first that differs */
    size_t count;
};

static void compare_node(struct comparison *comparison, const char *line, const char *name)
{
    char type[GPU_TYPE_BYTES];
    const struct node_topology *kind = comparison->kind;
    unsigned count = slurm_node_gpus(line, type);
    if (count == 0)
        return;
    comparison->count++;
    if (comparison->described) {
        size_t index = name_index_find(comparison->names, name);
        if (index == NAME_INDEX_NONE) {
            name_sample_add(&comparison->outside, name);
            return;
        }
        kind = comparison->described->kinds[comparison->described->nodes[index].kind];
    }
    if (count == kind->gpu_count && (!type[0] || node_has_gpu_type(kind, type, comparison->gpus)))
        return;
    if (comparison->differing.count == 0)
        snprintf(comparison->gres, sizeof(comparison->gres), "gpu:%s%s%u", type, type[0] ? ":" : "",
                 count);
    name_sample_add(&comparison->differing, name);
}

static void say_comparison(const struct comparison *comparison, uint64_t nodes,
                           struct findings *findings)
{
    if (comparison->outside.count)
        findings_add(findings, point, FINDING_WARNING,
                     "%s has not all nodes with GPUs (%zu missing: %s), and steps on them are "
                     "refused; add them",
                     comparison->cluster, comparison->outside.count, comparison->outside.names);
    else if (comparison->differing.count)
        findings_add(
            findings, point, FINDING_WARNING,
            "%s: cluster: %s is not what Slurm has on %s (%s); correct it, or leave it out so "
            "that GRES and topology count",
            comparison->source, comparison->cluster, comparison->differing.names, comparison->gres);
    else if (nodes > 0 && comparison->count > 0 && nodes != comparison->count)
        findings_add(findings, point, FINDING_WARNING,
                     "%s: cluster: %s, and Slurm has %zu nodes with GPUs; write %.*s:%zu",
                     comparison->source, comparison->cluster, comparison->count,
                     (int)strcspn(comparison->cluster, ":"), comparison->cluster,
                     comparison->count);
    else
        findings_add(findings, point, FINDING_OK, "%s%s", comparison->cluster,
                     comparison->count ? ", as Slurm's nodes" : "");
}

static void compare(const struct doctor_facts *facts, struct comparison *comparison, uint64_t nodes,
                    struct findings *findings)
{
    char name[NODE_LIST_NAME_BYTES];
    for (const char *line = facts->nodes; line && *line; line = slurm_next_line(line))
        if (slurm_node_value(line, "NodeName", name, sizeof(name)))
            compare_node(comparison, line, name);
    say_comparison(comparison, nodes, findings);
}

static void say_fault(const char *source, const char *text, struct findings *findings)
{
    findings_add(findings, point, FINDING_FAULT, "%s: cluster: %s%s", source, text,
                 remedy_unless_in(text, "; correct it: steps that use parplan are refused until "
                                        "then"));
}

static int check_file(const struct doctor_facts *facts, const struct admin_config *config,
                      const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                      struct findings *findings, struct error_info *err)
{
    const char *path = config->cluster;
    struct error_info why = {.kind = ERROR_NONE};
    struct comparison comparison = {.source = config->source, .cluster = path, .gpus = gpus};
    if (path[0] != '/')
        error_set(&why, "%s begins in the folder in which srun starts; write an absolute path",
                  path);
    else
        path_access_find(path, PATH_OPENED, facts->owner, &why);
    if (why.kind != ERROR_NONE) {
        say_fault(config->source, why.text, findings);
        return 0;
    }
    CLEANUP(cluster_topology)
    struct cluster_topology *described = cluster_source_open(path, presets, gpus, &why);
    CLEANUP(name_index) struct name_index *names = name_index_create();
    for (size_t i = 0; described && names && i < described->node_count; i++)
        if (name_index_add(names, described->nodes[i].name, i) < 0)
            return error_set_memory(err);
    if (why.kind == ERROR_MEMORY || !names)
        return error_set_memory(err);
    comparison.described = described;
    comparison.names = names;
    if (described)
        compare(facts, &comparison, 0, findings);
    else
        say_fault(config->source, why.text, findings);
    return 0;
}

static int check_preset(const struct doctor_facts *facts, const struct admin_config *config,
                        const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                        struct findings *findings, struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    const char *cluster = config->cluster, *colon = strchr(cluster, ':');
    uint64_t nodes = 0;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(cluster, ":"), cluster);
    const struct node_preset *preset = preset_catalogue_find(presets, name);
    if (!preset)
        error_set(&why,
                  "%s is no preset; `parplan gpus` lists them, and of a file write the "
                  "absolute path",
                  cluster);
    else if (colon && parse_unsigned(colon + 1, 1, CLUSTER_MAXIMUM_NODES, &nodes, &why) < 0)
        error_prefix(&why, "%s", cluster);
    if (why.kind != ERROR_NONE) {
        say_fault(config->source, why.text, findings);
        return 0;
    }
    CLEANUP(node_topology)
    struct node_topology *kind = node_topology_from_preset(preset, gpus, err);
    struct comparison comparison = {
        .source = config->source, .cluster = cluster, .gpus = gpus, .kind = kind};
    if (!kind)
        return -1;
    compare(facts, &comparison, nodes, findings);
    return 0;
}

int check_cluster(const struct doctor_facts *facts, const struct admin_config *config,
                  const struct preset_catalogue *presets, const struct gpu_catalogue *gpus,
                  struct findings *findings, struct error_info *err)
{
    const char *cluster = config->cluster;
    if (!cluster || strcmp(cluster, "slurm") == 0)
        return 0;
    return strchr(cluster, '/') ? check_file(facts, config, presets, gpus, findings, err)
                                : check_preset(facts, config, presets, gpus, findings, err);
}
