/* SPDX-License-Identifier: MIT */
/*
 * gang_identity: which gang a pod belongs to, how many pods it has, and which of them it is; from
 * labels, annotations and owners that people already use.
 *
 * The group, the first that is found: label parplan.io/gang; spec.schedulingGroup.podGroupName;
 * scheduling.x-k8s.io/pod-group; pod-group.scheduling.sigs.k8s.io (Koordinator);
 * annotation or label scheduling.k8s.io/group-name (Volcano); jobset.sigs.k8s.io/jobset-uid;
 * leaderworkerset.sigs.k8s.io/group-key; training.kubeflow.org/job-name;
 * batch.kubernetes.io/job-name (or the older job-name). All but the first two make a gang only of
 * pods that ask for GPUs and have an annotation of parplan's, or label parplan.io/gang with
 * value "auto", which then names no group by itself.
 *
 * The size: annotation parplan.io/size; jobset.sigs.k8s.io/global-replicas (times the Job's
 * parallelism), leaderworkerset.sigs.k8s.io/size, what else only the group's own object knows:
 * size 0, and size_from says whom to ask. Never "what has been seen so far".
 *
 * The index: annotation or label parplan.io/index; JobSet's job-global-index and the
 * completion index; batch.kubernetes.io/job-completion-index; training.kubeflow.org/replica-index
 * (a Worker's is one more where a Master exists: replica_type tells); LWS's worker-index; the
 * number that ends the name of a StatefulSet's pod. Never guessed otherwise: problem says what is
 * missing.
 */
#ifndef K8S_EXTENDER_OBJECTS_GANG_IDENTITY_H
#define K8S_EXTENDER_OBJECTS_GANG_IDENTITY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json_document.h"
#include <stdbool.h>
#include <stdint.h>

#define GANG_MAXIMUM_PODS 16384u
#define GANG_INDEX_NONE UINT32_MAX

enum gang_size_from {
    GANG_SIZE_GIVEN,
    GANG_SIZE_OF_JOB,        /* batch/v1 Job: spec.parallelism (completions for Indexed) */
    GANG_SIZE_OF_POD_GROUP,  /* scheduling.x-k8s.io or scheduling.k8s.io PodGroup: minMember,
                                minCount */
    GANG_SIZE_OF_JOBSET,     /* sum over replicatedJobs */
    GANG_SIZE_OF_PYTORCHJOB, /* sum over replica specs */
    GANG_SIZE_OF_VOLCANO     /* scheduling.volcano.sh PodGroup: minMember */
};

struct gang_identity {
    const char *key;      /* "namespace/group"; NULL: in no gang */
    const char *group;    /* the part behind the slash */
    const char *found_by; /* the label or field that named it, for messages */
    uint32_t index;       /* GANG_INDEX_NONE: missing */
    uint32_t size;        /* pods; 0: ask size_owner */
    enum gang_size_from size_from;
    const char *size_owner; /* the name of the object to ask */
    bool worker;            /* PyTorchJob: not the Master; its index is replica-index, see header */
    bool native;            /* spec.schedulingGroup: mode C */
    const char *problem;    /* one line: why this pod cannot be placed as part of a gang; or NULL */
};

/* object: the Pod. arena: of the record. Fails only for memory. */
int gang_identity_read(const struct json_value *object, bool asks_gpus, struct arena *arena,
                       struct gang_identity *ret, struct error_info *err);

#endif
