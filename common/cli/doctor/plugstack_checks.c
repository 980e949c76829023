/* SPDX-License-Identifier: MIT */
#include "cli/doctor/plugstack_checks.h"
#include "base/parse_number.h"
#include "base/yaml_fields.h"
#include "cli/doctor/path_access.h"
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define PYXIS_PLUGIN "spank_pyxis.so"
#define LINE_FILE "zz-parplan.conf"
#define PASSWD_BYTES 4096
#define BLANKS " \t"

static const char point[] = "plugstack";

/* --- the arguments of our line ------------------------------------------------------- */

enum argument { ARGUMENT_CONFIG, ARGUMENT_CACHE, ARGUMENT_OWNER, ARGUMENT_COUNT };
static const char *const argument_names[ARGUMENT_COUNT] = {"config", "cache", "owner"};

static int refuse_owner(const char *value, struct error_info *err)
{
    char buffer[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    if (getpwnam_r(value, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        return error_set(err,
                         "owner=%s is no number, and every --parplan is refused; write owner=%u",
                         value, (unsigned)found->pw_uid);
    return error_set(err, "owner=%s is no uid, and every --parplan is refused; write owner=0",
                     value);
}

static int refuse_argument(const char *word, struct error_info *err)
{
    char key[PLUGSTACK_WORD_BYTES];
    snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="), word);
    const char *nearest = name_nearest(key, argument_names, ARGUMENT_COUNT);
    if (nearest)
        return error_set(
            err, "unknown argument %.200s, and every --parplan is refused; did you mean %s=?", word,
            nearest);
    return error_set(err,
                     "unknown argument %.200s, and every --parplan is refused; there are "
                     "config=PATH, cache=PATH and owner=UID",
                     word);
}

/* As the plugin takes it (spank_plugin/plugin_options.h). seen: bit of each enum argument. */
static int check_argument(const char *word, unsigned *seen, struct error_info *err)
{
    unsigned argument = 0;
    uint64_t uid;
    size_t length = strcspn(word, "=");
    while (argument < ARGUMENT_COUNT && (strncmp(word, argument_names[argument], length) != 0 ||
                                         argument_names[argument][length] != '\0'))
        argument++;
    if (argument == ARGUMENT_COUNT || word[length] != '=')
        return refuse_argument(word, err);
    if (*seen >> argument & 1)
        return error_set(err, "%s= stands twice; keep one", argument_names[argument]);
    *seen |= 1u << argument;
    const char *value = word + length + 1;
    if (argument == ARGUMENT_OWNER)
        return parse_unsigned(value, 0, UINT32_MAX, &uid, NULL) == 0 ? 0 : refuse_owner(value, err);
    return value[0] == '/'
               ? 0
               : error_set(
                     err,
                     "%s= is no absolute path, and every --parplan is refused; write all of it",
                     argument_names[argument]);
}

static int check_arguments(const struct plugstack_entry *entry, struct error_info *err)
{
    char word[PLUGSTACK_WORD_BYTES];
    unsigned seen = 0;
    for (const char *at = entry->arguments; *at;) {
        size_t size = strcspn(at, BLANKS);
        snprintf(word, sizeof(word), "%.*s", (int)size, at);
        if (check_argument(word, &seen, err) < 0)
            return -1;
        at += size;
        at += strspn(at, BLANKS);
    }
    return 0;
}

/* --- our line, and what is said where there is none ---------------------------------- */

static enum path_access find_access(const struct doctor_facts *facts, struct error_info *err)
{
    enum path_access access = PATH_FREE;
    for (size_t i = 0; i < facts->stack->file_count && access == PATH_FREE; i++)
        access = path_access_find(facts->stack->files[i], PATH_OPENED, facts->owner, err);
    return access;
}

static void check_entry(const struct doctor_facts *facts, size_t index, struct findings *findings)
{
    const struct plugstack *stack = facts->stack;
    const struct plugstack_entry *entry = &stack->entries[index];
    size_t again = plugstack_find(stack, DOCTOR_PLUGIN, index + 1);
    size_t pyxis = plugstack_find(stack, PYXIS_PLUGIN, index + 1);
    struct error_info why = {.kind = ERROR_NONE};
    if (again < stack->count)
        findings_add(findings, point, FINDING_FAULT, "%s and %s both name %s; keep one",
                     entry->where, stack->entries[again].where, DOCTOR_PLUGIN);
    else if (pyxis < stack->count)
        findings_add(findings, point, FINDING_FAULT,
                     "%s: pyxis comes behind parplan and sets RANK anew in containers; put its "
                     "line before %s",
                     stack->entries[pyxis].where, entry->where);
    else if (check_arguments(entry, &why) < 0)
        findings_add(findings, point, FINDING_FAULT, "%s: %s", entry->where, why.text);
    else if (find_access(facts, &why) != PATH_FREE)
        findings_add(findings, point, FINDING_FAULT, "users' srun does not see the line: %s",
                     why.text);
    else if (!entry->required)
        findings_add(findings, point, FINDING_WARNING,
                     "%s: optional: srun's refusals become runs without a plan; write required",
                     entry->where);
    else
        findings_add(findings, point, FINDING_OK, "%s: required%s", entry->where,
                     plugstack_find(stack, PYXIS_PLUGIN, 0) < stack->count ? ", behind pyxis" : "");
}

static bool is_read(const struct plugstack *stack, const char *file)
{
    for (size_t i = 0; i < stack->file_count; i++)
        if (strcmp(stack->files[i], file) == 0)
            return true;
    return false;
}

static void say_no_entry(const struct doctor_facts *facts, struct findings *findings)
{
    char file[PATH_MAX];
    const struct plugstack_entry *near = plugstack_find_near(facts->stack, DOCTOR_PLUGIN);
    const char *slash = strrchr(facts->plugstack_path, '/');
    int folder = slash ? (int)(slash - facts->plugstack_path + 1) : 0;
    int length = snprintf(file, sizeof(file), "%.*splugstack.conf.d/" LINE_FILE, folder,
                          facts->plugstack_path);
    if (near)
        findings_add(findings, point, FINDING_FAULT, "%s: %s is not our plugin; write %s",
                     near->where, near->path, DOCTOR_PLUGIN);
    else if (length < (int)sizeof(file) && access(file, F_OK) == 0 && !is_read(facts->stack, file))
        findings_add(findings, point, FINDING_FAULT,
                     "%s is not included; write include plugstack.conf.d/*.conf into %s", file,
                     facts->plugstack_path);
    else
        findings_add(findings, point, FINDING_FAULT,
                     "%s and what it includes do not name %s; add the line of " LINE_FILE,
                     facts->plugstack_path, DOCTOR_PLUGIN);
}

void check_plugstack(const struct doctor_facts *facts, struct findings *findings)
{
    if (!facts->stack)
        findings_add(findings, point, FINDING_FAULT, "%s%s", facts->stack_error.text,
                     remedy_unless_in(facts->stack_error.text,
                                      "; name the file with --plugstack, or make it with the line "
                                      "of " LINE_FILE));
    else if (!facts->entry)
        say_no_entry(facts, findings);
    else
        check_entry(facts, (size_t)(facts->entry - facts->stack->entries), findings);
}
