/* SPDX-License-Identifier: MIT */
/*
 * pod_record: what is kept of a Pod of the API. Immutable. Of a pod that neither asks for GPUs nor
 * belongs to a gang only its name, node, phase, gates and requests are kept (`plain`): under 400
 * bytes. A record is one allocation, and shares texts with others (shared_text.h), so only
 * pod_record_free may free it. A test that needs a pod parses its JSON.
 */
#ifndef K8S_EXTENDER_OBJECTS_POD_RECORD_H
#define K8S_EXTENDER_OBJECTS_POD_RECORD_H

#include "k8s_extender/objects/gang_identity.h"
#include "k8s_extender/objects/label_set.h"
#include "k8s_extender/objects/node_selector.h"
#include "k8s_extender/objects/resource_list.h"

#define GANG_GATE "parplan.io/gang" /* the scheduling gate that is ours to remove */
#define POD_ARGUMENTS_MAXIMUM 4096u
#define POD_TOLERATIONS_MAXIMUM 256u

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_PHASE_COUNT };

/* What the scheduler judges and this project does not: a pod that uses one of them is placed by the
 * scheduler's own filters alone. */
enum pod_foreign {
    POD_USES_VOLUME_TOPOLOGY = 1, /* a PersistentVolumeClaim */
    POD_USES_SPREAD = 2,          /* topologySpreadConstraints that must hold */
    POD_USES_POD_AFFINITY = 4,    /* required affinity or anti-affinity to pods */
    POD_USES_CLAIMS = 8,          /* resourceClaims (DRA) */
    POD_USES_HOST_PORTS = 16
};

struct pod_toleration {
    const char *key;   /* "": all keys */
    const char *value; /* with exists: not used */
    bool exists;       /* operator Exists, else Equal */
    bool every_effect; /* no effect is named */
    int effect;        /* enum taint_effect */
};

struct pod_record {
    const char *namespace;        /* "default" where none is named, as in a template */
    const char *name;             /* or its generateName, where it has no name yet */
    const char *uid;              /* "": none yet */
    const char *resource_version; /* "": none yet */
    const char *node;             /* spec.nodeName; NULL: not bound */
    const char *scheduler_name;   /* "default-scheduler" */
    enum pod_phase phase;
    bool terminating;              /* metadata.deletionTimestamp */
    bool plain;                    /* of all below only requests, foreign_gates, priority
                                    * and created are filled */
    bool cut;                      /* its text has too many values (object_text.h), so it is read as
                                    * if nothing made it one of a gang; pod_record_parse alone */
    bool gated;                    /* GANG_GATE is among the scheduling gates */
    uint8_t foreign;               /* bits of enum pod_foreign */
    struct resource_list requests; /* as the scheduler counts them: pod_requests.h */
    unsigned foreign_gates; /* gates of others (Kueue, an autoscaler), which are waited for */
    int32_t priority;
    uint32_t created; /* grows with metadata.creationTimestamp, by seconds; 0: none */
    unsigned toleration_count;
    const char *owner_kind, *owner_name, *owner_uid; /* the controller; NULL: none */
    const char *hostname, *subdomain;                /* spec; NULL: none */
    const char *gang_label;                          /* LABEL_GANG's value as it stands, or NULL */
    struct gang_identity gang;                       /* gang.key NULL: in no gang */
    struct label_set annotations;                    /* those that begin with "parplan.io/" */
    struct label_set node_labels;                    /* spec.nodeSelector */
    struct node_selector affinity; /* required node affinity; term_count 0: none */
    const struct pod_toleration *tolerations;
    const char *const *arguments; /* command and args of the container that asks for GPUs (the
                                   * first of them), for launch_flags; may be empty */
    size_t argument_count;
};

/* Errors name the pod and are only of what says who it is and what it takes from its node (no name,
 * a bad quantity), which the API server has checked: a user cannot hide a pod from the count of
 * what is free by a long list. A malformed gang (no index, a size that is no number, more kinds of
 * resources than requests has room for) and what cannot be read of selectors, tolerations,
 * annotations and command is no error: gang.problem says it, and those members are empty. */
struct pod_record *pod_record_read(const struct json_value *object, struct error_info *err);
struct pod_record *pod_record_parse(const char *text, size_t bytes, struct error_info *err);
void pod_record_free(struct pod_record *record);

/* It has succeeded or failed. */
bool pod_record_is_over(const struct pod_record *record);
/* Holds its requests on its node: bound, and not over. Terminating pods do. */
bool pod_record_holds(const struct pod_record *record);
/* key with its prefix: "parplan.io/size"; NULL: not there. */
const char *pod_record_annotation(const struct pod_record *record, const char *key);

DEFINE_CLEANUP(pod_record);

#endif
