/* SPDX-License-Identifier: MIT */
#include "report/number_text.h"
#include "report/topology_report.h"
#include "topology/groups/nvlink_domain.h"

#define SCHEMA "parplan.topology/1"
#define DIGITS 9u

static void add_known_bytes(struct json_value *parent, const char *key, uint64_t bytes)
{
    if (bytes > 0)
        json_add_unsigned(parent, key, bytes);
    else
        json_add_null(parent, key);
}

static void add_known_rate(struct json_value *parent, const char *key, double rate)
{
    if (rate > 0.0)
        json_add_real(parent, key, rate, DIGITS);
    else
        json_add_null(parent, key);
}

static void add_known_index(struct json_value *parent, const char *key, int index)
{
    if (index >= 0)
        json_add_signed(parent, key, index);
    else
        json_add_null(parent, key);
}

static void add_indices(struct json_value *parent, const unsigned *indices, unsigned count)
{
    struct json_value *array = json_add_array(parent, NULL);
    for (unsigned i = 0; i < count; i++)
        json_add_unsigned(array, NULL, indices[i]);
}

static void add_gpus(struct json_value *document, const struct node_topology *node)
{
    struct json_value *gpus = json_add_array(document, "gpus");
    for (unsigned i = 0; i < node->gpu_count; i++) {
        const struct node_gpu *gpu = &node->gpus[i];
        struct json_value *object = json_add_object(gpus, NULL);
        json_add_unsigned(object, "index", i);
        json_add_text(object, "model", gpu->model);
        json_add_text(object, "bus_id", gpu->bus_id);
        json_add_text(object, "uuid", gpu->uuid);
        add_known_bytes(object, "memory_bytes", gpu->memory_bytes);
        add_known_index(object, "numa", gpu->numa);
        json_add_text(object, "cpus", gpu->cpus);
        json_add_boolean(object, "mig", gpu->mig);
        json_add_boolean(object, "nvlink_lost", gpu->nvlink_lost);
        json_add_text(object, "problem", gpu->problem);
        struct json_value *nics = json_add_array(object, "nics");
        for (unsigned j = 0; j < gpu->nic_count; j++)
            json_add_text(nics, NULL, node->nics[gpu->nics[j]].name);
        struct json_value *indices = json_add_array(object, "nic_indices");
        for (unsigned j = 0; j < gpu->nic_count; j++)
            json_add_unsigned(indices, NULL, gpu->nics[j]);
    }
}

/* Where NVLink is unknown no domain is known either: an empty list, not one GPU each. */
static void add_domains(struct json_value *document, const struct node_topology *node)
{
    json_add_text(document, "nvlink", nvlink_state_name(node->nvlink));
    struct json_value *domains = json_add_array(document, "nvlink_domains");
    for (unsigned i = 0; node->nvlink != NVLINK_UNKNOWN && i < node->domain_count; i++)
        add_indices(domains, node->domains[i].gpus, node->domains[i].gpu_count);
    json_add_unsigned(document, "nvlink_domain_nodes", node->nvlink_domain_nodes);
    json_add_boolean(document, "nvlink_switched", node->nvlink_switched);
    json_add_boolean(document, "nvlink_leaves_node", node->nvlink_leaves_node);
    json_add_text(document, "nvlink_clique", node->nvlink_clique);
    add_known_rate(document, "gpu_nvlink_bytes_per_second", node->gpu_nvlink_bytes_per_second);
}

static int add_groups(struct json_value *document, const struct node_topology *node,
                      struct error_info *err)
{
    static const unsigned sizes[] = {2, 4, 8};
    struct json_value *object = json_add_object(document, "groups");
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        unsigned groups[NODE_MAXIMUM_GPUS];
        unsigned count = 0;
        struct json_value *array = json_add_array(object, number_index((int)sizes[i]).text);
        if (sizes[i] > node->gpu_count)
            continue;
        if (gpu_groups_usable(node, sizes[i], groups, &count, err) < 0)
            return -1;
        for (unsigned j = 0; j < count; j++)
            add_indices(array, groups + (size_t)j * sizes[i], sizes[i]);
    }
    return 0;
}

