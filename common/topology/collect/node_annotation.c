/* SPDX-License-Identifier: MIT */
#include "topology/collect/node_annotation.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/evidence_text.h"
#include "topology/node_readers/node_restate.h"
#include <string.h>

#define FIRST_LINE "parplan.topology/1\n"
#define CLIQUE_WORD "clique "
#define NO_CLIQUE "-"
#define SOURCE_TEXT "node agent"
#define GIBIBYTE ((uint64_t)1 << 30)

/* What only one node can have does not belong to a kind. The evidence is ours alone. */
static void make_kind(struct node_evidence *evidence)
{
    struct evidence_gpu *gpus = (struct evidence_gpu *)evidence->gpus;
    struct evidence_nic *nics = (struct evidence_nic *)evidence->nics;
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        gpus[i].bus_id = gpus[i].uuid = gpus[i].cpus = NULL;
        gpus[i].nvlink_clique = NULL;
    }
    for (unsigned i = 0; i < evidence->nic_count; i++)
        nics[i].bus_id = nics[i].reason = NULL;
    evidence->source_text = SOURCE_TEXT;
    evidence->driver_version = NULL;
    evidence->host_memory_bytes -= evidence->host_memory_bytes % GIBIBYTE;
    evidence->host_nvme_bytes -= evidence->host_nvme_bytes % GIBIBYTE;
    evidence->fact_count = 0;
}

/* Pods come and go with network interfaces; plans count rails. */
static int keep_rails(struct node_evidence *evidence, struct error_info *err)
{
    struct evidence_nic *nics = (struct evidence_nic *)evidence->nics;
    size_t total = evidence->nic_count, kept = 0;
    enum link_kind *links =
        arena_allocate_array(evidence->arena, evidence->gpu_count * total, sizeof(*links));
    if (!links)
        return error_set_memory(err);
    for (size_t nic = 0; nic < total; nic++)
        evidence->nic_count -= nics[nic].role != NIC_RAIL;
    for (size_t nic = 0; nic < total; nic++) {
        if (nics[nic].role != NIC_RAIL)
            continue;
        for (size_t gpu = 0; gpu < evidence->gpu_count; gpu++)
            links[gpu * evidence->nic_count + kept] = evidence->nic_links[gpu * total + nic];
        nics[kept++] = nics[nic];
    }
    evidence->nic_links = links;
    return 0;
}

static bool is_clique(const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= NODE_ANNOTATION_CLIQUE_BYTES)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

int node_annotation_encode(const struct node_topology *node, struct text_buffer *out,
                           struct error_info *err)
{
    CLEANUP(node_evidence) struct node_evidence *evidence = node_restate(node, err);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, EVIDENCE_TEXT_MAXIMUM_BYTES);
    if (!evidence)
        return -1;
    const char *clique = node->nvlink_clique;
    make_kind(evidence);
    if (keep_rails(evidence, err) < 0)
        return -1;
    text_buffer_add(&text, "%s%s%s\n", FIRST_LINE, CLIQUE_WORD,
                    clique && is_clique(clique, strlen(clique)) ? clique : NO_CLIQUE);
    evidence_text_encode(evidence, &text);
    if (text_buffer_failed(&text))
        return error_set_memory(err);
    if (text.length > NODE_ANNOTATION_MAXIMUM_BYTES)
        return error_set(err,
                         "the topology of %u GPUs and %u NICs is %zu bytes as text; an annotation "
                         "may have %zu",
                         node->gpu_count, node->nic_count, text.length,
                         NODE_ANNOTATION_MAXIMUM_BYTES);
    text_buffer_add_text(out, text_buffer_text(&text));
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}

int node_annotation_split(const char *text, size_t bytes, const char *source,
                          struct node_annotation *ret, struct error_info *err)
{
    static const char head[] = FIRST_LINE CLIQUE_WORD;
    const size_t head_bytes = sizeof(head) - 1, first_bytes = sizeof(FIRST_LINE) - 1;
    if (bytes > NODE_ANNOTATION_MAXIMUM_BYTES)
        return error_set(err, "%s: %zu bytes; at most %zu are possible", source, bytes,
                         NODE_ANNOTATION_MAXIMUM_BYTES);
    if (bytes < first_bytes || memcmp(text, FIRST_LINE, first_bytes) != 0)
        return error_set(err,
                         "%s: no topology of this version (%.*s); use the node agent of the "
                         "same release",
                         source, (int)(first_bytes - 1), FIRST_LINE);
    const char *end = bytes < head_bytes || memcmp(text, head, head_bytes) != 0
                          ? NULL
                          : memchr(text + head_bytes, '\n', bytes - head_bytes);
    size_t length = end ? (size_t)(end - text) - head_bytes : 0;
    if (!is_clique(text + head_bytes, length))
        return error_set(err,
                         "%s: line 2: clique and an id of at most %u characters, or -, are "
                         "expected",
                         source, NODE_ANNOTATION_CLIQUE_BYTES - 1);
    memset(ret, 0, sizeof(*ret));
    if (length != sizeof(NO_CLIQUE) - 1 || memcmp(text + head_bytes, NO_CLIQUE, length) != 0)
        memcpy(ret->clique, text + head_bytes, length);
    ret->kind = end + 1;
    ret->kind_bytes = bytes - (size_t)(end + 1 - text);
    return 0;
}

struct node_topology *node_annotation_kind(const char *text, size_t bytes, const char *source,
                                           const struct gpu_catalogue *gpus, struct error_info *err)
{
    CLEANUP(node_evidence)
    struct node_evidence *evidence = evidence_text_decode(text, bytes, source, err);
    if (!evidence)
        return NULL;
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        ((struct evidence_gpu *)evidence->gpus)[i].nvlink_clique = NULL;
    return node_topology_of(evidence->source_text, evidence, gpus, err);
}
