/* SPDX-License-Identifier: MIT */
#include "base/yaml_fields.h"
#include "topology/fabric_readers/labels/label_fabric.h"
#include <string.h>

#define KEYS_MAXIMUM_BYTES ((size_t)1 << 20)
#define KEY_MAXIMUM_BYTES 317u /* Kubernetes: a prefix of 253 characters, '/', a name of 63 */

static const struct fabric_label_domain default_domains[] = {
    {"nvidia.com/gpu.clique", NULL},
    {"accelerator.topograph.run/domain", "accelerator.topograph.run/sub-domain"},
    {"network.topology.nvidia.com/accelerator", NULL},
    {"topology.k8s.aws/ultraserver-id", NULL},
    {"oci.oraclecloud.com/host.gpu_memory_fabric_id", NULL},
    {"cloud.google.com/gce-topology-subblock", NULL},
    {"topology.nebius.com/nvl-instance-group-id", NULL},
    {"topology.slinky.slurm.net/block", NULL},
};

#define TIERS(...)                                                                                 \
    {                                                                                              \
        .keys = {__VA_ARGS__}, .count = COUNT_OF(((const char *const[]){__VA_ARGS__}))             \
    }

static const struct fabric_label_tiers default_tiers[] = {
    TIERS("fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1",
          "fabric.topograph.run/tier-2", "fabric.topograph.run/tier-3",
          "fabric.topograph.run/tier-4", "fabric.topograph.run/tier-5",
          "fabric.topograph.run/tier-6", "fabric.topograph.run/tier-7"),
    TIERS("network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine",
          "network.topology.nvidia.com/core"),
    TIERS("network.topology.nvidia.com/block", "network.topology.nvidia.com/spine",
          "network.topology.nvidia.com/datacenter"),
    TIERS("topology.k8s.aws/network-node-layer-3", "topology.k8s.aws/network-node-layer-2",
          "topology.k8s.aws/network-node-layer-1"),
    TIERS("cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-block"),
    TIERS("oci.oraclecloud.com/rdma.local_block_id", "oci.oraclecloud.com/rdma.network_block_id",
          "oci.oraclecloud.com/rdma.hpc_island_id"),
    TIERS("oci.oraclecloud.com/host.rack_id", "oci.oraclecloud.com/host.network_block_id"),
    TIERS("topology.slinky.slurm.net/switch"),
    TIERS("topology.slinky.slurm.net/block"),
    TIERS("topology.kubernetes.io/rack", "topology.kubernetes.io/zone",
          "topology.kubernetes.io/region"),
};

static const struct fabric_label_keys default_keys = {
    .domains = default_domains,
    .domain_count = COUNT_OF(default_domains),
    .tier_sets = default_tiers,
    .tier_set_count = COUNT_OF(default_tiers),
};

const struct fabric_label_keys *fabric_label_keys_default(void) { return &default_keys; }

void fabric_label_keys_free(struct fabric_label_keys *keys)
{
    if (keys)
        arena_free(keys->arena);
}

/* --- from YAML -------------------------------------------------------------------- */

struct keys_entry {
    const struct yaml_node *domains, *tiers;
};

static const struct yaml_field keys_fields[] = {
    {.key = "domains", .type = YAML_NODE, .offset = offsetof(struct keys_entry, domains)},
    {.key = "tiers", .type = YAML_NODE, .offset = offsetof(struct keys_entry, tiers)},
};

static const struct yaml_field domain_fields[] = {
    {.key = "key",
     .type = YAML_TEXT,
     .offset = offsetof(struct fabric_label_domain, key),
     .required = true},
    {.key = "sub_key", .type = YAML_TEXT, .offset = offsetof(struct fabric_label_domain, sub_key)},
};

static int check_list(const struct yaml_node *list, size_t maximum, struct error_info *err)
{
    if (list->kind != YAML_SEQUENCE || list->child_count == 0)
        return yaml_node_error(list, err, "a list of label keys is expected");
    if (list->child_count > maximum)
        return yaml_node_error(list, err, "%zu entries are more than the %zu that are possible",
                               list->child_count, maximum);
    return 0;
}

