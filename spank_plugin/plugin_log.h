/* SPDX-License-Identifier: MIT */
/*
 * plugin_log: one line to the user through Slurm's log, "parplan: " in front.
 */
#ifndef SPANK_PLUGIN_PLUGIN_LOG_H
#define SPANK_PLUGIN_PLUGIN_LOG_H

#include "base/error.h"
#include "base/texts/packed_text.h"

/* Logs err's text as an error; returns -1, the refusal. */
int plugin_refuse(const struct error_info *err);
void plugin_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define plugin_notice(format, ...) (plugin_notice)(PACKED_TEXT(format), ##__VA_ARGS__)
#endif

#endif
