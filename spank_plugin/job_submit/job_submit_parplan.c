/* SPDX-License-Identifier: MIT */
/*
 * The entry points of slurmctld's job_submit plugin: the admins' policy on what a job declares,
 * before it is queued. slurmctld must come up whatever is wrong with us, so init never fails,
 * and a job that does not use parplan is never stopped by a broken file.
 * slurmctld may call from several threads: one lock around all of it.
 */
#include "base/text_buffer.h"
#include "spank_plugin/job_submit/submit_config.h"
#include "spank_plugin/job_submit/submit_verdict.h"
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>

#define COMMENT_MAXIMUM_BYTES ((size_t)16384)

extern const char plugin_name[], plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "parplan: policy of declared parallelism";
const char plugin_type[] = "job_submit/parplan";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* slurmctld's heap: it frees the texts that we hand over. In no public header. */
extern char *slurm_xstrdup(const char *text);
extern void slurm_xfree(void **pointer);

int init(void);
int fini(void);
int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid, char **err_msg);
#else
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid);
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int init(void)
{
    submit_config_begin();
    return SLURM_SUCCESS;
}

int fini(void)
{
    submit_config_end();
    return SLURM_SUCCESS;
}

static void tell_user(char **err_msg, const char *text)
{
    if (!err_msg)
        return;
    slurm_xfree((void **)err_msg);
    *err_msg = slurm_xstrdup(text);
}

static const char *or_dash(const char *text) { return text && text[0] ? text : "-"; }

static void log_verdict(const struct submit_request *request, const struct submit_verdict *found)
{
    static const char *const words[] = {
        [POLICY_ALLOWED] = "", [POLICY_WARNED] = "warned: ", [POLICY_DENIED] = "denied: "};
    char names[SUBMIT_NAME_BYTES];
    snprintf(names, sizeof(names), "partition=%.64s account=%.64s qos=%.64s",
             or_dash(request->partitions), or_dash(request->subject.names[SCOPE_ACCOUNT]),
             or_dash(request->subject.names[SCOPE_QOS]));
    error_clean_text(names);
    const char *text = found->pending ? "policy pending" : "policy ok";
    slurm_info("job_submit/parplan: uid=%s %s: %s: %s%s", request->user_id, names, found->plan,
               words[found->verdict.result],
               found->verdict.code == POLICY_OK ? text : found->verdict.text);
}

/* The accounting keeps what was declared; an admin's own comment stays in front. */
static void write_comment(job_desc_msg_t *job, const struct submit_verdict *found)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, COMMENT_MAXIMUM_BYTES);
    submit_verdict_comment(found, job->admin_comment, &text);
    if (text_buffer_failed(&text))
        return;
    slurm_xfree((void **)&job->admin_comment);
    job->admin_comment = slurm_xstrdup(text_buffer_text(&text));
}

static int judge(const struct admin_config *config, job_desc_msg_t *job, char **err_msg)
{
    struct submit_request request;
    struct submit_verdict found;
    char text[POLICY_TEXT_BYTES + 32];
    submit_request_read(job, config->scopes.sections[SCOPE_USER].count > 0, &request);
    if (submit_verdict_find(config, &request, &found, NULL) < 0 || !found.uses)
        return SLURM_SUCCESS;
    log_verdict(&request, &found);
    snprintf(text, sizeof(text), "parplan: %s%s",
             found.verdict.result == POLICY_WARNED ? "warning: " : "", found.verdict.text);
    /* Of a warning srun tells whoever waits for it; a batch job's srun writes into a file. */
    if (found.verdict.result == POLICY_DENIED ||
        (found.verdict.result == POLICY_WARNED && job->script))
        tell_user(err_msg, text);
    if (found.verdict.result == POLICY_DENIED)
        return ESLURM_ACCESS_DENIED;
    write_comment(job, &found);
    return SLURM_SUCCESS;
}

int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
    (void)submit_uid;
    int result = SLURM_SUCCESS;
    if (!job)
        return result;
    pthread_mutex_lock(&lock);
    const struct admin_config *config = submit_config_get();
    if (config && config->enabled)
        result = judge(config, job, err_msg);
    pthread_mutex_unlock(&lock);
    return result;
}

/* An update carries what changes alone, and the job's record is not public: what a job declared
 * is judged again in srun and on its nodes. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid, char **err_msg)
{
    (void)err_msg;
#else
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid)
{
#endif
    (void)job;
    (void)record;
    (void)submit_uid;
    return SLURM_SUCCESS;
}
