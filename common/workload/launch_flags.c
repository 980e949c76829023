/* SPDX-License-Identifier: MIT */
#include "workload/launch_flags.h"
#include "base/data_file.h"
#include "workload/launch/launch_file.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What files name is DeepSpeed's. */
#define NEXT_SECTION "deepspeed"

#define KEYS_FILE "launch_keys.yaml"
#define PLACE_BYTES 4096u /* longer ones are cut */

/* Where the script's folder has its configuration, unless --config-path says so: NeMo's examples.
 */
#define HYDRA_FOLDER "conf"

static const char daemons[] =
    " orted prted prte pmixsrv pmi_proxy hydra_pmi_proxy hydra_bstrap_proxy mpispawn ";

/* One command on its way. */
struct command_reading {
    struct launch_reading rules;
    const struct launch_command *command;
    const struct yaml_node *sections;
    size_t count;  /* of arguments */
    size_t script; /* the argument that is one, else their count */
    struct launch_file files[LAUNCH_FILES_MAXIMUM];
    size_t file_count;
    const char *folder;      /* Hydra's */
    struct launch_file main; /* Hydra's: a name in that folder */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void find_script(struct command_reading *reading)
{
    for (reading->script = 0; reading->script < reading->count; reading->script++) {
        const char *argument = reading->command->arguments[reading->script];
        const char *ending = strrchr(argument, '.');
        if (ending && !strcmp(ending, ".py"))
            break;
    }
}

/* Arguments before this one may be the section's flags. */
static size_t section_end(const struct command_reading *reading, const struct yaml_node *section)
{
    const struct yaml_node *when = yaml_node_get(section, "when");
    if (!when)
        return reading->count;
    for (size_t i = 0; i < reading->script; i++)
        for (size_t k = 0; k < when->child_count; k++)
            if (!strcmp(last_part(reading->command->arguments[i]), when->children[k]->text))
                return reading->script;
    return 0;
}

static bool same_flag(const char *flag, const char *argument, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (flag[i] != argument[i] &&
            !((flag[i] == '-' || flag[i] == '_') && (argument[i] == '-' || argument[i] == '_')))
            return false;
    return !flag[length];
}

/* The flag that this argument is, with its inline value ("--x=8") or NULL; or the program. */
static const struct yaml_node *find_flag(const struct yaml_node *flags, const char *argument,
                                         const char **ret_value)
{
    argument += strspn(argument, "+");
    if (argument[0] != '-')
        argument = last_part(argument);
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    *ret_value = equals ? equals + 1 : NULL;
    for (size_t i = 0; i < flags->child_count; i++)
        if (same_flag(flags->children[i]->key, argument, length) &&
            (equals || argument[0] == '-' || launch_rule_is_switch(flags->children[i])))
            return flags->children[i];
    return NULL;
}

static void add_file(struct command_reading *reading, const struct yaml_node *section,
                     const char *path)
{
    if (reading->file_count < LAUNCH_FILES_MAXIMUM)
        reading->files[reading->file_count++] = (struct launch_file){section, path};
}

/* <folder>/NAME.yaml, from the script's folder. */
static int add_main_file(struct command_reading *reading, struct error_info *err)
{
    const char *name = reading->main.path, *script = "";
    const char *folder = reading->folder ? reading->folder : HYDRA_FOLDER;
    if (!name)
        return 0;
    if (reading->script < reading->count && folder[0] != '/')
        script = reading->command->arguments[reading->script];
    char *path =
        arena_format(reading->rules.spec->arena, "%.*s%s/%s%s", (int)(last_part(script) - script),
                     script, folder, name, strstr(name, ".yaml") ? "" : ".yaml");
    if (!path)
        return error_set_memory(err);
    add_file(reading, reading->main.section, path);
    return 0;
}

static void note_file(struct command_reading *reading, const struct yaml_node *section, char rule,
                      const char *value)
{
    if (rule == 'i')
        reading->folder = value;
    else if (rule == 'n')
        reading->main = (struct launch_file){section, value};
    else if (value && value[0] && value[0] != '-' && !reading->rules.second_pass)
        add_file(reading, section, value);
}

static int read_argument(struct command_reading *reading, const struct yaml_node *section,
                         size_t position, struct error_info *err)
{
    const char *value;
    const struct yaml_node *flag =
        find_flag(yaml_node_get(section, "flags"), reading->command->arguments[position], &value);
    if (!flag)
        return 0;
    if (!value && !launch_rule_is_switch(flag) && position + 1 < reading->count)
        value = reading->command->arguments[position + 1];
    if (flag->kind == YAML_SCALAR && flag->text[0] == '@') {
        note_file(reading, section, flag->text[1], value);
        return 0;
    }
    return launch_rule_apply(&reading->rules, flag, value, flag->key, err);
}

static int read_arguments(struct command_reading *reading, struct error_info *err)
{
    reading->rules.in_file = false;
    for (size_t i = 0; i < reading->sections->child_count; i++) {
        const struct yaml_node *section = reading->sections->children[i];
        size_t end = section_end(reading, section);
        for (size_t position = 0; position < end; position++)
            if (read_argument(reading, section, position, err) < 0)
                return -1;
    }
    return 0;
}

/* A file that only the step's container has, or of a kind that we do not read. */
static int notice_unread(const struct command_reading *reading, const struct error_info *trouble,
                         struct error_info *err)
{
    if (trouble->kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (reading->rules.second_pass)
        return 0;
    launch_notice_begin(reading->rules.notices);
    text_buffer_add(reading->rules.notices, "not read: %s", trouble->text);
    return 0;
}

/* What the file could say and does not, the program does not have: a planner would choose it. */
static int fill_gaps(struct launch_reading *rules, const struct launch_file *file,
                     struct error_info *err)
{
    const struct yaml_node *keys = yaml_node_get(file->section, "otherwise");
    const struct job_spec *spec = rules->spec;
    char where[PLACE_BYTES];
    snprintf(where, sizeof(where), "%s names no other", file->path);
    if (!keys || !rules->second_pass || !spec->values[JOB_MODEL].given)
        return 0;
    for (unsigned key = 0; key < JOB_KEY_COUNT; key++)
        if (text_lists(keys->text, job_key_info((enum job_key)key)->name) &&
            !spec->values[key].given &&
            launch_key_set(rules, (enum job_key)key, "1", where, err) < 0)
            return -1;
    return 0;
}

static int read_file(struct command_reading *reading, const struct launch_file *file,
                     struct error_info *err)
{
    struct error_info trouble = {.kind = ERROR_NONE};
    size_t bytes;
    CLEANUP_MEMORY char *text = NULL;
    if (!reading->command->read)
        error_set(&trouble, "%s", file->path);
    else
        text = reading->command->read(file->path, LAUNCH_FILE_MAXIMUM_BYTES, &bytes, &trouble);
    if (text && launch_file_read(&reading->rules, file, text, bytes, &trouble) == 0)
        return fill_gaps(&reading->rules, file, err);
    if (reading->rules.refused && err)
        *err = trouble;
    if (reading->rules.refused)
        return -1;
    return notice_unread(reading, &trouble, err);
}

/* The list grows while it is read: a file may name another. */
static int read_files(struct command_reading *reading, struct error_info *err)
{
    reading->rules.in_file = true;
    for (size_t i = 0; i < reading->file_count; i++) {
        reading->rules.next = NULL;
        if (read_file(reading, &reading->files[i], err) < 0)
            return -1;
        if (reading->rules.next && !reading->rules.second_pass)
            add_file(reading, yaml_node_get(reading->sections, NEXT_SECTION), reading->rules.next);
    }
    return 0;
}

/* dp is replicate * shard where a program says both. */
static int join_replicas(struct launch_reading *rules, struct error_info *err)
{
    uint64_t shard = job_spec_number(rules->spec, JOB_SHARD, 0), dp;
    const char *where = rules->counts->of[LAUNCH_REPLICATE].where;
    char text[24];
    if (!where || !shard ||
        __builtin_mul_overflow(shard, rules->counts->of[LAUNCH_REPLICATE].number, &dp))
        return 0;
    snprintf(text, sizeof(text), "%" PRIu64, dp);
    return launch_key_set(rules, JOB_DP, text, where, err);
}

static int read_passes(struct command_reading *reading, struct error_info *err)
{
    if (read_arguments(reading, err) < 0 || add_main_file(reading, err) < 0 ||
        read_files(reading, err) < 0)
        return -1;
    reading->rules.second_pass = true;
    if (read_arguments(reading, err) < 0 || read_files(reading, err) < 0)
        return -1;
    return join_replicas(&reading->rules, err);
}

int launch_command_read(const struct launch_command *command, struct job_spec *spec,
                        struct launch_counts *counts, struct text_buffer *notices,
                        struct error_info *err)
{
    CLEANUP(yaml_document) struct yaml_document *keys = data_file_open(KEYS_FILE, err);
    if (!keys)
        return -1;
    *counts = (struct launch_counts){0};
    struct command_reading reading = {
        .rules = {.spec = spec, .counts = counts, .notices = notices},
        .command = command,
        .sections = yaml_node_get(yaml_document_root(keys), "sections"),
        .count =
            command->count < LAUNCH_ARGUMENTS_MAXIMUM ? command->count : LAUNCH_ARGUMENTS_MAXIMUM,
    };
    find_script(&reading);
    return read_passes(&reading, err);
}

int launch_flags_read(const char *const *arguments, size_t count, struct job_spec *spec,
                      struct text_buffer *notices, struct error_info *err)
{
    struct launch_counts counts;
    const struct launch_command command = {.arguments = arguments, .count = count};
    return launch_command_read(&command, spec, &counts, notices, err);
}

bool launch_command_is_daemon(const char *command)
{
    return text_lists(daemons, last_part(command));
}
