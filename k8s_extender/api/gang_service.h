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

/* POST; 409: one of that name is there: gang_service_read_request. Pods of label "auto" share one
 * Service, which belongs to none of them. */
int gang_service_request(const struct gang_service *service, struct arena *arena,
                         struct api_request *ret, struct error_info *err);

/* GET of the one of that name. */
int gang_service_read_request(const struct gang_service *service, struct arena *arena,
                              struct api_request *ret, struct error_info *err);

enum gang_service_match {
    SERVICE_SERVES,   /* it selects these pods, or is somebody's own, who knows what it selects */
    SERVICE_GOES,     /* it goes with another owner, or is being deleted: ask again */
    SERVICE_OF_OTHERS /* it selects the pods of another gang: two names made one subdomain */
};
#define GANG_SERVICE_WORDS_BYTES 256u
/* What the Service is to that gang's pods; one that cannot be read: SERVICE_GOES. ret_others, of
 * SERVICE_OF_OTHERS: "gang llama (Job llama-7b)", clean. */
enum gang_service_match gang_service_compare(const struct gang_service *service, const char *text,
                                             size_t bytes,
                                             char ret_others[GANG_SERVICE_WORDS_BYTES]);

#endif
