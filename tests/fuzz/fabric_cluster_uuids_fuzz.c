/* SPDX-License-Identifier: MIT */
/* Hosts and their ClusterUUIDs: every node that is read is in a domain. */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_cluster_uuids((const char *)data, size, "uuids.txt", &err);
    if (fabric)
        fuzz_require_fabric(fabric);
    else
        fuzz_require_error(&err);
    return 0;
}
