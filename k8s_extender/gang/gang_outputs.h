/* SPDX-License-Identifier: MIT */
/*
 * gang_outputs: what is written to a gang's pods, and what is read of them.
 */
#ifndef K8S_EXTENDER_GANG_GANG_OUTPUTS_H
#define K8S_EXTENDER_GANG_GANG_OUTPUTS_H

#include "k8s_extender/gang/gang_state.h"

/* The annotations of the pod of that index, placed on that node: all outputs but the plan. */
int gang_pod_outputs(const struct gang *gang, uint32_t index, const char *node, struct arena *arena,
                     struct label_set *ret);
/* Whether rank 0's pod has a name that others can look up: a host name under a headless Service, or
 * its own where its operator makes a Service of that name. Else MASTER_ADDR is its bare name. */
bool gang_has_master_name(const struct gang *gang);
/* The same, but taken back: "" each. */
int gang_no_outputs(struct arena *arena, struct label_set *ret);
/* parplan.io/plan alone; plan NULL: taken back. */
int gang_plan_output(const struct gang_plan *plan, struct arena *arena, struct label_set *ret);
/* The annotations without outputs, copied. */
int gang_copy_inputs(const struct label_set *annotations, struct arena *arena,
                     struct label_set *ret);
/* A pod's affinity, copied: the pin is ANDed into it. */
int gang_copy_affinity(const struct node_selector *affinity, struct arena *arena,
                       struct node_selector *ret);
/* Whether two pods ask the same of a node, but for resources. */
bool gang_pods_alike(const struct pod_record *left, const struct pod_record *right);

/* The annotation of the gang's first pod that has it and speaks (gang_outsiders.h), or "". */
const char *gang_input(const struct gang *gang, const char *name);

#endif
