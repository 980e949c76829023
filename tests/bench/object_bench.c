/* SPDX-License-Identifier: MIT */
/*
 * object_bench: what the records of 5,000 nodes of 23 KB and 50,000 pods of 5 KB hold (bytes for
 * each, of the whole process's memory) and how long reading one takes, the nodes' text read as the
 * API client hands it over: one object after the other. One pod in ten asks for GPUs. Fails where
 * a node, a plain pod, a GPU pod or all together take more than their limit.
 */
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/pod_record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES 5000u
#define PODS 50000u
#define LABELS 80u
#define IMAGES 50u
#define PLAIN_PODS 45000u /* those behind ask for GPUs */
#define NODE_LIMIT_BYTES (6.0 * 1024)
#define PLAIN_POD_LIMIT_BYTES 420.0 /* 400 and what malloc adds */
#define GPU_POD_LIMIT_BYTES 1024.0
#define ALL_LIMIT_BYTES (48.0 * 1024 * 1024)

static struct node_record *nodes[NODES];
static struct pod_record *pods[PODS];

static void write_node_head(struct text_buffer *text, unsigned i)
{
    text_buffer_add(text,
                    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                    "\"gke-train-gpu-pool-%04x-%04u\",\"uid\":\"0c8c1d2e-5b1f-4c7e-9a61-%012u\","
                    "\"resourceVersion\":\"%u\",\"labels\":{",
                    i / 64, i, i, i + 1000);
    for (unsigned label = 0; label < LABELS; label++)
        text_buffer_add(text, "\"feature.node.kubernetes.io/cpu-cpuid.AVX512VECTOR%u\":\"true\",",
                        label);
    text_buffer_add(text,
                    "\"kubernetes.io/hostname\":\"gke-train-gpu-pool-%04x-%04u\","
                    "\"topology.kubernetes.io/zone\":\"zone-b\",\"nvidia.com/gpu.product\":"
                    "\"NVIDIA-H100-80GB-HBM3\",\"fabric.topograph.run/tier-0\":\"leaf-%u\","
                    "\"fabric.topograph.run/tier-1\":\"spine-%u\"},\"annotations\":{"
                    "\"parplan.io/topology\":\"",
                    i / 64, i, i / 16, i / 256);
    for (unsigned line = 0; line < 40; line++) /* 2 KB, the same on each node */
        text_buffer_add(text, "gpu%u: {bus: 0000:%02x:00.0, numa: %u, nics: [mlx5_%u]}; ", line,
                        line, line / 4, line);
    text_buffer_add_text(text, "\"},\"managedFields\":[");
    for (unsigned field = 0; field < 60; field++)
        text_buffer_add(text, "%s{\"manager\":\"kubelet\",\"fieldsV1\":{\"f:labels%u\":{}}}",
                        field ? "," : "", field);
}

static void write_node(struct text_buffer *text, unsigned i)
{
    write_node_head(text, i);
    text_buffer_add_text(text, "]},\"spec\":{\"taints\":[{\"key\":\"nvidia.com/gpu\",\"value\":"
                               "\"present\",\"effect\":\"NoSchedule\"}]},\"status\":{\"capacity\":"
                               "{\"cpu\":\"192\"},\"allocatable\":{\"cpu\":\"191500m\",\"memory\":"
                               "\"2113191428Ki\",\"ephemeral-storage\":\"94G\",\"pods\":\"110\","
                               "\"hugepages-2Mi\":\"0\",\"nvidia.com/gpu\":\"8\",\"rdma/hca\":"
                               "\"8\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
                               "\"images\":[");
    for (unsigned image = 0; image < IMAGES; image++)
        text_buffer_add(text,
                        "%s{\"names\":[\"example.test/team/image-number-%u@sha256:%064u\","
                        "\"example.test/team/image-number-%u:v1.2.3\"],\"sizeBytes\":%u}",
                        image ? "," : "", image, image, image, 100000 + image);
    text_buffer_add_text(text, "]}}");
}

