/* SPDX-License-Identifier: MIT */
/*
 * pod_requests: what a pod asks of its node, as the scheduler counts it
 * (k8s.io/component-helpers resource, PodRequests):
 *     containers          the sum over containers and over init containers of restartPolicy Always
 *     init step           one other init container, and the restartable ones started before it
 *     for each resource   the larger of the sum and of the largest init step
 *     pod level           spec.resources.requests takes the place of cpu, memory and hugepages
 *     overhead            is added
 *     RESOURCE_PODS       is 1
 * A request that is missing is the limit, where there is one, as the API server fills it in. For a
 * pod that is being resized the larger of what was asked and what its node has given it counts
 * (status.containerStatuses: resources and allocatedResources); where the node has said that it
 * never can (status.conditions: PodResizePending, reason Infeasible) only what it has given.
 * All containers count, however many; of kinds, what resource_list.h has room for.
 */
#ifndef K8S_EXTENDER_OBJECTS_POD_REQUESTS_H
#define K8S_EXTENDER_OBJECTS_POD_REQUESTS_H

#include "k8s_extender/objects/resource_list.h"

/* object: the Pod. The list lies in the arena. Errors name the field. */
int pod_requests_read(const struct json_value *object, struct arena *arena,
                      struct resource_list *ret, struct error_info *err);
/* The first container of spec.containers that asks for GPUs, or NULL. */
const struct json_value *pod_requests_gpu_container(const struct json_value *object);

#endif
