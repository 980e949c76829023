/* SPDX-License-Identifier: MIT */
/*
 * submit_request: what a job's request says that the policy asks for. Every field of the request
 * may be absent; what is absent is unknown, never none.
 */
#ifndef SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_REQUEST_H
#define SPANK_PLUGIN_JOB_SUBMIT_SUBMIT_REQUEST_H

#include "workload/admin_config.h"
#include <slurm/slurm.h>

#define SUBMIT_NAME_BYTES 256u

struct submit_request {
    const char *option;            /* --parplan's value, "auto" without one; NULL: not given */
    const char *partitions;        /* "gpu", "gpu,debug"; NULL: the cluster's default one */
    struct policy_subject subject; /* but for the partition */
    /* That one step can use in one node: the GPUs of a node where the request names them, else
     * its tasks per node where these are several; 0: unknown. */
    unsigned gpus_per_node;
    bool exact; /* the two are equal: steps have that many ranks per node */
    char user[SUBMIT_NAME_BYTES], user_id[16];
};

/* *ret points into *job and into itself. named: look up the user's name too (which may ask a
 * directory service). */
void submit_request_read(const job_desc_msg_t *job, bool named, struct submit_request *ret);

#endif
