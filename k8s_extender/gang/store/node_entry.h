/* SPDX-License-Identifier: MIT */
/*
 * node_entry: one node as cluster_state keeps it: its record, the pods that hold it, what is
 * reserved there, and what of it is free. Owns the record and the reservations, not the pods.
 */
#ifndef K8S_EXTENDER_GANG_STORE_NODE_ENTRY_H
#define K8S_EXTENDER_GANG_STORE_NODE_ENTRY_H

#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/pod_record.h"

struct node_reservation {
    char *owner;
    struct resource_list requests;
    struct arena *arena; /* of the requests */
    uint32_t count;
};

/* Changed by the functions below alone. What a question about thousands of nodes reads lies
 * together at the end, with the name by which the entry is found. */
struct node_entry {
    const struct pod_record **pods;
    struct node_reservation *reservations;
    uint32_t pod_count, pod_capacity, reservation_capacity, reservation_count;
    uint64_t heard;             /* its owner's */
    uint64_t gpus_left;         /* of all kinds together, where something is reserved */
    struct node_record *record; /* NULL: not known (any more) */
    char name[];
};

struct node_entry *node_entry_create(const char *name); /* NULL: out of memory */
void node_entry_free(struct node_entry *entry);
/* Whether nothing speaks of the node any more. */
bool node_entry_is_idle(const struct node_entry *entry);

/* Takes the record, which may be NULL; the old one is the caller's. */
struct node_record *node_entry_swap(struct node_entry *entry, struct node_record *record);
/* Room for one more pod, so that adding it cannot fail; -1: out of memory. */
int node_entry_prepare_pod(struct node_entry *entry);
void node_entry_add_pod(struct node_entry *entry, const struct pod_record *pod);
bool node_entry_remove_pod(struct node_entry *entry, const struct pod_record *pod);
/* One pod's worth more or less of exactly that owner and those requests. -1: out of memory; false:
 * there is none. */
int node_entry_reserve(struct node_entry *entry, const char *owner,
                       const struct resource_list *requests);
bool node_entry_release(struct node_entry *entry, const char *owner,
                        const struct resource_list *requests);

/* What counts against a node's room. */
struct node_load {
    bool pods, reservations;
    const char *owner; /* whose reservations do not count; NULL: all count */
};

/* How many pods of those requests have room, at most maximum; 0 where the node is not known. */
uint32_t node_entry_room(const struct node_entry *entry, const struct node_load *load,
                         const struct resource_list *requests, uint32_t maximum);
/* The first of the requests that one pod finds too little of; resource NULL: none. */
struct resource_lack node_entry_lack(const struct node_entry *entry, const struct node_load *load,
                                     const struct resource_list *requests);

#endif
