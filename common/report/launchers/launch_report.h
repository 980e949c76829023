/* SPDX-License-Identifier: MIT */
/*
 * launch_report: launch_settings as a piece of a shell script (variables, the configuration
 * as a here-document, the arguments as an array, notes as comments), and as the document
 * parplan.flags/1.
 */
#ifndef REPORT_LAUNCHERS_LAUNCH_REPORT_H
#define REPORT_LAUNCHERS_LAUNCH_REPORT_H

#include "base/json_document.h"
#include "report/launchers/launcher.h"

struct launch_report {
    const struct launch_plan *launch;
    const struct launch_settings *settings;
    const char *cluster;      /* its name, for people */
    const char *const *notes; /* of the command, before the launcher's */
    size_t note_count;
};

int launch_report_text(const struct launch_report *report, struct text_buffer *out,
                       struct error_info *err);

/* {schema, launcher, checked, plan, gpus, degrees{}, order, numbering, arguments[],
 * config_file, config{}, environment[{name, value, reason, source}], notes[]}; config_file and
 * config are missing where the launcher has none, the value of a variable that must not be set is
 * null. NULL without memory. */
struct json_value *launch_report_json(const struct launch_report *report);

#endif
