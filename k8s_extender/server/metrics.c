/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/metrics.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LABEL_BYTES 128u
#define LABELS_MAXIMUM 2u
#define SERIES_MAXIMUM 256u /* of one metric; what comes beyond is not counted */
#define VALUE_DIGITS 15u

enum metric_kind { COUNTER, GAUGE, HISTOGRAM };

static const char *const kind_words[] = {"counter", "gauge", "histogram"};

static const struct metric_row {
    const char *name;
    enum metric_kind kind;
    const char *labels[LABELS_MAXIMUM];
    const char *help;
} rows[METRIC_COUNT] = {
    [METRIC_REQUEST_SECONDS] = {"parplan_request_seconds",
                                HISTOGRAM,
                                {"route"},
                                "Time to answer a request."},
    [METRIC_REQUESTS] = {"parplan_requests_total",
                         COUNTER,
                         {"route", "status"},
                         "Requests that were answered."},
    [METRIC_PLAN_SECONDS] = {"parplan_plan_seconds", HISTOGRAM, {NULL}, "Time to plan a gang."},
    [METRIC_PLANS] = {"parplan_plans_total", COUNTER, {"outcome"}, "Plans that were asked for."},
    [METRIC_GANGS] = {"parplan_gangs", GAUGE, {"phase"}, "Gangs that exist."},
    [METRIC_NODES] = {"parplan_nodes", GAUGE, {NULL}, "Nodes that are known."},
    [METRIC_PODS] = {"parplan_pods", GAUGE, {NULL}, "Pods that are known."},
    [METRIC_PROMISED_NODES] = {"parplan_promised_nodes",
                               GAUGE,
                               {NULL},
                               "Nodes that are promised to pods of gangs."},
    [METRIC_CACHE_AGE_SECONDS] = {"parplan_cache_age_seconds",
                                  GAUGE,
                                  {"list"},
                                  "Time since something was last heard of a list."},
    [METRIC_API_ERRORS] = {"parplan_api_errors_total",
                           COUNTER,
                           {"call"},
                           "Calls of the API server that failed."},
    [METRIC_LEADER] = {"parplan_leader", GAUGE, {NULL}, "Whether this replica plans and writes."},
};

/* A pinned pod's answer takes 0.1 ms, the scheduler waits 5 s. */
static const struct {
    double seconds;
    const char *text;
} bounds[] = {
    {0.0001, "0.0001"}, {0.00025, "0.00025"}, {0.0005, "0.0005"}, {0.001, "0.001"},
    {0.0025, "0.0025"}, {0.005, "0.005"},     {0.01, "0.01"},     {0.025, "0.025"},
    {0.05, "0.05"},     {0.1, "0.1"},         {0.25, "0.25"},     {0.5, "0.5"},
    {1, "1"},           {2.5, "2.5"},         {5, "5"},
};

struct series {
    char labels[LABELS_MAXIMUM][LABEL_BYTES];
    double value; /* of a histogram the sum */
    uint64_t count;
    uint64_t buckets[COUNT_OF(bounds)]; /* not cumulative */
};

struct family {
    struct series *series;
    size_t count, capacity;
};

struct metrics {
    pthread_mutex_t lock;
    struct family families[METRIC_COUNT];
};

struct metrics *metrics_create(void)
{
    struct metrics *metrics = memory_allocate(sizeof(*metrics));
    if (metrics)
        pthread_mutex_init(&metrics->lock, NULL);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (unsigned i = 0; i < METRIC_COUNT; i++)
        memory_free(metrics->families[i].series);
    pthread_mutex_destroy(&metrics->lock);
    memory_free(metrics);
}

static struct series *add_series(struct family *family)
{
    if (family->count == family->capacity) {
        size_t capacity = family->capacity ? family->capacity * 2 : 4;
        struct series *grown =
            capacity > SERIES_MAXIMUM
                ? NULL
                : memory_grow_array(family->series, family->capacity, capacity, sizeof(*grown));
        if (!grown)
            return NULL;
        family->series = grown;
        family->capacity = capacity;
    }
    return &family->series[family->count++];
}

