/* SPDX-License-Identifier: MIT */
/*
 * pod_block: a pod record as one allocation, from a draft whose parts lie in an arena and in the
 * tree that was read. For pod_record.c.
 */
#ifndef K8S_EXTENDER_OBJECTS_POD_BLOCK_H
#define K8S_EXTENDER_OBJECTS_POD_BLOCK_H

#include "k8s_extender/objects/pod_record.h"

struct pod_record *pod_block_create(const struct pod_record *draft, struct error_info *err);
void pod_block_free(struct pod_record *record);

#endif
