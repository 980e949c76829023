/* SPDX-License-Identifier: MIT */
/* Totals, minima and the digest of a cluster. */
#include "topology/cluster_summary.h"
#include <string.h>

unsigned cluster_gpus_per_node(const struct cluster_topology *cluster)
{
    unsigned smallest = cluster->kinds[cluster->nodes[0].kind]->gpu_count;
    for (size_t i = 1; i < cluster->node_count; i++) {
        unsigned gpus = cluster->kinds[cluster->nodes[i].kind]->gpu_count;
        if (gpus < smallest)
            smallest = gpus;
    }
    return smallest;
}

uint64_t cluster_gpu_count(const struct cluster_topology *cluster)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < cluster->node_count; i++)
        sum += cluster->kinds[cluster->nodes[i].kind]->gpu_count;
    return sum;
}

/* What the nodes of one NVLink block offer together. */
struct block_domain {
    unsigned nodes;
    unsigned gpus;    /* all of them */
    unsigned largest; /* smallest of the nodes' own largest domains */
    bool whole;       /* every node's GPUs form one domain, which can join the others' */
};

static void add_node(struct block_domain *block, const struct node_topology *node)
{
    unsigned largest = node_topology_largest_domain(node);
    if (block->nodes == 0 || largest < block->largest)
        block->largest = largest;
    block->whole = (block->nodes == 0 || block->whole) && largest == node->gpu_count;
    block->gpus += node->gpu_count;
    block->nodes++;
}

static unsigned block_limit(const struct cluster_topology *cluster)
{
    unsigned limit = 0;
    for (size_t i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].nvlink_block >= limit)
            limit = cluster->nodes[i].nvlink_block + 1;
    return limit;
}

static void keep_smallest(unsigned *smallest, unsigned value)
{
    if (*smallest == 0 || value < *smallest)
        *smallest = value;
}

static int find_domains(struct cluster_topology *cluster, const struct block_domain *blocks,
                        unsigned count, struct error_info *err)
{
    unsigned *domains = arena_allocate_array(cluster->arena, count, sizeof(*domains));
    if (!domains)
        return error_set_memory(err);
    for (unsigned i = 0; i < count; i++) {
        bool wide = blocks[i].nodes > 1 && blocks[i].whole;
        if (blocks[i].nodes == 0)
            continue;
        if (wide)
            domains[cluster->domain_count++] = blocks[i].nodes;
        else
            keep_smallest(&cluster->inner_domain_gpus, blocks[i].largest);
        keep_smallest(&cluster->nvlink_domain_gpus, wide ? blocks[i].gpus : blocks[i].largest);
    }
    cluster->domain_nodes = domains;
    return 0;
}

static int add_fault(struct cluster_topology *cluster, unsigned kind, struct error_info *err)
{
    struct node_fault fault;
    if (!node_topology_find_fault(cluster->kinds[kind], &fault) ||
        (cluster->fault && fault.sound_gpus >= cluster->sound_gpus))
        return 0;
    cluster->sound_gpus = fault.sound_gpus;
    cluster->fault = arena_format(cluster->arena, "%s: GPU %u: %s", cluster->kind_names[kind],
                                  fault.gpu, fault.reason);
    return cluster->fault ? 0 : error_set_memory(err);
}

static void add_cover(struct cluster_topology *cluster, const struct node_topology *node)
{
    for (unsigned size = 1; size <= NODE_MAXIMUM_GPUS; size++) {
        unsigned cover = 0;
        for (unsigned d = 0; d < node->domain_count; d++)
            cover += node->domains[d].gpu_count / size * size;
        if (cover < cluster->nvlink_cover[size])
            cluster->nvlink_cover[size] = (unsigned char)cover;
    }
}

/* Only kinds that a node is of: a file may describe more. */
static int add_kinds(struct cluster_topology *cluster, const bool *in_use, struct error_info *err)
{
    cluster->nvlink_known = true;
    memset(cluster->nvlink_cover, NODE_MAXIMUM_GPUS, sizeof(cluster->nvlink_cover));
    for (unsigned i = 0; i < cluster->kind_count; i++) {
        if (!in_use[i])
            continue;
        add_cover(cluster, cluster->kinds[i]);
        cluster->nvlink_known &= cluster->kinds[i]->nvlink != NVLINK_UNKNOWN;
        if (add_fault(cluster, i, err) < 0)
            return -1;
    }
    return 0;
}

