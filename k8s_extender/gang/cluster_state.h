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

/* Take ownership, also on failure (memory; then what was known before stays). A pod is known by its
 * uid: one of the same name and another uid replaces it, unless its resourceVersion is a smaller
 * number: then it is an old one's late news, and is dropped. *ret_changed, where not NULL: whether
 * anything of a node is different, and for a pod whether its resourceVersion or its node is. */
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
/* All nodes, by name; valid until the next change. NULL: there are none, or out of memory. */
const struct node_record *const *cluster_state_nodes(struct cluster_state *state);
/* A number that grows when a node's labels, topology, GPUs or existence change. */
uint64_t cluster_state_generation(const struct cluster_state *state);
/* A number that grows whenever something may have become free: a node is new, changed or gone, a
 * pod holds its node no longer, a reservation ends. */
uint64_t cluster_state_frees(const struct cluster_state *state);

/* A full list: everything is unheard from begin on until it is set again. The next unheard one from
 * *cursor on (0 at first), NULL at the end; it may be removed before the next call. */
void cluster_state_begin_nodes(struct cluster_state *state);
void cluster_state_begin_pods(struct cluster_state *state);
const struct node_record *cluster_state_unheard_node(const struct cluster_state *state,
                                                     size_t *cursor);
const struct pod_record *cluster_state_unheard_pod(const struct cluster_state *state,
                                                   size_t *cursor);

/* Reservations: of one owner (a gang's key), on a node, for one pod of those requests. The requests
 * are copied. The node need not be known. */
int cluster_state_reserve(struct cluster_state *state, const char *node, const char *owner,
                          const struct resource_list *requests);
/* Ends one reservation of exactly that owner and those requests; without one nothing happens. */
void cluster_state_release(struct cluster_state *state, const char *node, const char *owner,
                           const struct resource_list *requests);
/* Whether anything is reserved there, and on how many nodes. */
bool cluster_state_promised(const struct cluster_state *state, const char *node);
size_t cluster_state_promised_count(const struct cluster_state *state);

/* How many pods of those requests still have room there, at most `maximum`; the owner's own
 * reservations do not count against it (NULL: all count). 0 on a node that is not known. */
uint32_t cluster_state_room(const struct cluster_state *state, const char *node,
                            const struct resource_list *requests, const char *owner,
                            uint32_t maximum);
/* How many it could hold if it were empty, and how many if no pod but only reservations were
 * lacking (owner NULL: all are ignored). */
uint32_t cluster_state_capacity(const struct cluster_state *state, const char *node,
                                const struct resource_list *requests, uint32_t maximum);
uint32_t cluster_state_room_unpromised(const struct cluster_state *state, const char *node,
                                       const struct resource_list *requests, uint32_t maximum);
/* What one such pod would find too little of there, reservations aside; empty: pods too. The name
 * is the request's, or lasts for good. */
struct resource_lack cluster_state_lack(const struct cluster_state *state, const char *node,
                                        const struct resource_list *requests, bool empty);

/* Whether what is promised there leaves room for one more pod of those requests; true where nothing
 * is promised. Asked for thousands of nodes at once. */
bool cluster_state_spares(const struct cluster_state *state, const char *node,
                          const struct resource_list *requests);

DEFINE_CLEANUP(cluster_state);

#endif
