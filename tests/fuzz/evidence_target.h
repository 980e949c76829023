/* SPDX-License-Identifier: MIT */
/*
 * evidence_target: what holds for the evidence of every node reader, whatever it was fed with.
 */
#ifndef TESTS_FUZZ_EVIDENCE_TARGET_H
#define TESTS_FUZZ_EVIDENCE_TARGET_H

#include "tests/fuzz/fuzz_target.h"
#include "topology/node_evidence.h"

static inline void require_evidence_text(const char *text)
{
    for (const char *read = text ? text : ""; *read; read++)
        fuzz_require((unsigned char)*read >= 0x20, "a text is not one line", text);
}

static inline void require_evidence_pairs(const struct node_evidence *evidence)
{
    size_t n = evidence->gpu_count;
    for (size_t i = 0; evidence->nvlink_link_counts && i < n * n; i++) {
        size_t mirrored = i % n * n + i / n;
        fuzz_require(evidence->nvlink_link_counts[i] == evidence->nvlink_link_counts[mirrored],
                     "a pair has two counts", evidence->source_text);
        fuzz_require(mirrored != i || evidence->nvlink_link_counts[i] == 0,
                     "a GPU has links to itself", evidence->source_text);
    }
    for (size_t i = 0; evidence->gpu_links && i < n * n; i++)
        fuzz_require(evidence->gpu_links[i] == evidence->gpu_links[i % n * n + i / n],
                     "a pair has two classes", evidence->source_text);
    for (size_t i = 0; evidence->nic_links && i < n * evidence->nic_count; i++)
        fuzz_require(evidence->nic_links[i] < LINK_KIND_COUNT, "no class", evidence->source_text);
    fuzz_require((evidence->nvlink == NVLINK_KNOWN) ==
                     (evidence->nvlink_link_counts || evidence->nvlink_bytes_per_second),
                 "links and no word of them, or the reverse", evidence->source_text);
}

/* Also: whatever it says merges, or is refused in one line. */
static inline void require_evidence(const struct node_evidence *evidence)
{
    fuzz_require(evidence->gpu_count <= NODE_MAXIMUM_GPUS, "too many GPUs", "");
    fuzz_require(evidence->nic_count <= NODE_MAXIMUM_NICS, "too many NICs", "");
    require_evidence_text(evidence->source_text);
    for (size_t i = 0; i < evidence->note_count; i++)
        require_evidence_text(evidence->notes[i]);
    for (size_t i = 0; i < evidence->nic_count; i++)
        require_evidence_text(evidence->nics[i].name);
    require_evidence_pairs(evidence);
    static struct gpu_catalogue *gpus;
    if (!gpus)
        gpus = gpu_catalogue_builtin(NULL);
    const struct node_evidence *const all[] = {evidence};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology)
    struct node_topology *node = node_topology_merge("node", all, 1, gpus, &err);
    if (!node)
        fuzz_require_error(&err);
}

#endif
