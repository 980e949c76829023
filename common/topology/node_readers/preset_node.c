/* SPDX-License-Identifier: MIT */
/* A preset as a node: its wiring as a matrix of bandwidths, then the merge. */
#include "topology/node_readers/node_description.h"
#include "topology/preset_catalogue.h"
#include <stdio.h>
#include <string.h>

#define SOURCE_TEXT_BYTES 128

/* All pairs alike: the whole GPU behind switches, an even share of it in a mesh. */
static void wire_evenly(const struct node_preset *preset, const struct gpu_model *gpu,
                        double *rates)
{
    size_t n = preset->gpu_count;
    double share = preset->wiring == WIRING_MESH && n > 1 ? 1.0 / (double)(n - 1) : 1.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            rates[i * n + j] = i == j ? 0 : gpu->nvlink_bytes_per_second * share;
}

static void wire_links(const struct node_preset *preset, double *rates)
{
    size_t n = preset->gpu_count;
    for (size_t i = 0; i < preset->link_count; i++) {
        const struct preset_link *link = &preset->links[i];
        double rate = link->count * preset->link_bytes_per_second;
        rates[link->first * n + link->second] += rate;
        rates[link->second * n + link->first] += rate;
    }
}

static struct node_evidence *preset_evidence(const struct node_preset *preset,
                                             const struct gpu_model *gpu, struct error_info *err)
{
    size_t n = preset->gpu_count;
    CLEANUP_MEMORY double *rates = memory_allocate_array(n * n, sizeof(*rates));
    if (!rates)
        return error_null(error_set_memory(err));
    if (preset->wiring == WIRING_LINKS)
        wire_links(preset, rates);
    else if (preset->wiring != WIRING_NONE)
        wire_evenly(preset, gpu, rates);
    char source_text[SOURCE_TEXT_BYTES];
    snprintf(source_text, sizeof(source_text), "preset %.100s", preset->name);
    const struct node_description description = {
        .source = EVIDENCE_PRESET,
        .source_text = source_text,
        .gpu = gpu,
        .gpu_count = preset->gpu_count,
        .nvlink = preset->wiring == WIRING_NONE ? NVLINK_NONE : NVLINK_KNOWN,
        .nvlink_switched = preset->wiring == WIRING_SWITCH,
        .nvlink_bytes_per_second = preset->wiring == WIRING_NONE ? NULL : rates,
        .nvlink_domain_nodes = preset->nvlink_domain_nodes,
        .nic_count = preset->nic_count,
        .nic_bytes_per_second = preset->nic_bytes_per_second,
        .host_memory_bytes = preset->host_memory_bytes,
        .host_nvme_bytes = preset->host_nvme_bytes,
        .cpu_count = preset->cpu_count,
    };
    return node_description_evidence(&description, err);
}

struct node_topology *node_topology_from_preset(const struct node_preset *preset,
                                                const struct gpu_catalogue *gpus,
                                                struct error_info *err)
{
    const struct gpu_model *gpu = gpu_catalogue_find(gpus, preset->gpu, 0);
    if (!gpu || strcmp(gpu->name, preset->gpu) != 0)
        return error_null(
            error_set(err, "preset %s: the GPU catalogue has no %s", preset->name, preset->gpu));
    CLEANUP(node_evidence) struct node_evidence *evidence = preset_evidence(preset, gpu, err);
    if (!evidence)
        return NULL;
    return node_topology_of(preset->name, evidence, gpus, err);
}
