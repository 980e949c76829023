/* SPDX-License-Identifier: MIT */
/*
 * verbs: the routes of parplan-extender: what kube-scheduler calls (extender_wire.h), what people
 * and probes ask. Every handler takes the extender as its context.
 */
#ifndef K8S_EXTENDER_EXTENDER_VERBS_H
#define K8S_EXTENDER_EXTENDER_VERBS_H

#include "k8s_extender/server/http_server.h"

extern const struct http_route extender_routes[];
extern const size_t extender_route_count;

/* kube-scheduler's */
void verb_filter(void *extender, const struct http_request *request, struct http_answer *answer);
void verb_prioritize(void *extender, const struct http_request *request,
                     struct http_answer *answer);
void verb_preempt(void *extender, const struct http_request *request, struct http_answer *answer);
void verb_bind(void *extender, const struct http_request *request, struct http_answer *answer);
/* people's and probes' */
void report_health(void *extender, const struct http_request *request, struct http_answer *answer);
void report_readiness(void *extender, const struct http_request *request,
                      struct http_answer *answer);
void report_metrics(void *extender, const struct http_request *request, struct http_answer *answer);
void report_gangs(void *extender, const struct http_request *request, struct http_answer *answer);
void report_plan(void *extender, const struct http_request *request, struct http_answer *answer);
/* the API server's, where no MutatingAdmissionPolicy is there */
void admit_pod(void *extender, const struct http_request *request, struct http_answer *answer);

#endif
