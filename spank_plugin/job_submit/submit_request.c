/* SPDX-License-Identifier: MIT */
#include "spank_plugin/job_submit/submit_request.h"
#include "topology/cluster_readers/gres_text.h"
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define OPTION_ENTRY "_SLURM_SPANK_OPTION_parplan_parplan="
#define PASSWD_BYTES 4096

/* Slurm writes "(null)" for an option without a value. */
static const char *value_of(const char *text)
{
    return text[0] && strcmp(text, "(null)") != 0 ? text : "auto";
}

static const char *find_option(const job_desc_msg_t *job)
{
    const size_t length = strlen(OPTION_ENTRY);
    for (uint32_t i = 0; job->spank_job_env && i < job->spank_job_env_size; i++) {
        const char *entry = job->spank_job_env[i];
        if (entry && strncmp(entry, OPTION_ENTRY, length) == 0)
            return value_of(entry + length);
    }
    return NULL;
}

static unsigned count_gpus(const char *text)
{
    unsigned sum = 0, count;
    char type[GPU_TYPE_BYTES];
    while (text && gres_text_next(&text, &count, type))
        if (__builtin_add_overflow(sum, count, &sum))
            return 0;
    return sum;
}

/* 0: not given. */
static unsigned tasks_per_node(const job_desc_msg_t *job)
{
    unsigned tasks = job->ntasks_per_node;
    return tasks == NO_VAL16 || tasks == INFINITE16 ? 0 : tasks;
}

static unsigned gpus_per_node(const job_desc_msg_t *job)
{
    unsigned gpus = count_gpus(job->tres_per_node);
    if (gpus == 0 && job->min_nodes == 1 && job->max_nodes == 1)
        gpus = count_gpus(job->tres_per_job);
    if (gpus == 0 &&
        __builtin_mul_overflow(count_gpus(job->tres_per_task), tasks_per_node(job), &gpus))
        return 0;
    return gpus;
}

static void read_user(const job_desc_msg_t *job, bool named, struct submit_request *ret)
{
    char buffer[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    snprintf(ret->user_id, sizeof(ret->user_id), "%u", (unsigned)job->user_id);
    ret->subject.names[SCOPE_USER_ID] = ret->user_id;
    if (!named || getpwuid_r(job->user_id, &entry, buffer, sizeof(buffer), &found) != 0 || !found)
        return;
    snprintf(ret->user, sizeof(ret->user), "%s", found->pw_name);
    ret->subject.names[SCOPE_USER] = ret->user;
}

void submit_request_read(const job_desc_msg_t *job, bool named, struct submit_request *ret)
{
    unsigned tasks = tasks_per_node(job), gpus = gpus_per_node(job);
    *ret = (struct submit_request){
        .option = find_option(job),
        .partitions = job->partition && job->partition[0] ? job->partition : NULL,
        .subject.names = {[SCOPE_QOS] = job->qos, [SCOPE_ACCOUNT] = job->account},
        .gpus_per_node = gpus > 0    ? gpus
                         : tasks > 1 ? tasks
                                     : 0,
        .exact = gpus == tasks,
    };
    read_user(job, named, ret);
}
