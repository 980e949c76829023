/* SPDX-License-Identifier: MIT */
/*
 * cluster_state: the nodes and pods as last heard, and what is free. Owns the records. Not thread
 * safe: its owner locks. What is free on a node: allocatable, less the requests of all pods that
 * hold it (terminating ones included), less what is reserved there.
 */
#ifndef K8S_EXTENDER_GANG_CLUSTER_STATE_H
#define K8S_EXTENDER_GANG_CLUSTER_STATE_H

#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/pod_record.h"

struct cluster_state;

struct cluster_state *cluster_state_create(void); /* NULL: out of memory */
void cluster_state_free(struct cluster_state *state);

/* Take ownership, also on failure (memory). A pod is known by its uid: one of the same name and
 * another uid replaces it. *ret_changed, where not NULL: whether anything is different. */
int cluster_state_set_node(struct cluster_state *state, struct node_record *node,
                           bool *ret_changed);
int cluster_state_set_pod(struct cluster_state *state, struct pod_record *pod, bool *ret_changed);
void cluster_state_remove_node(struct cluster_state *state, const char *name);
void cluster_state_remove_pod(struct cluster_state *state, const char *uid);

const struct node_record *cluster_state_node(const struct cluster_state *state, const char *name);
const struct pod_record *cluster_state_pod(const struct cluster_state *state, const char *uid);
const struct pod_record *cluster_state_pod_named(const struct cluster_state *state,
                                                 const char *namespace, const char *name);
size_t cluster_state_node_count(const struct cluster_state *state);
size_t cluster_state_pod_count(const struct cluster_state *state);
/* All nodes, by name; valid until the next change. */
const struct node_record *const *cluster_state_nodes(struct cluster_state *state);
/* A number that grows when a node's labels, topology or existence change. */
uint64_t cluster_state_generation(const struct cluster_state *state);

/* Reservations: of one owner (a gang's key), on a node, for so many pods of those requests. The
 * requests are copied. */
int cluster_state_reserve(struct cluster_state *state, const char *node, const char *owner,
                          const struct resource_list *requests);
void cluster_state_release(struct cluster_state *state, const char *node, const char *owner,
                           const struct resource_list *requests);

/* How many pods of those requests still have room there, at most `maximum`; the owner's own
 * reservations do not count against it. */
uint32_t cluster_state_room(const struct cluster_state *state, const char *node,
                            const struct resource_list *requests, const char *owner,
                            uint32_t maximum);

DEFINE_CLEANUP(cluster_state);

#endif