int cluster_summarise(struct cluster_topology *cluster, struct error_info *err)
{
    unsigned limit = block_limit(cluster);
    CLEANUP_MEMORY struct block_domain *blocks = memory_allocate_array(limit, sizeof(*blocks));
    CLEANUP_MEMORY bool *in_use = memory_allocate_array(cluster->kind_count, sizeof(*in_use));
    if (!blocks || !in_use)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        add_node(&blocks[node->nvlink_block], cluster->kinds[node->kind]);
        in_use[node->kind] = true;
    }
    if (find_domains(cluster, blocks, limit, err) < 0)
        return -1;
    return add_kinds(cluster, in_use, err);
}

unsigned cluster_nvlink_domain_in_use(const struct cluster_topology *cluster,
                                      unsigned gpus_per_node)
{
    unsigned nodes = 0, inner = cluster->inner_domain_gpus;
    if (inner > 0)
        return inner < gpus_per_node ? inner : gpus_per_node;
    for (size_t i = 0; i < cluster->domain_count; i++)
        keep_smallest(&nodes, cluster->domain_nodes[i]);
    return nodes * gpus_per_node;
}

unsigned cluster_nvlink_domain_gpus(const struct cluster_topology *cluster, bool *ret_known)
{
    *ret_known = cluster->nvlink_known;
    return cluster->nvlink_domain_gpus;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return name_hash_add(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

/* Byte order and width are fixed, so that all machines agree. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return name_hash_add(hash, bytes, sizeof(bytes));
}

static uint64_t hash_kind(uint64_t hash, const struct node_topology *kind)
{
    size_t n = kind->gpu_count;
    hash = hash_number(hash, kind->gpu_count);
    hash = hash_number(hash, kind->nvlink);
    hash = hash_number(hash, kind->nvlink_domain_nodes);
    hash = hash_number(hash, kind->nvlink_leaves_node);
    hash = hash_text(hash, kind->nvlink_clique);
    for (size_t i = 0; i < n; i++) {
        hash = hash_text(hash, kind->gpus[i].model);
        hash = hash_number(hash, kind->gpus[i].memory_bytes);
        hash = hash_number(hash, kind->gpus[i].mig + 2u * kind->gpus[i].nvlink_lost);
        for (size_t j = 0; j < n; j++)
            hash = hash_number(hash, (uint64_t)kind->nvlink_bytes_per_second[i * n + j]);
    }
    for (unsigned i = 0; i < kind->nic_count; i++) {
        hash = hash_text(hash, kind->nics[i].name);
        hash = hash_number(hash, (uint64_t)(kind->nics[i].rail + 1));
    }
    return hash;
}

static uint64_t hash_path(uint64_t hash, const struct fabric *fabric, unsigned leaf)
{
    for (unsigned at = leaf; at != FABRIC_NONE; at = fabric->switches[at].parent) {
        hash = hash_text(hash, fabric->switches[at].name);
        hash = hash_number(hash, fabric->switches[at].tier);
    }
    return hash_number(hash, FABRIC_NONE);
}

uint64_t cluster_digest(const struct cluster_topology *cluster)
{
    uint64_t hash = NAME_HASH_START;
    const struct fabric *fabric = cluster->fabric;
    for (size_t i = 0; i < cluster->kind_count; i++)
        hash = hash_kind(hash_text(hash, cluster->kind_names[i]), cluster->kinds[i]);
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        hash = hash_text(hash, node->name);
        hash = hash_number(hash, node->kind);
        hash = hash_number(hash, node->nvlink_block);
        if (node->fabric_node == FABRIC_NONE)
            continue;
        const struct fabric_node *at = &fabric->nodes[node->fabric_node];
        hash = hash_path(hash, fabric, at->leaf);
        for (unsigned rail = 0; at->rail_leaves && rail < fabric->rail_count; rail++)
            hash = hash_path(hash, fabric, at->rail_leaves[rail]);
    }
    return hash;
}
