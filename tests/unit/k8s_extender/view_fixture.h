/* SPDX-License-Identifier: MIT */
/*
 * view_fixture: nodes of a Kubernetes cluster from a few words, and views of them.
 */
#ifndef TESTS_UNIT_K8S_EXTENDER_VIEW_FIXTURE_H
#define TESTS_UNIT_K8S_EXTENDER_VIEW_FIXTURE_H

#include "tests/unit/topology/topology_fixture.h"

#include "base/json_document.h"
#include "k8s_extender/placement/cluster_view.h"
#include "topology/collect/node_annotation.h"
#include <stdio.h>

/* labels: "key=value key=value", or NULL. gpus: of nvidia.com/gpu; 0: none. */
static inline struct node_record *try_node(const char *name, unsigned gpus, const char *labels,
                                           const char *topology, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *node = json_value_create_object();
    struct json_value *metadata = json_add_object(node, "metadata");
    json_add_text(metadata, "name", name);
    struct json_value *given = json_add_object(metadata, "labels");
    for (const char *at = labels; at && *at;) {
        char key[400], value[400];
        size_t length = strcspn(at, " "), split = strcspn(at, "=");
        snprintf(key, sizeof(key), "%.*s", (int)split, at);
        snprintf(value, sizeof(value), "%.*s", (int)(length - split - 1), at + split + 1);
        json_add_text(given, key, value);
        at += length + (at[length] == ' ');
    }
    if (topology)
        json_add_text(json_add_object(metadata, "annotations"), NODE_TOPOLOGY_ANNOTATION, topology);
    struct json_value *allocatable =
        json_add_object(json_add_object(node, "status"), "allocatable");
    char count[16];
    snprintf(count, sizeof(count), "%u", gpus);
    if (gpus > 0)
        json_add_text(allocatable, "nvidia.com/gpu", count);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    if (json_value_write(node, JSON_STYLE_COMPACT, &text, err) < 0)
        return NULL;
    return node_record_parse(text_buffer_text(&text), text.length, err);
}

static inline struct node_record *make_node(const char *name, unsigned gpus, const char *labels,
                                            const char *topology)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_record *node = try_node(name, gpus, labels, topology, &err);
    expect_made(node, &err);
    return node;
}

struct view_catalogues {
    struct gpu_catalogue *gpus;
    struct preset_catalogue *presets;
    struct cluster_view_sources sources;
};

static inline void view_catalogues_done(struct view_catalogues *catalogues)
{
    gpu_catalogue_free(catalogues->gpus);
    preset_catalogue_free(catalogues->presets);
}
DEFINE_CLEANUP_DONE(view_catalogues);

static inline struct view_catalogues open_view_catalogues(void)
{
    struct view_catalogues made = {.gpus = open_gpus(), .presets = open_presets()};
    made.sources = (struct cluster_view_sources){
        .presets = made.presets, .gpus = made.gpus, .keys = fabric_label_keys_default()};
    return made;
}

static inline struct cluster_view *make_view(struct node_record *const *nodes, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(view_catalogues) struct view_catalogues catalogues = open_view_catalogues();
    struct cluster_view *view = cluster_view_create((const struct node_record *const *)nodes, count,
                                                    &catalogues.sources, &err);
    expect_made(view, &err);
    return view;
}

static inline void free_nodes(struct node_record **nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        node_record_free(nodes[i]);
}

/* A preset as an agent would write it, in a clique where that is not NULL. memory_free. */
static inline char *annotation_of(const char *preset, const char *clique)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology) struct node_topology *node = open_preset_node(preset);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, NODE_ANNOTATION_MAXIMUM_BYTES);
    const char *known = node->nvlink_clique;
    node->nvlink_clique = clique;
    int status = node_annotation_encode(node, &text, &err);
    node->nvlink_clique = known;
    if (status < 0)
        fail_msg("%s", err.text);
    return text_buffer_take(&text);
}

#endif
