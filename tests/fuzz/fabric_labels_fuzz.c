/* SPDX-License-Identifier: MIT */
/* Kubernetes' nodes (JSON), and the keys of labels (YAML without a brace in front). */
#include "tests/fuzz/fabric_laws.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/labels/label_fabric.h"

static void load_keys(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse((const char *)data, size, "keys", &err);
    CLEANUP(fabric_label_keys)
    struct fabric_label_keys *keys =
        document ? fabric_label_keys_load(yaml_document_root(document), &err) : NULL;
    if (!keys) {
        fuzz_require_error(&err);
        return;
    }
    fuzz_require(keys->domain_count > 0 && keys->tier_set_count > 0, "keys are lost", "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] != '{') {
        load_keys(data, size);
        return 0;
    }
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric =
        fabric_parse_kubernetes((const char *)data, size, "nodes.json", NULL, &err);
    if (!fabric) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require_fabric(fabric);
    return 0;
}
