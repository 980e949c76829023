/* SPDX-License-Identifier: MIT */
/* cluster.yaml: no crash; a cluster that was read holds together, and is written, read and written
 * again to the same bytes. */
#include "report/files/cluster_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/cluster_topology.h"
#include "topology/groups/nvlink_domain.h"
#include "topology/preset_catalogue.h"

#define TEXT_MAXIMUM_BYTES ((size_t)64 << 20)
#define WRITTEN_NODES 1000u /* more take their time, and show nothing new */

static void require_kind(const struct node_topology *kind)
{
    unsigned groups[NODE_MAXIMUM_GPUS], count = 0, members = 0;
    for (unsigned i = 0; i < kind->domain_count; i++)
        members += kind->domains[i].gpu_count;
    fuzz_require(members == kind->gpu_count, "domains do not cover the GPUs", kind->name);
    for (unsigned i = 0; i < kind->gpu_count; i++)
        fuzz_require(kind->gpus[i].nic_count <= kind->nic_count, "too many NICs", kind->name);
    if (kind->gpu_count >= 2)
        fuzz_require(gpu_groups_partition(kind, 2, groups, &count, NULL) == 0 &&
                         count == kind->gpu_count / 2,
                     "the GPUs have no pairs", kind->name);
}

static void require_cluster(const struct cluster_topology *cluster)
{
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        fuzz_require(node->kind < cluster->kind_count, "a kind is out of range", node->name);
        fuzz_require(node->fabric_node == FABRIC_NONE ||
                         (cluster->fabric && node->fabric_node < cluster->fabric->node_count),
                     "a fabric node is out of range", node->name);
    }
    for (size_t i = 0; i < cluster->node_count && i < 20; i++) {
        int distance = cluster_distance(cluster, 0, i);
        fuzz_require(distance == cluster_distance(cluster, i, 0), "a distance has a direction",
                     cluster->nodes[i].name);
        fuzz_require((distance == DISTANCE_SAME_NODE) == (i == 0) &&
                         distance <= (int)cluster_tier_count(cluster),
                     "a distance is out of range", cluster->nodes[i].name);
    }
    bool known;
    unsigned domain = cluster_nvlink_domain_gpus(cluster, &known);
    fuzz_require(domain >= 1 && domain <= cluster_gpu_count(cluster), "an impossible domain",
                 cluster->name);
}

static void require_same_text(const struct cluster_topology *cluster,
                              const struct preset_catalogue *presets,
                              const struct gpu_catalogue *gpus)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    text_buffer_init(&first, TEXT_MAXIMUM_BYTES);
    text_buffer_init(&second, TEXT_MAXIMUM_BYTES);
    fuzz_require(cluster_file_write(cluster, presets, gpus, &first, &err) == 0, "writing failed",
                 err.text);
    CLEANUP(cluster_topology)
    struct cluster_topology *back = cluster_topology_parse(text_buffer_text(&first), first.length,
                                                           "cluster.yaml", presets, gpus, &err);
    fuzz_require(back, err.text, text_buffer_text(&first));
    fuzz_require(cluster_file_write(back, presets, gpus, &second, &err) == 0, "writing failed",
                 err.text);
    fuzz_require(strcmp(text_buffer_text(&first), text_buffer_text(&second)) == 0,
                 text_buffer_text(&second), text_buffer_text(&first));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpu_catalogue *gpus;
    static struct preset_catalogue *presets;
    if (!gpus)
        gpus = gpu_catalogue_builtin(NULL);
    if (!presets)
        presets = preset_catalogue_builtin(NULL);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_parse((const char *)data, size, "cluster.yaml", presets, gpus, &err);
    if (!cluster) {
        fuzz_require_error(&err);
        return 0;
    }
    for (size_t i = 0; i < cluster->kind_count; i++)
        require_kind(cluster->kinds[i]);
    require_cluster(cluster);
    if (cluster->node_count <= WRITTEN_NODES)
        require_same_text(cluster, presets, gpus);
    return 0;
}
