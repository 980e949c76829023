/* SPDX-License-Identifier: MIT */
#include "topology/node_topology.h"
#include "topology/text_list.h"
#include <string.h>

#define COPY_MAXIMUM_BYTES ((size_t)16 << 20)

void node_topology_free(struct node_topology *node)
{
    if (node)
        arena_free(node->arena);
}

unsigned node_topology_largest_domain(const struct node_topology *node)
{
    unsigned largest = 1;
    for (unsigned d = 0; d < node->domain_count; d++)
        if (node->domains[d].gpu_count > largest)
            largest = node->domains[d].gpu_count;
    return largest;
}

bool node_topology_is_uniform(const struct node_topology *node)
{
    if (node->nvlink != NVLINK_KNOWN || node->gpu_count < 2)
        return node->gpu_count == 1;
    double first = node->nvlink_bytes_per_second[1];
    if (first <= 0)
        return false;
    for (size_t i = 0; i < node->gpu_count; i++) {
        for (size_t j = 0; j < i; j++) {
            double rate = node->nvlink_bytes_per_second[i * node->gpu_count + j];
            if (rate < first || rate > first)
                return false;
        }
    }
    return true;
}

static const void *copy_array(struct arena *arena, const void *array, size_t count,
                              size_t element_bytes, bool *failed)
{
    if (!array)
        return NULL;
    void *copy = arena_allocate_array(arena, count, element_bytes);
    if (copy && count > 0)
        memcpy(copy, array, count * element_bytes);
    *failed = *failed || !copy;
    return copy;
}

static void copy_gpus(struct node_topology *copy, const struct node_topology *node, bool *failed)
{
    struct arena *arena = copy->arena;
    struct node_gpu *gpus = arena_allocate_array(arena, node->gpu_count, sizeof(*gpus));
    struct node_domain *domains = arena_allocate_array(arena, node->domain_count, sizeof(*domains));
    copy->gpus = gpus;
    copy->domains = domains;
    *failed = *failed || !gpus || !domains;
    for (unsigned i = 0; !*failed && i < node->gpu_count; i++) {
        gpus[i] = node->gpus[i];
        gpus[i].model = text_list_copy(arena, gpus[i].model, failed);
        gpus[i].bus_id = text_list_copy(arena, gpus[i].bus_id, failed);
        gpus[i].uuid = text_list_copy(arena, gpus[i].uuid, failed);
        gpus[i].nics =
            copy_array(arena, gpus[i].nics, gpus[i].nic_count, sizeof(*gpus[i].nics), failed);
    }
    for (unsigned i = 0; !*failed && i < node->domain_count; i++) {
        domains[i] = node->domains[i];
        domains[i].gpus = copy_array(arena, domains[i].gpus, domains[i].gpu_count,
                                     sizeof(*domains[i].gpus), failed);
    }
}

static void copy_nics(struct node_topology *copy, const struct node_topology *node, bool *failed)
{
    struct node_nic *nics = arena_allocate_array(copy->arena, node->nic_count, sizeof(*nics));
    copy->nics = nics;
    *failed = *failed || !nics;
    for (unsigned i = 0; !*failed && i < node->nic_count; i++) {
        nics[i] = node->nics[i];
        nics[i].name = text_list_copy(copy->arena, nics[i].name, failed);
        nics[i].bus_id = text_list_copy(copy->arena, nics[i].bus_id, failed);
        nics[i].reason = text_list_copy(copy->arena, nics[i].reason, failed);
    }
}

static void copy_facts(struct node_topology *copy, const struct node_topology *node, bool *failed)
{
    struct topology_fact *facts =
        arena_allocate_array(copy->arena, node->fact_count, sizeof(*facts));
    copy->facts = facts;
    *failed = *failed || !facts;
    for (size_t i = 0; !*failed && i < node->fact_count; i++) {
        facts[i].fact = text_list_copy(copy->arena, node->facts[i].fact, failed);
        facts[i].value = text_list_copy(copy->arena, node->facts[i].value, failed);
        facts[i].source = text_list_copy(copy->arena, node->facts[i].source, failed);
    }
}

struct node_topology *node_topology_copy(const struct node_topology *node, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(COPY_MAXIMUM_BYTES);
    struct node_topology *copy = arena ? arena_allocate(arena, sizeof(*copy)) : NULL;
    if (!copy)
        return error_null(error_set_memory(err));
    bool failed = false;
    size_t pairs = (size_t)node->gpu_count * node->gpu_count;
    *copy = *node;
    copy->arena = arena;
    copy->name = text_list_copy(arena, node->name, &failed);
    copy->nvlink_bytes_per_second =
        copy_array(arena, node->nvlink_bytes_per_second, pairs, sizeof(double), &failed);
    copy->links = copy_array(arena, node->links, pairs, sizeof(enum link_kind), &failed);
    copy_gpus(copy, node, &failed);
    copy_nics(copy, node, &failed);
    copy_facts(copy, node, &failed);
    if (failed)
        return error_null(error_set_memory(err));
    arena = NULL; /* the copy's from here on */
    return copy;
}

const char *nic_role_name(enum nic_role role)
{
    static const char *const names[NIC_ROLE_COUNT] = {
        [NIC_RAIL] = "rail",         [NIC_STORAGE] = "storage", [NIC_MANAGEMENT] = "management",
        [NIC_NVSWITCH] = "nvswitch", [NIC_OTHER] = "other",
    };
    return role < NIC_ROLE_COUNT ? names[role] : "other";
}

const char *nic_state_name(enum nic_state state)
{
    static const char *const names[NIC_STATE_COUNT] = {
        [NIC_STATE_UNKNOWN] = "unknown", [NIC_ACTIVE] = "active", [NIC_DOWN] = "down"};
    return state < NIC_STATE_COUNT ? names[state] : "unknown";
}

static bool is_sound(const struct node_gpu *gpu) { return !gpu->mig && !gpu->nvlink_lost; }

bool node_topology_find_fault(const struct node_topology *node, struct node_fault *ret)
{
    unsigned counts[NODE_MAXIMUM_GPUS] = {0}, largest = 1;
    const struct node_gpu *faulty = NULL;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        const struct node_gpu *gpu = &node->gpus[i];
        if (is_sound(gpu) && ++counts[gpu->nvlink_domain] > largest)
            largest = counts[gpu->nvlink_domain];
        else if (!is_sound(gpu) && !faulty)
            faulty = gpu;
    }
    if (!faulty)
        return false;
    *ret = (struct node_fault){
        .gpu = (unsigned)(faulty - node->gpus),
        .reason = faulty->mig       ? "cut into MIG instances"
                  : faulty->problem ? faulty->problem
                                    : "lost NVLink",
        .sound_gpus = largest,
    };
    return true;
}