static int copy_key(struct arena *arena, const struct yaml_node *node, const char *text,
                    const char **ret, struct error_info *err)
{
    size_t bytes = text ? strlen(text) : 0;
    if (bytes == 0 || bytes > KEY_MAXIMUM_BYTES || text[strcspn(text, " \t,=")])
        return yaml_node_error(node, err, "a label key as nvidia.com/gpu.clique is expected");
    *ret = arena_copy_text(arena, text);
    return *ret ? 0 : error_set_memory(err);
}

static int load_domain(struct fabric_label_keys *keys, const struct yaml_node *node,
                       struct fabric_label_domain *domain, struct error_info *err)
{
    struct fabric_label_domain given = {.key = node->text};
    if (node->kind != YAML_SCALAR &&
        yaml_fields_load(node, domain_fields, COUNT_OF(domain_fields), &given, err) < 0)
        return -1;
    if (copy_key(keys->arena, node, given.key, &domain->key, err) < 0)
        return -1;
    return given.sub_key ? copy_key(keys->arena, node, given.sub_key, &domain->sub_key, err) : 0;
}

static int load_domains(struct fabric_label_keys *keys, const struct yaml_node *list,
                        struct error_info *err)
{
    if (check_list(list, LABEL_MAXIMUM_DOMAIN_KEYS, err) < 0)
        return -1;
    struct fabric_label_domain *domains =
        arena_allocate_array(keys->arena, list->child_count, sizeof(*domains));
    if (!domains)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++)
        if (load_domain(keys, list->children[i], &domains[i], err) < 0)
            return -1;
    keys->domains = domains;
    keys->domain_count = list->child_count;
    return 0;
}

static int load_set(struct fabric_label_keys *keys, const struct yaml_node *list,
                    struct fabric_label_tiers *set, struct error_info *err)
{
    if (check_list(list, FABRIC_MAXIMUM_TIERS, err) < 0)
        return -1;
    for (; set->count < list->child_count; set->count++) {
        const struct yaml_node *node = list->children[set->count];
        if (copy_key(keys->arena, node, node->text, &set->keys[set->count], err) < 0)
            return -1;
        for (unsigned i = 0; i < set->count; i++)
            if (strcmp(set->keys[i], node->text) == 0)
                return yaml_node_error(node, err, "%s stands twice in the set", node->text);
    }
    return 0;
}

static int load_sets(struct fabric_label_keys *keys, const struct yaml_node *list,
                     struct error_info *err)
{
    if (check_list(list, LABEL_MAXIMUM_TIER_SETS, err) < 0)
        return -1;
    struct fabric_label_tiers *sets =
        arena_allocate_array(keys->arena, list->child_count, sizeof(*sets));
    if (!sets)
        return error_set_memory(err);
    for (size_t i = 0; i < list->child_count; i++)
        if (load_set(keys, list->children[i], &sets[i], err) < 0)
            return -1;
    keys->tier_sets = sets;
    keys->tier_set_count = list->child_count;
    return 0;
}

struct fabric_label_keys *fabric_label_keys_load(const struct yaml_node *mapping,
                                                 struct error_info *err)
{
    struct keys_entry entry = {0};
    if (yaml_fields_load(mapping, keys_fields, COUNT_OF(keys_fields), &entry, err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(KEYS_MAXIMUM_BYTES);
    struct fabric_label_keys *made = arena ? arena_allocate(arena, sizeof(*made)) : NULL;
    if (!made)
        return error_null(error_set_memory(err));
    *made = default_keys;
    made->arena = move_pointer(arena);
    CLEANUP(fabric_label_keys) struct fabric_label_keys *keys = made;
    if ((entry.domains && load_domains(keys, entry.domains, err) < 0) ||
        (entry.tiers && load_sets(keys, entry.tiers, err) < 0))
        return NULL;
    return move_pointer(keys);
}

struct fabric_label_keys *fabric_label_keys_parse(const char *text, size_t bytes,
                                                  const char *source, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    if (!document || yaml_document_check_schema(document, LABEL_KEYS_SCHEMA, err) < 0)
        return NULL;
    return fabric_label_keys_load(yaml_document_root(document), err);
}
