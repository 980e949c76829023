/* SPDX-License-Identifier: MIT */
/* parplan.node/1: a file that was read is written, read and written again to the same bytes. */
#include "report/files/node_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_file.h"

#define TEXT_MAXIMUM_BYTES ((size_t)16 << 20)

static struct node_topology *read_node(const char *text, size_t bytes,
                                       const struct gpu_catalogue *gpus, struct error_info *err)
{
    CLEANUP(node_evidence)
    struct node_evidence *evidence = node_file_parse(text, bytes, "node.yaml", err);
    const struct node_evidence *const all[] = {evidence};
    return evidence ? node_topology_merge("node.yaml", all, 1, gpus, err) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpu_catalogue *gpus;
    if (!gpus)
        gpus = gpu_catalogue_builtin(NULL);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology)
    struct node_topology *node = read_node((const char *)data, size, gpus, &err);
    if (!node) {
        fuzz_require_error(&err);
        return 0;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    text_buffer_init(&first, TEXT_MAXIMUM_BYTES);
    text_buffer_init(&second, TEXT_MAXIMUM_BYTES);
    node_file_write(node, "n1", &first);
    fuzz_require(!text_buffer_failed(&first), "writing failed", text_buffer_text(&first));
    CLEANUP(node_topology)
    struct node_topology *back = read_node(text_buffer_text(&first), first.length, gpus, &err);
    fuzz_require(back, err.text, text_buffer_text(&first));
    node_file_write(back, "n1", &second);
    fuzz_require(strcmp(text_buffer_text(&first), text_buffer_text(&second)) == 0,
                 text_buffer_text(&second), text_buffer_text(&first));
    return 0;
}