static void add_nics(struct json_value *document, const struct node_topology *node)
{
    struct json_value *nics = json_add_array(document, "nics");
    for (unsigned i = 0; i < node->nic_count; i++) {
        const struct node_nic *nic = &node->nics[i];
        struct json_value *object = json_add_object(nics, NULL);
        json_add_text(object, "name", nic->name);
        json_add_text(object, "role", nic_role_name(nic->role));
        add_known_index(object, "rail", nic->rail);
        json_add_text(object, "state", nic_state_name(nic->state));
        json_add_text(object, "bus_id", nic->bus_id);
        add_known_index(object, "numa", nic->numa);
        add_known_rate(object, "bytes_per_second", nic->bytes_per_second);
        json_add_text(object, "reason", nic->reason);
        json_add_text(object, "problem", nic->problem);
    }
}

static void add_host(struct json_value *document, const struct node_topology *node)
{
    add_known_rate(document, "gpu_nic_bytes_per_second", node->gpu_nic_bytes_per_second);
    add_known_rate(document, "pcie_bytes_per_second", node->pcie_bytes_per_second);
    add_known_bytes(document, "host_memory_bytes", node->host_memory_bytes);
    add_known_bytes(document, "host_nvme_bytes", node->host_nvme_bytes);
    add_known_bytes(document, "cpus", node->cpu_count);
    json_add_text(document, "driver", node->driver_version);
    struct json_value *warnings = json_add_array(document, "warnings");
    for (size_t i = 0; i < node->warning_count; i++)
        json_add_text(warnings, NULL, node->warnings[i]);
    struct json_value *facts = json_add_array(document, "facts");
    for (size_t i = 0; i < node->fact_count; i++) {
        struct json_value *object = json_add_object(facts, NULL);
        json_add_text(object, "fact", node->facts[i].fact);
        json_add_text(object, "value", node->facts[i].value);
        json_add_text(object, "source", node->facts[i].source);
    }
}

static int add_node(struct json_value *document, const struct node_topology *node,
                    struct error_info *err)
{
    json_add_text(document, "name", node->name);
    add_gpus(document, node);
    add_domains(document, node);
    if (add_groups(document, node, err) < 0)
        return -1;
    add_nics(document, node);
    add_host(document, node);
    return 0;
}

static struct json_value *create_document(const char *kind, struct error_info *err)
{
    struct json_value *document = json_value_create_object();
    if (!document)
        return error_null(error_set_memory(err));
    json_add_text(document, "schema", SCHEMA);
    json_add_text(document, "kind", kind);
    return document;
}

struct json_value *node_report_json(const struct node_topology *node, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *document = create_document("node", err);
    if (!document || add_node(document, node, err) < 0)
        return NULL;
    return move_pointer(document);
}

/* fabric and index: the node's place in the fabric; NULL or FABRIC_NONE: unknown. */
static void add_path(struct json_value *object, const struct fabric *fabric, unsigned index)
{
    struct json_value *path = json_add_array(object, "path");
    struct json_value *rails = json_add_object(object, "rails");
    if (!fabric || index == FABRIC_NONE)
        return;
    for (unsigned tier = 0; tier < fabric->tier_count; tier++) {
        unsigned at = fabric_switch_at(fabric, index, tier);
        if (at != FABRIC_NONE)
            json_add_text(path, NULL, fabric->switches[at].name);
    }
    const unsigned *leaves = fabric->nodes[index].rail_leaves;
    for (unsigned rail = 0; leaves && rail < fabric->rail_count; rail++) {
        if (leaves[rail] != FABRIC_NONE)
            json_add_text(rails, number_index((int)rail).text, fabric->switches[leaves[rail]].name);
    }
}

static void add_switch(struct json_value *switches, const struct fabric *fabric,
                       const struct fabric_switch *one)
{
    struct json_value *object = json_add_object(switches, NULL);
    json_add_text(object, "name", one->name);
    json_add_text(object, "tier", fabric->tier_names[one->tier]);
    json_add_text(object, "above",
                  one->parent == FABRIC_NONE ? NULL : fabric->switches[one->parent].name);
    add_known_rate(object, "uplink_bytes_per_second", one->uplink_bytes_per_second);
    add_known_rate(object, "downlink_bytes_per_second", one->downlink_bytes_per_second);
}

