/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/node_selector.h"
#include "k8s_extender/objects/pod_record.h"
#include <string.h>

const char *const node_unfit_words[NODE_UNFIT_COUNT] = {
    [NODE_FITS] = "fits",         [NODE_NOT_READY] = "not ready",
    [NODE_CORDONED] = "cordoned", [NODE_GOING] = "being deleted",
    [NODE_TAINTED] = "tainted",   [NODE_NOT_SELECTED] = "not selected by the pod",
};

/* k8s.io/api core/v1 Toleration.ToleratesTaint: an empty key is every key, an empty effect every
 * effect. */
static bool tolerates(const struct pod_toleration *toleration, const struct node_taint *taint)
{
    if (!toleration->every_effect && toleration->effect != (int)taint->effect)
        return false;
    if (*toleration->key && strcmp(toleration->key, taint->key) != 0)
        return false;
    return toleration->exists || strcmp(toleration->value, taint->value) == 0;
}

static bool is_tolerated(const struct node_taint *taint, const struct pod_record *pod)
{
    for (size_t i = 0; i < pod->toleration_count; i++)
        if (tolerates(&pod->tolerations[i], taint))
            return true;
    return false;
}

static bool is_kept_away(const struct node_record *node, const struct pod_record *pod)
{
    for (size_t i = 0; i < node->taint_count; i++)
        if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !is_tolerated(&node->taints[i], pod))
            return true;
    return false;
}

static bool is_selected(const struct node_record *node, const struct pod_record *pod)
{
    for (size_t i = 0; i < pod->node_labels.count; i++) {
        const struct label *wanted = &pod->node_labels.labels[i];
        const char *value = label_set_find(&node->labels, wanted->key);
        if (!value || strcmp(value, wanted->value) != 0)
            return false;
    }
    return pod->affinity.term_count == 0 || node_selector_matches(&pod->affinity, node);
}

enum node_unfit node_unfit_for(const struct node_record *node, const struct pod_record *pod)
{
    static const struct node_taint cordon = {
        .key = "node.kubernetes.io/unschedulable", .value = "", .effect = TAINT_NO_SCHEDULE};
    if (node->deleting)
        return NODE_GOING;
    if (!node->ready)
        return NODE_NOT_READY;
    if (node->unschedulable && !is_tolerated(&cordon, pod))
        return NODE_CORDONED;
    if (!is_selected(node, pod))
        return NODE_NOT_SELECTED;
    return is_kept_away(node, pod) ? NODE_TAINTED : NODE_FITS;
}
