/* SPDX-License-Identifier: MIT */
#include "cli/doctor/node_checks.h"
#include "base/name_index.h"
#include "cli/doctor/path_access.h"
#include "topology/fabric.h"
#include "topology/node_cache.h"
#include <string.h>
#include <unistd.h>

#define MODELS_MAXIMUM 32u

/* --- this node ---------------------------------------------------------------------- */

bool is_compute_node(const struct doctor_facts *facts)
{
    return !facts->nodes || slurm_node_find(facts->nodes, facts->host);
}

int check_node_cache(const struct doctor_facts *facts, struct node_topology **ret_node,
                     struct findings *findings, struct error_info *err)
{
    static const char point[] = "node-cache";
    struct error_info why = {.kind = ERROR_NONE};
    struct node_cache_key key;
    *ret_node = NULL;
    node_cache_key_read(&key);
    enum node_cache_state state =
        node_cache_load(facts->cache_path, facts->owner, &key, ret_node, &why);
    if (why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (state == NODE_CACHE_USED)
        findings_add(findings, point, FINDING_OK, "%s: %u GPUs, of this boot and driver",
                     facts->cache_path, (*ret_node)->gpu_count);
    else if (geteuid() != 0 && state != NODE_CACHE_MISSING &&
             path_access_find(facts->cache_path, PATH_FROM_FOLDER, facts->owner, &why) != PATH_FREE)
        findings_add(findings, point, FINDING_WARNING,
                     "%s is for slurmstepd, and not to be read by this user; run parplan doctor as "
                     "root",
                     facts->cache_path);
    else if (state == NODE_CACHE_MISSING && !is_compute_node(facts))
        findings_add(findings, point, FINDING_OK, "not needed: %s is no compute node", facts->host);
    else if (state == NODE_CACHE_MISSING)
        findings_add(findings, point, FINDING_WARNING,
                     "%s does not exist, GPUs stay in Slurm's order; run systemctl enable --now "
                     "parplan-node-cache, or parplan topology --write-cache %s",
                     facts->cache_path, facts->cache_path);
    else
        findings_add(findings, point, state == NODE_CACHE_STALE ? FINDING_WARNING : FINDING_FAULT,
                     "%s", why.text);
    return 0;
}

bool node_has_gpu_type(const struct node_topology *node, const char *type,
                       const struct gpu_catalogue *gpus)
{
    const struct gpu_model *models[MODELS_MAXIMUM];
    const char *name = node->gpu_count > 0 ? node->gpus[0].model : NULL;
    const struct gpu_model *here =
        name ? gpu_catalogue_find(gpus, name, node->gpus[0].memory_bytes) : NULL;
    size_t count = gpu_catalogue_find_all(gpus, type, models, MODELS_MAXIMUM);
    if (!here)
        return true; /* unknown is not another one */
    for (size_t i = 0; i < count && i < MODELS_MAXIMUM; i++)
        if (models[i] == here)
            return true;
    return count == 0;
}

static void check_type(const struct node_topology *node, unsigned count, const char *type,
                       const struct gpu_catalogue *gpus, struct findings *findings)
{
    static const char point[] = "gpus";
    struct node_fault fault;
    if (type[0] && !node_has_gpu_type(node, type, gpus))
        findings_add(findings, point, FINDING_FAULT,
                     "Slurm calls the GPUs %s, they are %s; correct Type= in gres.conf and Gres= "
                     "in slurm.conf",
                     type, node->gpus[0].model);
    else if (node_topology_find_fault(node, &fault))
        findings_add(findings, point, FINDING_WARNING,
                     "GPU %u: %s; TP groups over it are refused until it is mended", fault.gpu,
                     fault.reason);
    else if (!type[0] || !gpu_catalogue_find(gpus, type, 0))
        findings_add(findings, point, FINDING_WARNING,
                     "Gres names no GPU that is known (%s), so degrees can be given and not "
                     "planned; write Gres=gpu:TYPE:%u, TYPE as `parplan gpus` lists it",
                     type[0] ? type : "no type", count);
    else
        findings_add(findings, point, FINDING_OK, "%u of type %s, as Slurm says", count, type);
}

void check_node_gpus(const struct doctor_facts *facts, const struct node_topology *node,
                     const struct gpu_catalogue *gpus, struct findings *findings)
{
    static const char point[] = "gpus";
    char type[GPU_TYPE_BYTES];
    if (!facts->nodes)
        return; /* the point slurmctld says why */
    const char *line = slurm_node_find(facts->nodes, facts->host);
    unsigned count = line ? slurm_node_gpus(line, type) : 0;
    if (!line)
        findings_add(findings, point, FINDING_OK,
                     "%s is no node of the cluster: nothing to "
                     "compare",
                     facts->host);
    else if (!node)
        findings_add(findings, point, FINDING_WARNING,
                     "Slurm says %u, and what this node has is not known; write its cache first",
                     count);
    else if (count > node->gpu_count)
        findings_add(findings, point, FINDING_FAULT,
                     "Slurm gives out %u, this node has %u; correct Gres= in slurm.conf and "
                     "gres.conf, or look for what was lost in dmesg",
                     count, node->gpu_count);
    else if (count < node->gpu_count)
        findings_add(findings, point, FINDING_WARNING,
                     "Slurm gives out %u of the %u here; correct Gres= in slurm.conf and gres.conf",
                     count, node->gpu_count);
    else if (count == 0)
        findings_add(findings, point, FINDING_OK, "none, as Slurm says");
    else
        check_type(node, count, type, gpus, findings);
}

/* --- the controller's topology ------------------------------------------------------- */

/* Nodes with GPUs that no switch has, and those of switches that are no nodes. */
static int compare_nodes(const char *nodes, const struct fabric *fabric,
                         struct name_sample *outside, struct name_sample *unknown,
                         struct error_info *err)
{
    char name[NODE_LIST_NAME_BYTES], type[GPU_TYPE_BYTES];
    CLEANUP(name_index) struct name_index *known = name_index_create();
    if (!known)
        return error_set_memory(err);
    for (const char *line = nodes; *line; line = slurm_next_line(line)) {
        if (!slurm_node_value(line, "NodeName", name, sizeof(name)))
            continue;
        if (name_index_add(known, name, 0) < 0)
            return error_set_memory(err);
        if (slurm_node_gpus(line, type) > 0 && fabric_find_node(fabric, name) == FABRIC_NONE)
            name_sample_add(outside, name);
    }
    for (size_t i = 0; i < fabric->node_count; i++)
        if (name_index_find(known, fabric->nodes[i].name) == NAME_INDEX_NONE)
            name_sample_add(unknown, fabric->nodes[i].name);
    return 0;
}

static int judge_fabric(const char *nodes, const struct fabric *fabric, struct findings *findings,
                        struct error_info *err)
{
    static const char point[] = "topology";
    struct name_sample outside = {.count = 0}, unknown = {.count = 0};
    if (nodes && compare_nodes(nodes, fabric, &outside, &unknown, err) < 0)
        return -1;
    if (outside.count)
        findings_add(findings, point, FINDING_WARNING,
                     "nodes with GPUs that no switch has (%zu): %s; add them to the topology and "
                     "run scontrol reconfigure",
                     outside.count, outside.names);
    else if (unknown.count)
        findings_add(findings, point, FINDING_WARNING,
                     "nodes of switches that the cluster has not (%zu): %s; take them out of the "
                     "topology",
                     unknown.count, unknown.names);
    else if (fabric->warning_count)
        findings_add(findings, point, FINDING_WARNING, "%s; correct the topology",
                     fabric->warnings[0]);
    else
        findings_add(findings, point, FINDING_OK, "%zu nodes, %zu switches, %u tier%s",
                     fabric->node_count, fabric->switch_count, fabric->tier_count,
                     fabric->tier_count == 1 ? "" : "s");
    return 0;
}

int check_topology(const struct doctor_facts *facts, struct findings *findings,
                   struct error_info *err)
{
    static const char point[] = "topology";
    struct error_info why = {.kind = ERROR_NONE};
    if (facts->controller_error.kind != ERROR_NONE)
        return 0; /* the point slurmctld says why */
    if (!facts->topology) {
        findings_add(findings, point, FINDING_WARNING, "%s; try scontrol show topology",
                     facts->topology_error.text);
        return 0;
    }
    if (!strstr(facts->topology, "Name=")) {
        findings_add(findings, point, FINDING_WARNING,
                     "the controller tells none, so all nodes count as equally near; set "
                     "TopologyPlugin=topology/tree and write a topology.conf");
        return 0;
    }
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_slurm(facts->topology, strlen(facts->topology),
                                               "scontrol show topology", &why);
    if (why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (fabric)
        return judge_fabric(facts->nodes, fabric, findings, err);
    findings_add(findings, point, FINDING_FAULT, "%s%s", why.text,
                 strstr(why.text, "; ") ? "" : "; correct the topology that slurmctld reads");
    return 0;
}
