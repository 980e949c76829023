/* SPDX-License-Identifier: MIT */
#include "validation/calibration/calibration.h"

#include "base/tables/yaml_rows.h"
#include "base/text_file.h"
#include <string.h>

#define COUNT_MAXIMUM 1e9
#define RESIDUAL_MAXIMUM 1e6

static const char *const link_names[] = {"nvlink", "pcie", "network", NULL};

const char *calibrated_link_name(enum calibrated_link kind) { return link_names[kind]; }

/* --- the file -------------------------------------------------------------------------- */

#define TEXT_FIELD(type_, field_)                                                                  \
    {                                                                                              \
        .key = #field_, .type = YAML_TEXT, .offset = offsetof(struct type_, field_),               \
        .required = true                                                                           \
    }
#define REAL_FIELD(type_, field_, required_, minimum_, maximum_)                                   \
    {                                                                                              \
        .key = #field_, .type = YAML_REAL, .offset = offsetof(struct type_, field_),               \
        .required = required_, .minimum = (float)(minimum_), .maximum = maximum_                   \
    }
#define COUNT_FIELD(type_, field_)                                                                 \
    {                                                                                              \
        .key = #field_, .type = YAML_UNSIGNED, .offset = offsetof(struct type_, field_),           \
        .required = true, .minimum = 1, .maximum = COUNT_MAXIMUM                                   \
    }

static const struct yaml_field link_fields[] = {
    TEXT_FIELD(link_figures, name),
    {.key = "kind",
     .type = YAML_CHOICE,
     .offset = offsetof(struct link_figures, kind),
     .required = true,
     .choices = link_names},
    REAL_FIELD(link_figures, share, true, CALIBRATION_MINIMUM_SHARE, CALIBRATION_MAXIMUM_SHARE),
    REAL_FIELD(link_figures, hop_seconds, true, CALIBRATION_MINIMUM_HOP_SECONDS,
               CALIBRATION_MAXIMUM_HOP_SECONDS),
    COUNT_FIELD(link_figures, n),
    REAL_FIELD(link_figures, residual, true, 0, RESIDUAL_MAXIMUM),
    REAL_FIELD(link_figures, residual_before, false, 0, RESIDUAL_MAXIMUM),
    TEXT_FIELD(link_figures, source),
};

static const struct yaml_field gpu_fields[] = {
    TEXT_FIELD(gpu_figures, name),
    REAL_FIELD(gpu_figures, gemm_factor, true, CALIBRATION_MINIMUM_FACTOR,
               CALIBRATION_MAXIMUM_FACTOR),
    COUNT_FIELD(gpu_figures, n),
    REAL_FIELD(gpu_figures, residual, true, 0, RESIDUAL_MAXIMUM),
    REAL_FIELD(gpu_figures, residual_before, false, 0, RESIDUAL_MAXIMUM),
    TEXT_FIELD(gpu_figures, source),
};

static const struct yaml_row_table link_table = {link_fields, COUNT_OF(link_fields),
                                                 sizeof(struct link_figures)};
static const struct yaml_row_table gpu_table = {gpu_fields, COUNT_OF(gpu_fields),
                                                sizeof(struct gpu_figures)};

struct root {
    const struct yaml_node *links, *gpus;
};

static const struct yaml_field root_fields[] = {
    {.key = "links", .type = YAML_NODE, .offset = offsetof(struct root, links)},
    {.key = "gpus", .type = YAML_NODE, .offset = offsetof(struct root, gpus)},
};

static bool is_empty(const struct yaml_node *list)
{
    return !list || (list->kind == YAML_SEQUENCE && list->child_count == 0);
}

static int check_twice(const struct calibration *calibration, const struct root *root,
                       struct error_info *err)
{
    for (size_t i = 0; i < calibration->link_count; i++)
        for (size_t j = 0; j < i; j++)
            if (calibration->links[i].kind == calibration->links[j].kind &&
                strcmp(calibration->links[i].name, calibration->links[j].name) == 0)
                return yaml_node_error(root->links->children[i], err, "%s %s stands here twice",
                                       link_names[calibration->links[i].kind],
                                       calibration->links[i].name);
    for (size_t i = 0; i < calibration->gpu_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(calibration->gpus[i].name, calibration->gpus[j].name) == 0)
                return yaml_node_error(root->gpus->children[i], err, "%s stands here twice",
                                       calibration->gpus[i].name);
    return 0;
}

