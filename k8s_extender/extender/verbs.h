/* SPDX-License-Identifier: MIT */
/*
 * verbs: the routes of parplan-extender: what kube-scheduler calls (extender_wire.h), what people
 * and probes ask. The context is the extender.
 */
#ifndef K8S_EXTENDER_EXTENDER_VERBS_H
#define K8S_EXTENDER_EXTENDER_VERBS_H

#include "k8s_extender/server/http_server.h"

extern const struct http_route extender_routes[];
extern const size_t extender_route_count;

/* kube-scheduler's */
void verb_filter(void *context, const struct http_request *request, struct http_answer *answer);
void verb_prioritize(void *context, const struct http_request *request, struct http_answer *answer);
void verb_preempt(void *context, const struct http_request *request, struct http_answer *answer);
void verb_bind(void *context, const struct http_request *request, struct http_answer *answer);
/* people's and probes' */
void report_health(void *context, const struct http_request *request, struct http_answer *answer);
void report_readiness(void *context, const struct http_request *request,
                      struct http_answer *answer);
void report_metrics(void *context, const struct http_request *request, struct http_answer *answer);
void report_gangs(void *context, const struct http_request *request, struct http_answer *answer);
void report_plan(void *context, const struct http_request *request, struct http_answer *answer);
/* the API server's, where no MutatingAdmissionPolicy is there */
void admit_pod(void *context, const struct http_request *request, struct http_answer *answer);

#endif