/* NULL: out of memory, or one too many. */
static struct series *find_series(struct family *family, const char *label, const char *second)
{
    char labels[LABELS_MAXIMUM][LABEL_BYTES];
    snprintf(labels[0], LABEL_BYTES, "%s", label ? label : "");
    snprintf(labels[1], LABEL_BYTES, "%s", second ? second : "");
    for (size_t i = 0; i < family->count; i++)
        if (strcmp(family->series[i].labels[0], labels[0]) == 0 &&
            strcmp(family->series[i].labels[1], labels[1]) == 0)
            return &family->series[i];
    struct series *series = add_series(family);
    if (series)
        memcpy(series->labels, labels, sizeof(labels));
    return series;
}

void metrics_add(struct metrics *metrics, enum metric metric, const char *label, const char *second,
                 double amount)
{
    pthread_mutex_lock(&metrics->lock);
    struct series *series = find_series(&metrics->families[metric], label, second);
    if (series)
        series->value += amount;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_set(struct metrics *metrics, enum metric metric, const char *label, double value)
{
    pthread_mutex_lock(&metrics->lock);
    struct series *series = find_series(&metrics->families[metric], label, NULL);
    if (series)
        series->value = value;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_observe(struct metrics *metrics, enum metric metric, const char *label, double seconds)
{
    size_t bucket = 0;
    while (bucket < COUNT_OF(bounds) && seconds > bounds[bucket].seconds)
        bucket++;
    pthread_mutex_lock(&metrics->lock);
    struct series *series = find_series(&metrics->families[metric], label, NULL);
    if (series) {
        series->value += seconds;
        series->count++;
        if (bucket < COUNT_OF(bounds))
            series->buckets[bucket]++;
    }
    pthread_mutex_unlock(&metrics->lock);
}

/* --- text ------------------------------------------------------------------------- */

/* Of a label's value backslashes, quotes and line ends are escaped. */
static void add_label(struct text_buffer *out, const char *name, const char *value, bool first)
{
    text_buffer_add(out, "%s%s=\"", first ? "" : ",", name);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            text_buffer_add_bytes(out, "\\", 1);
        text_buffer_add_bytes(out, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
    }
    text_buffer_add_text(out, "\"");
}

static void add_labels(struct text_buffer *out, const struct metric_row *row,
                       const struct series *series, const char *bound)
{
    bool first = true;
    if (!row->labels[0] && !bound)
        return;
    text_buffer_add_text(out, "{");
    for (unsigned i = 0; i < LABELS_MAXIMUM && row->labels[i]; i++) {
        add_label(out, row->labels[i], series->labels[i], first);
        first = false;
    }
    if (bound)
        add_label(out, "le", bound, first);
    text_buffer_add_text(out, "}");
}

static void add_line(struct text_buffer *out, const struct metric_row *row, const char *suffix,
                     const struct series *series, const char *bound, double value)
{
    text_buffer_add_text(out, row->name);
    text_buffer_add_text(out, suffix);
    add_labels(out, row, series, bound);
    text_buffer_add_text(out, " ");
    text_buffer_add_real(out, value, VALUE_DIGITS);
    text_buffer_add_text(out, "\n");
}

static void add_histogram(struct text_buffer *out, const struct metric_row *row,
                          const struct series *series)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        sum += series->buckets[i];
        add_line(out, row, "_bucket", series, bounds[i].text, (double)sum);
    }
    add_line(out, row, "_bucket", series, "+Inf", (double)series->count);
    add_line(out, row, "_sum", series, NULL, series->value);
    add_line(out, row, "_count", series, NULL, (double)series->count);
}

static void add_family(struct text_buffer *out, const struct metric_row *row,
                       const struct family *family)
{
    text_buffer_add(out, "# HELP %s %s\n", row->name, row->help);
    text_buffer_add(out, "# TYPE %s %s\n", row->name, kind_words[row->kind]);
    for (size_t i = 0; i < family->count; i++) {
        if (row->kind == HISTOGRAM)
            add_histogram(out, row, &family->series[i]);
        else
            add_line(out, row, "", &family->series[i], NULL, family->series[i].value);
    }
}

void metrics_write(struct metrics *metrics, struct text_buffer *out)
{
    pthread_mutex_lock(&metrics->lock);
    for (unsigned i = 0; i < METRIC_COUNT; i++)
        add_family(out, &rows[i], &metrics->families[i]);
    pthread_mutex_unlock(&metrics->lock);
}
