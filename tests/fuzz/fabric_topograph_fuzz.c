/* SPDX-License-Identifier: MIT */
/* topograph's model (YAML) and graph (JSON, from its brace). */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"

static bool data_is_json(const uint8_t *data, size_t size) { return size > 0 && data[0] == '{'; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = data_is_json(data, size)
                                ? fabric_parse_topograph_graph((const char *)data, size, "t", &err)
                                : fabric_parse_topograph_model((const char *)data, size, "t", &err);
    if (!fabric) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require_fabric(fabric);
    return 0;
}
