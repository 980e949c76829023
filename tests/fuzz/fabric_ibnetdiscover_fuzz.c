/* SPDX-License-Identifier: MIT */
/* The text of ibnetdiscover: whatever the cables, the fabric is a tree. */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_ibnetdiscover((const char *)data, size, "ib.txt", &err);
    if (fabric)
        fuzz_require_fabric(fabric);
    else
        fuzz_require_error(&err);
    return 0;
}
