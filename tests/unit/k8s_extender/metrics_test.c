/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/metrics.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

#define OUT_BYTES ((size_t)1 << 20)

static char *write_all(struct metrics *metrics)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    metrics_write(metrics, &out);
    char *text = text_buffer_take(&out);
    assert_non_null(text);
    return text;
}

static void expect_line(const char *text, const char *line)
{
    char needle[256];
    snprintf(needle, sizeof(needle), "\n%s\n", line);
    if (!strstr(text, needle))
        fail_msg("no line '%s' in\n%s", line, text);
}

static void writes_each_kind(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create();
    assert_non_null(metrics);
    metrics_add(metrics, METRIC_REQUESTS, "/filter", "200", 1);
    metrics_add(metrics, METRIC_REQUESTS, "/filter", "200", 2);
    metrics_add(metrics, METRIC_REQUESTS, "a\"b\\c\nd", "404", 1);
    metrics_set(metrics, METRIC_NODES, NULL, 5000);
    metrics_set(metrics, METRIC_NODES, NULL, 4999);
    metrics_set(metrics, METRIC_CACHE_AGE_SECONDS, "pods", 0.25);
    metrics_observe(metrics, METRIC_REQUEST_SECONDS, "/filter", 0.0001);
    metrics_observe(metrics, METRIC_REQUEST_SECONDS, "/filter", 0.002);
    metrics_observe(metrics, METRIC_REQUEST_SECONDS, "/filter", 7);
    metrics_observe(metrics, METRIC_PLAN_SECONDS, NULL, 0.5);
    static const char *const lines[] = {
        "# TYPE parplan_requests_total counter",
        "parplan_requests_total{route=\"/filter\",status=\"200\"} 3",
        "parplan_requests_total{route=\"a\\\"b\\\\c\\nd\",status=\"404\"} 1",
        "# TYPE parplan_nodes gauge",
        "parplan_nodes 4999",
        "parplan_cache_age_seconds{list=\"pods\"} 0.25",
        "# TYPE parplan_request_seconds histogram",
        "parplan_request_seconds_bucket{route=\"/filter\",le=\"0.0001\"} 1",
        "parplan_request_seconds_bucket{route=\"/filter\",le=\"0.001\"} 1",
        "parplan_request_seconds_bucket{route=\"/filter\",le=\"0.0025\"} 2",
        "parplan_request_seconds_bucket{route=\"/filter\",le=\"5\"} 2",
        "parplan_request_seconds_bucket{route=\"/filter\",le=\"+Inf\"} 3",
        "parplan_request_seconds_sum{route=\"/filter\"} 7.0021",
        "parplan_request_seconds_count{route=\"/filter\"} 3",
        "parplan_plan_seconds_bucket{le=\"0.5\"} 1",
        "parplan_plan_seconds_count 1",
        "# HELP parplan_leader Whether this replica plans and writes.",
    };
    CLEANUP_MEMORY char *text = write_all(metrics);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        expect_line(text, lines[i]);
    metrics_free(metrics);
    metrics_free(NULL);
}

/* Labels that somebody chose must not fill the memory. */
static void keeps_no_more_than_so_many_series(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create();
    assert_non_null(metrics);
    for (unsigned i = 0; i < 2000; i++) {
        char label[16];
        snprintf(label, sizeof(label), "%u", i);
        metrics_add(metrics, METRIC_API_ERRORS, label, NULL, 1);
    }
    CLEANUP_MEMORY char *text = write_all(metrics);
    expect_line(text, "parplan_api_errors_total{call=\"255\"} 1");
    assert_null(strstr(text, "{call=\"256\"}"));
    metrics_free(metrics);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_each_kind),
    cmocka_unit_test(keeps_no_more_than_so_many_series),
};

int main(void) { return unit_test_main("k8s_extender/metrics", tests, COUNT_OF(tests)); }
