/* SPDX-License-Identifier: MIT */
/*
 * pod_admission: what a pod with label parplan.io/gang gets before it is stored, and what is
 * refused, for clusters without admission policies of their own: the same as
 * manifests/kubernetes/admission does in the API server. Pure.
 *
 * Added, each only where the user has not set it: the scheduling gate (but to native gangs, with
 * spec.schedulingGroup); spec.subdomain, the name of the gang's headless Service; spec.hostname,
 * the pod's name, where it can be one; and in every container that asks for GPUs the variables of
 * its ranks, from annotations that parplan writes before the pod may start (downward API).
 * A variable of envFrom cannot be seen here and gives way to ours.
 */
#ifndef K8S_EXTENDER_SERVER_POD_ADMISSION_H
#define K8S_EXTENDER_SERVER_POD_ADMISSION_H

#include "k8s_extender/server/admission_wire.h"

#define SUBDOMAIN_BYTES 64u /* a DNS label and its NUL */
#define DEFAULT_MASTER_PORT "29500"

/* "parplan-" and the gang's name as a DNS label: lower case, '_' and '.' as '-'; what is longer
 * than 63 is cut to 62 and ends in 'x'. What leaves the name to the framework ("", "true") is
 * "parplan-auto". */
void pod_admission_subdomain(const char *gang, char ret[SUBDOMAIN_BYTES]);

/* The operations of a JSON Patch, an array; empty: nothing to do. NULL: out of memory. */
struct json_value *pod_admission_patch(const struct json_value *pod);

/* What a user may not do; old: NULL for a pod that is being created. Denied: -1 with the sentence.
 * Created: outputs set; of a gang: spec.nodeName, resourceClaims. Changed: outputs, the gang's
 * label, our gate taken away. */
int pod_admission_check(const struct json_value *pod, const struct json_value *old,
                        struct error_info *err);

/* The whole answer: own_user, the extender's own, may do everything; what is no Pod passes. */
void pod_admission_answer(const struct admission_question *question, const char *own_user,
                          struct text_buffer *out);

#endif
