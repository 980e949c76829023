/* SPDX-License-Identifier: MIT */
#include "report/launchers/launcher.h"
#include "base/name_index.h"
#include "base/yaml_fields.h"
#include "report/launchers/launch_environment.h"
#include <string.h>

#define LINE_MAXIMUM_BYTES ((size_t)4096)
#define ARENA_MAXIMUM_BYTES ((size_t)1 << 20)

static const struct launcher *const launchers[] = {
    &megatron_launcher,      &bridge_launcher,          &deepspeed_launcher,
    &torchtitan_launcher,    &torchtitan_toml_launcher, &torchrun_ddp_launcher,
    &torchrun_fsdp_launcher, &accelerate_launcher,
};

static const struct {
    const char *profile;
    const struct launcher *launcher;
} of_frameworks[] = {
    {"megatron-core", &megatron_launcher},       {"nemo", &bridge_launcher},
    {"megatron-deepspeed", &deepspeed_launcher}, {"deepspeed", &deepspeed_launcher},
    {"torchtitan", &torchtitan_launcher},        {"fsdp2", &torchrun_fsdp_launcher},
};

const struct launcher *launcher_at(size_t index)
{
    return index < COUNT_OF(launchers) ? launchers[index] : NULL;
}

static int unknown_launcher(const char *name, struct error_info *err)
{
    const char *known[COUNT_OF(launchers)];
    for (size_t i = 0; i < COUNT_OF(launchers); i++)
        known[i] = launchers[i]->name;
    const char *nearest = name_nearest(name, known, COUNT_OF(known));
    if (nearest)
        return error_set(err, "--launcher: %s is not known; did you mean %s?", name, nearest);
    CLEANUP_DONE(text_buffer) struct text_buffer all;
    text_buffer_init(&all, LINE_MAXIMUM_BYTES);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        text_buffer_add(&all, "%s%s", i == 0 ? "" : ", ", known[i]);
    if (text_buffer_failed(&all))
        return error_set_memory(err);
    return error_set(err, "--launcher: %s is not known; there are %s", name,
                     text_buffer_text(&all));
}

const struct launcher *launcher_find(const char *name, struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(launchers); i++)
        if (strcmp(launchers[i]->name, name) == 0)
            return launchers[i];
    return error_null(unknown_launcher(name, err));
}

const struct launcher *launcher_of_framework(const char *profile)
{
    for (size_t i = 0; i < COUNT_OF(of_frameworks); i++)
        if (strcmp(of_frameworks[i].profile, profile) == 0)
            return of_frameworks[i].launcher;
    return &megatron_launcher;
}

static bool holds(uint64_t traits, uint64_t all, uint64_t any, uint64_t none)
{
    return (traits & all) == all && (any == 0 || (traits & any)) && !(traits & none);
}

/* The first limit that stands in the plan's way; NULL: none. */
static const struct launcher_limit *find_limit(const struct launcher *launcher, uint64_t traits)
{
    traits |= launcher->family;
    for (size_t i = 0; i < launcher->limit_count; i++) {
        const struct launcher_limit *limit = &launcher->limits[i];
        if (holds(traits, limit->all, limit->any, limit->none))
            return limit;
    }
    return NULL;
}

static bool runs(const struct launcher *launcher, const char *profile)
{
    return strcmp(launcher->framework, profile) == 0 ||
           (launcher->also && strcmp(launcher->also, profile) == 0);
}

size_t launcher_write_able(const struct launch_plan *launch, bool same_framework,
                           struct text_buffer *out)
{
    uint64_t traits = launch_plan_traits(launch);
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(launchers); i++) {
        if (find_limit(launchers[i], traits) ||
            (same_framework && !runs(launchers[i], launch->profile->name)))
            continue;
        text_buffer_add(out, "%s%s", count == 0 ? "" : ", ", launchers[i]->name);
        count++;
    }
    return count;
}

static int add_able_launchers(const struct launch_plan *launch, struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer names;
    text_buffer_init(&names, LINE_MAXIMUM_BYTES);
    if (launcher_write_able(launch, false, &names) > 0)
        text_buffer_add(out, ", or --launcher %s", text_buffer_text(&names));
    return text_buffer_failed(&names) ? -1 : 0;
}

