/* SPDX-License-Identifier: MIT */
#include "spank_plugin/task_node.h"
#include "mapping/visible_gpus.h"
#include "spank_plugin/plugin_log.h"
#include "topology/node_cache.h"
#include <stdio.h>

#define LIST_BYTES 4096u

/* Made in slurmstepd, inherited by every task's fork. */
static struct node_topology *node;

void task_node_prepare(const char *cache_path, unsigned owner_uid)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_cache_key key;
    node_topology_free(node);
    node = NULL;
    node_cache_key_read(&key);
    if (node_cache_load(cache_path ? cache_path : NODE_CACHE_PATH, owner_uid, &key, &node, &err) >
        NODE_CACHE_MISSING)
        plugin_notice("%s", err.text);
}

void task_node_complete_place(struct policy_place *place)
{
    static char fault[POLICY_TEXT_BYTES / 2];
    if (!node || node->nvlink_leaves_node || place->gpus_per_node < node->gpu_count)
        return; /* which GPUs of the node the step has is not known here */
    place->nvlink_known = node->nvlink != NVLINK_UNKNOWN;
    place->nvlink_domain_gpus = place->nvlink_known ? node_topology_largest_domain(node) : 0;
    struct node_fault found;
    if (!node_topology_find_fault(node, &found))
        return;
    snprintf(fault, sizeof(fault), "this node: GPU %u: %s", found.gpu, found.reason);
    place->fault = fault;
    place->sound_gpus = found.sound_gpus;
}

static bool read_list(spank_t spank, const char *name, char list[LIST_BYTES])
{
    return spank_getenv(spank, name, list, LIST_BYTES) == ESPANK_SUCCESS;
}

int task_node_order_gpus(spank_t spank, const struct wire_plan *wire, struct error_info *err)
{
    static const char *const lists[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
    char visible[LIST_BYTES], devices[LIST_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (!node || wire->locality_only)
        return 0;
    bool counted = read_list(spank, "SLURM_STEP_GPUS", devices);
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer order;
        text_buffer_init(&order, LIST_BYTES);
        if (!read_list(spank, lists[i], visible) ||
            visible_gpus_order(node, wire->degrees.tp, wire->gpus_per_node, visible,
                               counted ? devices : NULL, &order, &why) != VISIBLE_CHANGED)
            continue;
        if (order.failed ||
            spank_setenv(spank, lists[i], text_buffer_text(&order), 1) != ESPANK_SUCCESS)
            return error_set_system(err, "Slurm cannot set %s for the task", lists[i]);
    }
    return 0;
}
