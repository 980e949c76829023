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

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

static bool same_basis(const struct pod_record *kept, const struct pod_record *whole)
{
    return same_text(kept->name, whole->name) && same_text(kept->uid, whole->uid) &&
           same_text(kept->node, whole->node) && kept->phase == whole->phase &&
           kept->plain == whole->plain && kept->gated == whole->gated &&
           kept->foreign_gates == whole->foreign_gates && kept->priority == whole->priority &&
           kept->created == whole->created;
}

static bool same_requests(const struct resource_list *kept, const struct resource_list *whole)
{
    return memcmp(kept->amounts, whole->amounts, sizeof(kept->amounts)) == 0 &&
           resource_list_gpus(kept, NULL) == resource_list_gpus(whole, NULL);
}

static bool same_gang(const struct gang_identity *kept, const struct gang_identity *whole)
{
    return same_text(kept->key, whole->key) && same_text(kept->problem, whole->problem) &&
           kept->size == whole->size && kept->index == whole->index;
}

static bool same_details(const struct pod_record *kept, const struct pod_record *whole)
{
    return kept->foreign == whole->foreign && kept->toleration_count == whole->toleration_count &&
           kept->argument_count == whole->argument_count &&
           kept->annotations.count == whole->annotations.count &&
           kept->node_labels.count == whole->node_labels.count &&
           kept->affinity.term_count == whole->affinity.term_count &&
           same_text(kept->owner_uid, whole->owner_uid) &&
           same_text(kept->subdomain, whole->subdomain);
}

/* What object_text leaves out no reader needs. Keys with escapes are not matched, by design. */
static void check_against_whole(const char *text, size_t bytes, const struct pod_record *kept)
{
    if (memchr(text, '\\', bytes) || kept->cut)
        return;
    CLEANUP(json_value) struct json_value *tree = json_value_parse(text, bytes, "pod", NULL);
    CLEANUP(pod_record) struct pod_record *whole = tree ? pod_record_read(tree, NULL) : NULL;
    fuzz_require(whole || !tree, "a pod that cannot be read", "");
    if (!whole)
        return;
    fuzz_require(same_basis(kept, whole), "another pod", whole->name);
    fuzz_require(same_requests(&kept->requests, &whole->requests), "other requests", whole->name);
    fuzz_require(same_gang(&kept->gang, &whole->gang), "another gang", whole->name);
    fuzz_require(same_details(kept, whole), "other details", whole->name);
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
    check_against_whole((const char *)data, size, pod);
    check_fit(pod);
    return 0;
}
