/* SPDX-License-Identifier: MIT */
/* A listing of switches, a '%', and the hosts' GUIDs: cycles end in a tree. */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    const char *text = (const char *)data, *mark = size > 0 ? memchr(data, '%', size) : NULL;
    size_t listing = mark ? (size_t)(mark - text) : size;
    CLEANUP(fabric)
    struct fabric *fabric = fabric_parse_sharp(text, listing, "sharp.txt", mark ? mark + 1 : "",
                                               mark ? size - listing - 1 : 0, "guids.txt", &err);
    if (fabric)
        fuzz_require_fabric(fabric);
    else
        fuzz_require_error(&err);
    return 0;
}
