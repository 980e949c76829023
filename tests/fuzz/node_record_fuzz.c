/* SPDX-License-Identifier: MIT */
/* A Node of the API: what is kept is whole, and the same text gives the same digest. */
#include "k8s_extender/objects/node_record.h"
#include "tests/fuzz/fuzz_target.h"

static void check_node(const struct node_record *node)
{
    fuzz_require(*node->name && node->uid, "a node has no name", node->name);
    for (size_t i = 1; i < node->labels.count; i++)
        fuzz_require(strcmp(node->labels.labels[i - 1].key, node->labels.labels[i].key) < 0,
                     "labels are not sorted", node->labels.labels[i].key);
    for (size_t i = 0; i < node->labels.count; i++) {
        const struct label *label = &node->labels.labels[i];
        const char *found = label_set_find(&node->labels, label->key);
        fuzz_require(found == label->value, "a label is not found", label->key);
    }
    for (unsigned i = 0; i < node->allocatable.other_count; i++) {
        const struct resource_amount *other = &node->allocatable.others[i];
        fuzz_require(other->amount > 0, "a resource of nothing", other->name);
        fuzz_require(resource_list_amount(&node->allocatable, other->name) == other->amount,
                     "a resource is not found", other->name);
    }
    for (size_t i = 0; i < node->taint_count; i++)
        fuzz_require(node->taints[i].key && node->taints[i].value, "half a taint", node->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_record)
    struct node_record *node = node_record_parse((const char *)data, size, &err);
    if (!node) {
        fuzz_require_error(&err);
        return 0;
    }
    check_node(node);
    CLEANUP(node_record)
    struct node_record *again = node_record_parse((const char *)data, size, &err);
    fuzz_require(again && again->digest == node->digest, "another digest", node->name);
    return 0;
}