static void write_pod(struct text_buffer *text, unsigned i)
{
    bool asks = i >= PLAIN_PODS;
    text_buffer_add(text,
                    "{\"metadata\":{\"name\":\"service-deployment-%08x-%05u\",\"namespace\":"
                    "\"team-%u\",\"uid\":\"7d0b2c1a-9f52-4d0e-8f64-%012u\",\"resourceVersion\":"
                    "\"%u\",\"labels\":{\"app\":\"service\",\"pod-template-hash\":\"%08x\"},"
                    "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"service\",\"uid\":"
                    "\"u\",\"controller\":true}],\"managedFields\":[",
                    i / 100, i, i % 50, i, i + 5000000, i / 100);
    for (unsigned field = 0; field < 40; field++)
        text_buffer_add(text, "%s{\"manager\":\"kubelet\",\"fieldsV1\":{\"f:field%u\":{}}}",
                        field ? "," : "", field);
    text_buffer_add(text,
                    "]},\"spec\":{\"nodeName\":\"gke-train-gpu-pool-%04x-%04u\","
                    "\"schedulerName\":\"default-scheduler\",\"tolerations\":["
                    "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
                    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
                    "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
                    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"containers\":[",
                    i / 10 / 64, i / 10);
    for (unsigned container = 0; container < 2; container++) {
        text_buffer_add(text,
                        "%s{\"name\":\"c%u\",\"image\":\"example.test/team/image:v1\","
                        "\"env\":[",
                        container ? "," : "", container);
        for (unsigned variable = 0; variable < 15; variable++)
            text_buffer_add(text, "%s{\"name\":\"VARIABLE_%u\",\"value\":\"value %u\"}",
                            variable ? "," : "", variable, variable);
        text_buffer_add(text,
                        "],\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":"
                        "\"512Mi\"%s}}}",
                        asks ? ",\"nvidia.com/gpu\":\"1\"" : "");
    }
    text_buffer_add_text(text, "]},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
                               "\"Ready\",\"status\":\"True\"}]}}");
}

static double spent_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Of the pages that the process holds now: the second number of statm. */
static double resident_bytes(void)
{
    char line[128];
    uint64_t pages;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || !fgets(line, sizeof(line), file))
        abort();
    fclose(file);
    char *second = line + strcspn(line, " ") + 1;
    second[strcspn(second, " ")] = '\0';
    if (parse_unsigned(second, 0, UINT64_MAX, &pages, NULL) < 0)
        abort();
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void fail(const struct error_info *err)
{
    fprintf(stderr, "object_bench: %s\n", err->text);
    exit(1);
}

/* Microseconds of reading alone; *ret_bytes: of JSON. */
static double read_nodes(size_t *ret_bytes)
{
    struct error_info err = {.kind = ERROR_NONE};
    double spent = 0;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    for (unsigned i = 0; i < NODES; i++) {
        text.length = 0;
        write_node(&text, i);
        double before = spent_microseconds();
        nodes[i] = node_record_parse(text_buffer_text(&text), text.length, &err);
        spent += spent_microseconds() - before;
        if (!nodes[i])
            fail(&err);
    }
    *ret_bytes = text.length;
    return spent;
}

static double read_pods(unsigned first, unsigned end, size_t *ret_bytes)
{
    struct error_info err = {.kind = ERROR_NONE};
    double spent = 0;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    for (unsigned i = first; i < end; i++) {
        text.length = 0;
        write_pod(&text, i);
        double before = spent_microseconds();
        pods[i] = pod_record_parse(text_buffer_text(&text), text.length, &err);
        spent += spent_microseconds() - before;
        if (!pods[i])
            fail(&err);
    }
    *ret_bytes = text.length;
    return spent;
}

static void report(const char *what, unsigned count, size_t json_bytes, double bytes,
                   double microseconds)
{
    printf("%6u %-10s of %5zu bytes of JSON: %6.0f bytes each, %6.1f us each, %6.1f MB in all\n",
           count, what, json_bytes, bytes / count, microseconds / count, bytes / 1e6);
}

/* Each record again, and the old one freed: what a cluster does all day. */
static double churn(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    for (unsigned i = 0; i < PODS; i++) {
        text.length = 0;
        write_pod(&text, i);
        pod_record_free(pods[i]);
        pods[i] = pod_record_parse(text_buffer_text(&text), text.length, &err);
        if (!pods[i])
            fail(&err);
    }
    return resident_bytes();
}

static void free_all(void)
{
    for (unsigned i = 0; i < NODES; i++)
        node_record_free(nodes[i]);
    for (unsigned i = 0; i < PODS; i++)
        pod_record_free(pods[i]);
}

int main(void)
{
    size_t json;
    double start = resident_bytes();
    double spent = read_nodes(&json);
    double node_bytes = resident_bytes() - start;
    report("nodes", NODES, json, node_bytes, spent);
    spent = read_pods(0, PLAIN_PODS, &json);
    double plain_bytes = resident_bytes() - start - node_bytes;
    report("plain pods", PLAIN_PODS, json, plain_bytes, spent);
    spent = read_pods(PLAIN_PODS, PODS, &json);
    double gpu_bytes = resident_bytes() - start - node_bytes - plain_bytes;
    report("GPU pods", PODS - PLAIN_PODS, json, gpu_bytes, spent);
    double all = churn() - start;
    printf("all %.1f MB; after each pod once more %.1f MB\n",
           (node_bytes + plain_bytes + gpu_bytes) / 1e6, all / 1e6);
    free_all();
    bool is_large = node_bytes / NODES > NODE_LIMIT_BYTES ||
                    plain_bytes / PLAIN_PODS > PLAIN_POD_LIMIT_BYTES ||
                    gpu_bytes / (PODS - PLAIN_PODS) > GPU_POD_LIMIT_BYTES || all > ALL_LIMIT_BYTES;
    if (is_large)
        printf("object_bench: more than the limits\n");
    return is_large;
}
