/* SPDX-License-Identifier: MIT */
/*
 * launcher: what starts a training program, and how each says what a plan says. A launcher
 * is a table (one file each): rules that become arguments and configuration, limits that it
 * has, and notes for people. Nothing of a plan is dropped: what no rule can say is a limit
 * (refused, with the remedy) or a note.
 *
 * A rule, limit or note holds where a plan has all traits of `all`, one of `any` (0: no
 * matter) and none of `none` (launch_plan.h).
 *
 * Sources of the names: the launchers' own definitions, in the releases that `checked` names;
 * tests/launchers/check feeds them our output.
 */
#ifndef REPORT_LAUNCHERS_LAUNCHER_H
#define REPORT_LAUNCHERS_LAUNCHER_H

#include "base/error.h"
#include "report/launchers/launch_plan.h"
#include "report/launchers/launch_settings.h"

struct launcher_rule {
    const char *path; /* as launch_setting.path */
    enum setting_kind kind;
    enum plan_value value; /* VALUE_NONE: the literal, or the word */
    uint64_t literal;
    const char *word; /* of a SETTING_WORD or SETTING_LIST; NULL: the word of `value` */
    uint64_t all, any, none;
};

/* "<key=value>: <why>; <remedy>[, or --launcher <those that can>]" */
struct launcher_limit {
    enum plan_value key;
    const char *why;
    const char *remedy;
    uint64_t all, any, none;
};

/* Text in which '%' stands for a number: those of `values`, in their order. */
struct launcher_note {
    const char *text;
    enum plan_value values[4];
    uint64_t all, any, none;
};

enum launcher_arguments {
    ARGUMENTS_SPACED,   /* --flag value */
    ARGUMENTS_OVERRIDES /* key=value */
};
enum launcher_config { CONFIG_NONE, CONFIG_JSON, CONFIG_TOML, CONFIG_YAML };

struct launcher {
    const char *name; /* of --launcher */
    const char *title;
    const char *checked;   /* the release whose definitions were read */
    const char *framework; /* the profile to plan with when none is given */
    const char *also;      /* another profile that it runs; NULL: none */
    const char *numbering; /* how it numbers ranks, and where that stands */
    const char *implied;   /* keys of the job that it leaves no choice for; NULL: none */
    uint64_t family;       /* TRAIT(FAMILY_…) */
    enum launcher_arguments argument_style;
    enum launcher_config config_style;
    const char *config_file; /* the name that its arguments give the configuration */
    const char *usage;       /* a command that takes the arguments */
    const struct launcher_rule *arguments;
    size_t argument_count;
    const struct launcher_rule *config;
    size_t config_count;
    const struct launcher_limit *limits;
    size_t limit_count;
    const struct launcher_note *notes;
    size_t note_count;
};

extern const struct launcher megatron_launcher, bridge_launcher, deepspeed_launcher,
    torchtitan_launcher, torchtitan_toml_launcher, torchrun_ddp_launcher, torchrun_fsdp_launcher,
    accelerate_launcher;

const struct launcher *launcher_at(size_t index); /* NULL past the last */
/* Unknown: NULL and an error with the nearest, or all. */
const struct launcher *launcher_find(const char *name, struct error_info *err);
/* The launcher that a framework profile is run with. */
const struct launcher *launcher_of_framework(const char *profile);

/* Refuses what the launcher cannot say, in one line with the remedy and the launchers that can
 * say this plan. */
int launcher_check(const struct launcher *launcher, const struct launch_plan *launch,
                   struct error_info *err);
/* Writes "torchrun-fsdp, accelerate": those that can say this plan; `same_framework`: only those
 * that run the framework it was planned with. Returns how many. */
size_t launcher_write_able(const struct launch_plan *launch, bool same_framework,
                           struct text_buffer *out);
/* launcher_check, then everything that it must be told. */
struct launch_settings *launch_settings_create(const struct launcher *launcher,
                                               const struct launch_plan *launch,
                                               struct error_info *err);

#endif
