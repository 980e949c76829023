/* SPDX-License-Identifier: MIT */
/* Slurm's topology.yaml: a fabric that was read obeys the laws of fabrics. */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric =
        fabric_parse_slurm_yaml((const char *)data, size, "topology.yaml", &err);
    if (!fabric) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require_fabric(fabric);
    return 0;
}