static int load_rows(struct calibration *calibration, const struct root *root,
                     struct error_info *err)
{
    if (!is_empty(root->links)) {
        calibration->links =
            yaml_rows_load(calibration->arena, root->links, &link_table, CALIBRATION_MAXIMUM_ROWS,
                           &calibration->link_count, err);
        if (!calibration->links)
            return -1;
    }
    if (!is_empty(root->gpus)) {
        calibration->gpus = yaml_rows_load(calibration->arena, root->gpus, &gpu_table,
                                           CALIBRATION_MAXIMUM_ROWS, &calibration->gpu_count, err);
        if (!calibration->gpus)
            return -1;
    }
    return check_twice(calibration, root, err);
}

struct calibration *calibration_parse(const char *text, size_t bytes, const char *source,
                                      struct error_info *err)
{
    struct root root = {.links = NULL};
    CLEANUP(yaml_document)
    struct yaml_document *document =
        yaml_document_open(text, bytes, source, CALIBRATION_SCHEMA, err);
    if (!document || yaml_fields_load(yaml_document_root(document), root_fields,
                                      COUNT_OF(root_fields), &root, err) < 0)
        return NULL;
    if (is_empty(root.links) && is_empty(root.gpus))
        return error_null(error_set(err,
                                    "%s: has neither links nor gpus; `parplan calibrate` "
                                    "writes such a file",
                                    source));
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct calibration *calibration = arena ? arena_allocate(arena, sizeof(*calibration)) : NULL;
    if (!calibration)
        return error_null(error_set_memory(err));
    calibration->arena = arena;
    if (load_rows(calibration, &root, err) < 0)
        return NULL;
    arena = NULL;
    return calibration;
}

struct calibration *calibration_load(const char *path, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, CALIBRATION_MAXIMUM_BYTES, &bytes, err);
    return text ? calibration_parse(text, bytes, path, err) : NULL;
}

void calibration_free(struct calibration *calibration)
{
    if (calibration)
        arena_free(calibration->arena);
}

/* --- into the catalogues --------------------------------------------------------------- */

/* What becomes of the catalogues, before anything changes in them. */
struct changes {
    struct gpu_model *models;
    struct efficiency_network *networks;
    double pcie_share;
    double hop_seconds[CALIBRATED_LINK_COUNT]; /* 0: as they are */
};

static struct gpu_model *find_model(const struct changes *changes, const struct gpu_catalogue *gpus,
                                    const char *name, struct error_info *err)
{
    for (size_t i = 0; i < gpus->count; i++)
        if (strcmp(gpus->models[i].name, name) == 0)
            return &changes->models[i];
    return error_null(error_set(err,
                                "calibration: no GPU of the catalogue is called \"%s\" (`parplan "
                                "gpus` lists them)",
                                name));
}

static int change_network(struct changes *changes, const struct efficiency_catalogue *efficiencies,
                          const struct link_figures *link, struct error_info *err)
{
    for (size_t i = 0; i < efficiencies->network_count; i++)
        if (strcmp(changes->networks[i].name, link->name) == 0) {
            changes->networks[i].share = link->share;
            return 0;
        }
    return error_set(err,
                     "calibration: no kind of network is called \"%s\"; take one of "
                     "efficiencies.yaml's, as infiniband",
                     link->name);
}

