/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/node_description.h"
#include "topology/text_list.h"
#include <string.h>

#define EVIDENCE_MAXIMUM_BYTES ((size_t)4 << 20)

static bool is_beside(const struct node_description *node, unsigned gpu, unsigned nic)
{
    if (node->nic_count >= node->gpu_count)
        return nic * node->gpu_count / node->nic_count == gpu;
    return gpu * node->nic_count / node->gpu_count == nic;
}

static int describe_nics(const struct node_description *node, struct node_evidence *evidence,
                         struct error_info *err)
{
    size_t pairs = (size_t)node->gpu_count * node->nic_count;
    struct evidence_nic *nics =
        arena_allocate_array(evidence->arena, node->nic_count, sizeof(*nics));
    enum link_kind *links = arena_allocate_array(evidence->arena, pairs, sizeof(*links));
    if (!nics || !links)
        return error_set_memory(err);
    for (unsigned i = 0; i < node->nic_count; i++)
        nics[i] = (struct evidence_nic){
            .state = NIC_ACTIVE,
            .numa = NUMA_UNKNOWN,
            .bytes_per_second = node->nic_bytes_per_second,
        };
    for (unsigned gpu = 0; gpu < node->gpu_count; gpu++)
        for (unsigned nic = 0; nic < node->nic_count; nic++)
            links[gpu * node->nic_count + nic] = is_beside(node, gpu, nic) ? LINK_PIX : LINK_NODE;
    evidence->nics = nics;
    evidence->nic_count = node->nic_count;
    evidence->nic_links = links;
    return 0;
}

static int describe_gpus(const struct node_description *node, struct node_evidence *evidence,
                         struct error_info *err)
{
    size_t pairs = (size_t)node->gpu_count * node->gpu_count;
    struct evidence_gpu *gpus =
        arena_allocate_array(evidence->arena, node->gpu_count, sizeof(*gpus));
    double *rates = arena_allocate_array(evidence->arena, pairs, sizeof(*rates));
    bool failed = !gpus || !rates;
    for (unsigned i = 0; !failed && i < node->gpu_count; i++)
        gpus[i] = (struct evidence_gpu){
            .model_text = text_list_copy(evidence->arena, node->gpu->name, &failed),
            .numa = NUMA_UNKNOWN,
        };
    if (failed)
        return error_set_memory(err);
    if (node->nvlink_bytes_per_second)
        memcpy(rates, node->nvlink_bytes_per_second, pairs * sizeof(*rates));
    evidence->gpus = gpus;
    evidence->gpu_count = node->gpu_count;
    evidence->nvlink_bytes_per_second = node->nvlink_bytes_per_second ? rates : NULL;
    return 0;
}

struct node_evidence *node_description_evidence(const struct node_description *description,
                                                struct error_info *err)
{
    if (description->gpu_count == 0 || description->gpu_count > NODE_MAXIMUM_GPUS ||
        description->nic_count > NODE_MAXIMUM_NICS)
        return error_null(error_set(err, "%s: a node has 1 to %u GPUs and at most %u NICs",
                                    description->source_text, NODE_MAXIMUM_GPUS,
                                    NODE_MAXIMUM_NICS));
    CLEANUP(arena) struct arena *arena = arena_create(EVIDENCE_MAXIMUM_BYTES);
    struct node_evidence *evidence = arena ? arena_allocate(arena, sizeof(*evidence)) : NULL;
    bool failed = !evidence;
    if (failed)
        return error_null(error_set_memory(err));
    *evidence = (struct node_evidence){
        .source = description->source,
        .source_text = text_list_copy(arena, description->source_text, &failed),
        .nvlink = description->nvlink,
        .nvlink_switched = description->nvlink_switched,
        .nvlink_domain_nodes = description->nvlink_domain_nodes,
        .host_memory_bytes = description->host_memory_bytes,
        .host_nvme_bytes = description->host_nvme_bytes,
        .cpu_count = description->cpu_count,
        .arena = arena,
    };
    if (failed)
        return error_null(error_set_memory(err));
    if (describe_gpus(description, evidence, err) < 0 ||
        describe_nics(description, evidence, err) < 0)
        return NULL;
    arena = NULL; /* the evidence's from here on */
    return evidence;
}
