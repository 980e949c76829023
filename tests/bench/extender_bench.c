/* SPDX-License-Identifier: MIT */
/*
 * extender_bench: what kube-scheduler waits for: the server of parplan-extender in this process,
 * asked over loopback on one connection, as the scheduler does: filter and prioritize with 5,000
 * names, filter with the one name of a pinned pod; and what reading, writing and a JSON tree of
 * the same body take alone. Times in microseconds. What the gang machine decides is not in it.
 * Fails where a median is longer than promised, or where this program grows beyond its share.
 */
#include "k8s_extender/server/extender_wire.h"
#include "k8s_extender/server/http_server.h"
#include "tests/support/loopback_peer.h"
#include "tests/support/time_order.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NODES 5000u
#define ROUNDS 2001u
#define BODY_BYTES ((size_t)1 << 20)
#define MANY_LIMIT_MICROSECONDS 1500.0
#define MANY_LIMIT_P99_MICROSECONDS 5000.0
#define PINNED_LIMIT_MICROSECONDS 100.0
#define RSS_LIMIT_KIB (64 * 1024L)

/* --- the bodies ------------------------------------------------------------------- */

/* A pod of a job as the scheduler sends it: with managedFields, 7 KB. */
static void add_pod(struct text_buffer *out)
{
    text_buffer_add_text(
        out, "{\"metadata\":{\"name\":\"train-0-abcde\",\"namespace\":\"research\",\"uid\":"
             "\"0e9b6c0f-7a4c-4f0e-9d1a-6a8f5a3f6f21\",\"resourceVersion\":\"123456\",\"labels\":{"
             "\"parplan.io/gang\":\"train\",\"batch.kubernetes.io/job-name\":\"train\","
             "\"batch.kubernetes.io/job-completion-index\":\"0\"},\"annotations\":{"
             "\"parplan.io/size\":\"16\",\"parplan.io/index\":\"0\",\"parplan.io/tp\":\"8\"},"
             "\"managedFields\":[");
    for (unsigned i = 0; i < 3; i++) {
        text_buffer_add(out,
                        "%s{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","
                        "\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{",
                        i ? "," : "");
        for (unsigned k = 0; k < 30; k++)
            text_buffer_add(out, "%s\"f:field-number-%u\":{\".\":{},\"f:inner\":{}}", k ? "," : "",
                            k);
        text_buffer_add_text(out, "}}");
    }
    text_buffer_add_text(
        out,
        "]},\"spec\":{\"containers\":[{\"name\":\"train\",\"image\":\"train:1\",\"command\":["
        "\"torchrun\",\"--nnodes=16\"],\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\","
        "\"cpu\":\"96\",\"memory\":\"1Ti\"},\"requests\":{\"nvidia.com/gpu\":\"8\",\"cpu\":"
        "\"96\",\"memory\":\"1Ti\"}}}],\"schedulerName\":\"default-scheduler\",\"tolerations\":["
        "{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}]},\"status\":{\"phase\":"
        "\"Pending\"}}");
}

static char *make_body(unsigned names)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, BODY_BYTES);
    text_buffer_add_text(&out, "{\"Pod\":");
    add_pod(&out);
    text_buffer_add_text(&out, ",\"Nodes\":null,\"NodeNames\":[");
    for (unsigned i = 0; i < names; i++)
        text_buffer_add(&out, "%s\"gpu-node-%05u.cluster\"", i ? "," : "", i);
    text_buffer_add_text(&out, "]}");
    return text_buffer_take(&out);
}

/* --- the server ------------------------------------------------------------------- */

static void filter(void *context, const struct http_request *request, struct http_answer *answer)
{
    CLEANUP(extender_question)
    struct extender_question *question =
        extender_question_parse(request->body, request->body_bytes, NULL);
    const struct gang_answer verdict = {.kind = ANSWER_ALL};
    (void)context;
    answer->content_type = "application/json";
    if (question)
        extender_write_filter(question, &verdict, &answer->body);
}

static void prioritize(void *context, const struct http_request *request,
                       struct http_answer *answer)
{
    CLEANUP(extender_question)
    struct extender_question *question =
        extender_question_parse(request->body, request->body_bytes, NULL);
    CLEANUP_MEMORY uint8_t *scores = question ? memory_allocate(question->name_count + 1) : NULL;
    (void)context;
    answer->content_type = "application/json";
    if (scores)
        extender_write_scores(question, scores, &answer->body);
}

static const struct http_route routes[] = {
    {"POST", "/parplan/v1/filter", filter, false, WIRE_BODY_MAXIMUM_BYTES},
    {"POST", "/parplan/v1/prioritize", prioritize, false, WIRE_BODY_MAXIMUM_BYTES},
};

