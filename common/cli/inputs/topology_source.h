/* SPDX-License-Identifier: MIT */
/*
 * topology_source: a node, a fabric or a cluster from wherever `--from`, `--node` and
 * `--fabric` point (topology_format.h), or from this machine. Several sources of one node are
 * merged by the ladder of evidence.
 */
#ifndef CLI_INPUTS_TOPOLOGY_SOURCE_H
#define CLI_INPUTS_TOPOLOGY_SOURCE_H

#include "cli/inputs/topology_format.h"

#define TOPOLOGY_MAXIMUM_PATHS 8u

struct topology_request {
    const char *const *paths;
    size_t path_count; /* 0: this machine */
    struct topology_hints hints;
    const char *gpu; /* the GPUs' model where no source names it; or NULL */
    /* For this machine: */
    const char *nvml_library; /* or NULL: the usual one */
    const char *sysfs_root;   /* or NULL: "/" */
};

/* Exactly one is set. */
struct topology_source {
    struct node_topology *node;
    struct fabric *fabric;
    struct cluster_topology *cluster;
};

int topology_source_open(struct topology_source *source, const struct topology_request *request,
                         const struct catalogues *catalogues, struct error_info *err);
void topology_source_done(struct topology_source *source);

DEFINE_CLEANUP_DONE(topology_source);

#endif
