/* SPDX-License-Identifier: MIT */
/* gres.conf, and the output of slurmd -G. */
#include "tests/fuzz/evidence_target.h"
#include "topology/node_readers/slurm_gres.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence = slurm_gres_parse((const char *)data, size, "gres.conf", &err);
    if (evidence)
        require_evidence(evidence);
    else
        fuzz_require_error(&err);
    return 0;
}
