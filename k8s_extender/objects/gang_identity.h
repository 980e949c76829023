/* SPDX-License-Identifier: MIT */
/*
 * gang_identity: which gang a pod belongs to, how many pods it has, and which of them it is; from
 * labels, annotations and owners that people already use.
 *
 * When: label parplan.io/gang=<group> makes a pod one of that gang, always. A pod that asks for
 * GPUs is also one when it opts in and belongs to a group of the table below. It opts in with label
 * parplan.io/gang: auto (or "true", or empty: they name no group by themselves), with any
 * annotation parplan.io/… but parplan's own outputs, or with the scheduling gate. A pod with the
 * gate is always one, so that somebody says why it waits (with label parplan.io/gang: off too,
 * which is a problem). Installing parplan changes nothing for pods that say nothing; a launcher
 * without GPUs and gate is none of the gang.
 *
 * The group, the first that is found (labels, else annotations, but for the first row):
 *     parplan.io/gang                             (label only)
 *     spec.schedulingGroup.podGroupName           also sets native, whatever names the group
 *     scheduling.x-k8s.io/pod-group               scheduler-plugins
 *     pod-group.scheduling.sigs.k8s.io            Koordinator
 *     scheduling.k8s.io/group-name                Volcano
 *     jobset.sigs.k8s.io/jobset-uid, …/jobset-name
 *     leaderworkerset.sigs.k8s.io/group-key
 *     training.kubeflow.org/job-name
 *     batch.kubernetes.io/job-name, job-name
 *     the uid of the controlling owner            StatefulSet and others
 *
 * The size: parplan.io/size (annotation only); PET_NNODES in the GPU container's environment
 * (TrainJob, PyTorchJob); leaderworkerset.sigs.k8s.io/size; else what only the group's own object
 * knows: size 0, and size_from and size_owner say whom to ask. Never "what has been seen so far".
 *
 * The index: parplan.io/index (annotation only); for a JobSet of several Jobs job-global-index *
 * pods of a Job + completion index (gang_identity_index, once the size is known);
 * batch.kubernetes.io/job-completion-index; PET_NODE_RANK, where the training operator wrote a
 * number; else training.kubeflow.org/replica-index (a Worker's is one more where a Master exists:
 * `worker`); leaderworkerset.sigs.k8s.io/worker-index;
 * gang.scheduling.koordinator.sh/network-topology-index; volcano.sh/task-index; of a StatefulSet's
 * pod apps.kubernetes.io/pod-index or the number that ends its name. Never guessed otherwise:
 * problem says what is missing.
 *
 * Label parplan.io/gang: JOBSET-REPLICATEDJOB makes a gang of that replicatedJob's Jobs alone: the
 * index counts through them (job-index), and size_owner is "JOBSET/REPLICATEDJOB". So the GPU pods
 * of a JobSet with a driver of CPUs are a gang.
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
#define GANG_JOBSET_UID                                                                            \
    "jobset.sigs.k8s.io/jobset-uid" /* found_by: the group is the JobSet's uid */

enum gang_size_from {
    GANG_SIZE_GIVEN,
    GANG_SIZE_OF_JOB,        /* batch/v1 Job: spec.parallelism (completions for Indexed) */
    GANG_SIZE_OF_POD_GROUP,  /* PodGroup: minCount of scheduling.k8s.io where `native`, else
                                minMember of scheduling.x-k8s.io */
    GANG_SIZE_OF_JOBSET,     /* sum over replicatedJobs whose pods ask for GPUs */
    GANG_SIZE_OF_PYTORCHJOB, /* sum over replica specs */
    GANG_SIZE_OF_VOLCANO,    /* scheduling.volcano.sh PodGroup: minMember */
    GANG_SIZE_OF_KOORDINATOR /* scheduling.sigs.k8s.io PodGroup: minMember */
};

/* What a value of label parplan.io/gang says: to stay outside, to take the group that the
 * framework names, or the group's own name. */
enum gang_wish { GANG_WISH_NONE, GANG_WISH_AUTO, GANG_WISH_NAMED };
enum gang_wish gang_wish_of_label(const char *value);

struct gang_identity {
    const char *key;      /* "namespace/group"; NULL: in no gang */
    const char *group;    /* the part behind the slash */
    const char *found_by; /* the label or field that named it, for messages */
    uint32_t index;       /* GANG_INDEX_NONE: missing, or known once the size is: jobs > 1 */
    uint32_t job, jobs, completion; /* jobs > 1: one of a JobSet's Jobs, and the index in it */
    uint32_t size;                  /* pods; 0: ask size_owner */
    enum gang_size_from size_from;
    const char *size_owner; /* the name of the object to ask, or "JOBSET/REPLICATEDJOB" */
    bool worker;            /* PyTorchJob: not the Master; its index is replica-index, see header */
    bool native;            /* spec.schedulingGroup: mode C */
    uint32_t unit; /* digest of the object whose pods the index counts: the JobSet, the group of a
                    * LeaderWorkerSet, else the controlling owner. 0: there is none, or the index
                    * was given by hand */
    const char *problem; /* one line: why this pod cannot be placed as part of a gang; or NULL */
};

/* object: the Pod. key and problem lie in the arena, size_owner in the tree. Fails only for memory:
 * what is wrong with the gang stands in problem. */
int gang_identity_read(const struct json_value *object, bool asks_gpus, struct arena *arena,
                       struct gang_identity *ret, struct error_info *err);
/* The index in a gang of that many pods; GANG_INDEX_NONE: it has none. */
uint32_t gang_identity_index(const struct gang_identity *identity, uint32_t size);
/* The annotations that parplan writes, the outputs of gang/annotations.h, in the order of their
 * keys. */
#define GANG_OUTPUT_COUNT 11u
extern const char *const gang_output_keys[GANG_OUTPUT_COUNT];
bool gang_annotation_is_output(const char *key);

#endif
