/* SPDX-License-Identifier: MIT */
/*
 * node_selector: required node affinity, as the scheduler judges it: terms are alternatives, the
 * requirements of a term hold together; matchExpressions speak of labels, matchFields of
 * metadata.name. A term without requirements matches nothing, and so does an operator that is not
 * known (it becomes In without values).
 *     In, NotIn          the value is among those, or not; NotIn also holds where there is no label
 *     Exists, DoesNotExist
 *     Gt, Lt             both are whole numbers, and the label's is larger or smaller
 * Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity.
 */
#ifndef K8S_EXTENDER_OBJECTS_NODE_SELECTOR_H
#define K8S_EXTENDER_OBJECTS_NODE_SELECTOR_H

#include "k8s_extender/objects/label_set.h"

#define NODE_SELECTOR_MAXIMUM_TERMS 64u
/* In all: each node is asked for each of them, while everybody else waits. */
#define NODE_SELECTOR_MAXIMUM_REQUIREMENTS 256u
#define NODE_SELECTOR_MAXIMUM_VALUES 4096u

struct node_record;
struct pod_record;

enum selector_operator {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
    SELECTOR_GREATER,
    SELECTOR_LESS
};

struct selector_requirement {
    const char *key;
    enum selector_operator operator;
    bool of_field; /* matchFields: key is metadata.name */
    const char *const *values;
    size_t value_count;
};

struct selector_term {
    const struct selector_requirement *requirements;
    size_t requirement_count;
};

struct node_selector {
    const struct selector_term *terms;
    size_t term_count;
};

/* requiredDuringSchedulingIgnoredDuringExecution; NULL: none (term_count 0). One without terms
 * becomes one empty term. */
int node_selector_read(const struct json_value *object, struct arena *arena,
                       struct node_selector *ret, struct error_info *err);
bool node_selector_matches(const struct node_selector *selector, const struct node_record *node);

/* Why the pod cannot run on that node whatever is free there; what the scheduler asks of a node
 * but for resources, and that it is ready and stays. Taints: NoSchedule and NoExecute count,
 * PreferNoSchedule does not; a toleration without a key tolerates all keys, one without an effect
 * all effects; a cordoned node is one for pods that tolerate node.kubernetes.io/unschedulable. */
enum node_unfit {
    NODE_FITS,
    NODE_NOT_READY,
    NODE_CORDONED,
    NODE_GOING, /* being deleted */
    NODE_TAINTED,
    NODE_NOT_SELECTED, /* nodeSelector or affinity */
    NODE_UNFIT_COUNT
};
enum node_unfit node_unfit_for(const struct node_record *node, const struct pod_record *pod);
extern const char
    *const node_unfit_words[NODE_UNFIT_COUNT]; /* "not ready", "cordoned", "tainted" */

#endif
