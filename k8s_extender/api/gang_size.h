/* SPDX-License-Identifier: MIT */
/*
 * gang_size: how many pods a gang has, from the object that knows it (gang_identity.h: size_from,
 * size_owner), by one GET. Needs only "get" on the kinds that a cluster's users have.
 *     Job           spec.parallelism (1 where it is not said); an Indexed Job that runs fewer pods
 *                   at a time than it has completions is a problem: a gang must run whole
 *     JobSet        replicas * the Job's pods, over the replicatedJobs whose pods ask for GPUs. A
 *                   problem where not all Jobs have as many pods with GPUs: indexes count through
 *                   all. Of "JOBSET/REPLICATEDJOB" that one's Jobs alone
 *     PyTorchJob    replicas, over all pytorchReplicaSpecs
 *     PodGroup      scheduling.x-k8s.io, scheduling.sigs.k8s.io (Koordinator) and
 *                   scheduling.volcano.sh: spec.minMember; scheduling.k8s.io:
 *                   spec.schedulingPolicy.gang.minCount
 * What the users' objects lack is a problem of the gang, in one line; an object or kind that is not
 * there, or may not be read, is one too.
 */
#ifndef K8S_EXTENDER_API_GANG_SIZE_H
#define K8S_EXTENDER_API_GANG_SIZE_H

#include "base/json_document.h"
#include "k8s_extender/api/api_client.h"
#include "k8s_extender/objects/gang_identity.h"

#define GANG_SIZE_PROBLEM_BYTES 512u

struct gang_size {
    uint32_t pods; /* 1 … GANG_MAXIMUM_PODS; 0: problem says why not */
    char problem[GANG_SIZE_PROBLEM_BYTES];
};

/* -1: no answer, 429 or 5xx: to be tried again. */
int gang_size_ask(struct api_client *client, enum gang_size_from from, const char *namespace,
                  const char *name, struct gang_size *ret, struct error_info *err);
/* The same from the object, without asking; kind: "PodGroup" of which group is told by apiVersion.
 */
void gang_size_read(enum gang_size_from from, const char *name, const struct json_value *object,
                    struct gang_size *ret);

#endif