/* gpus: by domain, or NULL. */
static void add_fabric_domains(struct json_value *document, const struct fabric *fabric,
                               const uint64_t *gpus)
{
    struct json_value *switches = json_add_array(document, "switches");
    for (size_t i = 0; fabric && i < fabric->switch_count; i++)
        add_switch(switches, fabric, &fabric->switches[i]);
    struct json_value *domains = json_add_array(document, "nvlink_domains");
    for (size_t i = 0; fabric && i < fabric->domain_count; i++) {
        struct json_value *object = json_add_object(domains, NULL);
        json_add_unsigned(object, "index", i);
        json_add_text(object, "name", fabric->domains[i].name);
        json_add_text(object, "id", fabric->domains[i].id);
        json_add_unsigned(object, "nodes", fabric->domains[i].node_count);
        add_known_bytes(object, "gpus", gpus ? gpus[i] : 0);
    }
}

static void add_tiers(struct json_value *document, const struct fabric *fabric)
{
    struct json_value *tiers = json_add_array(document, "tiers");
    struct json_value *warnings = json_add_array(document, "warnings");
    for (unsigned i = 0; fabric && i < fabric->tier_count; i++)
        json_add_text(tiers, NULL, fabric->tier_names[i]);
    for (size_t i = 0; fabric && i < fabric->warning_count; i++)
        json_add_text(warnings, NULL, fabric->warnings[i]);
    json_add_text(document, "source", fabric ? fabric->source : NULL);
}

struct json_value *fabric_report_json(const struct fabric *fabric, struct error_info *err)
{
    struct json_value *document = create_document("fabric", err);
    struct json_value *nodes = json_add_array(document, "nodes");
    for (unsigned i = 0; i < fabric->node_count; i++) {
        struct json_value *object = json_add_object(nodes, NULL);
        json_add_text(object, "name", fabric->nodes[i].name);
        add_path(object, fabric, i);
        if (fabric->nodes[i].nvlink_block == FABRIC_NONE)
            json_add_null(object, "nvlink_domain");
        else
            json_add_unsigned(object, "nvlink_domain", fabric->nodes[i].nvlink_block);
        json_add_null(object, "gpus");
    }
    add_tiers(document, fabric);
    add_fabric_domains(document, fabric, NULL);
    return document;
}

static int add_cluster_domains(struct json_value *document, const struct cluster_topology *cluster,
                               struct error_info *err)
{
    size_t count = cluster->fabric ? cluster->fabric->domain_count : 0;
    CLEANUP_MEMORY uint64_t *gpus = memory_allocate_array(count, sizeof(*gpus));
    if (!gpus)
        return error_set_memory(err);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].nvlink_block < count)
            gpus[cluster->nodes[i].nvlink_block] +=
                cluster->kinds[cluster->nodes[i].kind]->gpu_count;
    add_fabric_domains(document, cluster->fabric, gpus);
    return 0;
}

struct json_value *cluster_report_json(const struct cluster_topology *cluster,
                                       struct error_info *err)
{
    CLEANUP(json_value) struct json_value *document = create_document("cluster", err);
    json_add_text(document, "name", cluster->name);
    struct json_value *nodes = json_add_array(document, "nodes");
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        struct json_value *object = json_add_object(nodes, NULL);
        json_add_text(object, "name", node->name);
        json_add_text(object, "node_kind", cluster->kind_names[node->kind]);
        add_path(object, cluster->fabric, node->fabric_node);
        json_add_unsigned(object, "nvlink_domain", node->nvlink_block);
        json_add_unsigned(object, "gpus", cluster->kinds[node->kind]->gpu_count);
    }
    add_tiers(document, cluster->fabric);
    if (add_cluster_domains(document, cluster, err) < 0)
        return NULL;
    struct json_value *kinds = json_add_array(document, "kinds");
    for (size_t i = 0; i < cluster->kind_count; i++) {
        struct json_value *object = json_add_object(kinds, NULL);
        json_add_text(object, "kind", cluster->kind_names[i]);
        if (add_node(object, cluster->kinds[i], err) < 0)
            return NULL;
    }
    return document ? move_pointer(document) : NULL;
}
