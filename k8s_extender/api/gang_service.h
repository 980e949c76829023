/* SPDX-License-Identifier: MIT */
/*
 * gang_service: the headless Service that gives the pods of a gang names, where their framework has
 * made none. It selects pods by label parplan.io/gang, publishes them before they are ready (rank 0
 * is looked for while it starts), and goes with the workload that owns the pods, where that is of a
 * kind whose API group is known. Pure.
 */
#ifndef K8S_EXTENDER_API_GANG_SERVICE_H
#define K8S_EXTENDER_API_GANG_SERVICE_H

#include "k8s_extender/api/api_client.h"

struct gang_service {
    const char *namespace, *name;
    const char *gang_label;                          /* the pods' value of parplan.io/gang */
    const char *owner_kind, *owner_name, *owner_uid; /* the pods' controller; NULL: none */
};

/* POST; 409: it is there. Pods of label "auto" share one Service, which belongs to none of them. */
int gang_service_request(const struct gang_service *service, struct arena *arena,
                         struct api_request *ret, struct error_info *err);

#endif
