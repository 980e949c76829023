/* SPDX-License-Identifier: MIT */
/*
 * pod_placement: what of a pod decides where it may run, and what the program in it is told: gates,
 * selectors, tolerations, what the scheduler judges alone, the command. For pod_record.c.
 */
#ifndef K8S_EXTENDER_OBJECTS_POD_PLACEMENT_H
#define K8S_EXTENDER_OBJECTS_POD_PLACEMENT_H

#include "k8s_extender/objects/pod_record.h"

/* Fills gated, foreign_gates and priority, which every record has. */
int pod_placement_gates(const struct json_value *spec, struct pod_record *pod,
                        struct error_info *err);
/* Fills node_labels, affinity, tolerations, foreign and arguments. Those lists lie in the arena,
 * single texts in the tree. */
int pod_placement_read(const struct json_value *object, struct arena *arena, struct pod_record *pod,
                       struct error_info *err);

#endif
