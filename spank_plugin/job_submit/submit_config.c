/* SPDX-License-Identifier: MIT */
#include "spank_plugin/job_submit/submit_config.h"
#include "base/parse_number.h"
#include "spank_plugin/plugin_log.h"
#include <limits.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What changes when the file does, or whether it may be trusted. All zero: not there. */
struct file_stamp {
    struct stat file;
    uid_t folder_owner;
    mode_t folder_mode;
};

static struct {
    const char *path; /* NULL: the default one */
    unsigned owner;
    bool looked;
    struct file_stamp stamp;
    struct admin_config *config;
    struct error_info wrong; /* with the environment */
} held;

void submit_config_begin(void)
{
    submit_config_end();
    held.path = getenv("PARPLAN_CONFIG");
    const char *owner = getenv("PARPLAN_CONFIG_OWNER");
    uint64_t uid = 0;
    if (held.path && held.path[0] != '/')
        error_set(&held.wrong,
                  "PARPLAN_CONFIG=%.256s is not an absolute path; correct slurmctld's environment "
                  "and restart it",
                  held.path);
    else if (owner && parse_unsigned(owner, 0, UINT32_MAX, &uid, &held.wrong) < 0)
        error_prefix(&held.wrong, "PARPLAN_CONFIG_OWNER");
    held.owner = (unsigned)uid;
}

void submit_config_end(void)
{
    admin_config_free(held.config);
    held.config = NULL;
    held.looked = false;
    held.wrong = (struct error_info){.kind = ERROR_NONE};
}

static void read_stamp(const char *path, struct file_stamp *ret)
{
    char folder[PATH_MAX];
    struct stat state;
    *ret = (struct file_stamp){.folder_mode = 0};
    if (lstat(path, &state) == 0)
        ret->file = state;
    ret->file.st_atim = (struct timespec){0}; /* reading changes it */
    snprintf(folder, sizeof(folder), "%s", path);
    char *end = strrchr(folder, '/');
    if (!end)
        return;
    end[end == folder] = '\0';
    if (stat(folder, &state) == 0) {
        ret->folder_owner = state.st_uid;
        ret->folder_mode = state.st_mode;
    }
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_stamp(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->file.st_dev == b->file.st_dev && a->file.st_ino == b->file.st_ino &&
           a->file.st_size == b->file.st_size && a->folder_owner == b->folder_owner &&
           a->folder_mode == b->folder_mode && same_time(a->file.st_mtim, b->file.st_mtim) &&
           same_time(a->file.st_ctim, b->file.st_ctim);
}

static void load(void)
{
    struct error_info err = held.wrong;
    struct admin_config *config = NULL;
    if (err.kind == ERROR_NONE)
        config = admin_config_load(held.path, held.owner, &err);
    if (config) {
        admin_config_free(held.config);
        held.config = config;
        slurm_info("job_submit/parplan: policy from %s%s", config->source,
                   config->source[0] == '/' ? ""
                                            : ": PARPLAN_CONFIG is not set, and there is "
                                              "no " ADMIN_CONFIG_DEFAULT_PATH);
    } else {
        slurm_error("job_submit/parplan: %s; %s", err.text,
                    held.config ? "the policy read before stays" : "no job is judged");
    }
}

const struct admin_config *submit_config_get(void)
{
    struct file_stamp stamp;
    /* Before reading: a file that changes meanwhile is read again next time. */
    read_stamp(held.path ? held.path : ADMIN_CONFIG_DEFAULT_PATH, &stamp);
    if (!held.looked || !same_stamp(&stamp, &held.stamp)) {
        held.looked = true;
        held.stamp = stamp;
        load();
    }
    return held.config;
}
