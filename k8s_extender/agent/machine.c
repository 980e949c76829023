/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/machine.h"
#include "topology/collect/node_annotation.h"
#include "topology/collect/node_kind.h"
#include "topology/node_readers/live_node.h"

char *machine_look(const char *nvml, const char *sysfs, const struct gpu_catalogue *gpus,
                   struct text_buffer *words, struct error_info *err)
{
    CLEANUP_DONE(live_node) struct live_node live = {.evidence_count = 0};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NODE_ANNOTATION_MAXIMUM_BYTES);
    if (live_node_open(&live, nvml, sysfs, err) < 0)
        return NULL;
    CLEANUP(node_topology)
    struct node_topology *node =
        node_topology_merge("this machine", (const struct node_evidence *const *)live.evidence,
                            live.evidence_count, gpus, err);
    if (!node || node_annotation_encode(node, &text, err) < 0)
        return NULL;
    node_kind_name(node, words);
    if (node->nvlink_clique)
        text_buffer_add(words, " in NVLink clique %s", node->nvlink_clique);
    char *taken = text_buffer_take(&text);
    return taken ? taken : error_null(error_set_memory(err));
}
