/* SPDX-License-Identifier: MIT */
/*
 * merge_state: what the parts of node_topology_merge share (node_merge.c, nvlink_merge.c,
 * nic_merge.c). Internal to the merge.
 */
#ifndef TOPOLOGY_MERGE_STATE_H
#define TOPOLOGY_MERGE_STATE_H

#include "topology/node_evidence.h"

#define MERGE_MAXIMUM_SOURCES 16u
#define MERGE_MAXIMUM_FACTS 1024u
#define MERGE_NO_GPU (~0u)

struct merge_state {
    const struct node_evidence *evidence[MERGE_MAXIMUM_SOURCES]; /* highest rank first */
    size_t count;
    const struct gpu_catalogue *catalogue;
    unsigned gpu_of[MERGE_MAXIMUM_SOURCES][NODE_MAXIMUM_GPUS]; /* source's GPU -> node's GPU */
    struct node_gpu *gpus;
    const struct gpu_model *models[NODE_MAXIMUM_GPUS]; /* NULL: not in the catalogue */
    struct topology_fact *facts;
    struct node_topology *node;
    struct arena *arena;
    bool failed; /* out of memory, found at the end */
};

/* A fact with a formatted value; sticky failure. Facts past the maximum are dropped. */
void merge_add_fact(struct merge_state *state, const char *fact, const char *source,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *merge_copy_text(struct merge_state *state, const char *text); /* NULL passes */

/* The parts, in this order. Each fills its fields of state->node. */
int merge_nvlink(struct merge_state *state, struct error_info *err);
int merge_nics(struct merge_state *state, struct error_info *err);

#endif
