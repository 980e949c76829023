/* SPDX-License-Identifier: MIT */
/*
 * plugin_log: one line to the user through Slurm's log, "parplan: " in front.
 */
#ifndef SPANK_PLUGIN_PLUGIN_LOG_H
#define SPANK_PLUGIN_PLUGIN_LOG_H

#include "base/error.h"

/* Logs err's text as an error; returns -1, the refusal. */
int plugin_refuse(const struct error_info *err);
void plugin_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
