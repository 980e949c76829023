/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/node_restate.h"
#include <string.h>

#define RESTATE_MAXIMUM_BYTES ((size_t)1 << 20)

static struct evidence_gpu restate_gpu(const struct node_topology *node, const struct node_gpu *gpu)
{
    return (struct evidence_gpu){
        .bus_id = gpu->bus_id,
        .model_text = gpu->model,
        .uuid = gpu->uuid,
        .cpus = gpu->cpus,
        .nvlink_clique = node->nvlink_clique,
        .problem = gpu->problem,
        .memory_bytes = gpu->memory_bytes,
        .numa = gpu->numa,
        .mig = gpu->mig,
        .nvlink_lost = gpu->nvlink_lost,
    };
}

static struct evidence_nic restate_nic(const struct node_nic *nic)
{
    return (struct evidence_nic){
        .name = nic->name,
        .bus_id = nic->bus_id,
        .problem = nic->problem,
        .state = nic->state,
        .is_ethernet = nic->is_ethernet,
        .numa = nic->numa,
        .bytes_per_second = nic->bytes_per_second,
        .has_role = true,
        .role = nic->role,
        .rail = nic->rail,
        .reason = nic->reason,
    };
}

static void restate_links(const struct node_topology *node, struct node_evidence *evidence)
{
    evidence->nvlink = node->nvlink;
    evidence->nvlink_bytes_per_second = node->nvlink_bytes_per_second;
    evidence->nvlink_switched = node->nvlink_switched;
    evidence->nvlink_assumed = node->nvlink_assumed;
    evidence->nvlink_leaves_node = node->nvlink_leaves_node;
    evidence->nvlink_domain_nodes = node->nvlink_domain_nodes;
    evidence->gpu_nvlink_bytes_per_second = node->gpu_nvlink_bytes_per_second;
    evidence->gpu_links = node->links;
    evidence->nic_links = node->nic_links;
}

struct node_evidence *node_restate(const struct node_topology *node, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(RESTATE_MAXIMUM_BYTES);
    struct node_evidence *evidence = arena ? arena_allocate(arena, sizeof(*evidence)) : NULL;
    struct evidence_gpu *gpus =
        evidence ? arena_allocate_array(arena, node->gpu_count, sizeof(*gpus)) : NULL;
    struct evidence_nic *nics =
        gpus ? arena_allocate_array(arena, node->nic_count, sizeof(*nics)) : NULL;
    if (!nics)
        return error_null(error_set_memory(err));
    for (unsigned i = 0; i < node->gpu_count; i++)
        gpus[i] = restate_gpu(node, &node->gpus[i]);
    for (unsigned i = 0; i < node->nic_count; i++)
        nics[i] = restate_nic(&node->nics[i]);
    *evidence = (struct node_evidence){
        .source = EVIDENCE_ADMIN,
        .source_text = node->name,
        .gpus = gpus,
        .gpu_count = node->gpu_count,
        .nics = nics,
        .nic_count = node->nic_count,
        .pcie_bytes_per_second = node->pcie_bytes_per_second,
        .host_memory_bytes = node->host_memory_bytes,
        .host_nvme_bytes = node->host_nvme_bytes,
        .cpu_count = node->cpu_count,
        .driver_version = node->driver_version,
        .facts = node->facts,
        .fact_count = node->fact_count,
    };
    restate_links(node, evidence);
    evidence->arena = move_pointer(arena);
    return evidence;
}

/* Rows and columns of the GPUs that stay. columns: the matrix is gpu_count x gpu_count, else
 * gpu_count x width. */
static const void *select_rows(struct node_evidence *evidence, const void *table, size_t element,
                               size_t width, const unsigned *gpus, const unsigned *columns,
                               unsigned count)
{
    size_t kept = columns ? count : width;
    char *rows = arena_allocate_array(evidence->arena, count * kept, element);
    for (size_t i = 0; rows && i < count; i++)
        for (size_t j = 0; j < kept; j++)
            memcpy(rows + (i * kept + j) * element,
                   (const char *)table + (gpus[i] * width + (columns ? columns[j] : j)) * element,
                   element);
    return rows;
}

static int keep_gpus(struct node_evidence *evidence, const struct node_topology *node,
                     const unsigned *gpus, unsigned count, struct error_info *err)
{
    size_t n = node->gpu_count;
    struct evidence_gpu *kept = arena_allocate_array(evidence->arena, count, sizeof(*kept));
    for (unsigned i = 0; kept && i < count; i++)
        kept[i] = evidence->gpus[gpus[i]];
    evidence->gpus = kept;
    evidence->gpu_count = count;
    evidence->is_part = true;
    evidence->nvlink_bytes_per_second =
        select_rows(evidence, node->nvlink_bytes_per_second, sizeof(double), n, gpus, gpus, count);
    evidence->gpu_links =
        select_rows(evidence, node->links, sizeof(enum link_kind), n, gpus, gpus, count);
    evidence->nic_links = select_rows(evidence, node->nic_links, sizeof(enum link_kind),
                                      node->nic_count, gpus, NULL, count);
    evidence->facts = NULL;
    if (!kept || !evidence->nvlink_bytes_per_second || !evidence->gpu_links || !evidence->nic_links)
        return error_set_memory(err);
    return 0;
}

struct node_topology *node_topology_subset(const struct node_topology *node, const unsigned *gpus,
                                           unsigned gpu_count, struct error_info *err)
{
    CLEANUP(node_evidence) struct node_evidence *evidence = node_restate(node, err);
    if (!evidence || keep_gpus(evidence, node, gpus, gpu_count, err) < 0)
        return NULL;
    return node_topology_of(node->name, evidence, NULL, err);
}
