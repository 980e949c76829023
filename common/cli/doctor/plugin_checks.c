/* SPDX-License-Identifier: MIT */
#include "cli/doctor/plugin_checks.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include "cli/doctor/elf_symbol.h"
#include "cli/doctor/path_access.h"
#include "workload/admin_config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLUGIN_VERSION_SYMBOL "plugin_version" /* SPANK_PLUGIN() in slurm/spank.h */
#define SUBMIT_REMEDY "systemctl edit slurmctld, Environment=PARPLAN_CONFIG="

/* Which Slurm a plugin is built for; the file is judged on the way. 0: said what is wrong. */
static uint32_t read_plugin(const char *path, unsigned owner, const char *point,
                            struct findings *findings)
{
    char real[PATH_MAX];
    char *text = NULL;
    size_t bytes = 0;
    uint32_t version = 0;
    struct error_info err = {.kind = ERROR_NONE};
    if (!realpath(path, real)) { /* what a link names is what is loaded */
        findings_add(findings, point, FINDING_FAULT, "%s: %s; install it again", path,
                     error_errno_text(errno));
        return 0;
    }
    enum text_file_trust trust =
        text_file_read_trusted(real, owner, ELF_MAXIMUM_BYTES, &text, &bytes, &err);
    CLEANUP_MEMORY char *owned = text;
    if (trust != TEXT_FILE_OK ||
        elf_symbol_read(owned, bytes, real, PLUGIN_VERSION_SYMBOL, &version, &err) < 0) {
        findings_add(findings, point, FINDING_FAULT, "%s%s", err.text,
                     remedy_unless_in(err.text, "; install it again"));
        return 0;
    }
    return version;
}

static void check_release(uint32_t built, uint32_t here, struct findings *findings)
{
    static const char point[] = "plugin-version";
    char of_plugin[SLURM_VERSION_BYTES], of_slurm[SLURM_VERSION_BYTES];
    slurm_version_write(built, false, of_plugin);
    slurm_version_write(here, false, of_slurm);
    if (slurm_version_same_release(built, here))
        findings_add(findings, point, FINDING_OK, "built for Slurm %s", of_plugin);
    else
        findings_add(findings, point, FINDING_FAULT,
                     "built for Slurm %s, here is %s, which will not load it; build it with the "
                     "headers of %s and install it",
                     of_plugin, of_slurm, of_slurm);
}

static void say_missing(const struct doctor_facts *facts, const char *name,
                        struct findings *findings)
{
    char found[PATH_MAX];
    struct error_info why;
    if (strchr(name, '/') && path_access_find(name, PATH_OPENED, facts->owner, &why) != PATH_FREE) {
        findings_add(findings, "plugin-file", FINDING_FAULT, "srun cannot load it: %s", why.text);
        return; /* who asks is shut out himself */
    }
    bool elsewhere = doctor_find_plugin(facts, DOCTOR_PLUGIN, found);
    findings_add(
        findings, "plugin-file", FINDING_FAULT, "%s%s%s is not there%s; %s%s",
        facts->entry ? facts->entry->where : "", facts->entry ? ": " : "", name,
        facts->entry && facts->entry->required ? ", and while it is required no srun starts" : "",
        elsewhere ? "write " : "install it before its line stands in plugstack.conf",
        elsewhere ? found : "");
}

void check_plugin(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "plugin-file";
    const char *name = facts->entry ? facts->entry->path : DOCTOR_PLUGIN;
    char path[PATH_MAX];
    struct error_info why;
    if (!doctor_find_plugin(facts, name, path)) {
        say_missing(facts, name, findings);
        return;
    }
    uint32_t built = read_plugin(path, facts->owner, point, findings);
    if (!built)
        return;
    if (path_access_find(path, PATH_OPENED, facts->owner, &why) != PATH_FREE)
        findings_add(findings, point, FINDING_FAULT, "srun cannot load it: %s", why.text);
    else
        findings_add(findings, point, FINDING_OK, "%s", path);
    uint32_t here = doctor_local_version(facts) ? doctor_local_version(facts)
                                                : doctor_controller_version(facts);
    if (here)
        check_release(built, here, findings);
}

/* The first word of a list that was meant to be ours; false: there is none. */
static bool find_mistyped(const char *list, char ret[DOCTOR_WORD_BYTES])
{
    for (const char *at = list; *at; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ", ");
        snprintf(ret, DOCTOR_WORD_BYTES, "%.*s", (int)size, at);
        if (strcasestr(ret, "parplan"))
            return true;
        at += size;
    }
    return false;
}

/* A word of a list with commas between. */
static bool lists_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at;) {
        size_t size = strcspn(at, ", ");
        if (size == length && memcmp(at, word, size) == 0)
            return true;
        at += size;
        at += strspn(at, ", ");
    }
    return false;
}

