/* SPDX-License-Identifier: MIT */
/* topology.conf and scontrol's text: a fabric that was read is a tree, and stays one when it
 * is cut down. */
#include "tests/fuzz/fabric_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_slurm((const char *)data, size, "topology.conf", &err);
    if (!fabric) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require_fabric(fabric);
    return 0;
}
