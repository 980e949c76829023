/* SPDX-License-Identifier: MIT */
/*
 * annotations: the names of all annotations and labels of parplan's, inputs and outputs apart.
 * Users write inputs. Outputs are written by parplan alone; the admission policies refuse them in
 * what users create or change. An output of value "" counts as absent: that is how one is taken
 * back.
 */
#ifndef K8S_EXTENDER_GANG_ANNOTATIONS_H
#define K8S_EXTENDER_GANG_ANNOTATIONS_H

#define ANNOTATION_PREFIX "parplan.io/"

/* Label: the gang's name; "auto": named by a label of the framework's (gang_identity.h). */
#define LABEL_GANG ANNOTATION_PREFIX "gang"

/* Inputs, besides parplan.io/<key> for each key of job_spec ("parplan.io/tp": "8"). */
#define ANNOTATION_SIZE ANNOTATION_PREFIX "size"   /* pods of the gang */
#define ANNOTATION_INDEX ANNOTATION_PREFIX "index" /* of this pod, from 0 */
/* A lost pod whose TP group's NVLink domain has no spare node: "wait" (the default), "move" (the
 * group's other pods are deleted, so that the whole group moves), "relax" (it leaves the domain) */
#define ANNOTATION_ON_NO_SPARE ANNOTATION_PREFIX "on-no-spare"
/* "delete": a gang of which only a part is bound by the deadline is deleted, so that its owner
 * makes it anew; "keep" (the default): an event names what is missing. */
#define ANNOTATION_ON_PARTIAL ANNOTATION_PREFIX "on-partial"

/* Outputs on every pod. Each output is also in gang_output_keys (objects/gang_identity.c). */
#define ANNOTATION_PLAN_ID ANNOTATION_PREFIX "plan-id"
#define ANNOTATION_NODE ANNOTATION_PREFIX "node"
#define ANNOTATION_NODE_RANK ANNOTATION_PREFIX "node-rank"
#define ANNOTATION_MASTER_ADDR ANNOTATION_PREFIX "master-addr"
#define ANNOTATION_TP_RANK ANNOTATION_PREFIX "tp-rank" /* of the pod's first RANK */
#define ANNOTATION_PP_RANK ANNOTATION_PREFIX "pp-rank"
#define ANNOTATION_DP_RANK ANNOTATION_PREFIX "dp-rank"
#define ANNOTATION_CP_RANK ANNOTATION_PREFIX "cp-rank"
#define ANNOTATION_EP_RANK ANNOTATION_PREFIX "ep-rank"
/* What is needed of the plan when pod 0 is lost: "pods=16 gpus=8 order=… tp=8 …". */
#define ANNOTATION_PLAN_SHAPE ANNOTATION_PREFIX "plan-shape"
/* Output on pod 0: the whole plan (gang_plan_encode). */
#define ANNOTATION_PLAN ANNOTATION_PREFIX "plan"

/* Output on nodes, the node agent's: node_record.h, NODE_TOPOLOGY_ANNOTATION. */

#endif
