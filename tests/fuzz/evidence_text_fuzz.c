/* SPDX-License-Identifier: MIT */
/* What a reader's child sends: no crash, one spelling for one meaning, and whatever it says
 * about a node merges or is refused. */
#include "tests/fuzz/fuzz_target.h"
#include "topology/node_readers/evidence_text.h"

static void encode(const struct node_evidence *evidence, struct text_buffer *out)
{
    text_buffer_init(out, 4 * EVIDENCE_TEXT_MAXIMUM_BYTES);
    evidence_text_encode(evidence, out);
    fuzz_require(!text_buffer_failed(out), "encoding failed", evidence->source_text);
}

static void require_round_trip(const struct node_evidence *evidence)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer first;
    CLEANUP_DONE(text_buffer) struct text_buffer second;
    text_buffer_init(&second, 1);
    encode(evidence, &first);
    if (first.length > EVIDENCE_TEXT_MAXIMUM_BYTES)
        return;
    CLEANUP(node_evidence)
    struct node_evidence *back =
        evidence_text_decode(text_buffer_text(&first), first.length, "again", &err);
    fuzz_require(back, "what we wrote is refused", err.text);
    encode(back, &second);
    fuzz_require(strcmp(text_buffer_text(&first), text_buffer_text(&second)) == 0,
                 "another text came back", text_buffer_text(&first));
}

static void require_merge(const struct node_evidence *evidence)
{
    static struct gpu_catalogue *gpus;
    if (!gpus)
        gpus = gpu_catalogue_builtin(NULL);
    const struct node_evidence *const all[] = {evidence};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology)
    struct node_topology *node = node_topology_merge("node", all, 1, gpus, &err);
    if (!node)
        fuzz_require_error(&err);
    size_t n = node ? node->gpu_count : 0;
    for (size_t i = 0; i < n * n; i++)
        fuzz_require(node->nvlink_bytes_per_second[i] >= 0 &&
                         node->nvlink_bytes_per_second[i] < 1e16,
                     "an impossible rate", evidence->source_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence = evidence_text_decode((const char *)data, size, "child", &err);
    if (!evidence) {
        fuzz_require_error(&err);
        return 0;
    }
    require_round_trip(evidence);
    require_merge(evidence);
    return 0;
}
