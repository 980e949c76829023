/* SPDX-License-Identifier: MIT */
#include "planner/efficiency_catalogue.h"

#include "base/data_file.h"
#include "base/tables/yaml_rows.h"
#include <string.h>

#define EFFICIENCY_SCHEMA "parplan.efficiencies/1"
#define EFFICIENCY_FILE "efficiencies.yaml"

#define SHARE_FIELD(type_, field_)                                                                 \
    {                                                                                              \
        .key = #field_, .type = YAML_REAL, .offset = offsetof(struct type_, field_),               \
        .required = true, .minimum = 1e-6f, .maximum = 1                                           \
    }
#define REAL_FIELD(type_, field_)                                                                  \
    {                                                                                              \
        .key = #field_, .type = YAML_REAL, .offset = offsetof(struct type_, field_),               \
        .required = true, .minimum = 0, .maximum = 1e15                                            \
    }
#define TEXT_FIELD(type_, field_)                                                                  \
    {                                                                                              \
        .key = #field_, .type = YAML_TEXT, .offset = offsetof(struct type_, field_),               \
        .required = true                                                                           \
    }

static const struct yaml_field architecture_fields[] = {
    TEXT_FIELD(efficiency_architecture, name),
    SHARE_FIELD(efficiency_architecture, gemm_share),
    SHARE_FIELD(efficiency_architecture, gemm_peak_share),
    REAL_FIELD(efficiency_architecture, token_half),
    REAL_FIELD(efficiency_architecture, expert_token_half),
    REAL_FIELD(efficiency_architecture, width_half),
    SHARE_FIELD(efficiency_architecture, unaligned_share),
    SHARE_FIELD(efficiency_architecture, attention_forward_share),
    SHARE_FIELD(efficiency_architecture, attention_backward_share),
    SHARE_FIELD(efficiency_architecture, memory_share),
    TEXT_FIELD(efficiency_architecture, source),
};

static const struct yaml_field framework_fields[] = {
    TEXT_FIELD(efficiency_framework, name),
    {.key = "interleaves",
     .type = YAML_BOOLEAN,
     .offset = offsetof(struct efficiency_framework, interleaves),
     .required = true},
    {.key = "fused_attention",
     .type = YAML_BOOLEAN,
     .offset = offsetof(struct efficiency_framework, fused_attention),
     .required = true},
    SHARE_FIELD(efficiency_framework, attention_scale),
    REAL_FIELD(efficiency_framework, extra_gradient_bytes),
    REAL_FIELD(efficiency_framework, hidden_copies),
    {.key = "selective_operators",
     .type = YAML_BOOLEAN,
     .offset = offsetof(struct efficiency_framework, selective_operators),
     .required = true},
    REAL_FIELD(efficiency_framework, elementwise_passes),
    REAL_FIELD(efficiency_framework, fp8_cast_bytes),
    REAL_FIELD(efficiency_framework, softmax_bytes_forward),
    REAL_FIELD(efficiency_framework, softmax_bytes_backward),
    REAL_FIELD(efficiency_framework, host_forward_seconds),
    REAL_FIELD(efficiency_framework, host_backward_seconds),
    REAL_FIELD(efficiency_framework, moe_host_seconds),
    {.key = "deduplicates_dispatch",
     .type = YAML_BOOLEAN,
     .offset = offsetof(struct efficiency_framework, deduplicates_dispatch),
     .required = true},
    SHARE_FIELD(efficiency_framework, state_share),
    REAL_FIELD(efficiency_framework, owner_seconds),
    REAL_FIELD(efficiency_framework, step_seconds),
    REAL_FIELD(efficiency_framework, bucket_bytes),
    TEXT_FIELD(efficiency_framework, source),
};

static const struct yaml_field network_fields[] = {
    TEXT_FIELD(efficiency_network, name),
    SHARE_FIELD(efficiency_network, share),
    REAL_FIELD(efficiency_network, doubling_loss),
    TEXT_FIELD(efficiency_network, source),
};

static const struct yaml_field protocol_fields[] = {
    TEXT_FIELD(efficiency_protocol, name),
    SHARE_FIELD(efficiency_protocol, bandwidth_share),
    REAL_FIELD(efficiency_protocol, base_seconds),
    REAL_FIELD(efficiency_protocol, nvlink_hop_seconds),
    REAL_FIELD(efficiency_protocol, pcie_hop_seconds),
    REAL_FIELD(efficiency_protocol, network_hop_seconds),
};

struct root {
    struct efficiency_catalogue figures;
    const struct yaml_node *architectures, *frameworks, *networks, *protocols;
    const char *source;
};

#define NODE_FIELD(field_)                                                                         \
    {                                                                                              \
        .key = #field_, .type = YAML_NODE, .offset = offsetof(struct root, field_),                \
        .required = true                                                                           \
    }
#define FIGURE_FIELD(field_, maximum_)                                                             \
    {                                                                                              \
        .key = #field_, .type = YAML_REAL, .offset = offsetof(struct root, figures.field_),        \
        .required = true, .minimum = 1e-6f, .maximum = maximum_                                    \
    }

static const struct yaml_field root_fields[] = {
    NODE_FIELD(architectures),
    NODE_FIELD(frameworks),
    NODE_FIELD(networks),
    NODE_FIELD(protocols),
    FIGURE_FIELD(nvlink_share, 1),
    FIGURE_FIELD(pcie_share, 1),
    FIGURE_FIELD(assumed_nic_bytes_per_second, 1e15),
    FIGURE_FIELD(spread_loss_collective, 10),
    FIGURE_FIELD(spread_loss_message, 10),
    FIGURE_FIELD(tight_share, 1),
    FIGURE_FIELD(host_memory_bytes_per_second, 1e15),
    FIGURE_FIELD(nvme_bytes_per_second, 1e15),
    {.key = "source", .type = YAML_TEXT, .offset = offsetof(struct root, source), .required = true},
};

