/* SPDX-License-Identifier: MIT */
#include "spank_plugin/task_node.h"
#include "mapping/visible_gpus.h"
#include "spank_plugin/plugin_log.h"
#include "topology/node_cache.h"
#include "topology/node_readers/node_restate.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LIST_BYTES 4096u
#define STEP_DEVICES "SLURM_STEP_GPUS"

enum list { LIST_CUDA, LIST_ROCR, LIST_HIP, LIST_COUNT };

static const char *const list_names[LIST_COUNT] = {
    [LIST_CUDA] = "CUDA_VISIBLE_DEVICES",
    [LIST_ROCR] = "ROCR_VISIBLE_DEVICES",
    [LIST_HIP] = "HIP_VISIBLE_DEVICES",
};

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

static bool read_list(spank_t spank, const char *name, char list[LIST_BYTES])
{
    return spank_getenv(spank, name, list, LIST_BYTES) == ESPANK_SUCCESS;
}

/* A task that sees one device of its own still belongs to a step that has all of them. */
static bool match_step(spank_t spank, unsigned ranks, struct visible_gpus *ret)
{
    char visible[LIST_BYTES], devices[LIST_BYTES];
    bool counted = read_list(spank, STEP_DEVICES, devices);
    bool listed = read_list(spank, list_names[LIST_CUDA], visible) ||
                  read_list(spank, list_names[LIST_ROCR], visible);
    return (listed &&
            visible_gpus_match(node, ranks, visible, counted ? devices : NULL, ret, NULL) == 0) ||
           (counted && visible_gpus_match(node, ranks, devices, NULL, ret, NULL) == 0);
}

/* The step's part of the node; *ret NULL: which that is cannot be told. */
static int make_part(spank_t spank, unsigned ranks, struct visible_gpus *ret_gpus,
                     struct node_topology **ret, struct error_info *err)
{
    if (!match_step(spank, ranks, ret_gpus)) {
        if (ranks < node->gpu_count)
            return 0;
        for (unsigned i = 0; i < node->gpu_count; i++)
            ret_gpus->gpus[i] = i;
        ret_gpus->count = node->gpu_count;
    }
    *ret = node_topology_subset(node, ret_gpus->gpus, ret_gpus->count, err);
    return *ret ? 0 : -1;
}

int task_node_complete_place(spank_t spank, struct policy_place *place, struct error_info *err)
{
    static char fault[POLICY_TEXT_BYTES / 2];
    struct visible_gpus gpus;
    struct node_fault found;
    struct node_topology *made = NULL;
    if (!node)
        return 0;
    if (make_part(spank, place->gpus_per_node, &gpus, &made, err) < 0)
        return -1;
    CLEANUP(node_topology) struct node_topology *part = made;
    if (!part)
        return 0;
    place->nvlink_known = part->nvlink != NVLINK_UNKNOWN && !node->nvlink_leaves_node;
    place->nvlink_domain_gpus = place->nvlink_known ? node_topology_largest_domain(part) : 0;
    if (!node_topology_find_fault(part, &found))
        return 0;
    snprintf(fault, sizeof(fault), "this node: GPU %u: %s", gpus.gpus[found.gpu], found.reason);
    place->fault = fault;
    place->sound_gpus = found.sound_gpus;
    return 0;
}

static bool has_amd_gpus(void)
{
    static const char *const beginnings[] = {"mi", "gfx", "amd", "instinct"};
    const char *model = node->gpu_count > 0 ? node->gpus[0].model : NULL;
    for (size_t i = 0; model && i < COUNT_OF(beginnings); i++)
        if (strncasecmp(model, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static int set_list(spank_t spank, const char *name, const char *value, struct error_info *err)
{
    if (spank_setenv(spank, name, value, 1) != ESPANK_SUCCESS)
        return error_set_system(err, "Slurm cannot set %s for the task", name);
    return 0;
}

/* What names the devices of the outer list again would permute, or hide, them twice. */
static int reset_inner(spank_t spank, const char *outer, unsigned count, struct error_info *err)
{
    static const enum list inner[] = {LIST_CUDA, LIST_HIP};
    char list[LIST_BYTES];
    CLEANUP_DONE(text_buffer) struct text_buffer plain;
    text_buffer_init(&plain, LIST_BYTES);
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(&plain, "%s%u", i > 0 ? "," : "", i);
    if (text_buffer_failed(&plain))
        return error_set_memory(err);
    for (size_t i = 0; i < COUNT_OF(inner); i++)
        if (read_list(spank, list_names[inner[i]], list) && !strcmp(list, outer) &&
            set_list(spank, list_names[inner[i]], text_buffer_text(&plain), err) < 0)
            return -1;
    return 0;
}

/* False: no list is set. */
static bool find_outermost(spank_t spank, enum list *ret, char list[LIST_BYTES])
{
    enum list first = has_amd_gpus() ? LIST_ROCR : LIST_CUDA;
    *ret = first;
    if (read_list(spank, list_names[*ret], list))
        return true;
    *ret = first == LIST_ROCR ? LIST_CUDA : LIST_ROCR;
    return read_list(spank, list_names[*ret], list);
}

int task_node_order_gpus(spank_t spank, const struct wire_plan *wire, unsigned local_task,
                         struct error_info *err)
{
    char visible[LIST_BYTES], devices[LIST_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    enum list outermost;
    if (!node || !find_outermost(spank, &outermost, visible))
        return 0;
    CLEANUP_DONE(text_buffer) struct text_buffer order;
    text_buffer_init(&order, LIST_BYTES);
    bool counted = read_list(spank, STEP_DEVICES, devices);
    enum visible_order found =
        visible_gpus_order(node, &wire->degrees, wire->order, wire->gpus_per_node, visible,
                           counted ? devices : NULL, &order, &why);
    if (found == VISIBLE_FAILED || order.failed)
        return error_set_memory(err);
    if (found == VISIBLE_UNKNOWN && local_task == 0 && wire->degrees.tp > 1)
        plugin_notice("this node's GPUs stay in Slurm's order: %s", why.text);
    if (found != VISIBLE_CHANGED)
        return 0;
    if (set_list(spank, list_names[outermost], text_buffer_text(&order), err) < 0)
        return -1;
    return outermost == LIST_ROCR ? reset_inner(spank, visible, wire->gpus_per_node, err) : 0;
}
