/* SPDX-License-Identifier: MIT */
/*
 * gang_plan_text: a gang's plan as one line, for annotation parplan.io/plan, and its id.
 *
 *     v1 id=0123456789abcdef pods=16 gpus=8 order=tp-cp-ep-dp-pp tp=8 cp=1 ep=1 etp=8 pp=4 vpp=1
 *     dp=4 shard=1 nodes=n[001-016]
 *
 * in that order, one blank between; from order to shard only with degrees. nodes is node_list.h's
 * notation in the order of the pods, so that only runs become ranges.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_PLAN_TEXT_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_PLAN_TEXT_H

#include "k8s_extender/placement/gang_plan.h"

#define GANG_PLAN_VERSION "v1"

/* Of the gang's key and all that the plan says of it, as 16 hexadecimal digits. */
void gang_plan_make_id(const struct gang_plan *plan, const char *key, char ret[GANG_PLAN_ID_BYTES]);

/* gang_plan_encode and gang_plan_decode: gang_plan.h. */

#endif
