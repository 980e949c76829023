/* SPDX-License-Identifier: MIT */
/* NCCL's and RCCL's topology XML. */
#include "tests/fuzz/evidence_target.h"
#include "topology/node_readers/nccl_topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence = nccl_topology_parse((const char *)data, size, "t.xml", &err);
    if (evidence)
        require_evidence(evidence);
    else
        fuzz_require_error(&err);
    return 0;
}