/* --- the client ------------------------------------------------------------------- */

/* Microseconds; -1: no answer of 200. */
static double ask(int fd, const char *request, size_t bytes, char *answer, size_t *ret_bytes)
{
    double begin = loopback_now_microseconds();
    if (!loopback_send(fd, request, bytes))
        return -1;
    *ret_bytes = loopback_receive(fd, answer, BODY_BYTES, false);
    double end = loopback_now_microseconds();
    return loopback_status(answer) == 200 ? end - begin : -1;
}

/* --- rows ------------------------------------------------------------------------- */

static bool print_row(const char *what, double *times, size_t bytes, double limit, double limit_p99)
{
    time_order_sort(times, ROUNDS);
    double median = times[ROUNDS / 2], p99 = times[ROUNDS * 99 / 100];
    bool failed = times[0] < 0 || (limit > 0 && median > limit);
    printf("%-30s %7zu bytes  p50 %7.1f us  p99 %7.1f us", what, bytes, median, p99);
    if (limit > 0)
        printf("  target %.0f%s", limit, failed ? ": missed" : "");
    if (limit_p99 > 0)
        printf(", p99 %.0f%s", limit_p99, p99 > limit_p99 ? ": missed" : "");
    printf("\n");
    return !failed;
}

static bool run_route(uint16_t port, const char *path, unsigned names, double limit,
                      double limit_p99)
{
    static double times[ROUNDS];
    static char answer[BODY_BYTES];
    char what[64];
    size_t bytes = 0, request_bytes = 0;
    CLEANUP_MEMORY char *body = make_body(names);
    CLEANUP_FD int fd = loopback_connect(port);
    CLEANUP_MEMORY char *request =
        body ? loopback_post(path, body, strlen(body), &request_bytes) : NULL;
    if (!request || fd < 0)
        return false;
    for (unsigned i = 0; i < ROUNDS; i++)
        times[i] = ask(fd, request, request_bytes, answer, &bytes);
    snprintf(what, sizeof(what), "%s, %u name%s", strrchr(path, '/') + 1, names,
             names == 1 ? "" : "s");
    return print_row(what, times, bytes, limit, limit_p99);
}

/* Where the time goes. */
static void run_parts(void)
{
    static double scan[ROUNDS], tree[ROUNDS], write[ROUNDS];
    CLEANUP_MEMORY char *body = make_body(NODES);
    size_t bytes = body ? strlen(body) : 0;
    const struct gang_answer verdict = {.kind = ANSWER_ALL};
    for (unsigned i = 0; i < ROUNDS; i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, BODY_BYTES);
        double begin = loopback_now_microseconds();
        CLEANUP(extender_question)
        struct extender_question *question = extender_question_parse(body, bytes, NULL);
        scan[i] = loopback_now_microseconds() - begin;
        begin = loopback_now_microseconds();
        if (question)
            extender_write_filter(question, &verdict, &out);
        write[i] = loopback_now_microseconds() - begin;
        begin = loopback_now_microseconds();
        extender_question_free(extender_question_parse_tree(body, bytes, NULL));
        tree[i] = loopback_now_microseconds() - begin;
    }
    print_row("  reading, names scanned", scan, bytes, 0, 0);
    print_row("  the same as a JSON tree", tree, bytes, 0, 0);
    print_row("  writing, all pass", write, bytes, 0, 0);
}

int main(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    const struct http_server_settings settings = {.address = "127.0.0.1"};
    struct http_server *server = http_server_start(&settings, routes, COUNT_OF(routes), NULL, &err);
    if (!server) {
        printf("%s\n", err.text);
        return 1;
    }
    uint16_t port = http_server_port(server);
    bool passed = run_route(port, "/parplan/v1/filter", NODES, MANY_LIMIT_MICROSECONDS,
                            MANY_LIMIT_P99_MICROSECONDS);
    passed &= run_route(port, "/parplan/v1/prioritize", NODES, MANY_LIMIT_MICROSECONDS,
                        MANY_LIMIT_P99_MICROSECONDS);
    passed &= run_route(port, "/parplan/v1/filter", 1, PINNED_LIMIT_MICROSECONDS, 0);
    http_server_stop(server, 0);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("largest size %.1f MiB, target %ld%s\n", (double)usage.ru_maxrss / 1024,
           RSS_LIMIT_KIB / 1024, usage.ru_maxrss > RSS_LIMIT_KIB ? ": missed" : "");
    passed &= usage.ru_maxrss <= RSS_LIMIT_KIB;
    run_parts();
    return passed ? 0 : 1;
}
