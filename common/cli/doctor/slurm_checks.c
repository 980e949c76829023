/* SPDX-License-Identifier: MIT */
#include "cli/doctor/slurm_checks.h"
#include "base/text_file.h"
#include "cli/doctor/elf_symbol.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PYXIS_PLUGIN "spank_pyxis.so"
#define PLUGIN_VERSION_SYMBOL "plugin_version" /* SPANK_PLUGIN() in slurm/spank.h */

/* 0: nobody says. */
static uint32_t controller_version(const struct doctor_facts *facts)
{
    char word[DOCTOR_WORD_BYTES];
    if (facts->controller_error.kind != ERROR_NONE ||
        !slurm_setting_find(facts->settings, "SLURM_VERSION", word, sizeof(word)))
        return 0;
    return slurm_version_parse(word);
}

static uint32_t local_version(const struct doctor_facts *facts)
{
    return facts->client_version ? slurm_version_parse(facts->client_version) : 0;
}

void check_slurm_version(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "slurm-version";
    char here[SLURM_VERSION_BYTES], there[SLURM_VERSION_BYTES];
    uint32_t local = local_version(facts), controller = controller_version(facts);
    slurm_version_write(local, true, here);
    slurm_version_write(controller, true, there);
    if (!facts->client_version)
        findings_add(findings, point, FINDING_FAULT,
                     "%s; install Slurm's client, or name its slurm.conf with --slurm-conf",
                     facts->client_error.text);
    else if (!local)
        findings_add(findings, point, FINDING_WARNING,
                     "`scontrol -V` says '%.60s', which has no version; is that Slurm's scontrol?",
                     facts->client_version);
    else if (controller && controller != local)
        findings_add(findings, point, FINDING_WARNING,
                     "Slurm here is %s, slurmctld is %s; upgrade this machine too", here, there);
    else
        findings_add(findings, point, FINDING_OK, "Slurm %s%s", here,
                     controller ? ", as slurmctld" : "");
}

void check_controller(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "slurmctld";
    if (facts->controller_error.kind == ERROR_NONE)
        findings_add(findings, point, FINDING_OK, "it answers");
    else
        findings_add(findings, point, FINDING_FAULT,
                     "no answer, topology and gpus are not judged: %s; start it, or look at its "
                     "log and at %s",
                     facts->controller_error.text, facts->slurm_conf);
}

/* "config" or "cache", where its value is no absolute path: the plugin refuses steps then. */
static const char *find_relative_path(const struct plugstack_entry *entry)
{
    static const char *const keys[] = {"config", "cache"};
    char value[PATH_MAX];
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (plugstack_argument(entry, keys[i], value, sizeof(value)) && value[0] != '/')
            return keys[i];
    return NULL;
}

static void check_entry(const struct doctor_facts *facts, size_t index, struct findings *findings)
{
    static const char point[] = "plugstack";
    const struct plugstack *stack = facts->stack;
    const struct plugstack_entry *entry = &stack->entries[index];
    size_t again = plugstack_find(stack, DOCTOR_PLUGIN, index + 1);
    size_t pyxis = plugstack_find(stack, PYXIS_PLUGIN, index + 1);
    const char *relative = find_relative_path(entry);
    if (again < stack->count)
        findings_add(findings, point, FINDING_FAULT, "%s and %s both name %s; keep one",
                     entry->where, stack->entries[again].where, DOCTOR_PLUGIN);
    else if (pyxis < stack->count)
        findings_add(findings, point, FINDING_FAULT,
                     "%s: pyxis comes behind parplan and sets RANK anew in containers; put its "
                     "line before %s",
                     stack->entries[pyxis].where, entry->where);
    else if (relative)
        findings_add(findings, point, FINDING_FAULT, "%s: %s= is no absolute path; write all of it",
                     entry->where, relative);
    else if (!entry->required)
        findings_add(findings, point, FINDING_WARNING,
                     "%s: optional: srun's refusals become runs without a plan; write required",
                     entry->where);
    else
        findings_add(findings, point, FINDING_OK, "%s: required%s", entry->where,
                     plugstack_find(stack, PYXIS_PLUGIN, 0) < stack->count ? ", behind pyxis" : "");
}

void check_plugstack(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "plugstack";
    if (!facts->stack)
        findings_add(findings, point, FINDING_FAULT, "%s%s", facts->stack_error.text,
                     strstr(facts->stack_error.text, "; ")
                         ? ""
                         : "; name the file with --plugstack, or make it with the line of "
                           "zz-parplan.conf");
    else if (!facts->entry)
        findings_add(findings, point, FINDING_FAULT,
                     "%s and what it includes do not name %s; add the line of zz-parplan.conf",
                     facts->plugstack_path, DOCTOR_PLUGIN);
    else
        check_entry(facts, (size_t)(facts->entry - facts->stack->entries), findings);
}

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
        findings_add(findings, point, FINDING_FAULT, "%s", err.text);
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

void check_plugin(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "plugin-file";
    const char *name = facts->entry ? facts->entry->path : DOCTOR_PLUGIN;
    char path[PATH_MAX];
    if (!doctor_find_plugin(facts, name, path)) {
        findings_add(findings, point, FINDING_FAULT,
                     "%s is not there; install it before its line stands in plugstack.conf", name);
        return;
    }
    uint32_t built = read_plugin(path, facts->owner, point, findings);
    if (!built)
        return;
    findings_add(findings, point, FINDING_OK, "%s", path);
    uint32_t here = local_version(facts) ? local_version(facts) : controller_version(facts);
    if (here)
        check_release(built, here, findings);
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
    uint32_t wanted = controller_version(facts) ? controller_version(facts) : local_version(facts);
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

void check_job_submit(const struct doctor_facts *facts, bool requires_plan,
                      struct findings *findings)
{
    static const char point[] = "job-submit";
    char plugins[DOCTOR_WORD_BYTES];
    slurm_setting_find(facts->settings, "JobSubmitPlugins", plugins, sizeof(plugins));
    if (!facts->settings)
        return;
    if (lists_word(plugins, "parplan") || lists_word(plugins, "job_submit/parplan"))
        check_submit_plugin(facts, findings);
    else if (requires_plan)
        findings_add(findings, point, FINDING_WARNING,
                     "require_plan is asked of steps alone, not of jobs when they are submitted; "
                     "set JobSubmitPlugins=parplan in slurm.conf");
    else
        findings_add(findings, point, FINDING_OK, "not used: srun and the nodes hold the policy");
}

void check_slurm_settings(const struct doctor_facts *facts, struct findings *findings)
{
    char word[DOCTOR_WORD_BYTES];
    if (!facts->settings)
        return;
    slurm_setting_find(facts->settings, "KillOnBadExit", word, sizeof(word));
    if (strcmp(word, "1") == 0)
        findings_add(findings, "kill-on-bad-exit", FINDING_OK, "KillOnBadExit=1");
    else
        findings_add(findings, "kill-on-bad-exit", FINDING_WARNING,
                     "where one node refuses, the tasks of the others wait until the time limit; "
                     "set KillOnBadExit=1 in slurm.conf");
    slurm_setting_find(facts->settings, "MpiParams", word, sizeof(word));
    if (strstr(word, "ports="))
        findings_add(findings, "mpi-ports", FINDING_OK, "MpiParams=%.80s", word);
    else
        findings_add(findings, "mpi-ports", FINDING_WARNING,
                     "MASTER_PORT is made of job and step id, and two steps of a node may meet; "
                     "set MpiParams=ports=20000-29999 in slurm.conf");
}
