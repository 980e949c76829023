/* SPDX-License-Identifier: MIT */
/*
 * plan_answer: POST /plan, the dry run, as JSON: what is asked, and what the answer looks like.
 *
 *     {"pod": {"metadata": {…}, "spec": {…}}, "size": 16}
 *
 * pod: a whole Pod, or a pod template as it stands in a Job; name, owner and status do not count.
 *
 *     {"schema": "parplan.gang_plan/1", "outcome": "planned", "reason": "tp=8,… on 16 nodes …",
 *      "plan_id": "…", "gpus_per_pod": 8, "order": "tp-cp-ep-dp-pp",
 *      "degrees": {"tp": 8, "cp": 1, "ep": 1, "etp": 8, "pp": 4, "vpp": 1, "dp": 4, "shard": 1,
 *                  "replicate": 4},
 *      "pods": [{"index": 0, "node": "n001", "rank": 0, "ranks": 8, "tp": 0, "cp": 0, "ep": 0,
 *                "etp": 0, "pp": 0, "dp": 0}, …]}
 *
 * outcome: planned, no-fit, denied, bad-input; but for planned, plan_id, order and degrees are null
 * and pods is empty. Without degrees order, degrees and the coordinates are null. rank and the
 * coordinates are those of the pod's first RANK. Pure.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLAN_ANSWER_H
#define K8S_EXTENDER_PLACEMENT_PLAN_ANSWER_H

#include "k8s_extender/objects/pod_record.h"
#include "k8s_extender/placement/gang_plan.h"

#define PLAN_QUESTION_MAXIMUM_BYTES ((size_t)1 << 20)
#define PLAN_ANSWER_MAXIMUM_BYTES ((size_t)32 << 20)

struct plan_question {
    struct pod_record *pod;
    uint32_t size;
};

/* Hostile input. On failure nothing is left to free. */
int plan_question_parse(const char *text, size_t bytes, struct plan_question *ret,
                        struct error_info *err);
void plan_question_done(struct plan_question *question);

const char *gang_outcome_name(enum gang_outcome outcome); /* "no-fit" */

/* Fails only for memory. */
int plan_answer_write(const struct gang_plan *plan, struct text_buffer *out,
                      struct error_info *err);

DEFINE_CLEANUP_DONE(plan_question);

#endif
