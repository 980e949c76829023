/* SPDX-License-Identifier: MIT */
/*
 * gang_group: the groups that frameworks make of pods, and the numbers that they write on them: the
 * tables behind gang_identity.h. Texts belong to the tree.
 */
#ifndef K8S_EXTENDER_OBJECTS_GANG_GROUP_H
#define K8S_EXTENDER_OBJECTS_GANG_GROUP_H

#include "k8s_extender/objects/gang_identity.h"

/* What identities are read from; any of them may be NULL. */
struct gang_source {
    const struct json_value *object;      /* the Pod */
    const struct json_value *labels;      /* metadata.labels … */
    const struct json_value *annotations; /* … and annotations, where they are objects */
    const struct json_value *owner;       /* the controlling one of metadata.ownerReferences */
    const struct json_value *environment; /* of the container that asks for GPUs */
    const char *name;                     /* of the pod */
    bool gated;                           /* has the gang's scheduling gate */
};

struct gang_group {
    const char *name;     /* NULL: none */
    const char *found_by; /* constant */
    enum gang_size_from size_from;
    bool asks;              /* size_owner can be asked; false: the size must be given */
    const char *size_owner; /* or NULL */
    bool counts_nodes;      /* PET_NNODES of the environment is the number of its pods */
    const char *size_key;   /* label or annotation with the number of its pods, or NULL */
    bool many_owners; /* its pods are owned by objects of its own, and `name` stands for all */
};

void gang_source_open(const struct json_value *object, struct gang_source *ret);
/* A text that is a label, or else an annotation; NULL: neither. */
const char *gang_source_find(const struct gang_source *source, const char *key);
/* Of parplan's own keys only annotations count: those are what the policies hold fast once a pod
 * has its plan. */
const char *gang_source_annotation(const struct gang_source *source, const char *key);
/* A variable that is written out; NULL: there is none, or it comes from elsewhere. */
const char *gang_source_variable(const struct gang_source *source, const char *name);
/* Whether the pod's PET_NODE_RANK is its completion index. */
bool gang_source_ranks_by_completion(const struct gang_source *source);
/* spec.schedulingGroup.podGroupName; NULL: none. */
const char *gang_source_native(const struct gang_source *source);
/* The first group of the table in gang_identity.h, but for its first row. */
void gang_group_find(const struct gang_source *source, struct gang_group *ret);
/* The label, annotation or rest of the pod's name that says its index; *ret_from says which. */
const char *gang_group_index(const struct gang_source *source, const char **ret_from);

#endif
