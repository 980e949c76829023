/* SPDX-License-Identifier: MIT */
/*
 * node_annotation: a node's topology as the text that Kubernetes keeps with the node
 * (parplan.io/topology):
 *     parplan.topology/1
 *     clique 0c1d….7                the NVLink domain wider than the node, or "-"
 *     parplan.evidence/2            node_readers/evidence_text.h
 *     …
 * Behind the clique stands only what nodes of one kind have in common, so that their texts are
 * equal from there on: no name, bus id, UUID, list of CPUs, driver or reason, and of the NICs the
 * rails alone; memory and disks in whole GiB. 4 KB for eight GPUs behind switches with ten NICs.
 * The clique of one who may not be trusted joins his node to a domain, and no more. Pure.
 */
#ifndef TOPOLOGY_NODE_ANNOTATION_H
#define TOPOLOGY_NODE_ANNOTATION_H

#include "base/text_buffer.h"
#include "topology/gpu_catalogue.h"
#include "topology/node_topology.h"

#define NODE_ANNOTATION_MAXIMUM_BYTES ((size_t)64 << 10) /* all of a node's have 256 KiB */
#define NODE_ANNOTATION_CLIQUE_BYTES 128u

/* Adds to out. -1: memory, or longer than NODE_ANNOTATION_MAXIMUM_BYTES. */
int node_annotation_encode(const struct node_topology *node, struct text_buffer *out,
                           struct error_info *err);

struct node_annotation {
    char clique[NODE_ANNOTATION_CLIQUE_BYTES]; /* "": none */
    const char *kind; /* in the text, to its end: equal texts are nodes of one kind */
    size_t kind_bytes;
};

/* The parts; cheap. Errors name the source. */
int node_annotation_split(const char *text, size_t bytes, const char *source,
                          struct node_annotation *ret, struct error_info *err);
/* The node that a kind's text describes; it names no clique. gpus tells vendors apart. */
struct node_topology *node_annotation_kind(const char *text, size_t bytes, const char *source,
                                           const struct gpu_catalogue *gpus,
                                           struct error_info *err);

#endif
