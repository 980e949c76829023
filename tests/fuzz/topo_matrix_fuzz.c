/* SPDX-License-Identifier: MIT */
/* The text of nvidia-smi topo -m. */
#include "tests/fuzz/evidence_target.h"
#include "topology/node_readers/topo_matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence = topo_matrix_parse((const char *)data, size, "t.txt", &err);
    if (evidence)
        require_evidence(evidence);
    else
        fuzz_require_error(&err);
    return 0;
}
