/* SPDX-License-Identifier: MIT */
#include "spank_plugin/job_submit/submit_verdict.h"
#include "base/text_buffer.h"
#include "workload/admin/policy_origin.h"
#include "workload/job/option_kind.h"
#include "workload/job_spec.h"
#include <stdio.h>
#include <string.h>

/* What is judged in each partition. */
struct declaration {
    bool planned; /* not "off", not absent */
    struct degrees degrees;
    bool ordered; /* order is given; else the command's flags may still name one */
    enum rank_order order;
};

/* A value that cannot be read here is for srun to refuse: its plugin may be a newer one. */
static int read_keys(const char *option, struct declaration *ret, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    if (!job)
        return -1;
    if (job_spec_parse_option(job, option, "--parplan", &why) < 0)
        return why.kind == ERROR_INPUT ? 0 : error_set_memory(err);
    job_spec_degrees(job, &ret->degrees);
    if (job_spec_order_is_open(job))
        ret->degrees.dp = ret->degrees.pp = 0; /* how far they reach follows from the order */
    ret->ordered = job->values[JOB_ORDER].given && !job_spec_order_is_open(job);
    ret->order = job_spec_order(job);
    return 0;
}

static int read_declaration(const char *option, struct declaration *ret, struct error_info *err)
{
    *ret = (struct declaration){.planned = option && strcmp(option, "off") != 0};
    if (!ret->planned || option_names_file(option))
        return 0;
    return read_keys(option, ret, err);
}

static void keep_worse(struct policy_verdict *worst, const struct policy_verdict *verdict)
{
    if (verdict->result > worst->result)
        *worst = *verdict;
}

static void judge(const struct declaration *declaration, const struct submit_request *request,
                  const struct policy *policy, const char *where, struct policy_verdict *worst)
{
    struct policy known = *policy;
    struct policy_verdict verdict;
    const struct policy_place place = {.where = where, .gpus_per_node = request->gpus_per_node};
    if (!declaration->planned) {
        policy_check_undeclared(policy, where, &verdict);
        keep_worse(worst, &verdict);
        return;
    }
    known.on_unknown_topology = UNKNOWN_ALLOW; /* where the nodes are known, it is judged again */
    if (declaration->ordered) {
        policy_check_order(&known, declaration->order, &verdict);
        keep_worse(worst, &verdict);
    }
    policy_check_spans(&known, &declaration->degrees, declaration->order, &place, &verdict);
    if (verdict.code != POLICY_SPAN_SPLITS || request->exact)
        keep_worse(worst, &verdict);
    if (declaration->degrees.tp == 0 && declaration->degrees.etp == 0)
        return;
    policy_check(&known, &declaration->degrees, &place, &verdict);
    if (verdict.code != POLICY_TP_SPLITS_NODE || request->exact)
        keep_worse(worst, &verdict);
}

/* One name of "gpu,debug", and how long it is. */
static void judge_partition(const struct admin_config *config, const struct submit_request *request,
                            const struct declaration *declaration, const char *name, size_t length,
                            struct submit_verdict *found)
{
    char partition[SUBMIT_NAME_BYTES] = "", where[SUBMIT_NAME_BYTES + 16] = "this request";
    struct policy_subject subject = request->subject;
    struct policy_verdict verdict = {.result = POLICY_ALLOWED};
    struct policy policy;
    if (length > 0) {
        snprintf(partition, sizeof(partition), "%.*s", (int)length, name);
        snprintf(where, sizeof(where), "partition %s", partition);
        subject.names[SCOPE_PARTITION] = partition;
    }
    admin_config_policy(config, &subject, &policy);
    judge(declaration, request, &policy, where, &verdict);
    policy_origin_add(&config->policy, &config->scopes, &subject, &verdict);
    keep_worse(&found->verdict, &verdict);
    if (policy.orders && !declaration->ordered)
        found->pending = true;
}

int submit_verdict_find(const struct admin_config *config, const struct submit_request *request,
                        struct submit_verdict *ret, struct error_info *err)
{
    const char *option = request->option ? request->option : config->default_parplan;
    const char *name = request->partitions ? request->partitions : "";
    struct declaration declaration;
    struct submit_verdict found = {.uses = request->option != NULL};
    if (read_declaration(option, &declaration, err) < 0)
        return -1;
    for (unsigned i = 0; i < SUBMIT_PARTITIONS_MAXIMUM; i++) {
        size_t length = strcspn(name, ",");
        judge_partition(config, request, &declaration, name, length, &found);
        if (!name[length])
            break;
        name += length + 1;
    }
    found.uses = found.uses || found.verdict.code != POLICY_OK;
    found.pending = declaration.planned && found.verdict.code == POLICY_OK &&
                    (found.pending || declaration.degrees.tp == 0 ||
                     (declaration.degrees.tp > 1 && request->gpus_per_node == 0));
    snprintf(found.plan, sizeof(found.plan), "%s", option ? option : "none");
    error_clean_text(found.plan);
    *ret = found;
    return 0;
}

void submit_verdict_comment(const struct submit_verdict *verdict, const char *comment,
                            struct text_buffer *out)
{
    if (comment && comment[0])
        text_buffer_add(out, "%s; ", comment);
    text_buffer_add(out, "parplan: %s policy=%s", verdict->plan,
                    verdict->pending ? "pending" : policy_code_name(verdict->verdict.code));
}
