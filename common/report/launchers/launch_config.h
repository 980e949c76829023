/* SPDX-License-Identifier: MIT */
/*
 * launch_config: a launcher's configuration in the file format that it reads. Settings whose
 * paths share their first words nest; such settings stand one after the other.
 */
#ifndef REPORT_LAUNCHERS_LAUNCH_CONFIG_H
#define REPORT_LAUNCHERS_LAUNCH_CONFIG_H

#include "base/json_document.h"
#include "report/launchers/launcher.h"

/* The value alone, as arguments, overrides and TOML's numbers spell it. */
void launch_setting_write(const struct launch_setting *setting, struct text_buffer *out);

/* The file's content: JSON, YAML or TOML (tables of one level). */
int launch_config_write(const struct launch_settings *settings, struct text_buffer *out,
                        struct error_info *err);
/* Adds the settings to an object; NULL does nothing. */
void launch_config_json(const struct launch_settings *settings, struct json_value *object);

#endif
