/* SPDX-License-Identifier: MIT */
/*
 * node_record: what is kept of a Node of the API: about 2.5 KB where the object has 23. Immutable.
 * node_record_parse reads the JSON of one object, node_record_read a tree of it. A record is one
 * allocation; label keys and values, the topology, taints and names of resources are shared with
 * other records (shared_text.h), so only node_record_free may free it. A test that needs a node
 * parses its JSON.
 */
#ifndef K8S_EXTENDER_OBJECTS_NODE_RECORD_H
#define K8S_EXTENDER_OBJECTS_NODE_RECORD_H

#include "k8s_extender/objects/label_set.h"
#include "k8s_extender/objects/resource_list.h"

#define NODE_TOPOLOGY_ANNOTATION "parplan.io/topology" /* written by parplan-node-agent */
#define NODE_TAINTS_MAXIMUM 256u

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };

struct node_taint {
    const char *key, *value; /* value "": none */
    enum taint_effect effect;
};

struct node_record {
    const char *name;
    const char *uid; /* "": none */
    struct label_set labels;
    const char *topology; /* the annotation's text, or NULL */
    struct resource_list allocatable;
    const struct node_taint *taints;
    size_t taint_count;
    bool ready;         /* condition Ready is True */
    bool unschedulable; /* spec.unschedulable: cordoned */
    bool deleting;      /* metadata.deletionTimestamp */
    uint64_t digest;    /* of everything above: equal records are of equal content */
};

/* Unknown members, and taints of an effect that is not one of those, are skipped. Errors: no name,
 * a label that is no text, a bad quantity: naming the node. */
struct node_record *node_record_read(const struct json_value *object, struct error_info *err);
struct node_record *node_record_parse(const char *text, size_t bytes, struct error_info *err);
void node_record_free(struct node_record *record);

/* "NoSchedule" … as in taints and tolerations; false: another text, or NULL. */
bool taint_effect_read(const char *word, enum taint_effect *ret);

DEFINE_CLEANUP(node_record);

#endif
