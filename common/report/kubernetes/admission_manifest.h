/* SPDX-License-Identifier: MIT */
/*
 * admission_manifest: the admins' policy as Kubernetes' ValidatingAdmissionPolicies and their
 * bindings (YAML with CEL), so that the API server refuses what the policy refuses. The text is
 * data (kubernetes_admission.yaml.in); this fills in what parplan.yaml says. Pure.
 *
 * policy.partitions are namespaces here; QOS, accounts and users are Slurm's and become a remark.
 * kube-system is never judged.
 */
#ifndef REPORT_KUBERNETES_ADMISSION_MANIFEST_H
#define REPORT_KUBERNETES_ADMISSION_MANIFEST_H

#include "base/text_buffer.h"
#include "workload/admin_config.h"

#define ADMISSION_TEMPLATE "kubernetes_admission.yaml.in" /* data file */
#define ADMISSION_NAMESPACE "parplan-system"
#define ADMISSION_EXTENDER_ACCOUNT "parplan-extender" /* the only one that may write outputs */

/* Annotations of pods that parplan alone writes, without "parplan.io/"; NULL-terminated. */
extern const char *const admission_outputs[];

struct admission_request {
    const struct admin_config *config;
    const char *source;            /* of the policy, for the first lines: "parplan.yaml" */
    const char *namespace;         /* of parplan's own pods */
    const char *const *schedulers; /* schedulerNames that ask parplan; the first is the usual */
    size_t scheduler_count;        /* > 0 */
    const char *cluster;           /* its name, or NULL */
    unsigned nvlink_domain_gpus;   /* of its largest NVLink domain; 0: unknown */
};

/* template: the data file's text. Refuses names that Kubernetes cannot have. */
int admission_manifest_write(const struct admission_request *request, const char *template,
                             size_t bytes, struct text_buffer *out, struct error_info *err);

#endif
