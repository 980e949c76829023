/* SPDX-License-Identifier: MIT */
#include "cli/inputs/plan_lock.h"

#include "base/text_file.h"
#include "report/files/lock_file.h"
#include "report/number_text.h"
#include <string.h>
#include <unistd.h>

#define LOCK_MODE 0644
#define REMEDY_BYTES 64u

static const enum job_key keeping[] = {JOB_TP, JOB_PP, JOB_VPP, JOB_EP, JOB_ETP, JOB_SHARDING};
static const enum job_key giving_way[] = {JOB_GLOBAL_BATCH, JOB_SEQUENCE_LENGTH};

/* "tp=8,pp=4,vpp=2" */
static void name_keys(const struct job_spec *job, char ret[static DEGREES_TEXT_BYTES])
{
    size_t used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(keeping) && used < DEGREES_TEXT_BYTES; i++) {
        const struct job_value *value = &job->values[keeping[i]];
        if (value->given)
            used +=
                (size_t)snprintf(ret + used, DEGREES_TEXT_BYTES - used, "%s%s=%s",
                                 used > 0 ? "," : "", job_key_info(keeping[i])->name, value->text);
    }
}

int plan_lock_open(const char *path, struct job_spec *job, struct plan_lock *ret,
                   struct error_info *err)
{
    struct plan_lock lock = {.path = path};
    size_t bytes = 0;
    if (!path || access(path, F_OK) != 0) {
        *ret = lock;
        return 0;
    }
    CLEANUP_MEMORY char *text = text_file_read(path, PLAN_LOCK_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return -1;
    CLEANUP(job_spec) struct job_spec *kept = job_spec_create(err);
    if (!kept || job_spec_parse_yaml(kept, text, bytes, path, err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(giving_way); i++)
        kept->values[giving_way[i]].given &= !job->values[giving_way[i]].given;
    if (job_spec_merge_below(job, kept, err) < 0)
        return -1;
    name_keys(kept, lock.keeps);
    lock.kept = true;
    *ret = lock;
    return 0;
}

/* Whether the degrees that the job gives, and its batch, go over that many GPUs. */
static bool goes_over(const struct job_spec *job, uint64_t world)
{
    uint64_t tp = job_spec_number(job, JOB_TP, 1), pp = job_spec_number(job, JOB_PP, 1);
    uint64_t cp = job_spec_number(job, JOB_CP, 1), ep = job_spec_number(job, JOB_EP, 1);
    uint64_t experts = ep * job_spec_number(job, JOB_ETP, ep == 1 ? tp : 1);
    uint64_t batch = job_spec_number(job, JOB_GLOBAL_BATCH, 0);
    uint64_t rows = job_spec_number(job, JOB_MICRO_BATCH, 1);
    uint64_t turns = job_spec_number(job, JOB_VPP, 1) > 1 ? pp : 1;
    uint64_t dp = world / (tp * pp * cp);
    return world % (tp * pp * cp) == 0 && dp == job_spec_number(job, JOB_DP, dp) &&
           tp * cp * dp % experts == 0 && batch % dp == 0 && batch / dp % rows == 0 &&
           batch / dp / rows % turns == 0;
}

/* "8 or 16 nodes" */
static void name_counts(const struct job_spec *job, uint64_t nodes, unsigned gpus_per_node,
                        char ret[static REMEDY_BYTES])
{
    uint64_t fewer = nodes - 1, more = nodes + 1, most = WORLD_MAXIMUM / gpus_per_node;
    while (fewer > 0 && !goes_over(job, fewer * gpus_per_node))
        fewer--;
    while (more <= most && !goes_over(job, more * gpus_per_node))
        more++;
    if (fewer > 0 && more <= most)
        snprintf(ret, REMEDY_BYTES, "use %llu or %llu nodes", (unsigned long long)fewer,
                 (unsigned long long)more);
    else if (fewer > 0 || more <= most)
        snprintf(ret, REMEDY_BYTES, "use %llu nodes",
                 (unsigned long long)(fewer > 0 ? fewer : more));
    else
        snprintf(ret, REMEDY_BYTES, "remove the file to plan anew");
}

int plan_lock_check(const struct plan_lock *lock, const struct job_spec *job, uint64_t world,
                    unsigned gpus_per_node, struct error_info *err)
{
    uint64_t ranks = job_spec_number(job, JOB_TP, 1) * job_spec_number(job, JOB_PP, 1);
    uint64_t nodes = gpus_per_node > 0 ? world / gpus_per_node : 0;
    char remedy[REMEDY_BYTES];
    if (!lock->kept || nodes == 0 || world % ranks == 0)
        return 0;
    name_counts(job, nodes, gpus_per_node, remedy);
    return error_set(err, "%s keeps %s: that takes a multiple of %llu GPUs, but there are %llu; %s",
                     lock->path, lock->keeps, (unsigned long long)ranks, (unsigned long long)world,
                     remedy);
}

int plan_lock_explain(const struct plan_lock *lock, struct error_info *err)
{
    return lock->kept && err->kind == ERROR_INPUT
               ? error_prefix(err, "%s keeps %s", lock->path, lock->keeps)
               : -1;
}

static int say_misfit(const struct plan_lock *lock, const struct plan_report *report,
                      struct error_info *err)
{
    const struct plan_list *list = report->list;
    const struct plan *nearest = list->nearest;
    if (nearest)
        return error_set(err,
                         "%s keeps %s: on %llu GPUs that needs %s a GPU of %s; use more nodes, or "
                         "remove the file to plan anew",
                         lock->path, lock->keeps, (unsigned long long)report->world,
                         number_bytes(nearest->memory.total_bytes).text,
                         number_bytes(nearest->memory.capacity_bytes).text);
    return error_set(err, "%s keeps %s: no plan on %llu GPUs: %s", lock->path, lock->keeps,
                     (unsigned long long)report->world,
                     list->remedy_count > 0 ? list->remedies[0].text
                                            : "remove the file to plan anew");
}

int plan_lock_write(const struct plan_lock *lock, const struct plan_report *report,
                    struct error_info *err)
{
    if (!lock->path || lock->kept || report->list->plan_count == 0)
        return 0;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, PLAN_LOCK_MAXIMUM_BYTES);
    lock_file_write(report, &text);
    const char *written = text_buffer_text(&text);
    if (text_buffer_failed(&text))
        return error_set_memory(err);
    if (text_file_create(lock->path, written, strlen(written), LOCK_MODE, err) == 0)
        return 0;
    return access(lock->path, F_OK) == 0
               ? error_set_system(
                     err, "%s: another run wrote it meanwhile; run again to keep to its plan",
                     lock->path)
               : -1;
}

int plan_lock_close(const struct plan_lock *lock, const struct plan_report *report,
                    struct error_info *err)
{
    return lock->kept && report->list->plan_count == 0 ? say_misfit(lock, report, err) : 0;
}