int launcher_check(const struct launcher *launcher, const struct launch_plan *launch,
                   struct error_info *err)
{
    uint64_t traits = launch_plan_traits(launch);
    const struct launcher_limit *limit = find_limit(launcher, traits);
    if (!limit)
        return 0;
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, LINE_MAXIMUM_BYTES);
    text_buffer_add(&line, "--launcher %s: ", launcher->name);
    launch_plan_write(launch, limit->key, true, &line);
    text_buffer_add(&line, ": %s; %s", limit->why, limit->remedy);
    if (add_able_launchers(launch, &line) < 0 || text_buffer_failed(&line))
        return error_set_memory(err);
    return error_set(err, "%s", text_buffer_text(&line));
}

static void add_settings(const struct launch_plan *launch, uint64_t traits,
                         const struct launcher_rule *rules, size_t count, struct setting_list *list)
{
    for (size_t i = 0; i < count; i++) {
        const struct launcher_rule *rule = &rules[i];
        if (!holds(traits, rule->all, rule->any, rule->none) ||
            list->count == LAUNCH_SETTINGS_MAXIMUM)
            continue;
        list->items[list->count++] = (struct launch_setting){
            .path = rule->path,
            .kind = rule->kind,
            .number =
                rule->value == VALUE_NONE ? rule->literal : launch_plan_number(launch, rule->value),
            .word = rule->word ? rule->word : launch_plan_word(launch, rule->value)};
    }
}

static void write_note(const struct launch_plan *launch, const struct launcher_note *note,
                       struct text_buffer *out)
{
    size_t value = 0;
    for (const char *text = note->text; *text; text++) {
        if (*text == '%' && value < COUNT_OF(note->values))
            launch_plan_write(launch, note->values[value++], false, out);
        else
            text_buffer_add_bytes(out, text, 1);
    }
}

static int add_notes(const struct launcher *launcher, const struct launch_plan *launch,
                     uint64_t traits, struct launch_settings *settings, struct error_info *err)
{
    for (size_t i = 0; i < launcher->note_count; i++) {
        const struct launcher_note *note = &launcher->notes[i];
        if (!holds(traits, note->all, note->any, note->none) ||
            settings->note_count == LAUNCH_NOTES_MAXIMUM)
            continue;
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, LINE_MAXIMUM_BYTES);
        write_note(launch, note, &text);
        const char *copy = text_buffer_failed(&text)
                               ? NULL
                               : arena_copy_text(settings->arena, text_buffer_text(&text));
        if (!copy)
            return error_set_memory(err);
        settings->notes[settings->note_count++] = copy;
    }
    return 0;
}

static struct launch_settings *create_empty(const struct launcher *launcher)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_MAXIMUM_BYTES);
    struct launch_settings *settings = arena ? arena_allocate(arena, sizeof(*settings)) : NULL;
    if (!settings)
        return NULL;
    settings->launcher = launcher;
    settings->arena = move_pointer(arena);
    return settings;
}

struct launch_settings *launch_settings_create(const struct launcher *launcher,
                                               const struct launch_plan *launch,
                                               struct error_info *err)
{
    if (launcher_check(launcher, launch, err) < 0)
        return NULL;
    uint64_t traits = launch_plan_traits(launch) | launcher->family;
    CLEANUP(launch_settings) struct launch_settings *settings = create_empty(launcher);
    if (!settings)
        return error_null(error_set_memory(err));
    add_settings(launch, traits, launcher->arguments, launcher->argument_count,
                 &settings->arguments);
    add_settings(launch, traits, launcher->config, launcher->config_count, &settings->config);
    if (add_notes(launcher, launch, traits, settings, err) < 0 ||
        launch_environment_add(launch, traits, settings, err) < 0)
        return NULL;
    return move_pointer(settings);
}

void launch_settings_free(struct launch_settings *settings)
{
    if (settings)
        arena_free(settings->arena);
}

const struct launch_setting *setting_list_find(const struct setting_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return &list->items[i];
    return NULL;
}
