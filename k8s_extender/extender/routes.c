/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/verbs.h"
#include "k8s_extender/server/admission_wire.h"
#include "k8s_extender/server/extender_wire.h"

#define ROOT "/parplan/v1"
#define PLAN_BODY_MAXIMUM_BYTES ((size_t)1 << 20)

const struct http_route extender_routes[] = {
    {"POST", ROOT "/filter", verb_filter, false, WIRE_BODY_MAXIMUM_BYTES},
    {"POST", ROOT "/prioritize", verb_prioritize, false, WIRE_BODY_MAXIMUM_BYTES},
    {"POST", ROOT "/preempt", verb_preempt, false, WIRE_BODY_MAXIMUM_BYTES},
    {"POST", ROOT "/bind", verb_bind, false, WIRE_BODY_MAXIMUM_BYTES},
    /* The API server shows no certificate of its own. What is decided there is decided of the
     * review alone: it tells a stranger nothing, and nothing is kept. */
    {"POST", ROOT "/admit", admit_pod, true, ADMISSION_BODY_MAXIMUM_BYTES},
    {"POST", "/plan", report_plan, false, PLAN_BODY_MAXIMUM_BYTES},
    {"GET", "/gangs", report_gangs, false, 0},
    {"GET", "/healthz", report_health, true, 0},
    {"GET", "/readyz", report_readiness, true, 0},
    {"GET", "/metrics", report_metrics, true, 0},
};

const size_t extender_route_count = sizeof(extender_routes) / sizeof(extender_routes[0]);