static int change_link(struct changes *changes, const struct gpu_catalogue *gpus,
                       const struct efficiency_catalogue *efficiencies,
                       const struct link_figures *link, struct error_info *err)
{
    double *hop_seconds = &changes->hop_seconds[link->kind];
    if (link->hop_seconds > *hop_seconds)
        *hop_seconds = link->hop_seconds;
    if (link->kind == CALIBRATED_NETWORK)
        return change_network(changes, efficiencies, link, err);
    if (link->kind == CALIBRATED_PCIE) {
        changes->pcie_share = link->share;
        return 0;
    }
    struct gpu_model *model = find_model(changes, gpus, link->name, err);
    if (!model)
        return -1;
    model->nvlink_efficiency = link->share;
    return 0;
}

static int change_gpu(const struct changes *changes, const struct gpu_catalogue *gpus,
                      const struct efficiency_catalogue *efficiencies,
                      const struct gpu_figures *figures, struct error_info *err)
{
    struct gpu_model *model = find_model(changes, gpus, figures->name, err);
    if (!model)
        return -1;
    double assumed = efficiency_of_architecture(efficiencies, model->architecture)->gemm_peak_share;
    for (unsigned i = 0; i < GPU_PRECISION_COUNT; i++) {
        double share = model->gemm_share[i] > 0 ? model->gemm_share[i] : assumed;
        model->gemm_share[i] = share * figures->gemm_factor;
    }
    return 0;
}

static double *hop_of(struct efficiency_protocol *protocol, enum calibrated_link kind)
{
    if (kind == CALIBRATED_NVLINK)
        return &protocol->nvlink_hop_seconds;
    return kind == CALIBRATED_PCIE ? &protocol->pcie_hop_seconds : &protocol->network_hop_seconds;
}

double calibrated_least_hop(const struct efficiency_catalogue *efficiencies,
                            enum calibrated_link kind)
{
    double least = 0;
    for (unsigned i = 0; i < EFFICIENCY_PROTOCOLS; i++) {
        struct efficiency_protocol protocol = efficiencies->protocols[i];
        double hop = *hop_of(&protocol, kind);
        if (i == 0 || hop < least)
            least = hop;
    }
    return least;
}

void calibration_set_hop(struct efficiency_catalogue *efficiencies, enum calibrated_link kind,
                         double hop_seconds)
{
    double shift = hop_seconds - calibrated_least_hop(efficiencies, kind);
    for (unsigned i = 0; i < EFFICIENCY_PROTOCOLS; i++)
        *hop_of(&efficiencies->protocols[i], kind) += shift;
}

static int copy_tables(struct changes *changes, const struct gpu_catalogue *gpus,
                       const struct efficiency_catalogue *efficiencies, struct error_info *err)
{
    changes->models = arena_allocate_array(gpus->arena, gpus->count, sizeof(*changes->models));
    changes->networks = arena_allocate_array(efficiencies->arena, efficiencies->network_count,
                                             sizeof(*changes->networks));
    if (!changes->models || !changes->networks)
        return error_set_memory(err);
    memcpy(changes->models, gpus->models, gpus->count * sizeof(*changes->models));
    memcpy(changes->networks, efficiencies->networks,
           efficiencies->network_count * sizeof(*changes->networks));
    changes->pcie_share = efficiencies->pcie_share;
    return 0;
}

int calibration_apply(const struct calibration *calibration, struct gpu_catalogue *gpus,
                      struct efficiency_catalogue *efficiencies, struct error_info *err)
{
    struct changes changes = {.models = NULL};
    if (copy_tables(&changes, gpus, efficiencies, err) < 0)
        return -1;
    for (size_t i = 0; i < calibration->link_count; i++)
        if (change_link(&changes, gpus, efficiencies, &calibration->links[i], err) < 0)
            return -1;
    for (size_t i = 0; i < calibration->gpu_count; i++)
        if (change_gpu(&changes, gpus, efficiencies, &calibration->gpus[i], err) < 0)
            return -1;
    gpus->models = changes.models;
    efficiencies->networks = changes.networks;
    efficiencies->pcie_share = changes.pcie_share;
    for (unsigned kind = 0; kind < CALIBRATED_LINK_COUNT; kind++)
        if (changes.hop_seconds[kind] > 0)
            calibration_set_hop(efficiencies, (enum calibrated_link)kind,
                                changes.hop_seconds[kind]);
    return 0;
}
