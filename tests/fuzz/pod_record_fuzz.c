/* SPDX-License-Identifier: MIT */
/* A Pod of the API, with all that users may write into it, judged against a node. */
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/pod_record.h"
#include "tests/fuzz/fuzz_target.h"

static void require_line(const char *text)
{
    for (const char *at = text; text && *at; at++)
        fuzz_require((unsigned char)*at >= 0x20, "a problem is not one line", text);
}

static void check_gang(const struct gang_identity *gang)
{
    if (!gang->key) {
        fuzz_require(gang->index == GANG_INDEX_NONE, "no gang has an index", "");
        return;
    }
    fuzz_require(strchr(gang->key, '/') && strchr(gang->key, '/') + 1 == gang->group,
                 "the group is not the key's", gang->key);
    fuzz_require(gang->found_by, "nothing found the gang", gang->key);
    fuzz_require(gang->size <= GANG_MAXIMUM_PODS, "the size is beyond the largest", gang->key);
    fuzz_require(gang->index < GANG_MAXIMUM_PODS || gang->index == GANG_INDEX_NONE,
                 "the index is beyond the largest", gang->key);
    require_line(gang->problem);
    if (gang->problem)
        return;
    fuzz_require(gang->size > 0 || gang->size_owner, "nobody knows the size", gang->key);
    fuzz_require(gang->size == 0 || gang->index < gang->size, "the index is beyond the size",
                 gang->key);
    uint32_t index = gang_identity_index(gang, 64);
    fuzz_require(index < GANG_MAXIMUM_PODS || index == GANG_INDEX_NONE, "a wild index", gang->key);
}

static void check_labels(const struct label_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        fuzz_require(set->labels[i].value, "a label has no value", set->labels[i].key);
        fuzz_require(i == 0 || strcmp(set->labels[i - 1].key, set->labels[i].key) < 0,
                     "labels are not sorted", set->labels[i].key);
    }
}

static void check_pod(const struct pod_record *pod)
{
    fuzz_require(*pod->name && *pod->namespace && pod->uid && pod->resource_version,
                 "a pod has no name", pod->name);
    fuzz_require(pod->phase < POD_PHASE_COUNT, "a wild phase", pod->name);
    fuzz_require(pod->plain == (!pod->gang.key && resource_list_gpus(&pod->requests, NULL) == 0),
                 "plain and not", pod->name);
    check_gang(&pod->gang);
    check_labels(&pod->annotations);
    check_labels(&pod->node_labels);
    for (size_t i = 0; i < pod->argument_count; i++)
        fuzz_require(pod->arguments[i], "a word is lost", pod->name);
    fuzz_require(!pod_record_holds(pod) || pod->node, "held without a node", pod->name);
}

static void check_fit(const struct pod_record *pod)
{
    static const char text[] =
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\",\"count\":\"8\"}},\"spec\":"
        "{\"taints\":[{\"key\":\"nvidia.com/gpu\",\"value\":\"x\",\"effect\":\"NoSchedule\"}]},"
        "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";
    CLEANUP(node_record)
    struct node_record *node = node_record_parse(text, strlen(text), NULL);
    fuzz_require(node, "the node cannot be read", text);
    enum node_unfit unfit = node_unfit_for(node, pod);
    fuzz_require(unfit == NODE_FITS || unfit == NODE_TAINTED || unfit == NODE_NOT_SELECTED,
                 "unfit for another reason", node_unfit_words[unfit]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(pod_record) struct pod_record *pod = pod_record_parse((const char *)data, size, &err);
    if (!pod) {
        fuzz_require_error(&err);
        return 0;
    }
    check_pod(pod);
    check_fit(pod);
    return 0;
}
