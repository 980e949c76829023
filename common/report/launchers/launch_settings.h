/* SPDX-License-Identifier: MIT */
/*
 * launch_settings: what a launcher must be told for one plan: its arguments, the content of
 * its configuration, the variables of its environment, and what people must know beside
 * them. Immutable once made (launcher.h); all texts live in its arena or are static.
 */
#ifndef REPORT_LAUNCHERS_LAUNCH_SETTINGS_H
#define REPORT_LAUNCHERS_LAUNCH_SETTINGS_H

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCH_SETTINGS_MAXIMUM 64u
#define LAUNCH_VARIABLES_MAXIMUM 16u
#define LAUNCH_NOTES_MAXIMUM 32u

enum setting_kind {
    SETTING_NUMBER,
    SETTING_WORD,
    SETTING_LIST,   /* of one word */
    SETTING_SWITCH, /* an argument without a value */
    SETTING_TRUE,
    SETTING_FALSE,
    SETTING_NULL
};

/* One setting: its name as the launcher spells it ("--micro-batch-size", with dots where
 * settings nest: "zero_optimization.stage"), and its value. */
struct launch_setting {
    const char *path;
    enum setting_kind kind;
    uint64_t number;
    const char *word;
};

struct setting_list {
    struct launch_setting items[LAUNCH_SETTINGS_MAXIMUM];
    size_t count;
};

struct launch_variable {
    const char *name;
    const char *value; /* NULL: must not be set */
    const char *reason;
    const char *source;
};

struct launcher;

struct launch_settings {
    const struct launcher *launcher;
    struct setting_list arguments;
    struct setting_list config;
    struct launch_variable variables[LAUNCH_VARIABLES_MAXIMUM];
    size_t variable_count;
    const char *notes[LAUNCH_NOTES_MAXIMUM];
    size_t note_count;
    struct arena *arena;
};

void launch_settings_free(struct launch_settings *settings);

/* The setting of that path, or NULL. */
const struct launch_setting *setting_list_find(const struct setting_list *list, const char *path);

DEFINE_CLEANUP(launch_settings);

#endif
