/* SPDX-License-Identifier: MIT */
/* topograph's graph, JSON. */
#include "base/json_document.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/node_paths.h"
#include "topology/fabric_readers/topograph_labels.h"

static const char *const tier_names[FABRIC_MAXIMUM_TIERS] = {"leaf",  "spine", "core",  "tier4",
                                                             "tier5", "tier6", "tier7", "tier8"};

/* What topograph and the cloud's API that its form comes from call the domain. */
static const char *const domain_keys[] = {"nvlink_domain", "accelerator", "accelerator_domain",
                                          "accelerated_domain"};

struct reader {
    const char *source;
    struct fabric_draft *draft;
    struct node_paths *paths;
    struct name_index *domains;
};

static const char *text_of(const struct json_value *object, const char *key)
{
    return json_value_text(json_value_get(object, key));
}

static int read_layers(struct reader *reader, const char *node, const struct json_value *layers,
                       struct error_info *err)
{
    const char *names[FABRIC_MAXIMUM_TIERS] = {NULL};
    enum json_kind kind = json_value_kind(layers);
    size_t count = json_value_count(layers);
    if (kind != JSON_ARRAY && kind != JSON_NULL)
        return error_set(err, "%s: instance %s: network_layers: a list is expected, near to far",
                         reader->source, node);
    if (count > FABRIC_MAXIMUM_TIERS)
        return error_set(err, "%s: instance %s: %zu network_layers; at most %u are possible",
                         reader->source, node, count, FABRIC_MAXIMUM_TIERS);
    for (size_t i = 0; i < count; i++) {
        names[i] = json_value_text(json_value_at(layers, i));
        if (!names[i])
            return error_set(err, "%s: instance %s: network_layers[%zu]: a text is expected",
                             reader->source, node, i);
    }
    return node_paths_add(reader->paths, node, names, err);
}

static struct topograph_domain find_domain(const struct json_value *instance)
{
    struct topograph_domain domain = {0};
    for (size_t i = 0; i < COUNT_OF(domain_keys) && !domain.name; i++) {
        const char *text = text_of(instance, domain_keys[i]);
        domain.name = text && *text ? text : NULL;
    }
    const struct json_value *labels = json_value_get(instance, "labels");
    for (size_t i = 0; i < json_value_count(labels); i++) {
        const struct json_value *label = json_value_at(labels, i);
        if (json_value_key(label))
            topograph_domain_note(&domain, json_value_key(label), json_value_text(label));
    }
    return domain;
}

static int read_domain(struct reader *reader, const char *node, const struct json_value *instance,
                       struct error_info *err)
{
    struct topograph_domain domain = find_domain(instance);
    if (!domain.name)
        return 0;
    char id[TOPOGRAPH_DOMAIN_BYTES];
    size_t number = 0;
    if (topograph_domain_id(&domain, id, err) < 0 ||
        node_paths_domain(reader->draft, reader->domains, NULL, id, 0, &number, err) < 0 ||
        fabric_draft_add_domain_node(reader->draft, number, node, err) < 0)
        return error_prefix(err, "%s: instance %s", reader->source, node);
    return 0;
}

static int read_instances(struct reader *reader, const struct json_value *root,
                          struct error_info *err)
{
    const struct json_value *instances = json_value_get(root, "instances");
    size_t count = json_value_count(instances);
    if (json_value_kind(instances) != JSON_ARRAY || count == 0)
        return error_set(err, "%s: no instances: topograph's graph lists them under that key",
                         reader->source);
    if (count > FABRIC_MAXIMUM_NODES)
        return error_set(err, "%s: %zu instances are more than the %u that are possible",
                         reader->source, count, FABRIC_MAXIMUM_NODES);
    for (size_t i = 0; i < count; i++) {
        const struct json_value *instance = json_value_at(instances, i);
        const char *node = text_of(instance, "id");
        if (!node || !*node)
            return error_set(err, "%s: instances[%zu] has no id", reader->source, i);
        if (read_layers(reader, node, json_value_get(instance, "network_layers"), err) < 0 ||
            read_domain(reader, node, instance, err) < 0)
            return -1;
    }
    return node_paths_place(reader->paths, err);
}

struct fabric *fabric_parse_topograph_graph(const char *text, size_t bytes, const char *source,
                                            struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_parse(text, bytes, source, err);
    if (!root)
        return NULL;
    CLEANUP(fabric_draft) struct fabric_draft *draft = fabric_draft_create(source, err);
    CLEANUP(name_index) struct name_index *domains = name_index_create();
    CLEANUP(node_paths)
    struct node_paths *paths =
        draft ? node_paths_create(draft, source, tier_names, tier_names, FABRIC_MAXIMUM_TIERS, err)
              : NULL;
    if (!paths || !domains)
        return error_null(error_set_memory(err));
    struct reader reader = {.source = source, .draft = draft, .paths = paths, .domains = domains};
    if (read_instances(&reader, root, err) < 0)
        return NULL;
    if (fabric_draft_switch_count(draft) + fabric_draft_domain_count(draft) == 0)
        return error_null(error_set(err, "%s: no instance has network_layers or a domain", source));
    return fabric_draft_build(draft, err);
}