static void check_submit_plugin(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "job-submit";
    char path[PATH_MAX], of_plugin[SLURM_VERSION_BYTES], of_slurm[SLURM_VERSION_BYTES];
    uint32_t wanted = doctor_controller_version(facts) ? doctor_controller_version(facts)
                                                       : doctor_local_version(facts);
    if (!doctor_find_plugin(facts, DOCTOR_SUBMIT_PLUGIN, path)) {
        findings_add(findings, point, FINDING_WARNING,
                     "JobSubmitPlugins names parplan, and %s is not on this machine; where "
                     "slurmctld runs it must be, or slurmctld does not start again",
                     DOCTOR_SUBMIT_PLUGIN);
        return;
    }
    uint32_t built = read_plugin(path, facts->owner, point, findings);
    if (!built)
        return;
    slurm_version_write(built, true, of_plugin);
    slurm_version_write(wanted, true, of_slurm);
    if (wanted && built != wanted)
        findings_add(findings, point, FINDING_FAULT,
                     "%s is built for Slurm %s, slurmctld is %s and would not start again; build "
                     "it for %s, or take parplan out of JobSubmitPlugins",
                     path, of_plugin, of_slurm, of_slurm);
    else
        findings_add(findings, point, FINDING_OK, "%s, built for Slurm %s", path, of_plugin);
}

static bool is_same_file(const char *left, const char *right)
{
    struct stat one, other;
    if (stat(left, &one) < 0 || stat(right, &other) < 0)
        return strcmp(left, right) == 0;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Which uid slurmctld's plugin asks of the file; false: it cannot read the number. */
static bool find_submit_owner(const struct doctor_facts *facts, unsigned *ret)
{
    const char *text = doctor_controller_variable(facts, "PARPLAN_CONFIG_OWNER");
    uint64_t uid = 0;
    if (text && parse_unsigned(text, 0, UINT32_MAX, &uid, NULL) < 0)
        return false;
    *ret = (unsigned)uid;
    return true;
}

/* What slurmctld reads, against what srun and the nodes do. */
static void judge_submit_config(const struct doctor_facts *facts, const char *given,
                                struct findings *findings)
{
    static const char point[] = "submit-config";
    const char *path = given ? given : ADMIN_CONFIG_DEFAULT_PATH;
    const char *ours = facts->config_path[0] ? facts->config_path : ADMIN_CONFIG_DEFAULT_PATH;
    const char *said = given ? given : "not set";
    unsigned owner = 0;
    struct error_info why = {.kind = ERROR_NONE};
    if (path[0] != '/') {
        findings_add(findings, point, FINDING_FAULT,
                     "PARPLAN_CONFIG of slurmctld (%s) is no absolute path, and no job is "
                     "judged; " SUBMIT_REMEDY "%s, and restart it",
                     said, ours);
        return;
    }
    if (!find_submit_owner(facts, &owner)) {
        findings_add(findings, point, FINDING_FAULT,
                     "PARPLAN_CONFIG_OWNER of slurmctld is no uid, and no job is judged; correct "
                     "it in its unit, and restart it");
        return;
    }
    CLEANUP(admin_config)
    struct admin_config *config = admin_config_load(given, owner, &why);
    if (!is_same_file(path, ours))
        findings_add(findings, point, FINDING_FAULT,
                     "PARPLAN_CONFIG of slurmctld (%s) is another file than srun and the nodes "
                     "read; " SUBMIT_REMEDY "%s, and restart it",
                     said, ours);
    else if (!config)
        findings_add(findings, point, FINDING_FAULT,
                     "PARPLAN_CONFIG of slurmctld (%s), no job is judged, or all by what it read "
                     "before: %s%s",
                     said, why.text, remedy_unless_in(why.text, "; mend it"));
    else
        findings_add(findings, point, FINDING_OK, "PARPLAN_CONFIG of slurmctld (%s), as srun",
                     said);
}

static void check_submit_config(const struct doctor_facts *facts, struct findings *findings)
{
    if (!facts->controller_pid)
        return; /* it runs elsewhere: doctor there says more */
    if (facts->environment)
        judge_submit_config(facts, doctor_controller_variable(facts, "PARPLAN_CONFIG"), findings);
    else
        findings_add(findings, "submit-config", FINDING_WARNING,
                     "the environment of slurmctld (pid %u) cannot be read; run parplan doctor as "
                     "root",
                     facts->controller_pid);
}

static void check_submit(const struct doctor_facts *facts, struct findings *findings)
{
    check_submit_plugin(facts, findings);
    check_submit_config(facts, findings);
}

void check_job_submit(const struct doctor_facts *facts, bool requires_plan,
                      struct findings *findings)
{
    static const char point[] = "job-submit";
    char plugins[DOCTOR_WORD_BYTES], word[DOCTOR_WORD_BYTES];
    slurm_setting_find(facts->settings, "JobSubmitPlugins", plugins, sizeof(plugins));
    if (!facts->settings)
        return;
    if (lists_word(plugins, "parplan") || lists_word(plugins, "job_submit/parplan"))
        check_submit(facts, findings);
    else if (find_mistyped(plugins, word))
        findings_add(findings, point, FINDING_FAULT,
                     "JobSubmitPlugins names %.200s, and slurmctld does not start with it; write "
                     "parplan",
                     word);
    else if (requires_plan)
        findings_add(findings, point, FINDING_WARNING,
                     "require_plan is asked of steps alone, not of jobs when they are submitted; "
                     "set JobSubmitPlugins=parplan in slurm.conf");
    else
        findings_add(findings, point, FINDING_OK, "not used: srun and the nodes hold the policy");
}
