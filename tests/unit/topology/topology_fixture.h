/* SPDX-License-Identifier: MIT */
/*
 * topology_fixture: the compiled-in catalogues, and short ways to nodes and clusters, for the
 * tests of this folder. A failing call fails the test with the error's text.
 */
#ifndef TESTS_UNIT_TOPOLOGY_TOPOLOGY_FIXTURE_H
#define TESTS_UNIT_TOPOLOGY_TOPOLOGY_FIXTURE_H

#include "tests/support/unit_test.h"

#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"
#include <string.h>

static inline void expect_made(const void *made, const struct error_info *err)
{
    if (!made)
        fail_msg("%s", err->text);
}

static inline struct gpu_catalogue *open_gpus(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct gpu_catalogue *gpus = gpu_catalogue_builtin(&err);
    expect_made(gpus, &err);
    return gpus;
}

static inline struct preset_catalogue *open_presets(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct preset_catalogue *presets = preset_catalogue_builtin(&err);
    expect_made(presets, &err);
    return presets;
}

static inline struct node_topology *open_preset_node(const char *name)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    const struct node_preset *preset = preset_catalogue_find(presets, name);
    assert_non_null(preset);
    struct node_topology *node = node_topology_from_preset(preset, gpus, &err);
    expect_made(node, &err);
    return node;
}

static inline struct cluster_topology *parse_cluster(const char *text, struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    return cluster_topology_parse(text, strlen(text), "cluster.yaml", presets, gpus, err);
}

static inline struct cluster_topology *open_cluster(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster = parse_cluster(text, &err);
    expect_made(cluster, &err);
    return cluster;
}

static inline struct cluster_topology *preset_cluster(const char *text, struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    return cluster_topology_from_preset(text, presets, gpus, err);
}

static inline struct node_list *names_of(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_list *names = node_list_decode(text, &err);
    expect_made(names, &err);
    return names;
}

/* The message has this part. */
static inline void expect_message(const struct error_info *err, const char *part)
{
    if (!strstr(err->text, part))
        fail_msg("'%s' has no '%s'", err->text, part);
}

#endif
