/* SPDX-License-Identifier: MIT */
/*
 * metrics: counters, gauges and histograms as Prometheus text (exposition format 0.0.4), from one
 * table. Thread safe.
 */
#ifndef K8S_EXTENDER_SERVER_METRICS_H
#define K8S_EXTENDER_SERVER_METRICS_H

#include "base/text_buffer.h"
#include <stdint.h>

enum metric {
    METRIC_REQUEST_SECONDS,   /* histogram, by route */
    METRIC_REQUESTS,          /* counter, by route and status */
    METRIC_PLAN_SECONDS,      /* histogram */
    METRIC_PLANS,             /* counter, by outcome */
    METRIC_GANGS,             /* gauge, by phase */
    METRIC_NODES,             /* gauge */
    METRIC_PODS,              /* gauge */
    METRIC_PROMISED_NODES,    /* gauge: promised to gangs whose pods are not bound there yet */
    METRIC_CACHE_AGE_SECONDS, /* gauge, by list: since something was last heard */
    METRIC_API_ERRORS,        /* counter, by list or verb */
    METRIC_LEADER,            /* gauge: 0, 1 */
    METRIC_COUNT
};

struct metrics;

struct metrics *metrics_create(void); /* NULL: out of memory */
void metrics_free(struct metrics *metrics);
/* label, second: values of the metric's labels, NULL where it has none. */
void metrics_add(struct metrics *metrics, enum metric metric, const char *label, const char *second,
                 double amount);
void metrics_set(struct metrics *metrics, enum metric metric, const char *label, double value);
void metrics_observe(struct metrics *metrics, enum metric metric, const char *label,
                     double seconds);
void metrics_write(struct metrics *metrics, struct text_buffer *out);

#endif