static const struct yaml_row_table architecture_table = {
    architecture_fields, COUNT_OF(architecture_fields), sizeof(struct efficiency_architecture)};
static const struct yaml_row_table framework_table = {framework_fields, COUNT_OF(framework_fields),
                                                      sizeof(struct efficiency_framework)};
static const struct yaml_row_table network_table = {network_fields, COUNT_OF(network_fields),
                                                    sizeof(struct efficiency_network)};
static const struct yaml_row_table protocol_table = {protocol_fields, COUNT_OF(protocol_fields),
                                                     sizeof(struct efficiency_protocol)};

static const void *row_named(const void *rows, size_t count, size_t row_bytes, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const void *row = (const char *)rows + i * row_bytes;
        /* The name is every row's first member. */
        if (strcmp(*(const char *const *)row, name) == 0)
            return row;
    }
    return NULL;
}

static const void *row_or_default(const void *rows, size_t count, size_t row_bytes,
                                  const char *name)
{
    const void *row = name ? row_named(rows, count, row_bytes, name) : NULL;
    return row ? row : row_named(rows, count, row_bytes, EFFICIENCY_DEFAULT_ROW);
}

const struct efficiency_architecture *
efficiency_of_architecture(const struct efficiency_catalogue *catalogue, const char *name)
{
    return row_or_default(catalogue->architectures, catalogue->architecture_count,
                          sizeof(*catalogue->architectures), name);
}

const struct efficiency_framework *
efficiency_of_framework(const struct efficiency_catalogue *catalogue, const char *name)
{
    return row_or_default(catalogue->frameworks, catalogue->framework_count,
                          sizeof(*catalogue->frameworks), name);
}

const struct efficiency_network *efficiency_of_network(const struct efficiency_catalogue *catalogue,
                                                       const char *name)
{
    return row_or_default(catalogue->networks, catalogue->network_count,
                          sizeof(*catalogue->networks), name);
}

static int load_lists(struct efficiency_catalogue *catalogue, const struct root *root,
                      struct error_info *err)
{
    size_t protocol_count = 0;
    catalogue->architectures =
        yaml_rows_load(catalogue->arena, root->architectures, &architecture_table,
                       EFFICIENCY_MAXIMUM_ROWS, &catalogue->architecture_count, err);
    if (!catalogue->architectures)
        return -1;
    catalogue->frameworks =
        yaml_rows_load(catalogue->arena, root->frameworks, &framework_table,
                       EFFICIENCY_MAXIMUM_ROWS, &catalogue->framework_count, err);
    if (!catalogue->frameworks)
        return -1;
    catalogue->networks = yaml_rows_load(catalogue->arena, root->networks, &network_table,
                                         EFFICIENCY_MAXIMUM_ROWS, &catalogue->network_count, err);
    if (!catalogue->networks)
        return -1;
    const struct efficiency_protocol *protocols =
        yaml_rows_load(catalogue->arena, root->protocols, &protocol_table, EFFICIENCY_MAXIMUM_ROWS,
                       &protocol_count, err);
    if (!protocols)
        return -1;
    if (protocol_count != EFFICIENCY_PROTOCOLS)
        return yaml_node_error(root->protocols, err, "must have %u rows", EFFICIENCY_PROTOCOLS);
    memcpy(catalogue->protocols, protocols, sizeof(catalogue->protocols));
    if (!efficiency_of_architecture(catalogue, NULL))
        return yaml_node_error(root->architectures, err,
                               "needs a row named " EFFICIENCY_DEFAULT_ROW);
    if (!efficiency_of_framework(catalogue, NULL))
        return yaml_node_error(root->frameworks, err, "needs a row named " EFFICIENCY_DEFAULT_ROW);
    if (!efficiency_of_network(catalogue, NULL))
        return yaml_node_error(root->networks, err, "needs a row named " EFFICIENCY_DEFAULT_ROW);
    return 0;
}

static struct efficiency_catalogue *load_document(const struct yaml_document *document,
                                                  struct error_info *err)
{
    struct root root = {0};
    if (!document || yaml_document_check_schema(document, EFFICIENCY_SCHEMA, err) < 0 ||
        yaml_fields_load(yaml_document_root(document), root_fields, COUNT_OF(root_fields), &root,
                         err) < 0)
        return NULL;
    struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct efficiency_catalogue *catalogue =
        arena ? arena_allocate(arena, sizeof(*catalogue)) : NULL;
    if (!catalogue) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *catalogue = root.figures;
    catalogue->arena = arena;
    if (load_lists(catalogue, &root, err) < 0) {
        efficiency_catalogue_free(catalogue);
        return NULL;
    }
    return catalogue;
}

struct efficiency_catalogue *efficiency_catalogue_parse(const char *text, size_t bytes,
                                                        const char *source, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    return load_document(document, err);
}

struct efficiency_catalogue *efficiency_catalogue_builtin(struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *document = data_file_open(EFFICIENCY_FILE, err);
    return load_document(document, err);
}

void efficiency_catalogue_free(struct efficiency_catalogue *catalogue)
{
    if (catalogue)
        arena_free(catalogue->arena);
}
