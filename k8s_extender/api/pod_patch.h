/* SPDX-License-Identifier: MIT */
/*
 * pod_patch: the requests that change pods, as api_request: path, content type and JSON body, in
 * the caller's arena. Pure.
 *
 * The patch is a strategic merge patch, since a merge patch cannot take one gate out of a list: our
 * own gate is deleted by its name and the gates of others stay as they are. Annotations are merged
 * (value NULL: removed). The required node affinity is replaced as a whole by the pod's own terms
 * with the pin in each of them, as the API allows for a gated pod: what a term had comes first and
 * unchanged, then matchFields metadata.name In [node]. A term without requirements matches nothing
 * and stays so; a pod without terms gets one. metadata.uid makes a patch of a pod of the same name
 * and another uid fail: 422 "field is immutable" by Kubernetes 1.36, 409 by others; and
 * metadata.resourceVersion that of one which has changed since (409).
 */
#ifndef K8S_EXTENDER_API_POD_PATCH_H
#define K8S_EXTENDER_API_POD_PATCH_H

#include "k8s_extender/api/api_client.h"
#include "k8s_extender/objects/label_set.h"
#include "k8s_extender/objects/node_selector.h"

struct pod_change {
    const char *namespace, *pod;
    const char *uid;               /* NULL: no precondition */
    const char *resource_version;  /* the pod must still be of that one, else 409; NULL: any */
    struct label_set annotations;  /* a value of NULL removes the key */
    const char *remove_gate;       /* GANG_GATE, or NULL: gates stay */
    const char *node;              /* pin to it, or NULL: affinity stays */
    struct node_selector affinity; /* the pod's own required terms, in their order */
};

/* PATCH of the pod. All fail only for memory, or for REQUEST_MAXIMUM_BYTES (request_text.h). */
int pod_patch_request(const struct pod_change *change, struct arena *arena, struct api_request *ret,
                      struct error_info *err);
/* DELETE of the pod with that uid, as it was in that version (NULL or "": any): one that was bound
 * meanwhile stays. Another uid or version gives 409, no pod 404. */
int pod_delete_request(const char *namespace, const char *pod, const char *uid,
                       const char *resource_version, struct arena *arena, struct api_request *ret,
                       struct error_info *err);
/* POST of its binding to the node. */
int pod_bind_request(const char *namespace, const char *pod, const char *uid, const char *node,
                     struct arena *arena, struct api_request *ret, struct error_info *err);

#endif
