/* SPDX-License-Identifier: MIT */
/*
 * submit_verdict: what the policy says of a job at submission. Pure: no file of the user's is
 * opened (srun and the nodes judge what a job file says), nothing is planned, and what the request
 * does not tell is left to srun and the nodes.
 */
#ifndef SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_VERDICT_H
#define SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_VERDICT_H

#include "base/text_buffer.h"
#include "spank_plugin/job_submit/submit_request.h"

#define SUBMIT_PLAN_BYTES 256u
#define SUBMIT_PARTITIONS_MAXIMUM 64u

struct submit_verdict {
    bool uses;    /* the job declares a plan, or the policy asks for one: else nothing is said */
    bool pending; /* its degrees, its order or its nodes are not known yet */
    char plan[SUBMIT_PLAN_BYTES];  /* as declared, cleaned, perhaps cut; "none" */
    struct policy_verdict verdict; /* of several partitions the worst */
};

/* -1: out of memory. */
int submit_verdict_find(const struct admin_config *config, const struct submit_request *request,
                        struct submit_verdict *ret, struct error_info *err);
/* "parplan: tp=8,pp=4 policy=ok": behind what the comment says already (or NULL). */
void submit_verdict_comment(const struct submit_verdict *verdict, const char *comment,
                            struct text_buffer *out);

#endif
