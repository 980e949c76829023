/* SPDX-License-Identifier: MIT */
#include "spank_plugin/task_node.h"
#include "mapping/rails/node_rails.h"
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

/* The node's indices of this step's GPUs by local rank. A task that sees its own GPU alone knows
 * that one; count 0: unknown. */
static struct {
    unsigned gpus[NODE_MAXIMUM_GPUS];
    unsigned count;
    bool alone;
} used;

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

/* Without a list the tasks see what the node has, in the driver's order. */
static void use_all(const struct wire_plan *wire)
{
    if (wire->gpus_per_node != node->gpu_count)
        return;
    used.count = node->gpu_count;
    for (unsigned i = 0; i < used.count; i++)
        used.gpus[i] = i;
}

static void use_own(const char *visible, const char *devices)
{
    struct visible_gpus own;
    if (strchr(visible, ',') || visible_gpus_match(node, 1, visible, devices, &own, NULL) < 0)
        return;
    used.gpus[0] = own.gpus[0];
    used.count = 1;
    used.alone = true;
}

int task_node_order_gpus(spank_t spank, const struct wire_plan *wire, unsigned local_task,
                         struct error_info *err)
{
    char visible[LIST_BYTES], devices[LIST_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    enum list outermost;
    used.count = 0;
    used.alone = false;
    if (!node)
        return 0;
    if (!find_outermost(spank, &outermost, visible)) {
        use_all(wire);
        return 0;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer order;
    text_buffer_init(&order, LIST_BYTES);
    bool counted = read_list(spank, STEP_DEVICES, devices);
    enum visible_order found =
        visible_gpus_order(node, &wire->degrees, wire->order, wire->gpus_per_node, visible,
                           counted ? devices : NULL, &order, used.gpus, &why);
    if (found == VISIBLE_FAILED || order.failed)
        return error_set_memory(err);
    if (found == VISIBLE_UNKNOWN)
        use_own(visible, counted ? devices : NULL);
    else
        used.count = wire->gpus_per_node;
    if (found == VISIBLE_UNKNOWN && local_task == 0 && wire->degrees.tp > 1)
        plugin_notice("this node's GPUs stay in Slurm's order: %s", why.text);
    if (found != VISIBLE_CHANGED)
        return 0;
    if (set_list(spank, list_names[outermost], text_buffer_text(&order), err) < 0)
        return -1;
    return outermost == LIST_ROCR ? reset_inner(spank, visible, wire->gpus_per_node, err) : 0;
}

int task_node_compare(const struct wire_plan *wire, const struct policy *policy,
                      unsigned local_task, struct error_info *err)
{
    struct policy_verdict verdict;
    CLEANUP_DONE(text_buffer) struct text_buffer what;
    text_buffer_init(&what, LIST_BYTES);
    if (!node)
        return 0;
    node_rails_compare(node, wire, &what);
    if (text_buffer_failed(&what))
        return error_set_memory(err);
    policy_check_mismatch(policy, text_buffer_text(&what), &verdict);
    if (verdict.result == POLICY_DENIED)
        return error_set(err, "%s", verdict.text);
    if (verdict.result == POLICY_WARNED && local_task == 0)
        plugin_notice("warning: %s", verdict.text);
    return 0;
}

static unsigned count_sharers(const char *cpus)
{
    unsigned count = 0;
    for (unsigned i = 0; i < used.count; i++) {
        const char *other = node->gpus[used.gpus[i]].cpus;
        count += other && !strcmp(other, cpus);
    }
    return count;
}

void task_node_devices(const struct wire_plan *wire, unsigned local_task, struct task_devices *ret)
{
    *ret = (struct task_devices){.sharers = 1};
    if (!node)
        return;
    CLEANUP_DONE(text_buffer) struct text_buffer nics;
    text_buffer_init(&nics, TASK_NICS_BYTES);
    node_rails_write(node, &nics);
    if (!text_buffer_failed(&nics))
        snprintf(ret->nics, sizeof(ret->nics), "%s", text_buffer_text(&nics));
    unsigned position = used.alone ? 0 : local_task;
    if (wire->tasks_per_node != wire->gpus_per_node || position >= used.count)
        return;
    ret->cpus = node->gpus[used.gpus[position]].cpus;
    if (ret->cpus)
        ret->sharers = used.alone ? wire->tasks_per_node : count_sharers(ret->cpus);
}
